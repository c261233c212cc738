//! The explorer from outside.

mod benchmarks;
mod confirm;
mod counts;
mod defects;
mod dependence;
mod endings;
mod finds;
mod guided;
mod mixes;
mod oracle;
mod parallel;
mod prediction;
mod primitives;
mod programs;
mod races;
mod replay;
mod saved;
mod shrink;
mod traps;
