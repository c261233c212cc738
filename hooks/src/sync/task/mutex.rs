//! Mutual exclusion of tasks. As for threads, the clock of the last holder is inside, beside the value.

use std::{fmt, panic::Location};

use tokio::sync;

use super::{TryLockError, take_recorded};
use crate::{
    live::{Published, actor::Ticket, any_open, names::Name, version},
    sync::{
        Guarded,
        guard::shows_its_value,
        outer_clock::{LockSide, OuterClock},
    },
    task::quiet::quietly,
};

/// [`tokio::sync::Mutex`], with a clock.
///
/// ```
/// use portent_hooks::task::Mutex;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let total = Mutex::new(0);
/// runtime.block_on(async { *total.lock().await += 1 });
/// assert_eq!(total.into_inner(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Mutex<T: ?Sized> {
    outer_clock: OuterClock,
    inner: sync::Mutex<Guarded<T>>,
}

/// [`tokio::sync::MutexGuard`] of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// `None` only inside `drop`.
    inner: Option<Inner<'a, T>>,
    ticket: Ticket,
}

type Inner<'a, T> = sync::MutexGuard<'a, Guarded<T>>;

fn side<'g, T: ?Sized>(inner: &'g mut Inner<'_, T>) -> LockSide<'g> {
    LockSide::Exclusive(&mut inner.left)
}

impl<T> Mutex<T> {
    /// As [`tokio::sync::Mutex::new`].
    #[track_caller]
    pub fn new(value: T) -> Mutex<T> {
        Mutex::const_new(value)
    }

    /// As [`tokio::sync::Mutex::const_new`].
    #[track_caller]
    pub const fn const_new(value: T) -> Mutex<T> {
        Mutex::called(Name::here(), value)
    }

    /// Creates a mutex with this name in recordings.
    #[track_caller]
    pub fn with_name(name: &str, value: T) -> Mutex<T> {
        Mutex::called(Name::given(name, |symbols| &mut symbols.locks), value)
    }

    const fn called(name: Name, value: T) -> Mutex<T> {
        Mutex {
            outer_clock: OuterClock::new("task::Mutex", name),
            inner: sync::Mutex::const_new(Guarded {
                left: Published::EMPTY,
                value,
            }),
        }
    }

    /// As [`tokio::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> T {
        let inner = self.inner.into_inner();
        self.outer_clock.taken_apart(&inner.left);
        inner.value
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As [`tokio::sync::Mutex::lock`].
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let place = Some(Location::caller());
        async move {
            if version::is_hidden() {
                let attempt = || self.inner.try_lock();
                let wait = || self.inner.lock();
                let (inner, ticket) =
                    take_recorded(&self.outer_clock, place, attempt, wait, side).await;
                return self.guard(inner, ticket);
            }
            let inner = self.inner.lock().await;
            self.taken(inner)
        }
    }

    /// As [`tokio::sync::Mutex::blocking_lock`].
    ///
    /// # Panics
    ///
    /// Inside of a task.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        if version::is_hidden() {
            let (inner, ticket) = self.outer_clock.take(
                Some(Location::caller()),
                || Some((self.inner.try_lock().ok()?, false)),
                || (self.inner.blocking_lock(), false),
                side,
            );
            return self.guard(inner.0, ticket);
        }
        self.taken(self.inner.blocking_lock())
    }

    /// As [`tokio::sync::Mutex::try_lock`].
    ///
    /// # Errors
    ///
    /// If it is taken.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        if !any_open() {
            return Ok(self.taken(self.inner.try_lock()?));
        }
        let mut refused = None;
        let attempt = || match self.inner.try_lock() {
            Ok(inner) => Some((inner, false)),
            Err(error) => {
                refused = Some(error);
                None
            }
        };
        let place = Some(Location::caller());
        match self.outer_clock.try_take(place, attempt, side) {
            Some(((inner, _), ticket)) => Ok(self.guard(inner, ticket)),
            None => Err(refused.expect("it was not taken")),
        }
    }

    /// Of one that was not recorded.
    #[inline]
    fn taken<'a>(&'a self, mut inner: Inner<'a, T>) -> MutexGuard<'a, T> {
        if inner.left.version() != version::shown() || !self.outer_clock.is_empty() {
            self.outer_clock.taken(side(&mut inner));
        }
        self.guard(inner, Ticket::NONE)
    }

    #[inline]
    fn guard<'a>(&'a self, inner: Inner<'a, T>, ticket: Ticket) -> MutexGuard<'a, T> {
        MutexGuard {
            lock: self,
            inner: Some(inner),
            ticket,
        }
    }

    /// As [`tokio::sync::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        let inner = self.inner.get_mut();
        self.outer_clock.taken_apart(&inner.left);
        &mut inner.value
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else {
            return;
        };
        let outer_clock = &self.lock.outer_clock;
        // It may wake the next one, who then knows all that is to be known.
        quietly(|| {
            if inner.left.version() != version::shown() || !outer_clock.is_empty() {
                outer_clock.give_back(inner, side, self.ticket);
            }
        });
    }
}

shows_its_value!(mut MutexGuard);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// As [`tokio::sync::MutexGuard::mutex`].
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // To look at it is no step of the program.
        let mut shown = f.debug_struct("Mutex");
        match self.inner.try_lock() {
            Ok(inner) => shown.field("data", &&inner.value),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}
