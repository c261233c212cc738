//! The engines that do not enumerate, each against brute force on thousands of random problems.

mod bounds;
mod conjunctive;
mod flow;
mod interval;
mod linear;
mod maximal;
mod posets;
mod solver;
mod voldemort;
