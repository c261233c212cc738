//! Drop-in synchronisation that records what a program does.
//!
//! `portent::sync` and `portent::thread` have the types and functions of `std::sync` and
//! `std::thread`, with the same signatures: changing the `use` line is enough. What a program does with
//! them becomes events, each with an exact vector clock. A reader of the events can therefore tell which of
//! them could just as well have happened in the opposite order.
//!
//! | feature `monitor` | |
//! |---|---|
//! | off | [`sync`] and [`thread`] re-export the standard library; [`event!`] does nothing |
//! | on | threads and objects carry clocks; a `Recording` subscribes to what happens |
//!
//! ```
//! use portent_hooks::{Recording, event, sync::Mutex, thread};
//!
//! let (recording, mut stream) = Recording::relevant(["push", "pop"]).start();
//! let entered = recording.enter();
//! static QUEUE: Mutex<Vec<i64>> = Mutex::new(Vec::new());
//! let pusher = thread::spawn(|| {
//!     QUEUE.lock().unwrap().push(7);
//!     event!(push, item = 7);
//! });
//! pusher.join().unwrap();
//! event!(pop);
//! drop(entered);
//! let events = stream.finish();
//! assert_eq!(events.len(), 2);
//! assert!(events[0].stamp.precedes(&events[1].stamp), "the push was before the join");
//! ```
//!
//! # How it works
//!
//! Each thread (`live/actor.rs`) and each object has a clock, and each distinct clock has a version. A
//! thread keeps its clock's version in a separate thread-local (`live/version.rs`). If it equals the
//! object's version, there is nothing to receive and nothing to pass on, and the hook costs one
//! comparison. Otherwise the slow path does what the table of edges in `monitor-core` says.
//!
//! The feature `tokio` adds `task`, in which each tokio task counts as a thread: while the task is polled, its actor replaces
//! the thread's.
//!
//! A process has one clock domain. A `Recording` is a subscriber: it chooses which events tick, and takes
//! them from one queue per thread. Objects that are older than a recording, or shared by two
//! recordings, therefore carry causality exactly.
//!
//! **What is not hooked is not seen**: order that comes from elsewhere (an `Arc`'s reference count,
//! `std::sync` itself, foreign code) is missing from the clocks.

#![deny(unsafe_code)]
#![warn(missing_docs)]

mod context;
#[cfg(feature = "lock_api")]
mod gate;
#[cfg(feature = "lock_api")]
#[doc(hidden)]
pub mod lock_api;
mod macros;
#[cfg(any(feature = "lock_api", feature = "monitor"))]
mod primitive;
mod value;

pub use context::{Context, ContextError};
pub use value::ToValue;

#[cfg(feature = "monitor")]
mod block;
#[cfg(feature = "monitor")]
#[doc(hidden)]
pub mod control;
#[cfg(feature = "monitor")]
pub mod hint;
#[cfg(feature = "monitor")]
mod live;
#[cfg(feature = "monitor")]
mod shared;
#[cfg(feature = "monitor")]
pub mod sync;
#[cfg(all(feature = "monitor", feature = "tokio"))]
pub mod task;
#[cfg(feature = "monitor")]
pub mod thread;

#[cfg(feature = "tracing-layer")]
mod tracing_layer;
#[cfg(feature = "tracing-layer")]
pub use tracing_layer::{TracingLayer, TracingLayerBuilder, TracingRule};

#[cfg(feature = "monitor")]
pub use block::{AtomicBlock, atomic_block};
#[cfg(feature = "monitor")]
#[doc(hidden)]
pub use live::event as __event;
#[cfg(feature = "monitor")]
pub use live::{
    Builder, Counts, Entered, Full, Global, Origin, Recorded, Recording, Stream, symbols,
};
#[cfg(feature = "monitor")]
pub use shared::Shared;

/// What macros expand to. In a crate whose `std` is a renamed dependency, `::std` would mean that dependency.
#[cfg(feature = "monitor")]
#[doc(hidden)]
pub mod __native {
    pub use std::thread_local;
}

#[cfg(not(feature = "monitor"))]
mod off;
#[cfg(not(feature = "monitor"))]
pub use off::{AtomicBlock, Shared, atomic_block};

/// Re-exports `std::hint`.
#[cfg(not(feature = "monitor"))]
pub mod hint {
    pub use std::hint::*;
}

#[cfg(not(feature = "monitor"))]
pub use std::thread_local;

/// Re-exports `std::sync`.
#[cfg(not(feature = "monitor"))]
pub mod sync {
    #[cfg(feature = "lock_api")]
    pub use crate::lock_api;
    pub use std::sync::*;
}

/// Re-exports `std::thread`.
#[cfg(not(feature = "monitor"))]
pub mod thread {
    pub use std::thread::*;
}

/// Re-exports `tokio::task` and `tokio::sync`.
#[cfg(all(feature = "tokio", not(feature = "monitor")))]
pub mod task {
    pub use tokio::{
        sync::{
            AcquireError, Mutex, MutexGuard, Notify, OwnedSemaphorePermit, RwLock, RwLockReadGuard,
            RwLockWriteGuard, Semaphore, SemaphorePermit, TryAcquireError, TryLockError,
            futures::Notified, mpsc, oneshot,
        },
        task::{
            AbortHandle, Id, JoinError, JoinHandle, JoinSet, LocalEnterGuard, LocalKey, LocalSet,
            Unconstrained, consume_budget, coop, id, spawn, spawn_blocking, spawn_local, try_id,
            unconstrained, yield_now,
        },
    };

    /// Returns the future unchanged; with the feature `monitor` it becomes a separate task.
    #[inline]
    pub fn tracked<F: Future>(future: F) -> F {
        future
    }
}
