//! The analyzer: a property and the events of one run, checked on every equivalent run.
//!
//! One run of a concurrent program is one order of its events. Causality says which other orders
//! are the same computation; their prefixes, the *consistent cuts*, form a lattice, and its paths
//! from bottom to top are the runs that could have been observed instead. This crate says whether
//! one of them violates a property, shows one that does, and counts them.
//!
//! | to do this | use |
//! |---|---|
//! | check a run that has ended | [`Checker`]: events in, [`Report`] out |
//! | watch a run while it goes on | [`Watch`] |
//! | solve one problem: a [`Poset`] whose events act on an [`Automaton`] | [`solve`] |
//! | measure a lattice | [`shape`] |
//! | draw a lattice and the runs through it | [`picture`] |
//!
//! From left to right: the *relevance* of a property picks its steps out of the events; a *record*
//! keeps them with their clocks; *slices* are the steps of one binding of the parameters; the
//! *product* of the monitor and the variables' values is what the steps act on; an engine searches;
//! the *report* tells. Where a search was not exhaustive, it says so and says why.
//!
//! **This crate reads no clock that it was not given, does no input or output, and never reports a
//! run that causality does not allow**: in debug builds every witness is checked again by code that
//! knows nothing of the search.

#![warn(missing_docs)]

mod automaton_shape;
mod binding;
mod check;
pub mod conjunctive;
mod enumerate;
mod error;
mod fast;
mod goal;
mod instance;
pub mod interval;
pub mod linear;
pub mod maximal;
mod minimal;
mod notes;
mod numbered;
mod options;
pub mod picture;
mod poset;
mod problem;
mod product;
mod progress;
mod record;
mod relevance;
pub mod report;
mod rows;
mod slice;
mod solve;
mod unswap;
mod violation;
mod watch;
mod witness;

pub use automaton_shape::AutomatonShape;
pub use check::Checker;
pub use enumerate::{Limit, Peak, RunCounts, Shape, shape};
pub use error::Error;
pub use goal::Goal;
pub use options::{Counting, Model, Options, Reductions};
pub use poset::{EventIndex, Poset};
pub use problem::{ActionId, Automaton, Problem, StateIndex};
pub use progress::Progress;
pub use report::Report;
pub use solve::{Solution, solve};
pub use violation::{Answer, Searched, Violation};
pub use watch::Watch;
