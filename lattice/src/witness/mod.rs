//! A violated run, made ready to be shown: without swaps that it does not need, followed step by step,
//! and checked by code that knows nothing of the search.

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
