//! What the events of an instance act on: the monitor together with the values of its variables, as a
//! table if that is small enough.

mod goal;
mod numbering;
mod shape;
mod transition_system;

pub(crate) use numbering::Numbered;
pub use portent_monitor_dsl::automaton::{ActionId, Automaton, StateIndex};
pub(crate) use portent_monitor_dsl::automaton::{Product, ProductState};
pub use shape::AutomatonShape;
pub(crate) use transition_system::{TransitionSystem, spilled};
