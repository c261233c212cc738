//! The explorer from outside.

mod counts;
mod finds;
mod oracle;
mod prediction;
mod programs;
mod replay;
mod traps;
