//! A violated run, made ready to be shown: without swaps that it does not need, followed step by step,
//! and checked by code that knows nothing of the search.

mod check;
mod minimize;
mod replay;
mod swaps;

pub(crate) use check::{examine_order, examine_verdict};
pub(crate) use minimize::minimize_swaps;
pub(crate) use replay::Replay;
pub(crate) use swaps::swaps;
