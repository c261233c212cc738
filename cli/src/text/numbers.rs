//! Numbers for people.

use num_bigint::BigUint;
use portent_lattice::report::Runs;

/// How many runs are violated, and of how many.
pub(crate) struct Share {
    pub(crate) violated: BigUint,
    pub(crate) total: BigUint,
}

impl Share {
    /// Of counted runs.
    pub(crate) fn new(runs: &Runs) -> Option<Share> {
        let violated = runs.violated.parse().ok()?;
        let total = runs.total.parse().ok()?;
        Some(Share { violated, total })
    }

    /// "6 of 20 equivalent runs violate it (30 %)".
    pub(crate) fn in_words(&self) -> String {
        let (violated, total) = (number(&self.violated), number(&self.total));
        let verb = match self.violated == 1u32.into() {
            true => "violates",
            false => "violate",
        };
        let runs = match self.total == 1u32.into() {
            true => "run",
            false => "runs",
        };
        format!(
            "{violated} of {total} equivalent {runs} {verb} it ({})",
            self.percent()
        )
    }

    /// "30 %".
    pub(crate) fn percent(&self) -> String {
        let zero = BigUint::ZERO;
        if self.total == zero {
            return "0 %".to_owned();
        }
        // Rounded to the nearest tenth, but never up to all or down to none.
        let tenths = (&self.violated * 2000u32 + &self.total) / (&self.total * 2u32);
        let tenths = u32::try_from(tenths).unwrap_or(1000);
        match (tenths, tenths % 10) {
            (0, _) if self.violated > zero => "less than 0.1 %".to_owned(),
            (1000, _) if self.violated < self.total => "more than 99.9 %".to_owned(),
            (_, 0) => format!("{} %", tenths / 10),
            (_, rest) => format!("{}.{rest} %", tenths / 10),
        }
    }
}

/// In groups of three, or if it is too long to read, about how many.
pub(crate) fn number(number: &BigUint) -> String {
    let digits = number.to_string();
    if digits.len() > 18 {
        return format!(
            "about {}.{} × 10^{}",
            &digits[..1],
            &digits[1..3],
            digits.len() - 1
        );
    }
    group(&digits)
}

/// A count in groups of three.
pub(crate) fn count(count: u64) -> String {
    group(&count.to_string())
}

/// "1 step", "2 steps".
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let many = match (number, thing.strip_suffix('y')) {
        (1, _) => thing.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{thing}s"),
    };
    format!("{} {many}", count(number))
}

fn group(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(number(&BigUint::from(10u32).pow(20)), "about 1.00 × 10^20");
        assert_eq!(counted(2, "property"), "2 properties");
        let percent = |violated: u32, total: u32| {
            let (violated, total) = (violated.into(), total.into());
            Share { violated, total }.percent()
        };
        assert_eq!(percent(6, 20), "30 %");
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(99_999, 100_000), "more than 99.9 %");
        assert_eq!(percent(5, 5), "100 %");
        assert_eq!(percent(1, 100_000), "less than 0.1 %");
        assert_eq!(percent(0, 7), "0 %");
    }
}
