//! What the lines of a trace tell beside what a property sees of them: the place in the source, the
//! time, the text, keys that Portent does not know. Nothing depends on it, but people want to see it
//! beside the steps of a witness.
//!
//! A long log is not kept in memory as text: beyond a limit, later steps have no notes.

use portent_monitor_core::{Details, Event, LocId, Symbols};
use rustc_hash::FxHashMap;

use serde::Serialize;

/// What a line of the trace tells beside what the property sees.
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
    /// Keys that Portent does not know.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// The notes of one property's steps take at most about so many bytes.
const MAX_BYTES: usize = 64 << 20;

/// What one line tells.
#[derive(Clone, Debug)]
pub(crate) struct LineNote {
    loc: Option<LocId>,
    time: Option<u64>,
    details: Option<Box<Details>>,
}

impl LineNote {
    /// What an event tells, if it tells anything.
    pub(crate) fn by(event: &Event) -> Option<LineNote> {
        let silent = event.loc.is_none() && event.time.is_none() && event.details.is_none();
        (!silent).then(|| LineNote {
            loc: event.loc,
            time: event.time,
            details: event.details.clone(),
        })
    }

    fn bytes(&self) -> usize {
        let details = self.details.as_deref();
        let texts = details.map_or(0, |details| {
            let extra = details.extra.iter();
            let extra: usize = extra.map(|(key, value)| 32 + key.len() + value.len()).sum();
            size_of::<Details>() + details.text.as_ref().map_or(0, |text| text.len()) + extra
        });
        size_of::<(u32, LineNote)>() * 2 + texts
    }

    /// The same for a report.
    pub(crate) fn note(&self, symbols: &Symbols) -> Box<Note> {
        let details = self.details.as_deref();
        let extra = details.map_or(&[][..], |details| details.extra.as_slice());
        let value = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|_| serde_json::Value::from(text))
        };
        Box::new(Note {
            loc: self.loc.map(|loc| symbols.locs.name(loc).to_owned()),
            time: self.time,
            text: details.and_then(|details| Some(details.text.as_ref()?.to_string())),
            extra: extra
                .iter()
                .map(|(key, text)| (key.to_string(), value(text)))
                .collect(),
        })
    }
}

/// The notes of the steps that have some.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    kept: FxHashMap<u32, LineNote>,
    bytes: usize,
}

impl Notes {
    /// Keeps what an event tells, if it tells anything and there is room.
    pub(crate) fn keep(&mut self, step: u32, event: &Event) {
        if self.bytes >= MAX_BYTES {
            return;
        }
        if let Some(told) = LineNote::by(event) {
            self.bytes += told.bytes();
            self.kept.insert(step, told);
        }
    }

    /// What is known of a step.
    pub(crate) fn of(&self, step: u32, symbols: &Symbols) -> Option<Box<Note>> {
        Some(self.kept.get(&step)?.note(symbols))
    }
}
