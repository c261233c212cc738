//! The analyzer: a property and the events of one run, checked on every equivalent run.
//!
//! One run of a concurrent program is one order of its events. Causality says which other orders
//! are the same computation; their prefixes, the *consistent cuts*, form a lattice, and its paths
//! from bottom to top are the runs that could have been observed instead. This crate decides whether
//! any of them violates a property, shows one that does, and counts them.
//!
//! | to do this | use |
//! |---|---|
//! | check a run that has ended | [`Checker`]: events in, [`Report`] out |
//! | watch a run as it happens | [`Watch`] |
//! | draw a lattice and the runs through it | [`report::picture`] |
//! | compare engines on a poset and an automaton of your own | [`laboratory`] |
//!
//! The modules, from left to right: `intake` picks the steps of each property out of the events and
//! slices them by the bindings of its parameters; `order` says which of them come before which;
//! `automaton` is what they act on, the product of the monitor and its variables' values; an `engine`
//! searches; `witness` prepares a violated run for display; `report` says what was found, and why, if a
//! search was not exhaustive. A module depends only on those to its left.
//!
//! **This crate reads no clock that it was not given, does no input or output, and never reports a
//! run that causality does not allow**: in debug builds every witness is checked again by code that
//! knows nothing of the search.

#![warn(missing_docs)]

mod automaton;
mod check;
mod engine;
mod error;
mod goal;
mod intake;
pub mod laboratory;
mod options;
mod order;
mod progress;
pub mod report;
mod stop;
mod watch;
mod witness;

pub use check::Checker;
pub use engine::Limit;
pub use error::Error;
pub use goal::Goal;
pub use options::{Counting, Engine, Model, Options, Reductions, UnknownEngine};
pub use progress::Progress;
pub use report::Report;
pub use stop::Stop;
pub use watch::Watch;
