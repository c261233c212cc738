//! Properties of runs: from text to minimal monitors.

#![warn(missing_docs)]

mod alphabet;
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
pub mod shape;
mod spelling;
mod stepper;
mod suggest;
mod syntax;
mod verdict;

pub use alphabet::{
    Alphabet, Event, EventId, Letter, Pattern, Proposition, StateVariable, VariableId,
};
pub use condition::Condition;
pub use config::Config;
pub use diagnostic::Diagnostic;
pub use error::{Error, Mismatch};
pub use explain::Explanation;
pub use monitor::{Monitor, StateId};
pub use notes::{Note, NoteKind};
pub use output::{Description, Edge};
pub use portent_monitor_core::{Type, Value};
pub use property::{Kind, Property};
pub use shape::EngineClass;
pub use stepper::Stepper;
pub use verdict::{Verdict, Verdicts};
