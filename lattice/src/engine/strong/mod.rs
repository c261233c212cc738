//! The model `strong`: runs that leave something out.
//!
//! A thread may run on without a critical section of another, or without an unread write, as long as every
//! read sees the write that it saw, no lock is held by two threads, and hard order ([`Reorderings`]) is kept. Two conflicting
//! events that are both present keep their observed order; so a run is determined by how far each thread has come, and by the
//! order of events that do not conflict. Every run of happens-before is one of these, and every one of these is feasible under
//! the [maximal](super::maximal) model. A prefix is something that the program could have done, so a violated prefix counts.
//!
//! | file | contents |
//! |---|---|
//! | `guards` | what an event needs, what has shut it out, and which sections it begins |
//! | `pass` | one pass over the trace that keeps or drops: complete where only the cut matters, or concurrent steps commute |
//! | `closure` | conditions that hold together, each on variables of one thread, by closed cuts |
//! | `cuts` | all reachable cuts, by the number of steps in them |
//! | `question` | the question, and which of the above answers it |
//! | `instance` | all of it for one instance of a property |
//!
//! A witness is examined against the rules of the maximal model and the observed order of conflicts, by code that is
//! independent of guards and closed cuts.
//!
//! [`Reorderings`]: portent_monitor_core::Reorderings

mod closure;
mod cuts;
mod guards;
mod instance;
mod pass;
mod question;

pub use guards::Guards;
pub(crate) use guards::GuardsReader;
pub(crate) use instance::{LeavingOut, StrongBudget, find_leaving_out};
pub use question::search;
