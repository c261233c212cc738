//! A lock of tasks with a shared and an exclusive side. Its clocks are like those of the lock for threads.

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

/// [`tokio::sync::RwLock`], with clocks.
///
/// ```
/// use portent_hooks::task::RwLock;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let cache = RwLock::new(vec![1]);
/// runtime.block_on(async {
///     cache.write().await.push(2);
///     assert_eq!(cache.read().await.len(), 2);
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct RwLock<T: ?Sized> {
    outer_clock: OuterClock,
    inner: sync::RwLock<Guarded<T>>,
}

/// [`tokio::sync::RwLockReadGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    outer_clock: &'a OuterClock,
    /// `None` only inside `drop`.
    inner: Option<Shared<'a, T>>,
    ticket: Ticket,
}

/// [`tokio::sync::RwLockWriteGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    outer_clock: &'a OuterClock,
    /// `None` only inside `drop`.
    inner: Option<Exclusive<'a, T>>,
    ticket: Ticket,
}

type Shared<'a, T> = sync::RwLockReadGuard<'a, Guarded<T>>;
type Exclusive<'a, T> = sync::RwLockWriteGuard<'a, Guarded<T>>;

fn shared<'g, T: ?Sized>(inner: &'g mut Shared<'_, T>) -> LockSide<'g> {
    LockSide::Shared(&inner.left)
}

fn exclusive<'g, T: ?Sized>(inner: &'g mut Exclusive<'_, T>) -> LockSide<'g> {
    LockSide::Exclusive(&mut inner.left)
}

impl<T> RwLock<T> {
    /// As [`tokio::sync::RwLock::new`].
    #[track_caller]
    pub fn new(value: T) -> RwLock<T> {
        RwLock::const_new(value)
    }

    /// As [`tokio::sync::RwLock::const_new`].
    #[track_caller]
    pub const fn const_new(value: T) -> RwLock<T> {
        RwLock::called(Name::here(), value)
    }

    /// Creates a lock with this name in recordings.
    #[track_caller]
    pub fn with_name(name: &str, value: T) -> RwLock<T> {
        RwLock::called(Name::given(name, |symbols| &mut symbols.locks), value)
    }

    const fn called(name: Name, value: T) -> RwLock<T> {
        RwLock {
            outer_clock: OuterClock::new("task::RwLock", name),
            inner: sync::RwLock::const_new(Guarded {
                left: Published::EMPTY,
                value,
            }),
        }
    }

    /// As [`tokio::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> T {
        let inner = self.inner.into_inner();
        self.outer_clock.taken_apart(&inner.left);
        inner.value
    }
}

impl<T: ?Sized> RwLock<T> {
    /// As [`tokio::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let place = Some(Location::caller());
        async move {
            if version::is_hidden() {
                let attempt = || self.inner.try_read();
                let wait = || self.inner.read();
                let (inner, ticket) =
                    take_recorded(&self.outer_clock, place, attempt, wait, shared).await;
                return self.reading(inner, ticket);
            }
            let inner = self.inner.read().await;
            self.read_taken(inner)
        }
    }

    /// As [`tokio::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let place = Some(Location::caller());
        async move {
            if version::is_hidden() {
                let attempt = || self.inner.try_write();
                let wait = || self.inner.write();
                let (inner, ticket) =
                    take_recorded(&self.outer_clock, place, attempt, wait, exclusive).await;
                return self.writing(inner, ticket);
            }
            let inner = self.inner.write().await;
            self.write_taken(inner)
        }
    }

    /// As [`tokio::sync::RwLock::blocking_read`].
    ///
    /// # Panics
    ///
    /// Inside of a task.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        if version::is_hidden() {
            let (inner, ticket) = self.outer_clock.take(
                Some(Location::caller()),
                || Some((self.inner.try_read().ok()?, false)),
                || (self.inner.blocking_read(), false),
                shared,
            );
            return self.reading(inner.0, ticket);
        }
        self.read_taken(self.inner.blocking_read())
    }

    /// As [`tokio::sync::RwLock::blocking_write`].
    ///
    /// # Panics
    ///
    /// Inside of a task.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        if version::is_hidden() {
            let (inner, ticket) = self.outer_clock.take(
                Some(Location::caller()),
                || Some((self.inner.try_write().ok()?, false)),
                || (self.inner.blocking_write(), false),
                exclusive,
            );
            return self.writing(inner.0, ticket);
        }
        self.write_taken(self.inner.blocking_write())
    }

    /// As [`tokio::sync::RwLock::try_read`].
    ///
    /// # Errors
    ///
    /// If the lock is held by a writer.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        if !any_open() {
            return Ok(self.read_taken(self.inner.try_read()?));
        }
        let mut refused = None;
        let attempt = || match self.inner.try_read() {
            Ok(inner) => Some((inner, false)),
            Err(error) => {
                refused = Some(error);
                None
            }
        };
        let place = Some(Location::caller());
        match self.outer_clock.try_take(place, attempt, shared) {
            Some(((inner, _), ticket)) => Ok(self.reading(inner, ticket)),
            None => Err(refused.expect("it was not taken")),
        }
    }

    /// As [`tokio::sync::RwLock::try_write`].
    ///
    /// # Errors
    ///
    /// If the lock is held.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        if !any_open() {
            return Ok(self.write_taken(self.inner.try_write()?));
        }
        let mut refused = None;
        let attempt = || match self.inner.try_write() {
            Ok(inner) => Some((inner, false)),
            Err(error) => {
                refused = Some(error);
                None
            }
        };
        let place = Some(Location::caller());
        match self.outer_clock.try_take(place, attempt, exclusive) {
            Some(((inner, _), ticket)) => Ok(self.writing(inner, ticket)),
            None => Err(refused.expect("it was not taken")),
        }
    }

    fn read_taken<'a>(&'a self, mut inner: Shared<'a, T>) -> RwLockReadGuard<'a, T> {
        let version = version::shown();
        if !self.outer_clock.knows_reader(inner.left.version(), version) {
            self.outer_clock.taken(shared(&mut inner));
        }
        self.reading(inner, Ticket::NONE)
    }

    fn write_taken<'a>(&'a self, mut inner: Exclusive<'a, T>) -> RwLockWriteGuard<'a, T> {
        if inner.left.version() != version::shown() || !self.outer_clock.is_empty() {
            self.outer_clock.taken(exclusive(&mut inner));
        }
        self.writing(inner, Ticket::NONE)
    }

    fn reading<'a>(&'a self, inner: Shared<'a, T>, ticket: Ticket) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard {
            outer_clock: &self.outer_clock,
            inner: Some(inner),
            ticket,
        }
    }

    fn writing<'a>(&'a self, inner: Exclusive<'a, T>, ticket: Ticket) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard {
            outer_clock: &self.outer_clock,
            inner: Some(inner),
            ticket,
        }
    }

    /// As [`tokio::sync::RwLock::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        let inner = self.inner.get_mut();
        self.outer_clock.taken_apart(&inner.left);
        &mut inner.value
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else {
            return;
        };
        let (outer_clock, ticket) = (self.outer_clock, self.ticket);
        quietly(|| {
            if !outer_clock.knows_reader(inner.left.version(), version::shown()) {
                outer_clock.give_back(inner, shared, ticket);
            }
        });
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else {
            return;
        };
        let (outer_clock, ticket) = (self.outer_clock, self.ticket);
        quietly(|| {
            if inner.left.version() != version::shown() || !outer_clock.is_empty() {
                outer_clock.give_back(inner, exclusive, ticket);
            }
        });
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// As [`tokio::sync::RwLockWriteGuard::downgrade`].
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        let (outer_clock, ticket) = (self.outer_clock, self.ticket);
        let Some(inner) = self.inner.take() else {
            unreachable!("a guard has something inside until it is dropped");
        };
        let go = |inner: Exclusive<'a, T>| quietly(|| inner.downgrade());
        let inner = outer_clock.downgrade(inner, exclusive, go, shared, ticket);
        RwLockReadGuard {
            outer_clock,
            inner: Some(inner),
            ticket,
        }
    }
}

shows_its_value!(RwLockReadGuard);
shows_its_value!(mut RwLockWriteGuard);

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.inner.try_read() {
            Ok(inner) => shown.field("data", &&inner.value),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}
