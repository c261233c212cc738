//! The engines that do not enumerate, each against brute force on thousands of random problems.

mod conjunctive;
#[path = "../oracle/feasible.rs"]
mod feasible;
mod interval;
mod linear;
#[path = "../logs/mod.rs"]
mod logs;
mod maximal;
mod oracle;
mod voldemort;
