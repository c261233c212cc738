//! What the engines solve: a poset whose events act on a finite automaton.

use crate::{
    automaton::{ActionId, Automaton},
    order::Poset,
};

/// A poset, what each of its events does, and to what.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The events.
    pub poset: Poset,
    /// For each event, what it does.
    pub actions: Vec<ActionId>,
    /// What it is done to.
    pub automaton: Automaton,
}
