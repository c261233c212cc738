//! What every other crate of Portent talks about: the values that programs write.
//!
//! This crate knows of no other crate of the workspace; anything that two of them must agree on
//! lives here, once.

#![warn(missing_docs)]

mod value;

pub use value::{Type, Value};
