//! What the tests of several crates share: random numbers from a seed, random traces that could be runs, all runs of such a trace by the
//! definitions of the models, the corpora of the fuzz targets, and an allocator that counts.
//!
//! Only tests depend on this crate. It says how to draw, not what: which events, names and weights are worth drawing is the
//! business of each test.

mod any_run;
mod corpus;
mod counting;
mod rng;
mod run;
mod runs;

pub use any_run::synchronising;
pub use corpus::replay;
pub use counting::{Counting, allocations};
pub use rng::Rng;
pub use run::{admitted, sharing};
pub use runs::{RunModel, Runs, conflict, is_held, may_follow, may_follow_leaving_out};
