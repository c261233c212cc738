//! Everything that needs more than one module.

mod order;
mod program;
mod stress;
