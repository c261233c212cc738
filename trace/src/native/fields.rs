//! The keys of one line, in fixed slots.
//!
//! The format knows about twenty keys. The places of their values are kept in an array, so that
//! a lookup is an array access; keys unknown to the format are kept separately. One `Fields` serves
//! all lines of a trace and holds only places, so that a line costs no allocation.

use std::{borrow::Cow, str};

use super::{
    entries::{entries, repeated},
    near_miss::meant,
    scan::{NO_WORD, Part, Span, plain_object},
    values::{Problem, name},
};

macro_rules! keys {
    ($($key:ident $name:literal,)*) => {
        /// A key known to the format.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(super) enum Key { $($key,)* }

        const NAMES: &[&[u8]] = &[$($name,)*];

        /// The names as single numbers; of a long one, a number that is no name's.
        #[allow(non_upper_case_globals)]
        mod words {
            use super::super::scan::packed;

            $(pub(super) const $key: u64 = match packed($name) {
                Some(word) => word,
                None => u64::MAX,
            };)*
        }

        impl Key {
            /// The key of this name, if it is a short one.
            #[inline(always)]
            fn from_word(word: u64) -> Option<Key> {
                match word {
                    $(words::$key => Some(Key::$key),)*
                    _ => None,
                }
            }

            #[inline]
            pub(super) fn new(name: &[u8]) -> Option<Key> {
                match name {
                    $($name => Some(Key::$key),)*
                    _ => None,
                }
            }
        }
    };
}

keys! {
    T b"t",
    Op b"op",
    Vc b"vc",
    Var b"var",
    Val b"val",
    Lock b"lock",
    Child b"child",
    Chan b"chan",
    Msg b"msg",
    Cond b"cond",
    Barrier b"barrier",
    Round b"round",
    Block b"block",
    Name b"name",
    Args b"args",
    Set b"set",
    Text b"text",
    Loc b"loc",
    Time b"time",
    Portent b"portent",
    Init b"init",
    Atomic b"atomic",
    Try b"try",
    Fifo b"fifo",
    Capacity b"capacity",
}

impl Key {
    pub(super) fn name(self) -> &'static str {
        str::from_utf8(NAMES[self as usize]).unwrap_or_default()
    }

    /// All names.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter_map(|name| str::from_utf8(name).ok())
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The places of the values of the current line.
#[derive(Default)]
pub(super) struct Fields {
    /// By key; entries that are not `present` belong to an earlier line.
    known: [Part; NAMES.len()],
    present: u32,
    /// Those not taken yet.
    left: u32,
    /// Whether some known key occurs twice.
    twice: bool,
    unknown: Vec<(Box<str>, Span)>,
}

impl Fields {
    /// Resets to the fields of the object in this text.
    #[inline]
    pub(super) fn read<'a, 'f>(&'f mut self, text: &'a str) -> Result<Object<'a, 'f>, Problem<'a>> {
        self.clear();
        let bytes = text.as_bytes();
        let plain = plain_object(bytes, |key, raw| match Key::from_word(key.word) {
            Some(known) => self.put(known, raw),
            None => self.put_long(&text[key.span], raw),
        });
        let plain = plain.is_some() && !self.twice && !self.unknown_twice();
        if !plain {
            self.read_unusual(text)?;
        }
        Ok(Object {
            text,
            plain,
            fields: self,
        })
    }

    /// For lines with escapes or much nesting in them, and for those that are wrong.
    #[cold]
    fn read_unusual<'a>(&mut self, text: &'a str) -> Result<(), Problem<'a>> {
        self.clear();
        for (key, raw) in entries(text)? {
            let start = raw.as_ptr() as usize - text.as_ptr() as usize;
            let raw = Part {
                span: start..start + raw.len(),
                word: NO_WORD,
            };
            self.put_long(&key, raw);
        }
        Ok(())
    }

    fn unknown_twice(&self) -> bool {
        let keys = self.unknown.iter().map(|(key, _)| &**key);
        self.unknown.len() > 1 && repeated(keys).is_some()
    }

    fn clear(&mut self) {
        (self.present, self.left, self.twice) = (0, 0, false);
        self.unknown.clear();
    }

    /// A key that may be long, or none of the format's.
    #[cold]
    fn put_long(&mut self, key: &str, raw: Part) {
        match Key::new(key.as_bytes()) {
            Some(known) => self.put(known, raw),
            None => self.unknown.push((key.into(), raw.span)),
        }
    }

    #[inline(always)]
    fn put(&mut self, key: Key, raw: Part) {
        self.twice |= self.present & key.bit() != 0;
        self.known[key as usize] = raw;
        self.present |= key.bit();
        self.left |= key.bit();
    }
}

/// One line as its keys and the texts of their values.
pub(super) struct Object<'a, 'f> {
    /// The line.
    pub(super) text: &'a str,
    /// No string in it has an escape.
    plain: bool,
    fields: &'f mut Fields,
}

impl<'a> Object<'a, '_> {
    /// The text of a value, taken or not.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&'a str> {
        let here = self.fields.present & key.bit() != 0;
        here.then(|| &self.text[self.fields.known[key as usize].span.clone()])
    }

    /// What is in the quotes of a value that is there, if it is short, as one number.
    #[inline]
    pub(super) fn word(&self, key: Key) -> u64 {
        self.fields.known[key as usize].word
    }

    /// The text of a value, which is then no longer among the [`rest`](Self::rest).
    #[inline(always)]
    pub(super) fn take(&mut self, key: Key) -> Option<&'a str> {
        self.fields.left &= !key.bit();
        self.get(key)
    }

    /// As [`take`](Self::take), for a key that `who` requires: an operation, or lines in general.
    #[inline(always)]
    pub(super) fn need(&mut self, key: Key, who: &str) -> Result<&'a str, Problem<'a>> {
        self.take(key).ok_or_else(|| self.lacks(key, who))
    }

    /// The error for a missing key, naming a similar one that is present instead.
    #[cold]
    pub(super) fn lacks(&self, key: Key, who: &str) -> Problem<'a> {
        let name = key.name();
        // An operation is one word, and anything else several.
        let needs = if who.contains(' ') {
            format!("{who} has")
        } else {
            format!("`{who}` needs")
        };
        let mut unknown = self.unknown();
        match unknown.find(|(unknown, _)| meant(unknown) == Some(key)) {
            Some((unknown, at)) => {
                let what = format!("expected the key `{name}`, which {needs}, not `{unknown}`");
                Problem::new(at, what)
            }
            None if key == Key::T && self.get(Key::Portent).is_some() => {
                let what = "a line with `portent` and no thread is a header, which stands first";
                Problem::new(self.text, what)
            }
            None if key == Key::T && self.get(Key::Init).is_some() => {
                let what = "expected the key `portent`, which a first line with `init` has";
                Problem::new(self.text, what)
            }
            None => Problem::new(self.text, format!("expected a key `{name}`, which {needs}")),
        }
    }

    /// The keys unknown to the format, and the texts of their values.
    pub(super) fn unknown(&self) -> impl Iterator<Item = (&str, &'a str)> {
        let unknown = self.fields.unknown.iter();
        unknown.map(|(key, raw)| (&**key, &self.text[raw.clone()]))
    }

    /// Reads a value of this line as a [`name`].
    #[inline(always)]
    pub(super) fn name(&self, raw: &'a str) -> Result<Cow<'a, str>, Problem<'a>> {
        match raw.as_bytes() {
            [b'"', .., b'"'] if self.plain => Ok(raw[1..raw.len() - 1].into()),
            _ => name(raw),
        }
    }

    /// The text of the first of these keys that is there.
    #[inline]
    pub(super) fn first_of<const N: usize>(&self, keys: [Key; N]) -> Option<&'a str> {
        let any = keys.iter().fold(0, |any, key| any | key.bit());
        // Most lines have none.
        match self.fields.present & any {
            0 => None,
            _ => keys.into_iter().find_map(|key| self.get(key)),
        }
    }

    /// Whether there are keys unknown to the format.
    #[inline]
    pub(super) fn has_unknown(&self) -> bool {
        !self.fields.unknown.is_empty()
    }

    /// Whether there are entries that were not taken.
    #[inline]
    pub(super) fn has_rest(&self) -> bool {
        self.fields.left != 0 || !self.fields.unknown.is_empty()
    }

    /// The entries that were not taken, in the order of the line.
    pub(super) fn rest(self) -> Vec<(Box<str>, Box<str>)> {
        let mut rest = std::mem::take(&mut self.fields.unknown);
        for (i, name) in NAMES.iter().enumerate() {
            if self.fields.left & (1 << i) != 0 {
                let name = String::from_utf8_lossy(name).into();
                rest.push((name, self.fields.known[i].span.clone()));
            }
        }
        rest.sort_by_key(|(_, raw)| raw.start);
        let raw = |span: Span| self.text[span].into();
        rest.into_iter()
            .map(|(key, span)| (key, raw(span)))
            .collect()
    }
}
