//! From text to a syntax tree.
//!
//! [`guard`] refuses texts that are too long or too deeply nested before any recursion starts;
//! [`parse`] runs the grammar (`grammar.pest`); [`precedence`] builds expressions out of the flat
//! lists that the grammar yields. What the names mean is decided later, in [`crate::resolve`].

mod guard;
mod message;
mod parse;
mod precedence;
mod scan;
mod tree;

pub(crate) use guard::decode;
pub(crate) use message::meant_by_name;
pub(crate) use parse::{begins_property, number, parse_bare, parse_file};
pub(crate) use tree::*;

/// Operators nest at most this deep, so that no recursion over a formula can overflow the stack.
pub(crate) const MAX_DEPTH: u32 = 400;
