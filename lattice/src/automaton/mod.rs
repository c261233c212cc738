//! What the events of an instance act on: the monitor together with the values of its variables, as a
//! table where that is small enough.

mod goal;
mod machine;
mod minimize;
mod numbering;
mod product;
mod shape;
mod table;

pub(crate) use machine::Machine;
pub(crate) use numbering::Numbered;
pub(crate) use product::{Product, ProductState, spilled};
pub use shape::AutomatonShape;
pub use table::{ActionId, Automaton, StateIndex};
