//! Deadlocks: threads that wait for each other's locks.
//!
//! A deadlock is k ≥ 2 threads, each about to take a lock that the next of them holds. What could be one is first looked for among the
//! *orders* of locks: acquires are grouped by their thread, their lock and what is held, and a cycle of groups is a *pattern* (`patterns`).
//! A pattern need not be a deadlock, as something else may keep its threads apart; whether there is a run that ends in one is then asked
//! of the closed cuts (`realise`). Patterns have many choices of acquires, which are told by their locations (`choices`).

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
pub(crate) enum Side {
    Exclusive,
    Shared,
    /// A request does not say.
    Either,
}

/// What acquires have in common that can take the same part in a deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wish {
    pub(crate) thread: ThreadId,
    pub(crate) lock: LockId,
    pub(crate) side: Side,
    pub(crate) held: Held,
}

impl Wish {
    /// Whether it may wait while the other holds what it holds.
    pub(crate) fn waits_for(&self, other: &Wish) -> bool {
        self.is_kept_out(other, self.side != Side::Shared)
    }

    /// Whether it waits then whichever side a request is for.
    pub(crate) fn surely_waits_for(&self, other: &Wish) -> bool {
        self.is_kept_out(other, self.side == Side::Exclusive)
    }

    fn is_kept_out(&self, other: &Wish, is_exclusive: bool) -> bool {
        let mut held = other.held.iter();
        held.any(|&(lock, exclusive)| lock == self.lock && (exclusive || is_exclusive))
    }

    /// Whether two threads can hold what these hold at the same time.
    pub(crate) fn is_compatible(&self, other: &Wish) -> bool {
        self.held.iter().all(|&(lock, exclusive)| {
            let mut same = other.held.iter().filter(|(theirs, _)| *theirs == lock);
            !same.any(|&(_, theirs)| exclusive || theirs)
        })
    }
}

/// The acquires of a trace that hold something already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    numbers: FxHashMap<Wish, u32>,
    pub(crate) all: Vec<(Wish, Vec<EventId>)>,
}

impl Wishes {
    /// Takes an event that the reorderings are about to take.
    pub(crate) fn take(&mut self, event: &Event, id: EventId, trace: &Reorderings) {
        if event.mark == Some(Mark::Try) {
            return;
        }
        match event.op {
            Op::Lock(lock) | Op::Wait(_, Some(lock)) => {
                self.add(event.thread, lock, Side::Exclusive, id, trace)
            }
            Op::ReadLock(lock) => self.add(event.thread, lock, Side::Shared, id, trace),
            _ => {}
        }
    }

    /// The trace has ended: who asked for a lock with its last event waits for it. The request does not say for which side, and a reader does
    /// not wait for readers.
    pub(crate) fn finish(&mut self, record: &Record, trace: &Reorderings) {
        for thread in ThreadId::first(record.threads()) {
            if let Some(&last) = record.of_thread(thread).last()
                && let Op::Request(lock) = record.event(last).op
            {
                self.add(thread, lock, Side::Either, last, trace);
            }
        }
    }

    fn add(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        side: Side,
        id: EventId,
        trace: &Reorderings,
    ) {
        let open = trace.open_sections(thread, trace.events(thread));
        let mut held: Held = open.map(|held| (held.lock, held.exclusive)).collect();
        // Who has it already does not wait, or for itself alone.
        if held.is_empty() || held.iter().any(|&(other, _)| other == lock) {
            return;
        }
        held.sort_unstable();
        let wish = Wish {
            thread,
            lock,
            side,
            held,
        };
        let fresh = self.all.len() as u32;
        let number = *self.numbers.entry(wish).or_insert_with_key(|wish| {
            self.all.push((wish.clone(), Vec::new()));
            fresh
        });
        self.all[number as usize].1.push(id);
    }
}
