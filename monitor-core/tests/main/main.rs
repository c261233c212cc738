//! The tests of `monitor-core`, in one program: linking takes longer than running them.

mod causality;
mod discipline;
mod random;
mod symbols;
