//! The behaviour of the standard library, in the words of its own tests: once with the standard
//! library, once with ours, once with ours while everything is recorded. Only the `use` line differs.

// To load the same files again is the point.
#![allow(clippy::duplicate_mod)]

mod hooked;
mod recorded;
mod standard;
