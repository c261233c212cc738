//! Spans of time as people write them.

use std::time::Duration;

/// Reads `30s`, `1min 30s`, `500ms`, or a plain number of seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let seconds = text.parse::<f64>().ok();
    let parsed = match seconds.map(Duration::try_from_secs_f64) {
        Some(seconds) => seconds.ok(),
        None => humantime::parse_duration(text).ok(),
    };
    let limit = parsed.filter(|limit| !limit.is_zero());
    limit.ok_or_else(|| "expected a span of time, as in 30s, 2min or 500ms".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_write_them() {
        assert_eq!(parse("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse("1min 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("0.5"), Ok(Duration::from_millis(500)));
        for bad in [
            "",
            "0",
            "0s",
            "-1",
            "soon",
            "inf",
            "nan",
            "5 parsecs",
            "1e300",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
