//! LTL with past: from a formula to a Moore machine with exact LTL3 verdicts.
//!
//! 1. [`kernel`] brings the formula into negation normal form over a few operators.
//! 2. [`progress`] unfolds it letter by letter. A state is what is left to be shown (a monotone
//!    function of obligations for the next position) and what the past operators were; two
//!    functions that are equal as Boolean functions are one state, so there are finitely many.
//! 3. [`emptiness`] decides for a state whether some infinite continuation satisfies what is left,
//!    by fair cycles in a tableau. It is asked once for a strongly connected component at most.
//!
//! Both [unfold](unfold::Position) formulas alike, and share a [`context`].
//!
//! The result is deterministic and exact but not yet minimal: see [`crate::machine`].

mod context;
mod emptiness;
mod kernel;
mod past;
mod progress;
mod tree;
mod unfold;

pub(crate) use progress::synthesize;
pub(crate) use tree::{Ltl, LtlOp, Size};
