//! The explorer from outside.

mod counts;
mod defects;
mod finds;
mod oracle;
mod parallel;
mod prediction;
mod programs;
mod replay;
mod saved;
mod traps;
