//! The engines: each answers whether some run of a labelled poset is violated.
//!
//! | file | engine |
//! |---|---|
//! | [`choice`] | none: it chooses |
//! | [`effort`] | none: the budget for counting |
//! | [`observed`] | the observed run, when a search was cut off |
//! | [`dense`] | small lattices, one after the other |
//! | [`linear`] | one run decides for all |
//! | [`conjunctive`] | local conditions that hold together |
//! | [`flow`] | counters, by one maximum flow |
//! | [`interval`] | symbolic nodes that stand for intervals of cuts |
//! | [`enumerate`] | every cut, level by level |
//! | [`strong`] | runs feasible beyond happens-before by leaving something out |
//! | [`maximal`] | all feasible runs |

mod choice;
pub mod conjunctive;
mod dense;
mod effort;
pub(crate) mod enumerate;
pub mod flow;
pub mod interval;
pub mod linear;
pub mod maximal;
mod observed;
mod outcome;
mod problem;
pub(crate) mod streaming;
pub mod strong;
mod task;

pub(crate) use choice::{solve_table, solve_task};
pub(crate) use dense::DenseSearch;
pub(crate) use effort::CountingBudget;
pub use outcome::{Answer, Limit, Savings, Searched, Solution, Violation};
pub use problem::Problem;
pub(crate) use task::Task;
