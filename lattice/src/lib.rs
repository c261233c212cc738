//! The analyzer: a property and the events of one run, checked on every equivalent run.

#![warn(missing_docs)]

mod binding;
mod check;
mod enumerate;
mod error;
mod goal;
mod instance;
mod minimal;
mod options;
mod poset;
mod problem;
mod product;
mod record;
mod relevance;
pub mod report;
mod slice;
mod solve;
mod watch;
mod witness;

pub use check::Checker;
pub use enumerate::{Limit, Peak, RunCounts, Shape, shape};
pub use error::Error;
pub use goal::Goal;
pub use options::{Counting, Options, Reductions};
pub use poset::{EventIndex, Poset};
pub use problem::{ActionId, Automaton, Problem, StateIndex};
pub use report::Report;
pub use solve::{Run, Solution, solve};
pub use watch::Watch;
