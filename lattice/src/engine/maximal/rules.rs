//! What a trace demands of the order of its events.

use portent_monitor_core::{Event, LockId};
use rustc_hash::FxHashMap;

use super::reader::RulesReader;

/// The demands of a trace: made once, for any number of properties.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The events of each thread, as indices in observed order.
    pub(super) threads: Vec<Vec<u32>>,
    pub(super) events: Vec<Demands>,
    pub(super) variables: Vec<Variable>,
    /// How many variables are contended.
    pub(super) contended: usize,
    /// Who holds each lock when.
    pub(super) locks: FxHashMap<LockId, Vec<Holder>>,
    /// The last try of each thread that failed because a lock was held: a cut that contains these does
    /// not care who holds it.
    pub(super) tries: FxHashMap<LockId, Vec<Place>>,
}

/// What one event demands and does.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    pub(super) thread: u32,
    /// What must have happened.
    pub(super) after: Box<[Place]>,
    /// The variables that it reads, each with the write that it must see; `None` is the initial
    /// value.
    pub(super) reads: Box<[(u32, Option<u32>)]>,
    /// The variables that it writes.
    pub(super) writes: Box<[u32]>,
    /// The locks that it takes: one, or after a wait that released them those that it had.
    pub(super) takes: Box<[Held]>,
    /// The lock that it fails to take, because somebody holds it.
    pub(super) tries: Option<LockId>,
    /// The lock that it releases.
    pub(super) releases: Option<Held>,
    /// The locks that its thread releases after it without a line, in a wait.
    pub(super) yields: Vec<Held>,
}

impl Demands {
    /// Adds places of other threads that it comes after.
    pub(super) fn add_after(&mut self, places: &[Place], thread: u32) {
        let mut after = std::mem::take(&mut self.after).into_vec();
        for place in places.iter().filter(|place| place.thread != thread) {
            place.join(&mut after);
        }
        self.after = after.into();
    }
}

/// An event by its thread and its position there, from 1: a cut contains it if it has as many
/// events of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) thread: u32,
    pub(super) position: u32,
}

impl Place {
    pub(super) fn is_in(self, cut: &[u32]) -> bool {
        self.position <= cut[self.thread as usize]
    }

    /// Adds a place to some of which the last of each thread matters.
    pub(super) fn join(self, places: &mut Vec<Place>) {
        match places.iter_mut().find(|other| other.thread == self.thread) {
            Some(other) => other.position = other.position.max(self.position),
            None => places.push(self),
        }
    }
}

/// Who writes a variable, and who reads it.
#[derive(Clone, Debug, Default)]
pub(super) struct Variable {
    /// All writes in observed order, as events.
    pub(super) writes: Vec<u32>,
    /// The last read of each thread: a cut that contains these has no use for the last writer.
    pub(super) last_reads: Vec<Place>,
    /// Its number among the contended variables, those that several threads write. For the others
    /// a cut tells who wrote last.
    pub(super) contended: Option<u32>,
}

/// A lock that is taken or released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) lock: LockId,
    pub(super) exclusive: bool,
}

/// The critical sections of one thread with one side of one lock.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) thread: u32,
    pub(super) exclusive: bool,
    /// In order and apart: the lock is held by a cut with at least the first and less than the
    /// second number of events of the thread.
    pub(super) sections: Vec<(u32, u32)>,
    /// How many times it has been taken and not released yet.
    pub(super) depth: u32,
}

impl Holder {
    fn holds(&self, cut: &[u32]) -> bool {
        let count = cut[self.thread as usize];
        let begun = self.sections.partition_point(|&(from, _)| from <= count);
        begun > 0 && count < self.sections[begun - 1].1
    }
}

impl Rules {
    /// The demands of a trace that a [`Discipline`](portent_monitor_core::Discipline) admitted.
    pub fn new(trace: &[Event]) -> Rules {
        let mut reader = RulesReader::default();
        for event in trace {
            reader.read(event);
        }
        reader.finish()
    }

    /// How many events the trace has.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether the trace is empty.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The last write of a variable that is not contended, in a cut.
    pub(super) fn sole_writer(&self, variable: u32, cut: &[u32]) -> Option<u32> {
        let writes = &self.variables[variable as usize].writes;
        let writer = self.events[*writes.first()? as usize].thread as usize;
        let done = cut[writer].checked_sub(1)?;
        let last = self.threads[writer][done as usize];
        let count = writes.partition_point(|&write| write <= last);
        count.checked_sub(1).map(|index| writes[index])
    }

    /// Whether another thread than `thread` holds in a cut what excludes a lock.
    pub(super) fn is_held(&self, taken: Held, thread: u32, cut: &[u32]) -> bool {
        let holders = self.locks.get(&taken.lock).into_iter().flatten();
        holders
            .filter(|holder| holder.thread != thread && (taken.exclusive || holder.exclusive))
            .any(|holder| holder.holds(cut))
    }

    /// Whether anybody holds a lock in a cut.
    pub(super) fn is_locked(&self, lock: LockId, cut: &[u32]) -> bool {
        let mut holders = self.locks.get(&lock).into_iter().flatten();
        holders.any(|holder| holder.holds(cut))
    }

    /// Whether somebody still has to fail to take a lock after a cut.
    pub(super) fn is_to_be_tried(&self, lock: LockId, cut: &[u32]) -> bool {
        let mut tries = self.tries.get(&lock).into_iter().flatten();
        tries.any(|place| !place.is_in(cut))
    }

    /// Whether somebody still has to read a variable after a cut.
    pub(super) fn is_to_be_read(&self, variable: u32, cut: &[u32]) -> bool {
        let mut reads = self.variables[variable as usize].last_reads.iter();
        reads.any(|read| !read.is_in(cut))
    }

    /// Finds out which variables are contended.
    pub(super) fn compare_writers(&mut self) {
        for variable in &mut self.variables {
            let thread = |write: &u32| self.events[*write as usize].thread;
            let Some(first) = variable.writes.first().map(thread) else {
                continue;
            };
            if variable.writes.iter().any(|write| thread(write) != first) {
                variable.contended = Some(self.contended as u32);
                self.contended += 1;
            } else {
                // Its own thread keeps its order anyway.
                variable.last_reads.retain(|read| read.thread != first);
            }
        }
    }
}
