//! JSON objects as keys and unparsed values, borrowed from their text.
//!
//! What a value should be depends on other keys, which may come later. So values are stored
//! unparsed, and parsed once their expected kind is known. A value knows its place in the
//! line, which gives errors their column.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{error::Category, value::RawValue};

use super::{
    scan::{Part, plain_object},
    values::Problem,
};

/// A key and the text of its value.
pub(super) type Entry<'a> = (Cow<'a, str>, &'a str);

/// The entries of a JSON object in order, no key twice.
pub(super) fn entries(text: &str) -> Result<Vec<Entry<'_>>, Problem<'_>> {
    let mut found = Vec::new();
    let each = |key: Part, raw: Part| found.push((Cow::Borrowed(&text[key.span]), &text[raw.span]));
    if plain_object(text.as_bytes(), each).is_none() {
        found = by_serde(text)?;
    }
    match repeated(found.iter().map(|(key, _)| &**key)) {
        Some(i) => Err(Problem::new(
            found[i].1,
            format!("the key `{}` is given twice", found[i].0),
        )),
        None => Ok(found),
    }
}

/// The index of the first key that was there before.
pub(super) fn repeated<'k>(keys: impl ExactSizeIterator<Item = &'k str> + Clone) -> Option<usize> {
    // A clock may have a million components; a set is expensive for the few keys of most objects.
    const FEW: usize = 16;
    let mut seen = HashSet::new();
    let few = keys.len() <= FEW;
    let mut numbered = keys.clone().enumerate();
    let twice = |(i, key): &(usize, &'k str)| {
        if few {
            keys.clone().take(*i).any(|earlier| earlier == *key)
        } else {
            !seen.insert(*key)
        }
    };
    numbered.find(twice).map(|(i, _)| i)
}

struct UniqueEntries<'a>(Vec<Entry<'a>>);

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for UniqueEntries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = UniqueEntries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<UniqueEntries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    let value: &RawValue = map.next_value()?;
                    entries.push((key, value.get()));
                }
                Ok(UniqueEntries(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// The slow path: everything that JSON allows, and an error message for the rest.
pub(super) fn by_serde(text: &str) -> Result<Vec<Entry<'_>>, Problem<'_>> {
    let parsed: Result<UniqueEntries<'_>, _> = serde_json::from_str(text);
    parsed.map(|object| object.0).map_err(|error| {
        let message = error.to_string();
        // The parser counts columns in bytes and points at the last byte that it read, but before
        // a control character.
        let offset = match error.classify() {
            Category::Eof => text.len(),
            _ if message.starts_with("control character") => error.column(),
            _ => error.column().saturating_sub(1),
        };
        let offset = offset.min(text.len());
        let at = (0..=offset)
            .rev()
            .find_map(|i| text.get(i..))
            .unwrap_or(text);
        let what = message
            .split(" at line ")
            .next()
            .unwrap_or("not JSON")
            .to_owned();
        Problem::new(at, format!("not a JSON object: {what}"))
    })
}
