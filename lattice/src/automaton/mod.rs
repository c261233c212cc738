//! What the events of an instance act on: the monitor together with the values of its variables, as a
//! table where that is small enough.

mod goal;
mod machine;
mod numbering;
mod shape;

pub(crate) use machine::{Machine, spilled};
pub(crate) use numbering::Numbered;
pub use portent_monitor_dsl::automaton::{ActionId, Automaton, StateIndex};
pub(crate) use portent_monitor_dsl::automaton::{Product, ProductState};
pub use shape::AutomatonShape;
