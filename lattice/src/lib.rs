//! The analyzer: a property and the events of one run, checked on every equivalent run.

#![warn(missing_docs)]

mod automaton_shape;
mod binding;
mod check;
pub mod conjunctive;
mod enumerate;
mod error;
mod goal;
mod instance;
pub mod interval;
pub mod linear;
pub mod maximal;
mod minimal;
mod options;
mod poset;
mod problem;
mod product;
mod progress;
mod record;
mod relevance;
pub mod report;
mod slice;
mod solve;
mod violation;
mod witness;

pub use automaton_shape::AutomatonShape;
pub use check::Checker;
pub use enumerate::{Limit, Peak, RunCounts, Shape, shape};
pub use error::Error;
pub use goal::Goal;
pub use options::{Counting, Options, Reductions};
pub use poset::{EventIndex, Poset};
pub use problem::{ActionId, Automaton, Problem, StateIndex};
pub use progress::Progress;
pub use report::Report;
pub use solve::{Run, Solution, solve};
pub use violation::{Answer, Violation};
