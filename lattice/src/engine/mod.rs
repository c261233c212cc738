//! The engines: each answers whether some run of a labelled poset is violated.
//!
//! | file | its engine |
//! |---|---|
//! | [`choice`] | none: it chooses |
//! | [`effort`] | none: it says how much counting is worth |
//! | [`observed`] | what happened, where a search was cut off |
//! | [`dense`] | small lattices, one after the other |
//! | [`linear`] | one run speaks for all |
//! | [`conjunctive`] | local conditions that hold together |
//! | [`flow`] | counters, by one maximum flow |
//! | [`interval`] | symbolic nodes that stand for intervals of cuts |
//! | [`enumerate`] | every cut, level by level |
//! | [`maximal`] | what is feasible beyond happens-before |

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
mod task;

pub(crate) use choice::{solve_table, solve_task};
pub(crate) use dense::DenseSearch;
pub(crate) use effort::CountingBudget;
pub use outcome::{Answer, Limit, Savings, Searched, Solution, Violation};
pub use problem::Problem;
pub(crate) use task::Task;
