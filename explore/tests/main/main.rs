//! The explorer from outside.

mod counts;
mod finds;
mod mixes;
mod primitives;
mod programs;
