//! Keys that were probably meant to be others: `value` for `val`, `T` for `t`.
//!
//! A key unknown to the format is kept and shown, so that a misspelt one would be lost
//! silently. If the intended key is required, its absence is an error, which names the key that was found instead.
//! An unused value of a write is an error too: the line would mean something else than was
//! intended. Otherwise the line has a meaning without the key, and there is a warning.

use portent_monitor_core::{Op, suggest};
use rustc_hash::FxHashMap;

use super::{
    fields::{Key, Object},
    values::Problem,
};
use crate::decoder::Position;

/// The first key of a trace that was probably meant to be another.
#[derive(Clone, Debug)]
pub(crate) struct Misspelt {
    pub(crate) at: Position,
    pub(crate) key: String,
    pub(crate) meant: &'static str,
    /// The number of further lines with such a key.
    pub(crate) more: u64,
}

/// A key of one line, and what was probably meant.
pub(super) struct NearMiss<'a> {
    /// The text of its value.
    pub(super) at: &'a str,
    pub(super) key: String,
    pub(super) meant: Key,
}

/// What unknown keys were probably meant to be; a trace has few, and each on many lines.
#[derive(Default)]
pub(super) struct NearMisses {
    known: FxHashMap<Box<str>, Option<Key>>,
}

impl NearMisses {
    /// The first key of a line that was probably meant to be one that this operation has and the
    /// line lacks.
    pub(super) fn find<'a>(
        &mut self,
        object: &Object<'a, '_>,
        op: &Op,
    ) -> Result<Option<NearMiss<'a>>, Problem<'a>> {
        for (key, at) in object.unknown() {
            let meant = self.surely(key).or_else(|| by_shape(key, at));
            let Some(meant) = meant.filter(|meant| object.get(*meant).is_none()) else {
                continue;
            };
            let is_missed = match meant {
                Key::Val => matches!(op, Op::Write(..) | Op::Update(..)),
                Key::Args | Key::Set => matches!(op, Op::Event(_) | Op::Stamped(_)),
                // A program may well have a `message`, but hardly a `Text` or `txt`.
                Key::Text | Key::Loc | Key::Time => true,
                // Without these the line would silently mean something else.
                Key::Atomic => matches!(op, Op::Read(_) | Op::Write(..) | Op::Update(..)),
                Key::Try => matches!(op, Op::Lock(_) | Op::ReadLock(_)),
                Key::Fifo | Key::Capacity => matches!(op, Op::Send(..) | Op::Recv(..)),
                Key::Lock => matches!(op, Op::Waiting(..) | Op::Wait(..)),
                _ => false,
            };
            if !is_missed {
                continue;
            }
            if let Key::Val = meant {
                return Err(Problem::new(
                    at,
                    format!("expected the key `val`, not `{key}`"),
                ));
            }
            let key = key.to_owned();
            return Ok(Some(NearMiss { at, key, meant }));
        }
        Ok(None)
    }

    /// As [`meant`], but not by spelling: a `seq` of the program's own is no `set`.
    fn surely(&mut self, key: &str) -> Option<Key> {
        /// A trace may have a million different keys.
        const REMEMBERED: usize = 64;
        if let Some(known) = self.known.get(key) {
            return *known;
        }
        let lower = key.to_ascii_lowercase();
        let meant = by_meaning(&lower).or_else(|| Key::new(lower.as_bytes()));
        if self.known.len() < REMEMBERED {
            self.known.insert(key.into(), meant);
        }
        meant
    }
}

/// The key that an unknown one was probably meant to be.
pub(super) fn meant(key: &str) -> Option<Key> {
    let lower = key.to_ascii_lowercase();
    by_meaning(&lower).or_else(|| {
        let same = Key::new(lower.as_bytes());
        same.or_else(|| Key::new(suggest::closest(&lower, Key::names())?.as_bytes()))
    })
}

/// The known key that is one typing error away from a key, if its value is of the kind that the known key has: a list
/// of `agrs`, an object of `ste`, a truth value of `fiffo`.
fn by_shape(key: &str, value: &str) -> Option<Key> {
    let lower = key.to_ascii_lowercase();
    let first = *value.as_bytes().first()?;
    let candidates: &[Key] = match first {
        b'[' => &[Key::Args],
        b't' | b'f' => &[Key::Atomic, Key::Fifo],
        b'0'..=b'9' => &[Key::Capacity],
        b'"' => &[Key::Lock],
        _ => &[],
    };
    let named = |name: &str| Key::new(name.as_bytes());
    suggest::closest(&lower, candidates.iter().map(|key| key.name()))
        .and_then(named)
        .or_else(|| {
            // Too short for any typing error but two letters swapped: there are programs with a `get` and a `seq`.
            let short: &[Key] = match first {
                b'{' => &[Key::Set],
                b'"' => &[Key::Val, Key::Text, Key::Loc],
                _ => &[Key::Val, Key::Time],
            };
            let mut short = short.iter().copied();
            short.find(|key| is_swapped(&lower, key.name()))
        })
}

/// Whether one word is another with two neighbouring letters swapped.
fn is_swapped(word: &str, other: &str) -> bool {
    let (word, other) = (word.as_bytes(), other.as_bytes());
    let Some(first) = word.iter().zip(other).position(|(a, b)| a != b) else {
        return false;
    };
    let mut swapped = other.to_vec();
    if first + 1 < swapped.len() {
        swapped.swap(first, first + 1);
    }
    swapped == word
}

fn by_meaning(lower: &str) -> Option<Key> {
    Some(match lower {
        "thread" | "tid" | "thread_id" | "process" | "proc" | "pid" | "host" | "task" => Key::T,
        "operation" | "action" | "kind" | "type" => Key::Op,
        "clock" | "vclock" | "vector_clock" => Key::Vc,
        "variable" => Key::Var,
        "value" | "vals" | "values" | "new" => Key::Val,
        "mutex" | "monitor" => Key::Lock,
        "channel" => Key::Chan,
        "message" => Key::Msg,
        "condition" | "condvar" => Key::Cond,
        "event" => Key::Name,
        "arg" | "argument" | "arguments" | "params" => Key::Args,
        "sets" => Key::Set,
        "txt" => Key::Text,
        "locc" => Key::Loc,
        "tiem" => Key::Time,
        "initial" | "variables" => Key::Init,
        _ => return None,
    })
}

/// The names of an operation in other tools, or in plain English.
pub(super) fn operation(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "r" | "rd" | "load" | "get" => "read",
        "w" | "wr" | "store" | "put" => "write",
        "rmw" | "cas" | "swap" => "update",
        "acq" | "acquire" | "aquire" => "lock",
        "rel" | "release" | "relase" => "unlock",
        "spawn" | "start" | "create" => "fork",
        "receive" | "rcv" => "recv",
        "request" => "req",
        "signal" | "notifyall" | "broadcast" | "wake" => "notify",
        _ => return None,
    })
}
