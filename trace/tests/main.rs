//! What the readers and writers of traces do, seen from outside.
//!
//! All tests but those of `hostile.rs` are modules of this one program, since linking is most of
//! what a test program costs.

mod common;
mod malformed;
mod well_formed;
