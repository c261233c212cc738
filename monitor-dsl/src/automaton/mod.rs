//! Explicit automata over actions: what every action does in every state, with the verdict of each state.
//!
//! A monitor reads letters; what happens to it in a run is a few actions, each of them the same change of
//! letters again and again. The [shape](crate::shape) of a property is found on the automaton of all
//! actions that its text implies, and an analyzer makes one of those that really occur: both are a [`Product`] of
//! the monitor and its variables.

mod explore;
mod minimize;
mod product;
mod table;

pub use explore::{Explored, explore};
pub(crate) use minimize::{first_of_each, number, refine};
pub use product::{Product, ProductState};
pub use table::{ActionId, Automaton, MalformedTable, StateIndex};
