//! Everything that needs more than one module.

mod like_std;
mod order;
mod program;
mod raw;
mod stress;
mod table;
mod traps;
