//! Wakes that carry no clock.
//!
//! A hooked type that wakes a task creates the causal order itself. If the wake carried a clock as well, a task for which two
//! others have something would come after both, although it only took what the first one had.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Whether wakes of this thread carry nothing now.
#[inline]
pub(super) fn is_quiet() -> bool {
    QUIET.get()
}

/// Calls `f`, whose wakes carry nothing.
#[inline]
pub(crate) fn quietly<R>(f: impl FnOnce() -> R) -> R {
    /// Also if it panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            QUIET.set(self.0);
        }
    }
    let _before = Before(QUIET.replace(true));
    f()
}

/// Something whose end wakes tasks, but tells them nothing.
pub(crate) struct Quiet<T>(Option<T>);

impl<T> Quiet<T> {
    pub(crate) fn new(inner: T) -> Quiet<T> {
        Quiet(Some(inner))
    }
}

impl<T> Deref for Quiet<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(inner) => inner,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl<T> DerefMut for Quiet<T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(inner) => inner,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl<T> Drop for Quiet<T> {
    fn drop(&mut self) {
        quietly(|| self.0 = None);
    }
}
