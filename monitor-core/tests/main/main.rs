//! The tests of `monitor-core`, in one program: linking takes longer than running them.

mod causality;
mod discipline;
mod names;
mod random;
mod reordering;
mod symbols;
