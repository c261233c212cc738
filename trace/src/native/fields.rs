//! One JSON object as a list of keys and unparsed values, borrowed from its line.
//!
//! The operation decides which keys mean something, and it may come last. So the values are taken
//! as they are written and read when it is known what they should be; what is left over is kept
//! as it was. A value knows its place in the line, which gives errors their column.

use std::{borrow::Cow, fmt};

use portent_monitor_core::Value;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{error::Category, value::RawValue};
use smallvec::SmallVec;

use super::scan::plain_object;

/// What is wrong, and the part of the line where it is.
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

/// A key and the text of its value, until somebody takes it.
pub(super) type Entry<'a> = (Cow<'a, str>, Option<&'a str>);

/// The entries of a JSON object in order. It is filled in place and not handed about, because it
/// is large and made for every line.
#[derive(Default)]
pub(crate) struct Fields<'a> {
    entries: SmallVec<[Entry<'a>; 8]>,
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut entries = SmallVec::new();
                while let Some(Key(key)) = map.next_key()? {
                    let value: &RawValue = map.next_value()?;
                    entries.push((key, Some(value.get())));
                }
                Ok(Fields { entries })
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

impl<'a> Fields<'a> {
    /// Becomes the object that this text is.
    pub(crate) fn parse(&mut self, text: &'a str) -> Result<(), Problem<'a>> {
        if plain_object(text, &mut self.entries).is_none() {
            *self = Fields::by_serde(text)?;
        }
        for (i, (key, value)) in self.entries.iter().enumerate() {
            if self.entries[..i].iter().any(|(earlier, _)| earlier == key) {
                let at = value.unwrap_or(text);
                return Err(Problem::new(at, format!("the key `{key}` stands twice")));
            }
        }
        Ok(())
    }

    fn by_serde(text: &'a str) -> Result<Self, Problem<'a>> {
        serde_json::from_str(text).map_err(|error| {
            // The parser counts columns in bytes and points at the last byte that it read.
            let offset = match error.classify() {
                Category::Eof => text.len(),
                _ => error.column().saturating_sub(1).min(text.len()),
            };
            let at = (0..=offset)
                .rev()
                .find_map(|i| text.get(i..))
                .unwrap_or(text);
            let message = error.to_string();
            let what = message
                .split(" at line ")
                .next()
                .unwrap_or("not JSON")
                .to_owned();
            Problem::new(at, format!("not a JSON object: {what}"))
        })
    }

    /// The entries as `serde_json` reads them, for comparison.
    #[cfg(test)]
    pub(super) fn parse_any(text: &'a str) -> Result<Vec<Entry<'a>>, Problem<'a>> {
        Fields::by_serde(text).map(|fields| fields.entries.into_vec())
    }

    /// Takes the value of a key out.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a str> {
        self.entries.iter_mut().find(|(k, _)| k == key)?.1.take()
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.entries
            .iter()
            .any(|(k, value)| k == key && value.is_some())
    }

    /// The entries that nobody took.
    pub(crate) fn rest(&mut self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        self.entries
            .drain(..)
            .filter_map(|(key, value)| Some((key, value?)))
    }
}

/// Reads a string.
pub(crate) fn text(raw: &str) -> Result<Cow<'_, str>, Problem<'_>> {
    match raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inner) if memchr::memchr(b'\\', inner.as_bytes()).is_none() => Ok(inner.into()),
        Some(_) => serde_json::from_str::<String>(raw)
            .map(Cow::Owned)
            .map_err(|error| Problem::new(raw, error.to_string())),
        None => Err(Problem::new(raw, "expected a string")),
    }
}

/// Reads a name: a string, or an integer, which names the same as its digits in quotes.
pub(crate) fn name(raw: &str) -> Result<Cow<'_, str>, Problem<'_>> {
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

/// Reads an integer from 0 up.
pub(crate) fn count(raw: &str) -> Result<u64, Problem<'_>> {
    raw.parse()
        .map_err(|_| Problem::new(raw, "expected an integer from 0 to 18446744073709551615"))
}

/// Reads a value of a variable or an argument.
pub(crate) fn value(raw: &str) -> Result<Value, Problem<'_>> {
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
pub(crate) fn values(raw: &str) -> Result<Vec<Value>, Problem<'_>> {
    let items: Vec<&RawValue> = serde_json::from_str(raw)
        .map_err(|_| Problem::new(raw, "expected an array of values, as in [\"bob\", 3]"))?;
    items.into_iter().map(|item| value(item.get())).collect()
}
