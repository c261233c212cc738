//! The tests of `findings`, in one program: linking takes longer than running them.

mod atomicity;
mod brute;
mod checker;
mod choices;
mod deadlocks;
mod golden;
mod hunt;
mod news;
mod races;
mod rapid;
