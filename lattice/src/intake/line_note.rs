//! The information on the lines of a trace that properties do not see: the source location, the time, the text, and
//! keys unknown to Portent. Nothing depends on these notes, but users want to see them next to the
//! steps of a witness.
//!
//! A long log is not kept in memory as text: beyond a limit, later steps have no notes.

use portent_monitor_core::{Event, LocId, Symbols};
use serde::Serialize;

/// The information on a line of the trace that the property does not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Note {
    /// The place in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loc: Option<String>,
    /// The time, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// The message of a log line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Keys unknown to Portent.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Note {
    fn new<'t>(
        loc: Option<LocId>,
        time: Option<u64>,
        text: Option<&str>,
        extra: impl Iterator<Item = (&'t str, &'t str)>,
        symbols: &Symbols,
    ) -> Box<Note> {
        let value = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|_| serde_json::Value::from(text))
        };
        Box::new(Note {
            loc: loc.map(|loc| symbols.locs.name(loc).to_owned()),
            time,
            text: text.map(str::to_owned),
            extra: extra
                .map(|(key, text)| (key.to_owned(), value(text)))
                .collect(),
        })
    }
}

/// Whether an event has no information that is worth a note.
pub(crate) fn is_silent(event: &Event) -> bool {
    event.loc.is_none() && event.time.is_none() && event.details.is_none()
}

/// The keys of an event that are unknown to Portent.
fn extra(event: &Event) -> &[(Box<str>, Box<str>)] {
    let details = event.details.as_deref();
    details.map_or(&[], |details| &details.extra)
}

/// The note of one line, as long as it is needed. Its memory is reused for later lines.
#[derive(Clone, Debug)]
pub(crate) struct LineNote(Notes);

impl Default for LineNote {
    fn default() -> Self {
        LineNote(Notes::new(MAX_BYTES))
    }
}

/// The memory of a text longer than this is not reused.
const LONG: usize = 4096;

impl LineNote {
    /// Replaces the previous note with that of this event.
    pub(crate) fn set(&mut self, event: &Event) {
        self.0.clear();
        if self.0.texts.capacity() > LONG {
            self.0.texts = String::new();
        }
        self.0.keep(0, event);
    }

    /// The note as reported, if there is one.
    pub(crate) fn note(&self, symbols: &Symbols) -> Option<Box<Note>> {
        self.0.of(0, symbols)
    }
}

/// All notes take at most about this many bytes, whatever limit is set.
const MAX_BYTES: u64 = 64 << 20;

/// The notes of events that have one, in order.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    /// The memory limit in bytes.
    max_bytes: usize,
    /// The first event whose note was left out; so are all later ones.
    first_left_out: Option<u32>,
    kept: Vec<KeptNote>,
    /// The unknown keys of all notes.
    extra: Vec<[TextEnd; 2]>,
    /// All texts, end to end.
    texts: String,
}

/// The end of a text; it begins where the previous one ends.
type TextEnd = u32;

#[derive(Clone, Debug)]
struct KeptNote {
    event: u32,
    loc: Option<LocId>,
    time: Option<u64>,
    /// The index of its first text: its message, and then keys and values.
    begin: TextEnd,
    text: Option<TextEnd>,
    /// The end of its keys.
    extra_end: usize,
}

impl Notes {
    pub(crate) fn new(max_bytes: u64) -> Notes {
        Notes {
            max_bytes: max_bytes.min(MAX_BYTES) as usize,
            first_left_out: None,
            kept: Vec::new(),
            extra: Vec::new(),
            texts: String::new(),
        }
    }

    /// Keeps the note of an event, if there is one and there is room.
    pub(crate) fn keep(&mut self, event_index: u32, event: &Event) {
        if is_silent(event) || self.first_left_out.is_some() {
            return;
        }
        let told = event.text().map_or(0, str::len) + { extra(event).iter() }
            .map(|(key, value)| key.len() + value.len())
            .sum::<usize>();
        if self.bytes() + told > self.max_bytes {
            self.first_left_out = Some(event_index);
            return;
        }
        let begin = self.texts.len() as TextEnd;
        let text = event.text().map(|text| self.push(text));
        for (key, value) in extra(event) {
            let ends = [self.push(key), self.push(value)];
            self.extra.push(ends);
        }
        self.kept.push(KeptNote {
            event: event_index,
            loc: event.loc,
            time: event.time,
            begin,
            text,
            extra_end: self.extra.len(),
        });
    }

    fn push(&mut self, text: &str) -> TextEnd {
        self.texts.push_str(text);
        self.texts.len() as TextEnd
    }

    /// The first event whose note was left out; so were all later ones.
    pub(crate) fn first_left_out(&self) -> Option<u32> {
        self.first_left_out
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.kept[..]) + size_of_val(&self.extra[..]) + self.texts.len()
    }

    /// The note of an event.
    pub(crate) fn of(&self, event: u32, symbols: &Symbols) -> Option<Box<Note>> {
        let place = { &self.kept }.binary_search_by_key(&event, |note| note.event);
        let place = place.ok()?;
        let note = &self.kept[place];
        let text = |begin: TextEnd, end: TextEnd| &self.texts[begin as usize..end as usize];
        let before = place
            .checked_sub(1)
            .map_or(0, |before| self.kept[before].extra_end);
        let mut begin = note.text.unwrap_or(note.begin);
        let extra = self.extra[before..note.extra_end].iter();
        let extra = extra.map(|&[key_end, end]| {
            let pair = (text(begin, key_end), text(key_end, end));
            begin = end;
            pair
        });
        let message = note.text.map(|end| text(note.begin, end));
        Some(Note::new(note.loc, note.time, message, extra, symbols))
    }

    /// Forgets the run.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.extra.clear();
        self.texts.clear();
        self.first_left_out = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portent_monitor_core::{Details, Op};

    #[test]
    fn a_note_says_what_the_line_said() {
        let mut symbols = Symbols::default();
        let thread = symbols.threads.intern("T").expect("few");
        let lock = symbols.locks.intern("m").expect("few");
        let loc = symbols.locs.intern("a.rs:1").expect("few");
        let event = |text: Option<&str>, extra: &[(&str, &str)]| {
            let extra = extra.iter();
            let mut event = Event::new(thread, Op::Lock(lock));
            event.details = Some(Box::new(Details::new(
                text.map(Into::into),
                extra.map(|&(k, v)| (k.into(), v.into())).collect(),
            )));
            event
        };
        let mut events = [
            event(None, &[]),
            event(Some("one"), &[]),
            event(None, &[("a", "1"), ("", "\"x\"")]),
            event(Some(""), &[("b", "[true]")]),
            event(Some("two"), &[("c", "null"), ("d", "no JSON")]),
        ];
        events[2].loc = Some(loc);
        events[3].time = Some(7);
        let mut notes = Notes::new(1 << 20);
        for (index, event) in events.iter().enumerate() {
            notes.keep(2 * index as u32, event);
            let silent = Event::new(thread, Op::Unlock(lock));
            notes.keep(2 * index as u32 + 1, &silent);
        }
        let mut alone = LineNote::default();
        for (index, event) in events.iter().enumerate() {
            alone.set(event);
            let kept = notes.of(2 * index as u32, &symbols);
            assert!(kept.is_some());
            assert_eq!(kept, alone.note(&symbols));
            assert_eq!(notes.of(2 * index as u32 + 1, &symbols), None);
        }
        let note = notes.of(8, &symbols).expect("kept");
        assert_eq!(note.text.as_deref(), Some("two"));
        assert_eq!(note.extra["d"], "no JSON");

        // With less room, the first notes are kept.
        let mut few = Notes::new(4 * size_of::<KeptNote>() as u64);
        for (index, event) in events.iter().enumerate() {
            few.keep(index as u32, event);
        }
        let first = few.first_left_out().expect("not all fit");
        for index in 0..events.len() as u32 {
            let kept = (index < first).then(|| notes.of(2 * index, &symbols));
            assert_eq!(few.of(index, &symbols), kept.flatten(), "{index}");
        }
    }
}
