//! Anything that events act on: a table, or a product that is too large for one.

use std::fmt::Debug;

use portent_monitor_dsl::Verdict;

use super::{ActionId, Automaton, StateIndex};

/// Something that events act on.
pub(crate) trait Machine: Sync {
    type State: Clone + Ord + Debug + Send + Sync;

    fn initial(&self) -> Self::State;
    fn step(&self, state: &Self::State, action: ActionId) -> Self::State;
    fn verdict(&self, state: &Self::State) -> Verdict;

    /// The bytes that a state points to, besides its own.
    fn heap_bytes(_: &Self::State) -> usize
    where
        Self: Sized,
    {
        0
    }
}

impl Machine for Automaton {
    type State = StateIndex;

    fn initial(&self) -> StateIndex {
        self.initial
    }

    fn step(&self, state: &StateIndex, action: ActionId) -> StateIndex {
        Automaton::step(self, *state, action)
    }

    fn verdict(&self, state: &StateIndex) -> Verdict {
        Automaton::verdict(self, *state)
    }
}
