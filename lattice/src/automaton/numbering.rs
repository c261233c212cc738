//! States by number, for a search that packs them in integers: each is given the next number when
//! it is first reached.

use std::sync::{Mutex, PoisonError};

use indexmap::IndexSet;
use portent_monitor_dsl::Verdict;
use rustc_hash::FxBuildHasher;

use crate::automaton::{ActionId, Product, ProductState, StateIndex, TransitionSystem};

/// A product whose states are numbers.
pub(crate) struct Numbered<'a> {
    product: &'a Product,
    /// A machine may be stepped by several threads.
    states: Mutex<IndexSet<ProductState, FxBuildHasher>>,
}

impl<'a> Numbered<'a> {
    pub(crate) fn new(product: &'a Product) -> Self {
        Numbered {
            product,
            states: Mutex::new(IndexSet::from_iter([product.initial()])),
        }
    }

    fn state(&self, number: StateIndex) -> ProductState {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)[number.0 as usize].clone()
    }
}

impl TransitionSystem for Numbered<'_> {
    type State = StateIndex;

    fn initial(&self) -> StateIndex {
        StateIndex(0)
    }

    fn step(&self, state: &StateIndex, action: ActionId) -> StateIndex {
        let after = self.product.step(&self.state(*state), action);
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        StateIndex(states.insert_full(after).0 as u32)
    }

    fn verdict(&self, state: &StateIndex) -> Verdict {
        self.product.verdict(&self.state(*state))
    }
}
