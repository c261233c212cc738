//! The explorer from outside.

mod counts;
mod defects;
mod endings;
mod finds;
mod mixes;
mod oracle;
mod parallel;
mod prediction;
mod primitives;
mod programs;
mod replay;
mod saved;
mod shrink;
mod traps;
