//! Prepares a violated run for display: removes unnecessary swaps, follows the run step by step, and checks it with
//! code that is independent of the search.

mod check;
mod minimize;
mod overtaking;
mod replay;
mod swaps;

pub(crate) use check::{examine_order, examine_verdict};
pub(crate) use minimize::minimize_swaps;
pub use overtaking::Overtaking;
pub(crate) use overtaking::{RunSteps, overtakings};
pub(crate) use replay::Replay;
pub(crate) use swaps::swaps;
