//! Everything that needs more than one module.

mod context;
mod like_std;
mod marks;
mod order;
mod program;
mod raw;
mod recordings;
mod stress;
mod table;
mod tasks;
mod traps;
