//! Shared test support: random numbers from a seed, random traces that could be real runs, all runs of such a trace
//! straight from the definitions of the models, the corpora of the fuzz targets, and a counting allocator.
//!
//! Only tests depend on this crate. It knows how to draw random traces; which events, names and weights are worth drawing is up to each
//! test.

mod any_run;
mod clocks;
mod corpus;
mod counting;
mod rng;
mod run;
mod runs;

pub use any_run::synchronising;
pub use clocks::stamped;
pub use corpus::replay;
pub use counting::{Counting, allocations};
pub use rng::Rng;
pub use run::{add_partner, admitted, sharing};
pub use runs::{RunModel, Runs, conflict, is_held, may_follow, may_follow_leaving_out};
