//! The analyzer: a property and the events of one run, checked on every equivalent run.

#![warn(missing_docs)]

mod automaton_shape;
pub mod conjunctive;
mod fast;
pub mod interval;
pub mod linear;
pub mod maximal;
mod poset;
mod problem;
mod violation;

pub use automaton_shape::AutomatonShape;
pub use fast::{FastAnswer, solve_fast};
pub use poset::{EventIndex, Poset};
pub use problem::{ActionId, Automaton, Problem, StateIndex};
pub use violation::{Answer, Violation};
