//! The vocabulary of all other crates of Portent: the values that programs write, the events of a run,
//! and which of them come before which.
//!
//! | concept | type |
//! |---|---|
//! | written values | [`Value`], [`Type`]; [`Exact`] as a key |
//! | events | [`Event`], [`Op`]; names are ids of [`Symbols`] |
//! | the names of operations | [`Operation`] |
//! | which events can follow earlier ones | [`Discipline`] |
//! | the effects of operations on locks | [`Op::locking`] |
//! | the causal order | [`edges`] is the table; [`Causality`] gives each relevant event a [`Stamp`] |
//! | the same inside a running program | [`ThreadClock`] in each thread, [`ObjectClock`] in each object |
//! | the same, straight from the definition | [`definition::Relation`] |
//! | the parts of a run that can be left out | [`Reorderings`]: its closed [`Cut`]s; [`Sections`] of locks |
//! | whether the acting threads are those that are forked | [`Forks`] |
//! | sorting events that arrive in any order into one that their clocks allow | [`CausalRelease`] |
//! | the intended name behind a misspelt one | [`suggest::closest`] |
//!
//! This crate depends on no other crate of the workspace; everything that two of them must agree on
//! lives here, once. **It does no input or output, and it never decides which events are
//! relevant**: that is the responsibility of properties, passed to [`Causality::step`].

#![warn(missing_docs)]

mod causality;
mod clock;
pub mod definition;
mod discipline;
mod error;
mod event;
mod forks;
mod ids;
mod operation;
mod release;
mod reordering;
mod spelling;
pub mod suggest;
mod symbols;
mod unknown;
mod value;

pub use causality::{
    Access, Causality, Chain, Chains, Flow, Hold, Knowledge, LockAction, Locking, Object,
    ObjectClock, Role, Snapshot, Stamp, ThreadClock, Version, access_of, edges,
};
pub use clock::Clock;
pub use discipline::{Discipline, SkippedEvents};
pub use error::Error;
pub use event::{Action, Delivery, Details, Event, Mark, Marker, Msg, Op, Stamped};
pub use forks::Forks;
pub use ids::{BarrierId, ChainId, ChanId, CondId, Id, LocId, LockId, NameId, ThreadId, VarId};
pub use operation::Operation;
pub use release::{CausalRelease, Clocked};
pub use reordering::{Cut, Overlap, Place, Predecessors, Reorderings, Section, Sections};
pub use spelling::Spelling;
pub use symbols::{Interner, Symbols};
pub use unknown::SymbolKind;
pub use value::{Exact, Type, Value};
