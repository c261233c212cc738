//! How much of the order exists only because of locks.
//!
//! Causality assumes that threads held a lock in the observed order, although the opposite order may be possible.
//! To tell where that matters, events are ordered a second time as if there were no locks. Up to the first
//! lock both orders are the same, so a run without locks costs nothing.

use portent_monitor_core::{Causality, ChainId, Error, Event, Op};

use super::{EventIndex, Poset, UnrestrictedEvent};
use crate::intake::{ClockBudget, History, HistoryIndex, Record, Slice};

/// The order of events without locks, as far as it differs from that of the history.
#[derive(Clone, Debug)]
pub(crate) struct Unlocked {
    state: State,
    /// The number of events of the history before the first lock.
    before: usize,
    without: Clocks,
    /// The order with locks, if that of the history is not derived from the events.
    with: Option<Clocks>,
    /// The memory limits for the clocks of steps and of threads.
    memory: u64,
    budget: ClockBudget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No lock has occurred so far.
    Same,
    /// From the first lock on.
    Apart,
    /// It takes too much memory.
    GivenUp,
}

/// The clocks of events of the history in some order, and the state needed to extend them.
#[derive(Clone, Debug, Default)]
struct Clocks {
    causality: Box<Causality>,
    /// For each event its chain, and where its clock ends among the counts.
    stamps: Vec<(ChainId, usize)>,
    counts: Vec<u32>,
}

impl Clocks {
    fn take(&mut self, event: &Event, is_relevant: bool) -> Result<(), Error> {
        let Clocks {
            causality,
            stamps,
            counts,
        } = self;
        let stepped = causality.step_with(event, is_relevant, |chain, clock| {
            counts.extend_from_slice(clock.counts());
            stamps.push((chain, counts.len()));
        });
        stepped.map(|_| ())
    }

    fn get(&self, index: usize) -> (ChainId, &[u32]) {
        let start = index.checked_sub(1).map_or(0, |index| self.stamps[index].1);
        let (chain, end) = self.stamps[index];
        (chain, &self.counts[start..end])
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.counts[..]) as u64
    }
}

impl Unlocked {
    pub(crate) fn new(memory: u64) -> Unlocked {
        Unlocked {
            state: State::Same,
            before: 0,
            without: Clocks::default(),
            with: None,
            memory,
            budget: ClockBudget::new(memory),
        }
    }

    /// Sees the next event before all other checks: at the first lock the two orders diverge. `causality` is the current
    /// state.
    pub(crate) fn prepare(
        &mut self,
        event: &Event,
        causality: Option<&Causality>,
        history: &History,
    ) {
        if self.state == State::Same && event.op.locking().is_some() {
            self.before = history.len();
            *self.without.causality = causality.cloned().unwrap_or_default();
            self.state = State::Apart;
        }
    }

    /// The same for a history whose order is given: from the first event on there are two more orders, with locks and without.
    pub(crate) fn prepare_given(&mut self) {
        if self.state == State::Same {
            self.with = Some(Clocks::default());
            self.state = State::Apart;
        }
    }

    /// Takes an event that has passed all checks.
    pub(crate) fn take(&mut self, event: &Event, is_relevant: bool) {
        if self.state != State::Apart {
            return;
        }
        // A line about a lock may also be a step: then it is one that orders nothing.
        let bare = without_lock(&event.op).map(|op| Event::new(event.thread, op));
        let bare = bare.as_ref().unwrap_or(event);
        let mut stepped = self.without.take(bare, is_relevant);
        if let Some(with) = &mut self.with {
            stepped = stepped.and_then(|()| with.take(event, is_relevant));
        }
        // Without locks there may be too many chains.
        if stepped.is_err()
            || self.bytes() > self.memory
            || self.budget.is_spent(&self.without.causality)
        {
            self.give_up();
        }
    }

    /// Roughly the number of bytes that the clocks of steps take.
    pub(crate) fn bytes(&self) -> u64 {
        self.without.bytes() + self.with.as_ref().map_or(0, Clocks::bytes)
    }

    /// The run has ended, or its order is no longer known: no more events are taken.
    pub(crate) fn end(&mut self, is_order_lost: bool) {
        if is_order_lost {
            self.give_up();
        } else if self.state == State::Apart {
            *self.without.causality = Causality::default();
            if let Some(with) = &mut self.with {
                *with.causality = Causality::default();
            }
        }
    }

    /// Marks everything as unknown.
    pub(crate) fn give_up(&mut self) {
        if self.state == State::GivenUp {
            return;
        }
        *self = Unlocked {
            state: State::GivenUp,
            ..Unlocked::new(self.memory)
        };
    }

    /// Forgets the run.
    pub(crate) fn clear(&mut self) {
        *self = Unlocked::new(self.memory);
    }

    /// The number of steps of a slice that have fewer predecessors without locks than in the given order with locks; `None` if
    /// unknown.
    pub(crate) fn steps_ordered_by_locks(
        &self,
        record: &Record<'_>,
        slice: &Slice,
        poset: &Poset,
    ) -> Option<u64> {
        match self.state {
            State::Same => return Some(0),
            State::GivenUp => return None,
            State::Apart => {}
        }
        let without = self.poset(record, slice, &self.without);
        let with = { self.with.as_ref() }.map(|with| self.poset(record, slice, with));
        let with = with.as_ref().unwrap_or(poset);
        // A clock counts all steps in the past, on whichever chains they are.
        let past = |poset: &Poset, event| poset.clock(event).iter().map(|&n| u64::from(n)).sum();
        let steps = (0..slice.steps.len() as u32).map(EventIndex);
        let fewer = steps.filter(|&event| {
            let (with, without): (u64, u64) = (past(with, event), past(&without, event));
            without < with
        });
        Some(fewer.count() as u64)
    }

    /// The order of a slice.
    fn poset(&self, record: &Record<'_>, slice: &Slice, clocks: &Clocks) -> Poset {
        Poset::restricted(slice.steps.iter().map(|&step| {
            let event = record.steps()[step as usize].event;
            let (chain, clock) = self.stamp(record, event, clocks);
            UnrestrictedEvent {
                chain,
                clock,
                number: record.event_number(step),
            }
        }))
    }

    fn stamp<'a>(
        &self,
        record: &Record<'a>,
        event: HistoryIndex,
        clocks: &'a Clocks,
    ) -> (ChainId, &'a [u32]) {
        match event.index().checked_sub(self.before) {
            Some(index) => clocks.get(index),
            None => {
                let history = record.history;
                (history.event(event).chain, history.clock(event))
            }
        }
    }
}

/// The remaining effect of an operation on a lock; `None` if it does not concern a lock.
fn without_lock(op: &Op) -> Option<Op> {
    match *op {
        Op::Lock(lock)
        | Op::Unlock(lock)
        | Op::ReadLock(lock)
        | Op::ReadUnlock(lock)
        | Op::TryLock(lock) => Some(Op::Request(lock)),
        Op::Waiting(cond, Some(_)) => Some(Op::Waiting(cond, None)),
        Op::Wait(cond, Some(_)) => Some(Op::Wait(cond, None)),
        _ => None,
    }
}
