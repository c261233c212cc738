//! Numbers for people.

use num_bigint::BigUint;
use portent_lattice::report::Runs;

/// The number of runs with some verdict, and the number of all runs.
pub(crate) struct Share {
    pub(crate) part: BigUint,
    pub(crate) total: BigUint,
}

impl Share {
    /// The runs that are violated.
    pub(crate) fn violated(runs: &Runs) -> Option<Share> {
        Share::new(&runs.violated, &runs.total)
    }

    /// The runs that are pending at the end of the trace.
    pub(crate) fn pending(runs: &Runs) -> Option<Share> {
        Share::new(&runs.pending, &runs.total)
    }

    fn new(part: &str, total: &str) -> Option<Share> {
        let (part, total) = (part.parse().ok()?, total.parse().ok()?);
        Some(Share { part, total })
    }

    pub(crate) fn is_all(&self) -> bool {
        self.part == self.total
    }

    /// "6 of 20 equivalent runs"; rounded numbers cannot distinguish all from nearly all, so words do.
    pub(crate) fn in_words(&self) -> String {
        let part = if self.is_all() {
            "each".to_owned()
        } else {
            number(&self.part)
        };
        format!("{part} of {} equivalent runs", number(&self.total))
    }

    /// "30 %".
    pub(crate) fn percent(&self) -> String {
        let zero = BigUint::ZERO;
        if self.total == zero {
            return "0 %".to_owned();
        }
        // Rounded to the nearest tenth, but never up to all or down to none.
        let tenths = (&self.part * 2000u32 + &self.total) / (&self.total * 2u32);
        let tenths = u32::try_from(tenths).unwrap_or(1000);
        match (tenths, tenths % 10) {
            (0, _) if self.part > zero => "less than 0.1 %".to_owned(),
            (1000, _) if self.part < self.total => "more than 99.9 %".to_owned(),
            (_, 0) => format!("{} %", tenths / 10),
            (_, rest) => format!("{}.{rest} %", tenths / 10),
        }
    }
}

/// In groups of three, or rounded if it is too long to read.
pub fn number(number: &BigUint) -> String {
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
pub fn count(count: u64) -> String {
    group(&count.to_string())
}

/// "1 step", "2 steps".
pub fn counted(number: u64, thing: &str) -> String {
    let many = match (number, thing.strip_suffix('y')) {
        (1, _) => thing.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{thing}s"),
    };
    format!("{} {many}", count(number))
}

/// `1.5 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} bytes");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", units[unit])
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
        assert_eq!(bytes(1536), "1.5 KiB");
        let percent = |part: u32, total: u32| {
            let (part, total) = (part.into(), total.into());
            Share { part, total }.percent()
        };
        assert_eq!(percent(6, 20), "30 %");
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(99_999, 100_000), "more than 99.9 %");
        assert_eq!(percent(5, 5), "100 %");
        assert_eq!(percent(1, 100_000), "less than 0.1 %");
        assert_eq!(percent(0, 7), "0 %");
    }
    #[test]
    fn all_is_told_from_nearly_all() {
        let total = BigUint::from(10u32).pow(20);
        let all = Share {
            part: total.clone(),
            total: total.clone(),
        };
        assert_eq!(all.in_words(), "each of about 1.00 × 10^20 equivalent runs");
        let nearly = Share {
            part: &total - 1u32,
            total,
        };
        assert_eq!(
            nearly.in_words(),
            "about 9.99 × 10^19 of about 1.00 × 10^20 equivalent runs"
        );
        assert_eq!(nearly.percent(), "more than 99.9 %");
    }
}
