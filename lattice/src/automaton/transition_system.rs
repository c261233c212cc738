//! Anything that events act on: a table, or a product that is too large for one.

use std::fmt::Debug;

use portent_monitor_dsl::Verdict;
use smallvec::SmallVec;

use super::{ActionId, Automaton, Product, ProductState, StateIndex};

/// Something that events act on.
pub(crate) trait TransitionSystem: Sync {
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

impl TransitionSystem for Automaton {
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

impl TransitionSystem for Product {
    type State = ProductState;

    fn initial(&self) -> ProductState {
        Product::initial(self)
    }

    fn step(&self, state: &ProductState, action: ActionId) -> ProductState {
        Product::step(self, state, action)
    }

    fn verdict(&self, state: &ProductState) -> Verdict {
        Product::verdict(self, state)
    }

    fn heap_bytes(state: &ProductState) -> usize {
        state.heap_bytes()
    }
}

/// The bytes that a list takes besides its own, if it has become too long for these.
pub(crate) fn spilled<A: smallvec::Array>(list: &SmallVec<A>) -> usize {
    if list.spilled() {
        list.capacity() * size_of::<A::Item>()
    } else {
        0
    }
}
