//! The analyzer: a property and the events of one run, checked on every equivalent run.

#![warn(missing_docs)]

mod binding;
mod error;
mod minimal;
mod poset;
mod problem;
mod product;
mod record;
mod relevance;
mod slice;

pub use error::Error;
pub use poset::{EventIndex, Poset};
pub use problem::{ActionId, Automaton, Problem, StateIndex};
