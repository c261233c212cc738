//! Which values a floating-point expression can take.
//!
//! An integer variable is never infinite and never not-a-number, and neither is a sum of a few of
//! them; a float variable can be anything. Interval arithmetic finds out what an expression can be.
//! Rounding to nearest is monotone, so the ends of an interval are computed exactly; what is lost is
//! only that the operands may depend on each other.

use portent_monitor_core::Type;

use super::{StateVariable, arithmetic::FloatTerm};

/// The values from `lowest` to `highest`, with or without not-a-number. Empty if `lowest` is the
/// larger of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) lowest: f64,
    pub(super) highest: f64,
    pub(super) nan: bool,
}

impl Range {
    pub(super) fn of(term: &FloatTerm, variables: &[StateVariable]) -> Range {
        let of = |term: &FloatTerm| Range::of(term, variables);
        match term {
            FloatTerm::Constant(x) => Range::between(*x, *x),
            FloatTerm::Variable(variable) => match variables[variable.index()].type_of {
                Type::Float => Range {
                    nan: true,
                    ..Range::between(f64::NEG_INFINITY, f64::INFINITY)
                },
                _ => Range::between(i64::MIN as f64, i64::MAX as f64),
            },
            FloatTerm::Negated(a) => of(a).negated(),
            FloatTerm::Sum(a, b) => of(a).plus(of(b)),
            FloatTerm::Difference(a, b) => of(a).plus(of(b).negated()),
            FloatTerm::Product(a, b) => of(a).times(of(b)),
        }
    }

    fn between(lowest: f64, highest: f64) -> Range {
        Range {
            lowest,
            highest,
            nan: false,
        }
    }

    fn negated(self) -> Range {
        Range {
            lowest: -self.highest,
            highest: -self.lowest,
            nan: self.nan,
        }
    }

    fn plus(self, other: Range) -> Range {
        let opposite =
            |a: Range, b: Range| a.highest == f64::INFINITY && b.lowest == f64::NEG_INFINITY;
        let ends = [
            self.lowest + other.lowest,
            self.highest + other.highest,
            // Only these are left of an infinity and a range that ends in its opposite.
            self.lowest + other.highest,
            self.highest + other.lowest,
        ];
        Range {
            nan: self.nan || other.nan || opposite(self, other) || opposite(other, self),
            ..Range::around(ends)
        }
    }

    fn times(self, other: Range) -> Range {
        let annuls = |a: Range, b: Range| {
            a.contains(0.0) && (b.lowest == f64::NEG_INFINITY || b.highest == f64::INFINITY)
        };
        // Next to infinity a range has finite numbers, and zero times these is zero.
        let times = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            times(self.lowest, other.lowest),
            times(self.lowest, other.highest),
            times(self.highest, other.lowest),
            times(self.highest, other.highest),
        ];
        Range {
            nan: self.nan || other.nan || annuls(self, other) || annuls(other, self),
            ..Range::around(ends)
        }
    }

    /// The smallest range with these numbers.
    fn around(numbers: [f64; 4]) -> Range {
        // `min` and `max` pass over what is not a number.
        let lowest = numbers.into_iter().fold(f64::INFINITY, f64::min);
        let highest = numbers.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Range::between(lowest, highest)
    }

    pub(super) fn contains(self, number: f64) -> bool {
        self.lowest <= number && number <= self.highest
    }
}
