//! How much of the order is there because of locks alone.
//!
//! Causality takes the order in which threads held a lock for granted, though they could have come the other way round.
//! To be able to say where that matters, events are ordered once more as if there were no locks. Up to the first
//! lock both orders are the same, so that a run without locks costs nothing.

use portent_monitor_core::{Causality, ChainId, Event, Op};

use super::{EventIndex, Poset, UnrestrictedEvent};
use crate::intake::{ClockBudget, History, HistoryIndex, Record, Slice};

/// The order of events without locks, as far as it is not that of the history.
#[derive(Clone, Debug)]
pub(crate) struct Unlocked {
    state: State,
    /// How many events of the history came before the first lock.
    before: usize,
    /// For each event of the history after that its chain, and where its clock ends among the clocks.
    stamps: Vec<(ChainId, usize)>,
    clocks: Vec<u32>,
    /// The bytes that clocks may take: those of steps, and those of threads.
    memory: u64,
    budget: ClockBudget,
}

#[derive(Clone, Debug)]
enum State {
    /// There was no lock so far.
    Same,
    /// From the first lock on.
    Apart(Box<Causality>),
    /// It takes too much memory.
    GivenUp,
}

impl Unlocked {
    pub(crate) fn new(memory: u64) -> Unlocked {
        Unlocked {
            state: State::Same,
            before: 0,
            stamps: Vec::new(),
            clocks: Vec::new(),
            memory,
            budget: ClockBudget::new(memory),
        }
    }

    /// Looks at the next event before anybody else does: at the first lock the ways part. `causality` is how
    /// things stand.
    pub(crate) fn prepare(
        &mut self,
        event: &Event,
        causality: Option<&Causality>,
        history: &History,
    ) {
        if matches!(self.state, State::Same) && without_lock(&event.op).is_some() {
            self.before = history.len();
            self.state = State::Apart(Box::new(causality.cloned().unwrap_or_default()));
        }
    }

    /// Takes an event that nobody has refused.
    pub(crate) fn take(&mut self, event: &Event, is_relevant: bool) {
        let State::Apart(causality) = &mut self.state else {
            return;
        };
        // A line about a lock may be a step, too: then it is one that orders nothing.
        let bare = without_lock(&event.op).map(|op| Event::new(event.thread, op));
        let event = bare.as_ref().unwrap_or(event);
        let (clocks, stamps) = (&mut self.clocks, &mut self.stamps);
        let stepped = causality.step_with(event, is_relevant, |chain, clock| {
            clocks.extend_from_slice(clock.counts());
            stamps.push((chain, clocks.len()));
        });
        // Without locks there may be too many chains.
        if stepped.is_err()
            || 4 * self.clocks.len() as u64 > self.memory
            || self.budget.is_spent(causality)
        {
            self.give_up();
        }
    }

    /// About how many bytes the clocks of steps take.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(&self.clocks[..]) as u64
    }

    /// The run has ended, or its order is not known any more: no more events are taken.
    pub(crate) fn end(&mut self, is_order_lost: bool) {
        if is_order_lost {
            self.give_up();
        } else if let State::Apart(causality) = &mut self.state {
            **causality = Causality::default();
        }
    }

    fn give_up(&mut self) {
        *self = Unlocked {
            state: State::GivenUp,
            ..Unlocked::new(self.memory)
        };
    }

    /// Forgets the run.
    pub(crate) fn clear(&mut self) {
        *self = Unlocked::new(self.memory);
    }

    /// How many steps of a slice, whose order with locks is given, have fewer of the others before them without
    /// locks; `None` if that is not known.
    pub(crate) fn steps_ordered_by_locks(
        &self,
        record: &Record<'_>,
        slice: &Slice,
        poset: &Poset,
    ) -> Option<u64> {
        match self.state {
            State::Same => return Some(0),
            State::GivenUp => return None,
            State::Apart(_) => {}
        }
        let without = Poset::restricted(slice.steps.iter().map(|&step| {
            let event = record.steps()[step as usize].event;
            let (chain, clock) = self.stamp(record, event);
            UnrestrictedEvent {
                chain,
                clock,
                number: record.event_number(step),
            }
        }));
        // A clock counts all steps in the past, on whichever chains they are.
        let past = |poset: &Poset, event| poset.clock(event).iter().map(|&n| u64::from(n)).sum();
        let steps = (0..slice.steps.len() as u32).map(EventIndex);
        let fewer = steps.filter(|&event| {
            let (with, without): (u64, u64) = (past(poset, event), past(&without, event));
            without < with
        });
        Some(fewer.count() as u64)
    }

    fn stamp<'a>(&'a self, record: &Record<'a>, event: HistoryIndex) -> (ChainId, &'a [u32]) {
        let Some(index) = event.index().checked_sub(self.before) else {
            let history = record.history;
            return (history.event(event).chain, history.clock(event));
        };
        let start = index.checked_sub(1).map_or(0, |index| self.stamps[index].1);
        let (chain, end) = self.stamps[index];
        (chain, &self.clocks[start..end])
    }
}

/// What an operation on a lock does besides; `None` if it is on no lock.
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
