//! Extended regular expressions: from an expression to a Moore machine.
//!
//! A state is an expression for what may still come; a letter leads to its Brzozowski derivative.
//! [`regex`] keeps expressions up to similarity (associativity, commutativity and idempotence of
//! union and intersection, and the laws of the constants), which makes the derivatives of an
//! expression finitely many; [`derive`] takes the derivative by all letters at once, as a diagram.

mod derive;
mod regex;
mod tree;

pub(crate) use derive::synthesize;
pub(crate) use tree::{Ere, EreOp};

/// What an expression says about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Mode {
    /// `ere:` — the run must stay a prefix of a word.
    Prefix,
    /// `never:` — no prefix of the run may be a word.
    Never,
}
