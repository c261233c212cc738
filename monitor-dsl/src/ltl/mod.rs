//! LTL with past: from a formula to a Moore machine with exact LTL3 verdicts.
//!
//! 1. [`kernel`] writes the formula with four temporal operators and negation.
//! 2. [`elements`] lists what a position must know about its neighbours.
//! 3. [`profiles`] finds which combinations of these some continuation of a run really has.
//! 4. [`progress`] unfolds the formula letter by letter. States are Boolean functions of elements, and
//!    equal if they agree on all profiles.
//!
//! The last two [unfold](unfold::Position) formulas alike. The result is deterministic and exact but
//! not yet minimal: see [`crate::machine`].

mod elements;
mod kernel;
mod profiles;
mod progress;
mod tree;
mod unfold;

pub(crate) use progress::synthesize;
pub(crate) use tree::{Ltl, LtlOp, Size};
