//! Puts the lines of a log in an order that its clocks allow.
//!
//! A log is often the logs of several hosts one after the other, and a host's lines may be swapped.
//! Its vector clocks say what the file's order does not: a line is given out once every line that
//! its clock counts was. Among lines that are ready the file's order decides.
//!
//! Lines that wait are held in memory, for a log sorted by host nearly all of them. A line that was
//! lost keeps its successors waiting until the end of the log; then it is taken as lost.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
};

use portent_monitor_core::{Op, ThreadId};
use rustc_hash::FxHashMap;

use crate::decoder::{Decoded, Position};

/// Reorders the events of one execution.
#[derive(Debug, Default)]
pub(crate) struct Linearizer {
    /// All lines of a thread up to this number were given out or are lost.
    done: FxHashMap<ThreadId, u32>,
    /// Events that wait, by their place in the file; with the number of components of their clock
    /// that are known to be done, so that no component is looked at twice.
    held: BTreeMap<u64, (Decoded, usize)>,
    /// For each thread the numbers of its lines that are waited for, and by whom.
    waiting: FxHashMap<ThreadId, BTreeMap<u32, Vec<u64>>>,
    held_lines: HeldLines,
    ready: BinaryHeap<Reverse<u64>>,
    pushed: u64,
    /// No more lines will come, so that gaps are lines that were lost.
    closed: bool,
    /// A cycle was looked for.
    told_cycle: bool,
}

impl Linearizer {
    /// Takes the next line of the file.
    pub(crate) fn push(&mut self, decoded: Decoded) {
        let key = self.pushed;
        self.pushed += 1;
        if let Some((thread, own)) = own_line(&decoded) {
            *self
                .held_lines
                .entry(thread)
                .or_default()
                .entry(own)
                .or_default() += 1;
        }
        self.held.insert(key, (decoded, 0));
        self.sort(key);
    }

    /// No more lines come.
    pub(crate) fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let threads: Vec<ThreadId> = self.waiting.keys().copied().collect();
        for thread in threads {
            self.skip_lost(thread);
        }
    }

    /// A line whose past was given out.
    pub(crate) fn pop(&mut self) -> Option<Decoded> {
        let Reverse(key) = self.ready.pop()?;
        let (decoded, _) = self.held.remove(&key)?;
        self.let_go(&decoded);
        Some(decoded)
    }

    /// After [`close`](Self::close), when nothing more can be given out: a line of a cycle, and one
    /// that it waits for. Those that wait for it take it as lost.
    pub(crate) fn stuck(&mut self) -> Option<(Decoded, Option<Position>)> {
        let first = *self.held.keys().next()?;
        // Only one is told in full, and there may be a million.
        let (key, other) = match std::mem::replace(&mut self.told_cycle, true) {
            true => (first, None),
            false => self.cycle(first).unwrap_or((first, None)),
        };
        let (decoded, _) = self.held.remove(&key)?;
        self.let_go(&decoded);
        Some((decoded, other))
    }

    /// A line that waits for itself through others, on the way from this one, and one that it waits
    /// for.
    fn cycle(&self, first: u64) -> Option<(u64, Option<Position>)> {
        let mut key = first;
        let mut passed = BTreeSet::new();
        while passed.insert(key) {
            key = self.waits_for(key)?;
        }
        let (other, _) = self.held.get(&self.waits_for(key)?)?;
        Some((key, Some(other.op)))
    }

    /// A held line that must come before a held one.
    fn waits_for(&self, key: u64) -> Option<u64> {
        let (decoded, _) = self.held.get(&key)?;
        let Op::Stamped(stamped) = &decoded.event.op else {
            return None;
        };
        let counted = |thread: ThreadId, own: u32| {
            let lines = stamped.component(thread);
            own <= lines.saturating_sub(u32::from(thread == decoded.event.thread))
        };
        let mut others = self.held.iter().filter(|(other, _)| **other != key);
        others
            .find(|(_, (other, _))| own_line(other).is_some_and(|(t, own)| counted(t, own)))
            .map(|(other, _)| *other)
    }

    /// A line is held no longer, and nobody need wait for it.
    fn let_go(&mut self, decoded: &Decoded) {
        let Some((thread, own)) = own_line(decoded) else {
            return;
        };
        if let Some(lines) = self.held_lines.get_mut(&thread)
            && let Some(count) = lines.get_mut(&own)
        {
            *count -= 1;
            if *count == 0 {
                lines.remove(&own);
            }
        }
        self.advance(thread, own);
        if self.closed {
            self.skip_lost(thread);
        }
    }

    /// Puts a held event among the ready ones, or in the queue of a line that it needs.
    fn sort(&mut self, key: u64) {
        let Some((decoded, checked)) = self.held.get_mut(&key) else {
            return;
        };
        let Op::Stamped(stamped) = &decoded.event.op else {
            return self.ready.push(Reverse(key));
        };
        let thread = decoded.event.thread;
        let missing = stamped.clock[*checked..]
            .iter()
            .find_map(|&(other, lines)| {
                let needed = if other == thread {
                    lines.saturating_sub(1)
                } else {
                    lines
                };
                let mut done = self.done.get(&other).copied().unwrap_or(0);
                if self.closed {
                    done = done.max(before_next_held(&self.held_lines, other));
                }
                if needed > done {
                    return Some((other, needed));
                }
                *checked += 1;
                None
            });
        match missing {
            None => self.ready.push(Reverse(key)),
            Some((other, needed)) => {
                self.waiting
                    .entry(other)
                    .or_default()
                    .entry(needed)
                    .or_default()
                    .push(key);
            }
        }
    }

    fn advance(&mut self, thread: ThreadId, line: u32) {
        let done = self.done.entry(thread).or_default();
        *done = (*done).max(line);
        let done = *done;
        while let Some(mut first) = self
            .waiting
            .get_mut(&thread)
            .and_then(BTreeMap::first_entry)
        {
            if *first.key() > done {
                break;
            }
            let woken = std::mem::take(first.get_mut());
            first.remove();
            for key in woken {
                self.sort(key);
            }
        }
    }

    /// Counts the lines as done that are neither given out nor held.
    fn skip_lost(&mut self, thread: ThreadId) {
        self.advance(thread, before_next_held(&self.held_lines, thread));
    }
}

/// For each thread the numbers of its lines that are held, and how often.
type HeldLines = FxHashMap<ThreadId, BTreeMap<u32, u32>>;

/// No line of the thread up to this number is held.
fn before_next_held(held: &HeldLines, thread: ThreadId) -> u32 {
    let next = held
        .get(&thread)
        .and_then(|lines| lines.keys().next().copied());
    next.map_or(u32::MAX, |next| next.saturating_sub(1))
}

fn own_line(decoded: &Decoded) -> Option<(ThreadId, u32)> {
    let Op::Stamped(stamped) = &decoded.event.op else {
        return None;
    };
    let thread = decoded.event.thread;
    let own = stamped.component(thread);
    (own > 0).then_some((thread, own))
}
