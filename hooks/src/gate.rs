//! A lock with nothing inside, and with a shared and an exclusive side: what the raw locks are made of.
//!
//! One word holds the state; a thread that cannot have the lock sleeps on a condition. Before it sleeps, it sets a mark in
//! the word and tries again. A release before the mark was set is noticed by that second try; a later release finds
//! the mark, and wakes the sleepers.
//!
//! Readers do not queue behind waiting writers, so a thread may hold the shared side twice.

use std::sync::{
    PoisonError,
    atomic::Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::primitive::{AtomicUsize, Condvar, Mutex};

/// Somebody has it alone.
const EXCLUSIVE: usize = 1;
/// Somebody sleeps.
const WAITING: usize = 2;
/// One shared holder; the rest of the word counts them.
const SHARED: usize = 4;

#[derive(Debug)]
pub(crate) struct Gate {
    state: AtomicUsize,
    /// Held by sleepers until they sleep.
    sleepers: Mutex<()>,
    freed: Condvar,
}

impl Gate {
    pub(crate) const fn new() -> Gate {
        Gate {
            state: AtomicUsize::new(0),
            sleepers: Mutex::new(()),
            freed: Condvar::new(),
        }
    }

    #[inline]
    pub(crate) fn try_exclusive(&self) -> bool {
        let free = |state| (state & !WAITING == 0).then_some(state | EXCLUSIVE);
        self.state.fetch_update(Acquire, Relaxed, free).is_ok()
    }

    #[inline]
    pub(crate) fn try_shared(&self) -> bool {
        let more = |state: usize| match state & EXCLUSIVE {
            0 => state.checked_add(SHARED),
            _ => None,
        };
        self.state.fetch_update(Acquire, Relaxed, more).is_ok()
    }

    #[inline]
    pub(crate) fn exclusive(&self) {
        if !self.try_exclusive() {
            self.sleep_until(|| self.try_exclusive());
        }
    }

    #[inline]
    pub(crate) fn shared(&self) {
        if !self.try_shared() {
            self.sleep_until(|| self.try_shared());
        }
    }

    /// Releases the exclusive side; without effect if it is not held.
    #[inline]
    pub(crate) fn leave_exclusive(&self) {
        let before = self.state.fetch_and(!EXCLUSIVE, Release);
        if before & WAITING != 0 {
            self.wake();
        }
    }

    /// Releases the shared side; without effect if it is not held.
    #[inline]
    pub(crate) fn leave_shared(&self) {
        let fewer = |state: usize| state.checked_sub(SHARED);
        if let Ok(before) = self.state.fetch_update(Release, Relaxed, fewer)
            && before & WAITING != 0
            && before < 2 * SHARED
        {
            self.wake();
        }
    }

    /// Goes from the exclusive side to the shared one in one step.
    pub(crate) fn downgrade(&self) {
        let down = |state: usize| match state & EXCLUSIVE {
            0 => None,
            _ => (state & !EXCLUSIVE).checked_add(SHARED),
        };
        if let Ok(before) = self.state.fetch_update(AcqRel, Relaxed, down)
            && before & WAITING != 0
        {
            self.wake();
        }
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.state.load(Relaxed) & !WAITING != 0
    }

    pub(crate) fn is_exclusive(&self) -> bool {
        self.state.load(Relaxed) & EXCLUSIVE != 0
    }

    #[cold]
    #[inline(never)]
    fn sleep_until(&self, taken: impl Fn() -> bool) {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            self.state.fetch_or(WAITING, Relaxed);
            if taken() {
                // The mark may stay: somebody will wake nobody.
                return;
            }
            sleepers = self
                .freed
                .wait(sleepers)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        let sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        // All of them wake up, and mark it again if they have to sleep on.
        self.state.fetch_and(!WAITING, Relaxed);
        drop(sleepers);
        self.freed.notify_all();
    }
}
