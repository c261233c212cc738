//! Properties of runs: from text to minimal monitors.

#![warn(missing_docs)]

mod alphabet;
mod config;
mod diagnostic;
mod diagram;
mod ere;
mod error;
mod ltl;
mod machine;
mod monitor;
mod property;
mod resolve;
mod scc;
pub mod shape;
mod spelling;
mod stepper;
mod suggest;
mod syntax;
mod verdict;

pub use alphabet::{
    Alphabet, Event, EventId, Letter, Pattern, Proposition, StateVariable, VariableId,
};
pub use config::Config;
pub use diagnostic::Diagnostic;
pub use error::Error;
pub use monitor::{Monitor, StateId};
pub use portent_monitor_core::{Type, Value};
pub use property::{Kind, Property};
pub use shape::EngineClass;
pub use stepper::Stepper;
pub use verdict::{Verdict, Verdicts};
