//! Invisible events: events that change no state are irrelevant steps.
//!
//! They are left out of the order before the search, which shrinks the clocks and the lattice. A
//! run of the visible events extends to a run of all events: each is preceded by what it needs, and the rest comes
//! at the end. The number of events before a violation is not preserved.

use crate::{
    automaton::{ActionId, Automaton, StateIndex},
    order::{EventIndex, Poset},
};

/// The events that change some state.
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    pub(crate) poset: Poset,
    pub(crate) actions: Vec<ActionId>,
    /// The indices of these events in the whole order.
    origin: Vec<EventIndex>,
}

impl Visible {
    /// `None` if every event is visible.
    pub(crate) fn new(
        whole: &Poset,
        actions: &[ActionId],
        automaton: &Automaton,
    ) -> Option<Visible> {
        let states = || (0..automaton.verdicts.len() as u32).map(StateIndex);
        let moves: Vec<bool> = (0..automaton.actions as u32)
            .map(|action| states().any(|state| automaton.step(state, ActionId(action)) != state))
            .collect();
        let visible = |event: &EventIndex| moves[actions[event.index()].0 as usize];
        let events = || (0..whole.len() as u32).map(EventIndex);
        let origin: Vec<EventIndex> = events().filter(visible).collect();
        if origin.len() == whole.len() {
            return None;
        }
        let poset = Poset::restricted(origin.iter().map(|&event| whole.origin(event)));
        Some(Visible {
            poset,
            actions: origin.iter().map(|event| actions[event.index()]).collect(),
            origin,
        })
    }

    /// The number of invisible events.
    pub(crate) fn hidden(&self, whole: &Poset) -> u64 {
        (whole.len() - self.origin.len()) as u64
    }

    /// The start of a run of all events that has these visible ones, in this order.
    pub(crate) fn lift(&self, whole: &Poset, prefix: &[EventIndex]) -> Vec<EventIndex> {
        let mut done = vec![0u32; whole.width()];
        let mut lifted = Vec::new();
        for event in prefix {
            let event = self.origin[event.index()];
            let start = lifted.len();
            for (chain, done) in whole.chains().zip(&mut done) {
                let needed = whole.clock(event)[chain.index()].max(*done);
                lifted.extend_from_slice(&whole.chain(chain)[*done as usize..needed as usize]);
                *done = needed;
            }
            // The observed order is allowed, with the event itself last.
            lifted[start..].sort_unstable();
        }
        lifted
    }
}
