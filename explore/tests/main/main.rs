//! The explorer from outside.

mod counts;
mod defects;
mod finds;
mod mixes;
mod oracle;
mod parallel;
mod primitives;
mod programs;
mod replay;
mod saved;
mod traps;
