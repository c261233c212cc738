//! The input of the engines: a poset whose events act on a finite automaton.

use crate::{
    automaton::{ActionId, Automaton},
    order::Poset,
};

/// A poset, and the effects of its events on an automaton.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The events.
    pub poset: Poset,
    /// The action of each event.
    pub actions: Vec<ActionId>,
    /// The automaton that the events act on.
    pub automaton: Automaton,
}
