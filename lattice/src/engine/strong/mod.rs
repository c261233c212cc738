//! The model `strong`: runs that leave something out.
//!
//! A thread may run on without a critical section of another, or without a write that nobody reads, as long as every
//! read sees the write that it saw, no lock is held by two, and what is hard ([`Reorderings`]) is kept. Of two
//! conflicting events that are both there the order is as observed; so a run is known by how far each thread has come, and by the order
//! of what does not conflict. Every run of happens-before is one of these, and every one of these is feasible under the
//! [maximal](super::maximal) model. A prefix is something that the program could have done, so a violated prefix counts.
//!
//! | file | what it is for |
//! |---|---|
//! | `guards` | what an event needs, what has shut it out, and which sections it begins |
//! | `pass` | one pass over the trace that keeps or drops: complete where only the cut matters, or concurrent steps commute |
//! | `closure` | conditions that hold together, each on variables of one thread, by closed cuts |
//! | `cuts` | all cuts that can be reached, by the number of steps in them |
//! | `question` | what is asked, and which of the above answers |
//! | `instance` | all of it for one instance of a property |
//!
//! A witness is examined against the rules of the maximal model and the observed order of conflicts, by code that knows nothing of guards and
//! closed cuts.
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
