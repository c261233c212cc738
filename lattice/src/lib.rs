//! The analyzer: a property and the events of one run, checked on every equivalent run.

#![warn(missing_docs)]

mod poset;
mod problem;

pub use poset::{EventIndex, Poset};
pub use problem::{ActionId, Automaton, Problem, StateIndex};
