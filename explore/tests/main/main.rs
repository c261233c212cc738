//! The explorer from outside.

mod counts;
mod finds;
mod oracle;
mod programs;
mod replay;
mod traps;
