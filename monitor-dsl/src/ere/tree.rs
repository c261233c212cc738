//! An extended regular expression as it was written, with resolved propositions.

use crate::{ltl::Ltl, syntax::Span};

/// An expression with its place in the text.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Ere {
    pub(crate) op: EreOp,
    pub(crate) parts: Vec<Ere>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum EreOp {
    /// The empty set of words.
    Empty,
    /// The empty word.
    Epsilon,
    /// One step in which all of these state formulas hold.
    Letter(Vec<Ltl>),
    Concat,
    Union,
    Intersection,
    Complement,
    /// At least and at most this often.
    Repeat(u32, Option<u32>),
}

impl Ere {
    pub(crate) fn new(op: EreOp, parts: Vec<Ere>, span: Span) -> Self {
        Ere { op, parts, span }
    }
}
