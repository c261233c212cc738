//! Tasks of tokio as threads of their own, and what they synchronise with.
//!
//! The functions and types of `tokio::task` and `tokio::sync`, with the same signatures. A task has a clock of its own, which is
//! that of the thread while the task is polled. It comes after its spawner; whoever awaits its handle comes after all that it did.
//!
//! Whoever wakes a task is before its next poll. So where a task waits for something that is not hooked (a timer, a socket, a
//! channel of another crate), what the waker knew is known all the same. What hooked types order by themselves is not ordered by
//! wakes. In a runtime of one thread, timers and sockets are looked at by the thread that called `block_on`: who is woken by them
//! comes after all that it knew, which may hide predictions and never makes a false one.
//!
//! | not hooked | |
//! |---|---|
//! | `tokio::spawn`, `Handle::spawn`, `LocalSet::spawn_local` | such a task is taken for the thread that polls it: use the functions here, or [`tracked`] |
//! | `Barrier`, `OnceCell`, `SetOnce`, `broadcast`, `watch` | seen by wakes alone: who need not wait is not seen to come after |
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
