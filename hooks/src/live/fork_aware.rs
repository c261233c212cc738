//! Shared state behind a lock on which the child of a fork cannot hang.
//!
//! A fork copies every lock of its process, but only one thread: in the child, a lock that another thread held at that moment is never released. The
//! child does not need what such a lock protects, because it has no reader for what its parent recorded. It therefore finds empty state
//! there, and cannot start a recording (`recording::all_are_whole`).

use std::{
    process,
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a fork waits for a lock that may be that of one of its own threads. These hold it for microseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// A value that begins empty, under a lock.
#[derive(Debug)]
pub(crate) struct ForkAware<T> {
    value: Mutex<Option<T>>,
    /// Where a thread is sure to give it back: 0 before anybody took it.
    process: AtomicU32,
    /// Taken for ever.
    lost: AtomicBool,
}

impl<T> ForkAware<T> {
    pub(crate) const fn new() -> ForkAware<T> {
        ForkAware {
            value: Mutex::new(None),
            process: AtomicU32::new(0),
            lost: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Option<T>>> {
        let Some(value) = self.try_lock() else {
            return self.wait();
        };
        if self.process.load(Relaxed) == 0 {
            self.process.store(process::id(), Relaxed);
        }
        Some(value)
    }

    /// That a thread panicked while it held it says nothing: no user code runs inside, and what is there is whole after every step.
    fn try_lock(&self) -> Option<MutexGuard<'_, Option<T>>> {
        match self.value.try_lock() {
            Ok(value) => Some(value),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Somebody has it.
    #[cold]
    fn wait(&self) -> Option<MutexGuard<'_, Option<T>>> {
        let here = process::id();
        if self.process.load(Relaxed) == here {
            return Some(self.value.lock().unwrap_or_else(PoisonError::into_inner));
        }
        if self.lost.load(Relaxed) {
            return None;
        }
        let begun = Instant::now();
        loop {
            if let Some(value) = self.try_lock() {
                // From now on whoever has it is a thread of this process.
                self.process.store(here, Relaxed);
                return Some(value);
            }
            if begun.elapsed() > PATIENCE {
                self.lost.store(true, Relaxed);
                return None;
            }
            thread::sleep(Duration::from_micros(50));
        }
    }

    /// Whether it can be had.
    pub(crate) fn is_whole(&self) -> bool {
        self.lock().is_some()
    }
}

impl<T: Default> ForkAware<T> {
    /// Calls `f` with the value; with an empty one, which is gone afterwards, if it is lost.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        match self.lock() {
            Some(mut value) => f(value.get_or_insert_default()),
            None => f(&mut T::default()),
        }
    }
}

impl<T> Default for ForkAware<T> {
    fn default() -> ForkAware<T> {
        ForkAware::new()
    }
}
