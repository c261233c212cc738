//! Actors, what they record, and how it reaches the reader.
//!
//! | file | |
//! |---|---|
//! | `version` | the one number that hooks compare |
//! | `actor` | a thread: its clock, and the recording that it takes part in; the thread-local that holds it |
//! | `task_actor`, `carrier` | the actor of a task between its polls; the queue that a thread lends to its tasks |
//! | `identity` | what other threads need to know of a thread: its name, its end, its park token |
//! | `operation` | what hooks do, according to the table of edges |
//! | `names` | ids of threads, locks, variables, places; one table for the process |
//! | `chains` | components of clocks, handed out process-wide |
//! | `sources` | the names that other processes use for them |
//! | `recording` | which events a recording wants, and the state that its threads share with its reader |
//! | `outbox`, `record` | where an actor writes: its queue, and what is in it |
//! | `stream` | the reader's end: events in causal order |
//! | `first` | the values that variables begin with |
//! | `event` | application events |
//! | `fork_aware` | locks on which the child of a fork cannot hang |

pub(crate) mod actor;
#[cfg(feature = "tokio")]
mod carrier;
mod chains;
pub mod event;
mod first;
mod fork_aware;
pub(crate) mod identity;
pub(crate) mod line;
pub(crate) mod names;
pub(crate) mod operation;
mod outbox;
mod record;
pub(crate) mod recording;
mod sources;
mod stream;
#[cfg(feature = "tokio")]
pub(crate) mod task_actor;
pub(crate) mod version;

use std::sync::Arc;

use portent_monitor_core::{self as core, Clock};

pub(crate) use first::FirstValue;
pub use names::symbols;
pub(crate) use record::EncodedValue;
pub use recording::{Builder, Entered, Full, Global, Recording};
pub(crate) use recording::{Subscriber, any_open};
pub use stream::{Counts, Origin, Recorded, Stream};

use crate::context::ContextError;

/// What this thread knows, by names that other processes know.
pub(crate) fn told() -> Vec<(Arc<str>, u32)> {
    let clock = actor::with(|actor| actor.clock().clock());
    let mut counts = sources::tell(&clock.unwrap_or_default());
    counts.sort();
    counts
}

/// This thread comes after what others know.
pub(crate) fn heard(counts: &[(Arc<str>, u32)]) -> Result<(), ContextError> {
    let heard = sources::hear(counts)?;
    actor::with(|actor| actor.clock().learn_counts(heard));
    Ok(())
}

/// What is left at an object; it is the object's own.
pub(crate) type Published = core::Snapshot<Box<Clock>>;
/// The updates and reads of an object.
pub(crate) type ObjectClock = core::ObjectClock<Published>;
/// The clock of an actor.
pub(crate) type ActorClock = core::ThreadClock<Box<Clock>>;

/// Locks something of ours. That a thread panicked while it held it says nothing: no user code runs
/// inside, and what is there is whole after every step.
pub(crate) fn lock<T: ?Sized>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
