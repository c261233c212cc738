//! Equality of parameter values: two values are equal if they are spelled alike.
//!
//! Logs contain text, and which number or truth value a text denotes is known only to its author. So the number 7 in
//! one event, the text "7" in another and a match of a regular expression in a third are the same value. All comparisons of
//! parameter values use the ids assigned here.

use std::{fmt::Write, sync::Arc};

use portent_monitor_core::Value;

use super::spread::{Blocks, SpreadMap};

portent_monitor_core::ids! {
    /// A value of a parameter: one for each spelling.
    pub(crate) struct SpellingId(u32);
}

#[cfg(test)]
impl SpellingId {
    pub(crate) fn new(number: u32) -> SpellingId {
        SpellingId(number)
    }
}

/// The values given to the parameters of a property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spellings {
    ids: SpreadMap<Arc<str>, SpellingId>,
    /// Integers are found without spelling them.
    of_number: SpreadMap<i64, SpellingId>,
    /// Each spelling, with the first value spelled that way.
    all: Blocks<(Arc<str>, Value)>,
    /// A buffer for spelling numbers.
    buffer: String,
}

impl Spellings {
    /// The id of a value.
    pub(crate) fn of(&mut self, value: &Value) -> SpellingId {
        let Value::Int(number) = value else {
            return self.spell(value);
        };
        if let Some(&id) = self.of_number.get(number) {
            return id;
        }
        let id = self.spell(value);
        self.of_number.insert(*number, id);
        id
    }

    fn spell(&mut self, value: &Value) -> SpellingId {
        let text = match value {
            Value::Str(text) => text,
            other => {
                self.buffer.clear();
                // Writing to a string cannot fail.
                let _ = write!(self.buffer, "{other}");
                self.buffer.as_str()
            }
        };
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let text = match value {
            Value::Str(text) => Arc::clone(text),
            _ => text.into(),
        };
        self.insert(text, value.clone())
    }

    /// The id of a value given as text, and the text as a value.
    pub(crate) fn of_text(&mut self, text: &str) -> (SpellingId, Value) {
        let id = match self.ids.get(text) {
            Some(&id) => id,
            None => {
                let text: Arc<str> = text.into();
                self.insert(Arc::clone(&text), Value::Str(text))
            }
        };
        let (spelling, _) = &self.all[id.0 as usize];
        (id, Value::Str(Arc::clone(spelling)))
    }

    fn insert(&mut self, spelling: Arc<str>, value: Value) -> SpellingId {
        let id = SpellingId(self.all.len() as u32);
        self.ids.insert(Arc::clone(&spelling), id);
        self.all.push((spelling, value));
        id
    }

    /// The first value with this spelling.
    pub(crate) fn value(&self, id: SpellingId) -> &Value {
        &self.all[id.0 as usize].1
    }

    /// Its spelling.
    pub(super) fn text(&self, id: SpellingId) -> &str {
        &self.all[id.0 as usize].0
    }

    /// The number of values; their ids are below this.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Forgets all values after the first ones.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.len() > len
            && let Some((spelling, _)) = self.all.pop()
        {
            let id = self.ids.remove(&spelling);
            // Another number may be spelled with more zeros, and stays.
            if let Ok(number) = spelling.parse()
                && self.of_number.get(&number).copied() == id
            {
                self.of_number.remove(&number);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.of_number.clear();
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_if_they_are_spelled_alike() {
        let mut spellings = Spellings::default();
        for (value, text) in [
            (Value::from(7), "7"),
            (Value::from(-3), "-3"),
            (Value::from(true), "true"),
            (Value::from(7.0), "7.0"),
            (Value::from(-0.0), "-0.0"),
            (Value::from(1e300), "1e300"),
        ] {
            let id = spellings.of(&value);
            assert_eq!(spellings.of(&Value::from(text)), id);
            assert_eq!(spellings.of_text(text), (id, Value::from(text)));
            assert_eq!(spellings.value(id), &value, "the first is shown");
        }
        let known = spellings.len();
        for value in [Value::from("08"), Value::from("9"), Value::from(9)] {
            spellings.of(&value);
        }
        spellings.truncate(known);
        assert_eq!(
            spellings.of(&Value::from(8)).index(),
            known,
            "a number that was forgotten is new"
        );
        assert_eq!(spellings.of(&Value::from(9)).index(), known + 1);
        let all = [
            Value::from(7),
            Value::from(7.0),
            Value::from("07"),
            Value::from("\"7\""),
        ];
        let ids = all.each_ref().map(|value| spellings.of(value));
        for (place, id) in ids.iter().enumerate() {
            assert!(!ids[..place].contains(id), "{:?}", all[place]);
        }
    }
}
