//! One thread waits until others notify it.

use portent_hooks::sync::{Condvar, Mutex};

/// One thread waits until others notify it. A notification before the wait is not lost.
#[derive(Debug, Default)]
pub struct Notify {
    notified: Mutex<bool>,
    changed: Condvar,
}

impl Notify {
    /// No notification is pending.
    #[track_caller]
    #[must_use]
    pub fn new() -> Notify {
        Notify {
            notified: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    /// Wakes the waiting thread, or the next one to wait.
    #[track_caller]
    pub fn notify(&self) {
        let mut notified = match self.notified.lock() {
            Ok(notified) => notified,
            Err(poisoned) => poisoned.into_inner(),
        };
        *notified = true;
        self.changed.notify_one();
    }

    /// Waits for a notification, and takes it.
    #[track_caller]
    pub fn wait(&self) {
        let mut notified = match self.notified.lock() {
            Ok(notified) => notified,
            Err(poisoned) => poisoned.into_inner(),
        };
        while !*notified {
            notified = match self.changed.wait(notified) {
                Ok(notified) => notified,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
        *notified = false;
    }
}
