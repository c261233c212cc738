//! As [`std::sync`].

mod arc;
pub mod atomic;
mod notify;

pub use arc::Arc;
pub use notify::Notify;
pub use portent_hooks::sync::{
    Barrier, Condvar, LockResult, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockResult, WaitTimeoutResult, mpsc,
};
