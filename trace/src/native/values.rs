//! Parses the text of a JSON value into the expected kind, or reports what is wrong with it.

use std::borrow::Cow;

use portent_monitor_core::Value;
use serde_json::value::RawValue;

use super::scan::plain_array;

/// The error, and the part of the line where it is.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) at: &'a str,
    pub(crate) what: String,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(at: &'a str, what: impl Into<String>) -> Self {
        Problem {
            at,
            what: what.into(),
        }
    }
}

/// Reads a string.
pub(super) fn text(raw: &str) -> Result<Cow<'_, str>, Problem<'_>> {
    match inside_quotes(raw) {
        Some(inner) if !inner.as_bytes().contains(&b'\\') => Ok(inner.into()),
        Some(_) => serde_json::from_str::<String>(raw)
            .map(Cow::Owned)
            .map_err(|error| Problem::new(raw, error.to_string())),
        None => Err(Problem::new(raw, "expected a string")),
    }
}

#[inline]
fn inside_quotes(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// Reads a name: a string, or an integer, which names the same as its digits in quotes.
#[inline]
pub(super) fn name(raw: &str) -> Result<Cow<'_, str>, Problem<'_>> {
    if raw.starts_with('"') {
        return text(raw);
    }
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(raw.into())
    } else {
        Err(Problem::new(
            raw,
            "expected a name, which is a string or an integer",
        ))
    }
}

/// Reads a list of names.
pub(super) fn names(raw: &str) -> Result<Vec<Cow<'_, str>>, Problem<'_>> {
    let parts: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|_| Problem::new(raw, "expected a list of names"))?;
    parts.into_iter().map(|part| name(part.get())).collect()
}

/// Reads `true` or `false`.
pub(super) fn flag(raw: &str) -> Result<bool, Problem<'_>> {
    match raw {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::new(raw, "expected true or false")),
    }
}

/// Reads an integer from 0 up.
pub(super) fn count(raw: &str) -> Result<u64, Problem<'_>> {
    raw.parse()
        .map_err(|_| Problem::new(raw, "expected an integer from 0 to 18446744073709551615"))
}

/// Reads a value of a variable or an argument.
pub(super) fn value(raw: &str) -> Result<Value, Problem<'_>> {
    match raw.as_bytes().first() {
        Some(b'"') => text(raw).map(|text| Value::from(text.as_ref())),
        Some(b't') => Ok(Value::Bool(true)),
        Some(b'f') => Ok(Value::Bool(false)),
        Some(b'-' | b'0'..=b'9') if raw.contains(['.', 'e', 'E']) => match raw.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => Err(Problem::new(
                raw,
                "expected a number that 64-bit floating point can hold",
            )),
        },
        Some(b'-' | b'0'..=b'9') => raw.parse().map(Value::Int).map_err(|_| {
            Problem::new(raw, "expected an integer that 64 bits with a sign can hold")
        }),
        _ => Err(Problem::new(
            raw,
            "expected a value: an integer, a float, a boolean or a string",
        )),
    }
}

/// Reads an array of values.
pub(super) fn values(raw: &str) -> Result<Vec<Value>, Problem<'_>> {
    let mut items = Vec::new();
    if plain_array(raw.as_bytes(), |item| items.push(&raw[item])).is_none() {
        let parsed: Vec<&RawValue> = serde_json::from_str(raw)
            .map_err(|_| Problem::new(raw, "expected an array of values, as in [\"bob\", 3]"))?;
        items = parsed.into_iter().map(RawValue::get).collect();
    }
    items.into_iter().map(value).collect()
}
