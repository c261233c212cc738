//! The shape of a property: which engine can search its runs, decided before any run is seen.
//!
//! Whether some equivalent run is violated depends only on the language of *bad prefixes*, the
//! words after which the monitor says `violated`. The simpler that language, the less of the
//! lattice has to be examined:
//!
//! | class | bad prefixes | cost |
//! |---|---|---|
//! | [`Linear`](EngineClass::Linear) | closed under swapping concurrent steps | one linearisation |
//! | [`Conjunctive`](EngineClass::Conjunctive) | end where local conditions on variables hold together | polynomial |
//! | [`Intervals`](EngineClass::Intervals) | a union of chains A₀\* a₁ A₁\* a₂ … | usually a few symbolic nodes |
//! | [`Enumerate`](EngineClass::Enumerate) | anything else | every cut |
//!
//! The way there: an [`Automaton`](crate::automaton::Automaton) says what every action does in every state; [`BadPrefixes`] is
//! the minimal automaton for the bad prefixes; [`Saturated`] has the same language, with every
//! self-loop that does not change it. [`Monitor::engine_class`](crate::Monitor::engine_class)
//! does all of it for the actions that a property's text implies. An analyzer that knows which
//! actions really occur makes its own table of them, and may find a better class.
//!
//! **This module sees no events and no order**: it is about the property alone.

mod bad_prefixes;
mod class;
mod completeness;
mod conjunction;
mod implied;
mod inclusion;
mod saturate;
mod saturated;

pub use bad_prefixes::{ActionClass, BadPrefixes, Node};
pub use class::EngineClass;
pub use conjunction::{Conjunction, LocalCondition};
pub use inclusion::Inclusion;
pub use saturated::{Saturated, SaturatedEdge};
