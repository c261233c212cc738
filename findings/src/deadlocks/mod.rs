//! Deadlocks: threads that wait for each other's locks.
//!
//! A deadlock is k ≥ 2 threads, each about to take a lock that the next of them holds. Candidates are first sought among the *orders* of
//! locks: acquires are grouped by their thread, their lock and the locks held, and a cycle of groups is a *pattern* (`patterns`). A pattern
//! need not be a deadlock, as something else may keep its threads apart; closed cuts then determine whether some run ends in
//! one (`realise`). Patterns have many choices of acquires, which are reported by their locations (`choices`).

pub(crate) mod choices;
pub(crate) mod patterns;
pub(crate) mod realise;

use portent_monitor_core::{Event, LockId, Mark, Op, Reorderings, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::record::{EventId, Record};

/// Locks, and whether they are held exclusively; sorted.
pub(crate) type Held = SmallVec<[(LockId, bool); 2]>;

/// Which side of a lock is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LockSide {
    Exclusive,
    Shared,
    /// A request does not specify it.
    Either,
}

/// Acquires that can play the same part in a deadlock, described by what they have in common. The literature calls it an
/// abstract acquire.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AbstractAcquire {
    pub(crate) thread: ThreadId,
    pub(crate) lock: LockId,
    pub(crate) side: LockSide,
    pub(crate) held: Held,
}

impl AbstractAcquire {
    /// Whether it may wait for a lock that the other holds.
    pub(crate) fn waits_for(&self, other: &AbstractAcquire) -> bool {
        self.is_kept_out(other, self.side != LockSide::Shared)
    }

    /// Whether it then waits, whichever side a request means.
    pub(crate) fn surely_waits_for(&self, other: &AbstractAcquire) -> bool {
        self.is_kept_out(other, self.side == LockSide::Exclusive)
    }

    fn is_kept_out(&self, other: &AbstractAcquire, is_exclusive: bool) -> bool {
        let mut held = other.held.iter();
        held.any(|&(lock, exclusive)| lock == self.lock && (exclusive || is_exclusive))
    }

    /// Whether two threads can hold these sets of locks at the same time.
    pub(crate) fn is_compatible(&self, other: &AbstractAcquire) -> bool {
        self.held.iter().all(|&(lock, exclusive)| {
            let mut same = other.held.iter().filter(|(theirs, _)| *theirs == lock);
            !same.any(|&(_, theirs)| exclusive || theirs)
        })
    }
}

/// The acquires of a trace by threads that already hold something.
#[derive(Clone, Debug, Default)]
pub(crate) struct AbstractAcquires {
    numbers: FxHashMap<AbstractAcquire, u32>,
    pub(crate) all: Vec<(AbstractAcquire, Vec<EventId>)>,
}

impl AbstractAcquires {
    /// Takes an event that the reorderings are about to take.
    pub(crate) fn take(&mut self, event: &Event, id: EventId, trace: &Reorderings) {
        if event.mark == Some(Mark::Try) {
            return;
        }
        let locking = event.op.locking();
        if let Some(taken) = locking.filter(|locking| locking.action.acquires()) {
            let side = if taken.exclusive {
                LockSide::Exclusive
            } else {
                LockSide::Shared
            };
            self.add(event.thread, taken.lock, side, id, trace);
        }
    }

    /// The trace has ended: a thread that requested a lock with its last event waits for it. The request does not specify the
    /// side, and a reader does not wait for readers.
    pub(crate) fn finish(&mut self, record: &Record, trace: &Reorderings) {
        for thread in ThreadId::first(record.threads()) {
            if let Some(&last) = record.of_thread(thread).last()
                && let Op::Request(lock) = record.event(last).op
            {
                self.add(thread, lock, LockSide::Either, last, trace);
            }
        }
    }

    fn add(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        side: LockSide,
        id: EventId,
        trace: &Reorderings,
    ) {
        let open = trace.open_sections(thread, trace.events(thread));
        let mut held: Held = open.map(|held| (held.lock, held.exclusive)).collect();
        // A thread that already holds the lock does not wait, or only for itself.
        if held.is_empty() || held.iter().any(|&(other, _)| other == lock) {
            return;
        }
        held.sort_unstable();
        let acquire = AbstractAcquire {
            thread,
            lock,
            side,
            held,
        };
        let fresh = self.all.len() as u32;
        let number = *self.numbers.entry(acquire).or_insert_with_key(|acquire| {
            self.all.push((acquire.clone(), Vec::new()));
            fresh
        });
        self.all[number as usize].1.push(id);
    }
}
