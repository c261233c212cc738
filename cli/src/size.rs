//! Amounts of memory as people write them.

/// Reads `1GiB`, `512 MiB`, `64k` or a plain number of bytes; powers of 1024, except for `kB`, `MB`
/// and `GB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(format!("unknown unit `{unit}`; write as in 512MiB or 2GiB")),
    };
    let amount = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor),
        // A fraction of a large unit is an estimate anyway.
        Err(_) => number
            .parse::<f64>()
            .ok()
            .map(|amount| amount * factor as f64)
            .filter(|amount| *amount < u64::MAX as f64)
            .map(|amount| amount as u64),
    };
    match amount {
        Some(0) | None => Err("expected an amount of memory, as in 512MiB or 2GiB".to_owned()),
        Some(amount) => Ok(amount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_write_them() {
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        assert_eq!(bytes("1.5 k"), Ok(1536));
        assert_eq!(bytes("2MB"), Ok(2_000_000));
        assert_eq!(bytes("77"), Ok(77));
        for bad in ["", "GiB", "0", "1 parsec", "-1", "1.2.3G", "99999999999T"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
