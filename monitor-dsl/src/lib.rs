//! Temporal properties of runs: from text to minimal monitors.
//!
//! A property says what the runs of a program may look like, in linear temporal logic with past and
//! future, as an extended regular expression, or as one of the well-known specification patterns.
//! This crate turns its text into a monitor: the smallest deterministic machine that tells, after
//! every step of a run, whether the property is permanently violated, permanently satisfied, or still open.
//!
//! | from | to | with |
//! |---|---|---|
//! | text | [`Property`] | [`Property::parse`], [`Property::parse_file`] |
//! | a property | [`Monitor`] | [`Property::monitor`], or [`Config`] for limits and three verdicts |
//! | a monitor | a run of it, [`Stepper`] | [`Monitor::start`] |
//! | a step | [`Verdict`] | [`Stepper::event`], [`Stepper::write`], [`Stepper::step`] |
//! | a final verdict | [`Explanation`] | [`Stepper::explain`], [`Monitor::explain`] |
//! | a monitor | a picture, JSON, Rust | [`Monitor::to_dot`], [`Monitor::description`], [`Monitor::to_rust`] |
//! | a monitor | what to know before trusting it | [`Monitor::notes`], [`Monitor::engine_class`] |
//!
//! ```
//! use portent_monitor_dsl::{Property, Verdict};
//!
//! let property = Property::parse(
//!     "property door {
//!          event open, close, lock
//!          ltl: always (lock -> (!open since close))
//!      }",
//! )?;
//! let monitor = property.monitor()?;
//! let [open, close, lock] =
//!     ["open", "close", "lock"].map(|name| monitor.alphabet().event(name).unwrap());
//!
//! let mut run = monitor.start()?.remembering();
//! assert_eq!(run.event(close), Verdict::Ok);
//! assert_eq!(run.event(lock), Verdict::Ok);
//! assert_eq!(run.event(open), Verdict::Ok);
//! assert_eq!(run.event(lock), Verdict::Violated);
//! assert_eq!(
//!     run.explain().unwrap().to_string(),
//!     "violated at step 4: `lock -> (!open since close)` is false there \
//!      (`lock` is true, `!open since close` is false)"
//! );
//! # Ok::<(), portent_monitor_dsl::Error>(())
//! ```
//!
//! # Should I use this crate?
//!
//! Use it to check runs step by step against a property, at the cost of one table look-up per step. Use
//! the façade crate `portent` to check *all equivalent runs* of a concurrent program. It is not meant
//! for searching text (use the `regex` crate) or for checking models (it sees runs, not programs).
//!
//! # What it promises
//!
//! - Verdicts are exact: violated means that no continuation whatsoever satisfies the property. This is
//!   decided by emptiness of automata, not by rewriting.
//! - Monitors are minimal, over the letters that can really occur: events exclude each other, and
//!   `w > 30` implies `w > 26`. Conditions on different quantities (`x > 3`, `x > y`) are taken as
//!   independent.
//! - No text makes it panic, hang or exhaust the memory; what is too large ends in an [`Error`] that
//!   names the limit (see [`Config`]).
//! - **It does no input or output and knows nothing of traces or threads.**

#![warn(missing_docs)]

mod alphabet;
pub mod automaton;
mod comparison;
mod condition;
mod config;
mod diagnostic;
mod diagram;
mod ere;
mod error;
mod explain;
mod ltl;
mod machine;
mod monitor;
mod notes;
mod output;
mod property;
mod resolve;
mod scc;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod sealed;
pub mod shape;
mod spelling;
mod stepper;
mod syntax;
mod verdict;

pub use alphabet::{
    Alphabet, Event, EventId, Letter, NoPattern, Object, On, Proposition, StateVariable,
    TextPattern, VariableId,
};
pub use condition::Condition;
pub use config::Config;
pub use diagnostic::Diagnostic;
pub use error::{Error, Limit, Mismatch};
pub use explain::Explanation;
pub use monitor::{Monitor, StateId};
pub use notes::{Note, NoteKind};
pub use output::{DeclaredEvent, Description, Edge};
use portent_monitor_core::suggest;
pub use portent_monitor_core::{Operation, Type, Value};
pub use property::{Kind, Property};
pub use shape::EngineClass;
pub use stepper::Stepper;
pub use verdict::{Verdict, Verdicts};
