//! Threads that do not outlive the function that spawned them.
//!
//! At the end of a scope its threads have done what they had to do, but unlike an explicit join it does
//! not wait for the destructors of their thread-locals. A scoped thread therefore ends with its
//! function, and what its destructors do is counted as late.

use std::{
    fmt, io,
    panic::{self, AssertUnwindSafe, Location},
    sync::{Arc, Mutex},
    thread,
};

use ref_cast::RefCast;
use rustc_hash::FxHashMap;

use super::{
    Thread,
    spawn::{Child, joined, started},
};
use crate::live::{identity::Identity, lock};

/// The threads of the scopes that are open, by the address of the scope: a scope of the standard library,
/// which ours is made of, has no room for more.
static OPEN: Mutex<Option<FxHashMap<usize, Vec<Arc<Identity>>>>> = Mutex::new(None);

/// [`std::thread::Scope`], whose threads carry clocks.
#[derive(Debug, RefCast)]
#[repr(transparent)]
pub struct Scope<'scope, 'env: 'scope> {
    inner: thread::Scope<'scope, 'env>,
}

/// As [`std::thread::scope`].
///
/// ```
/// use portent_hooks::thread;
///
/// let numbers = [1, 2, 3];
/// let sum = thread::scope(|s| s.spawn(|| numbers.iter().sum::<i32>()).join().unwrap());
/// assert_eq!(sum, 6);
/// ```
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let place = Some(Location::caller());
    let mut address = 0;
    // Threads that are still running are waited for even if `f` panics, and so is the order kept.
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|inner| {
            let scope = Scope::ref_cast(inner);
            address = scope.address();
            f(scope)
        })
    }));
    let threads = lock(&OPEN).as_mut().and_then(|open| open.remove(&address));
    for identity in threads.into_iter().flatten() {
        joined(&identity, place);
    }
    result.unwrap_or_else(|panic| panic::resume_unwind(panic))
}

impl<'scope, 'env> Scope<'scope, 'env> {
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// As [`std::thread::Scope::spawn`].
    ///
    /// # Panics
    ///
    /// If the system cannot make a thread.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let child = Child::forked(None, Some(Location::caller()));
        self.spawn_child(thread::Builder::new(), child, f)
            .expect("failed to spawn thread")
    }

    pub(super) fn spawn_child<F, T>(
        &'scope self,
        builder: thread::Builder,
        child: Child,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let identity = Arc::clone(&child.identity);
        let inner = builder.spawn_scoped(&self.inner, move || child.run(f, false))?;
        lock(&OPEN)
            .get_or_insert_default()
            .entry(self.address())
            .or_default()
            .push(Arc::clone(&identity));
        Ok(ScopedJoinHandle {
            scope: self.address(),
            thread: started(identity, inner.thread()),
            inner,
        })
    }
}

/// [`std::thread::ScopedJoinHandle`], with clocks.
pub struct ScopedJoinHandle<'scope, T> {
    scope: usize,
    inner: thread::ScopedJoinHandle<'scope, T>,
    thread: Thread,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// As [`std::thread::ScopedJoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// As [`std::thread::ScopedJoinHandle::join`].
    ///
    /// # Errors
    ///
    /// What the thread panicked with.
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        let result = self.inner.join();
        let identity = self.thread.identity();
        if let Some(threads) = lock(&OPEN)
            .as_mut()
            .and_then(|open| open.get_mut(&self.scope))
        {
            threads.retain(|other| !Arc::ptr_eq(other, identity));
        }
        joined(identity, Some(Location::caller()));
        result
    }

    /// As [`std::thread::ScopedJoinHandle::is_finished`]. It orders nothing.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
