//! Floating-point expressions as the oracle sees them, and the values that are hard to compare.

use portent_testing::Rng;

use super::case::{Comparison, Prop, Value};

/// Not-a-number, infinities, both zeros, numbers whose squares overflow, and the neighbourhood of the [`CONSTANTS`].
pub(crate) const INTERESTING: [f64; 15] = [
    f64::NAN,
    f64::NEG_INFINITY,
    f64::MIN,
    -1e308,
    -2.0,
    -1.0,
    -0.5,
    -0.0,
    0.0,
    0.5,
    1.0,
    2.0,
    1e308,
    f64::MAX,
    f64::INFINITY,
];

/// What is compared with. Infinity is written as arithmetic, since no literal stands for it.
const CONSTANTS: [(&str, f64); 5] = [
    ("0.0", 0.0),
    ("-1.0", -1.0),
    ("1.0", 1.0),
    ("1e308 * 10.0", f64::INFINITY),
    ("1e308", 1e308),
];

/// A floating-point expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// The variable with this index.
    Variable(usize),
    /// A constant expression as text, and its value.
    Constant(&'static str, f64),
    Negated(Box<Term>),
    Sum(Box<Term>, Box<Term>),
    Difference(Box<Term>, Box<Term>),
    Product(Box<Term>, Box<Term>),
}

impl Term {
    pub(crate) fn value(&self, values: &[Value]) -> f64 {
        match self {
            Term::Variable(v) => match &values[*v] {
                Value::Float(x) => *x,
                Value::Int(n) => *n as f64,
                other => panic!("{other:?} is not a number"),
            },
            Term::Constant(_, x) => *x,
            Term::Negated(a) => -a.value(values),
            Term::Sum(a, b) => a.value(values) + b.value(values),
            Term::Difference(a, b) => a.value(values) - b.value(values),
            Term::Product(a, b) => a.value(values) * b.value(values),
        }
    }

    pub(crate) fn text(&self, names: &[&str]) -> String {
        let inner = |term: &Term| match term {
            Term::Variable(_) => term.text(names),
            _ => format!("({})", term.text(names)),
        };
        match self {
            Term::Variable(v) => names[*v].to_owned(),
            Term::Constant(text, _) => (*text).to_owned(),
            Term::Negated(a) => format!("-{}", inner(a)),
            Term::Sum(a, b) => format!("{} + {}", inner(a), inner(b)),
            Term::Difference(a, b) => format!("{} - {}", inner(a), inner(b)),
            Term::Product(a, b) => format!("{} * {}", inner(a), inner(b)),
        }
    }

    /// A constant to compare the term with. No product of two of the interesting values is the huge finite one.
    fn constant(&self, rng: &mut Rng) -> Term {
        let is_product = matches!(self, Term::Product(..))
            || matches!(self, Term::Difference(a, _) if matches!(**a, Term::Product(..)));
        let edge = CONSTANTS.len() - usize::from(is_product);
        // The usual ones more often than those at the edge of the numbers.
        let choice = if rng.one_in(3) { edge } else { 3 };
        let (text, value) = CONSTANTS[rng.below(choice)];
        Term::Constant(text, value)
    }
}

/// One to `most` comparisons of one quantity, over the variable `f` and the next one, if there are two.
pub(super) fn comparisons(rng: &mut Rng, f: usize, two: bool, most: usize) -> Vec<Prop> {
    let x = || Box::new(Term::Variable(f));
    let y = || Box::new(Term::Variable(f + usize::from(two)));
    let square = |a: Box<Term>| Box::new(Term::Product(a.clone(), a));
    let quantity = match rng.below(if two { 5 } else { 3 }) {
        0 => Term::Negated(x()),
        1 | 2 if !two => Term::Variable(f),
        1 => Term::Sum(x(), y()),
        2 => Term::Difference(x(), y()),
        3 => Term::Product(x(), y()),
        _ => Term::Difference(square(x()), square(y())),
    };
    // Against each other: two variables, or one against itself, which is how not-a-number is found.
    let order = rng.one_in(4);
    (0..rng.between(1, most))
        .map(|_| {
            let op = rng.pick(&Comparison::ALL);
            if order {
                Prop::Float(*x(), op, *y())
            } else {
                Prop::Float(quantity.clone(), op, quantity.constant(rng))
            }
        })
        .collect()
}
