//! Threads that do not outlive the function that spawned them.
//!
//! The end of a scope waits for the functions of its threads but, unlike an explicit join, not
//! for the destructors of their thread-locals. In recordings, a scoped thread therefore ends with its
//! function, and what its destructors do is counted as late.

use std::{
    fmt, io,
    panic::{self, AssertUnwindSafe, Location},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use ref_cast::RefCast;
use rustc_hash::FxHashMap;

use super::{
    Thread,
    spawn::{Child, ControlledThread, joined, started},
};
use crate::{
    control::{self, Controller, Spawned},
    live::{actor::Place, identity::Identity, lock},
};

/// The threads of the scopes that are open, by the address of the scope: a scope of the standard library,
/// which ours is made of, has no room for more.
static OPEN: Mutex<Option<FxHashMap<usize, Vec<Member>>>> = Mutex::new(None);

/// A thread of a scope.
enum Member {
    Native(Arc<Identity>),
    Controlled {
        number: u32,
        /// It panicked, and has not been joined.
        panicked: Arc<AtomicBool>,
    },
}

impl Member {
    fn is(&self, identity: &Arc<Identity>) -> bool {
        matches!(self, Member::Native(other) if Arc::ptr_eq(other, identity))
    }
}

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
    if let Some(controller) = control::current() {
        return scope_controlled(&*controller, place, f);
    }
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
    for thread in threads.into_iter().flatten() {
        if let Member::Native(identity) = thread {
            joined(&identity, place);
        }
    }
    result.unwrap_or_else(|panic| panic::resume_unwind(panic))
}

/// The threads of such a scope are not known to that of the standard library, so they are waited for here: before anything is
/// gone that they may have borrowed.
fn scope_controlled<'env, F, T>(controller: &dyn Controller, place: Place, f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    thread::scope(|inner| {
        let scope = Scope::ref_cast(inner);
        let result = panic::catch_unwind(AssertUnwindSafe(|| f(scope)));
        let mut panicked = false;
        // Threads may spawn others in the same scope until they end.
        while let Some(threads) = lock(&OPEN)
            .as_mut()
            .and_then(|open| open.remove(&scope.address()))
        {
            for thread in threads {
                if let Member::Controlled {
                    number,
                    panicked: of_thread,
                } = thread
                {
                    controller.join(number, place);
                    panicked |= of_thread.load(Relaxed);
                }
            }
        }
        match result {
            Err(panic) => panic::resume_unwind(panic),
            Ok(_) if panicked => panic!("a scoped thread panicked"),
            Ok(result) => result,
        }
    })
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
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            return self.spawn_controlled(&*controller, None, place, f);
        }
        let child = Child::forked(None, place);
        self.spawn_child(thread::Builder::new(), child, f)
            .expect("failed to spawn thread")
    }

    pub(super) fn spawn_controlled<F, T>(
        &'scope self,
        controller: &dyn Controller,
        name: Option<String>,
        place: Place,
        f: F,
    ) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let panicked = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&panicked);
        // Also if it unwinds before it has run: whoever leaves the scope waits for it.
        let enter = |number| {
            lock(&OPEN)
                .get_or_insert_default()
                .entry(self.address())
                .or_default()
                .push(Member::Controlled {
                    number,
                    panicked: there,
                });
        };
        let spawned = Spawned::begin(controller, name.as_deref(), place, f, enter, &panicked);
        let thread = ControlledThread::new(spawned.number, name);
        ScopedJoinHandle {
            scope: self.address(),
            handle: Handle::Controlled(spawned, thread, panicked),
        }
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
            .push(Member::Native(Arc::clone(&identity)));
        let thread = started(identity, inner.thread());
        Ok(ScopedJoinHandle {
            scope: self.address(),
            handle: Handle::Native(inner, thread),
        })
    }
}

/// [`std::thread::ScopedJoinHandle`], with clocks.
pub struct ScopedJoinHandle<'scope, T> {
    scope: usize,
    handle: Handle<'scope, T>,
}

enum Handle<'scope, T> {
    Native(thread::ScopedJoinHandle<'scope, T>, Thread),
    Controlled(Spawned<T>, ControlledThread, Arc<AtomicBool>),
}

impl<T> ScopedJoinHandle<'_, T> {
    /// As [`std::thread::ScopedJoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.handle {
            Handle::Native(_, thread) => thread,
            Handle::Controlled(_, thread, _) => thread.get(),
        }
    }

    /// As [`std::thread::ScopedJoinHandle::join`].
    ///
    /// # Errors
    ///
    /// What the thread panicked with.
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        let place = Some(Location::caller());
        match self.handle {
            Handle::Native(inner, thread) => {
                let result = inner.join();
                let identity = thread.identity();
                if let Some(threads) = lock(&OPEN)
                    .as_mut()
                    .and_then(|open| open.get_mut(&self.scope))
                {
                    threads.retain(|other| !other.is(identity));
                }
                joined(identity, place);
                result
            }
            Handle::Controlled(spawned, _, panicked) => {
                let result = spawned.join(place);
                panicked.store(false, Relaxed);
                result
            }
        }
    }

    /// As [`std::thread::ScopedJoinHandle::is_finished`]. It orders nothing.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.handle {
            Handle::Native(inner, _) => inner.is_finished(),
            Handle::Controlled(spawned, ..) => spawned.has_ended(),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
