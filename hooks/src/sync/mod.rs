//! The types of `std::sync`, with clocks.
//!
//! Each type has the signatures, bounds and behaviour of its namesake, and also `with_name`. Types that
//! order nothing (`Arc`, `Weak`, errors) are re-exported.
//!
//! | file | |
//! |---|---|
//! | `outer_clock` | clocks of a lock that are used without holding it |
//! | `guard` | what all guards have in common |
//! | `header` | clocks of a variable that is read without a lock |
//! | `task` | the primitives of tokio, re-exported by `crate::task` |
//! | the others | the type of that name |

pub mod atomic;
mod barrier;
mod condvar;
pub(crate) mod guard;
mod header;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod outer_clock;
#[cfg(feature = "lock_api")]
pub(crate) mod raw;
mod rwlock;
#[cfg(feature = "tokio")]
pub(crate) mod task;

pub use std::sync::{Arc, LockResult, OnceState, PoisonError, TryLockError, TryLockResult, Weak};

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
#[expect(deprecated, reason = "so is that of the standard library")]
pub use once::ONCE_INIT;
pub use once::Once;
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::live::Published;
#[cfg(feature = "lock_api")]
pub use crate::lock_api;

/// A value inside a lock, with what the last holder left.
#[derive(Debug)]
pub(crate) struct Guarded<T: ?Sized> {
    left: Published,
    value: T,
}

/// Splits the result of taking a lock into the guard and whether the lock is poisoned.
#[inline(always)]
fn split<G>(result: LockResult<G>) -> (G, bool) {
    match result {
        Ok(guard) => (guard, false),
        Err(poisoned) => (poisoned.into_inner(), true),
    }
}

/// As [`split`]; `None` if the lock was not taken.
fn split_try<G>(result: TryLockResult<G>) -> Option<(G, bool)> {
    match result {
        Ok(guard) => Some((guard, false)),
        Err(TryLockError::Poisoned(poisoned)) => Some((poisoned.into_inner(), true)),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The result of a try that took the lock, or did not.
fn tried<G>(taken: Option<(G, bool)>) -> TryLockResult<G> {
    match taken {
        Some(taken) => join(taken).map_err(TryLockError::Poisoned),
        None => Err(TryLockError::WouldBlock),
    }
}

#[inline(always)]
fn join<G>((guard, poisoned): (G, bool)) -> LockResult<G> {
    if poisoned {
        Err(PoisonError::new(guard))
    } else {
        Ok(guard)
    }
}
