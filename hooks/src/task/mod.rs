//! Tokio tasks as separate threads, and the primitives that synchronise them.
//!
//! The functions and types of `tokio::task` and `tokio::sync`, with the same signatures. Each task has a clock, which replaces
//! that of the thread while the task is polled. A task comes after its spawner, and whoever awaits its handle comes after everything that it did.
//!
//! Waking a task comes before its next poll. If a task waits for something that is not hooked (a timer, a socket, a
//! channel of another crate), it therefore still learns what its waker knew. Hooked types create their order themselves, not through
//! wakes. In a single-threaded runtime, the thread that called `block_on` polls timers and sockets: a task that they wake
//! comes after everything that thread knew, which may hide predictions but never causes a false one.
//!
//! | not hooked | |
//! |---|---|
//! | `tokio::spawn`, `Handle::spawn`, `LocalSet::spawn_local` | the task counts as part of the thread that polls it: use the functions here, or [`tracked`] |
//! | `Barrier`, `OnceCell`, `SetOnce`, `broadcast`, `watch` | seen through wakes only: the order is missed if the task need not wait |
//! | `lock_owned` and kin, mapped guards | not there |
//! | time-outs, `is_finished`, `is_closed`, `capacity`, tries that fail for lack of room or permits | order nothing |
//!
//! | file | |
//! |---|---|
//! | `spawn`, `join_set` | tasks and their handles |
//! | `waker` | what wakes carry |
//! | `quiet` | wakes that carry nothing |
//! | `sync/task` | what tasks synchronise with |

mod join_set;
pub(crate) mod quiet;
mod spawn;
mod waker;

pub use tokio::task::{
    Id, JoinError, LocalEnterGuard, LocalKey, LocalSet, Unconstrained, consume_budget, coop, id,
    try_id, unconstrained,
};

pub use crate::sync::task::{
    AcquireError, Mutex, MutexGuard, Notified, Notify, OwnedSemaphorePermit, RwLock,
    RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit, TryAcquireError, TryLockError,
    mpsc, oneshot,
};
pub use join_set::JoinSet;
pub use spawn::{AbortHandle, JoinHandle, Tracked, spawn, spawn_blocking, spawn_local, tracked};
pub use waker::yield_now;
