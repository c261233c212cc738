//! A lock with a shared and an exclusive side.
//!
//! Readers receive the clock that the last writer left inside the lock, and merge their own clocks into
//! one outside of it (`outer_clock`). They do not order each other. A reader whose
//! version has been noted there need not do so again until the next write.

use std::{fmt, panic::Location, sync};

use portent_monitor_core::Version;

use super::{
    Guarded, LockResult, TryLockResult,
    guard::shows_its_value,
    join,
    outer_clock::{LockSide, OuterClock},
    split, split_try, tried,
};
use crate::{
    control::{self, Controller, Step},
    live::{
        Published,
        actor::{Place, Ticket},
        any_open,
        names::Name,
        version,
    },
};

/// [`std::sync::RwLock`], with clocks.
///
/// ```
/// use portent_hooks::sync::RwLock;
///
/// let cache = RwLock::new(vec![1]);
/// cache.write().unwrap().push(2);
/// assert_eq!(cache.read().unwrap().len(), 2);
/// ```
pub struct RwLock<T: ?Sized> {
    outer_clock: OuterClock,
    inner: sync::RwLock<Guarded<T>>,
}

/// [`std::sync::RwLockReadGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    /// Not the lock itself: a guard of something that lives longer is also one of what lives shorter.
    outer_clock: &'a OuterClock,
    /// `None` only inside `drop`.
    inner: Option<Shared<'a, T>>,
    ticket: Ticket,
}

/// [`std::sync::RwLockWriteGuard`] of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    lock: &'a RwLock<T>,
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
    /// As [`std::sync::RwLock::new`].
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock::called(Name::here(), value)
    }

    /// Creates a lock with this name in recordings.
    #[track_caller]
    pub fn with_name(name: &str, value: T) -> RwLock<T> {
        RwLock::called(Name::given(name, |symbols| &mut symbols.locks), value)
    }

    #[inline]
    const fn called(name: Name, value: T) -> RwLock<T> {
        RwLock {
            outer_clock: OuterClock::new("RwLock", name),
            inner: sync::RwLock::new(Guarded {
                left: Published::EMPTY,
                value,
            }),
        }
    }

    /// As [`std::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        let (inner, poisoned) = split(self.inner.into_inner());
        self.outer_clock.taken_apart(&inner.left);
        join((inner.value, poisoned))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// As [`std::sync::RwLock::read`].
    // Always, and the slow path returns the inner guard alone: as in `Mutex`.
    #[inline(always)]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let version = version::shown();
        let mut ticket = Ticket::NONE;
        let (inner, poisoned) = if version == Version::NONE {
            let inner = self.read_recorded(Location::caller(), &mut ticket);
            (inner, self.inner.is_poisoned())
        } else {
            let (mut inner, poisoned) = split(self.inner.read());
            self.receive_shared(&mut inner, version);
            (inner, poisoned)
        };
        join((self.reading(inner, ticket), poisoned))
    }

    /// As [`std::sync::RwLock::write`].
    #[inline(always)]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let version = version::shown();
        let mut ticket = Ticket::NONE;
        let (inner, poisoned) = if version == Version::NONE {
            let inner = self.write_recorded(Location::caller(), &mut ticket);
            (inner, self.inner.is_poisoned())
        } else {
            let (mut inner, poisoned) = split(self.inner.write());
            self.receive(&mut inner, version);
            (inner, poisoned)
        };
        join((self.writing(inner, ticket), poisoned))
    }

    /// Receives what the last writer left, if that is news, and notes the reader.
    #[inline(always)]
    fn receive_shared(&self, inner: &mut Shared<'_, T>, version: Version) {
        if !self.outer_clock.knows_reader(inner.left.version(), version) {
            self.outer_clock.taken(shared(inner));
        }
    }

    /// Receives what the last writer and the readers after it left, if that is news.
    #[inline(always)]
    fn receive(&self, inner: &mut Exclusive<'_, T>, version: Version) {
        if inner.left.version() != version || !self.outer_clock.is_empty() {
            self.outer_clock.taken(exclusive(inner));
        }
    }

    #[inline(always)]
    fn reading<'a>(&'a self, inner: Shared<'a, T>, ticket: Ticket) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard {
            outer_clock: &self.outer_clock,
            inner: Some(inner),
            ticket,
        }
    }

    #[inline(always)]
    fn writing<'a>(&'a self, inner: Exclusive<'a, T>, ticket: Ticket) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard {
            lock: self,
            inner: Some(inner),
            ticket,
        }
    }

    #[cold]
    #[inline(never)]
    fn read_recorded(
        &self,
        place: &'static Location<'static>,
        recorded: &mut Ticket,
    ) -> Shared<'_, T> {
        if let Some(controller) = control::current() {
            let place = Some(place);
            let attempt = || split_try(self.inner.try_read());
            return match self.outer_clock.take_controlled(
                &*controller,
                Step::ReadLock,
                place,
                attempt,
            ) {
                Some((inner, _)) => inner,
                None => controller.obstructed(self.outer_clock.object(), place),
            };
        }
        let ((inner, _), ticket) = self.outer_clock.take(
            Some(place),
            || split_try(self.inner.try_read()),
            || split(self.inner.read()),
            shared,
        );
        *recorded = ticket;
        inner
    }

    #[cold]
    #[inline(never)]
    fn write_recorded(
        &self,
        place: &'static Location<'static>,
        recorded: &mut Ticket,
    ) -> Exclusive<'_, T> {
        if let Some(controller) = control::current() {
            let place = Some(place);
            let attempt = || split_try(self.inner.try_write());
            return match self
                .outer_clock
                .take_controlled(&*controller, Step::Lock, place, attempt)
            {
                Some((inner, _)) => inner,
                None => controller.obstructed(self.outer_clock.object(), place),
            };
        }
        let ((inner, _), ticket) = self.outer_clock.take(
            Some(place),
            || split_try(self.inner.try_write()),
            || split(self.inner.write()),
            exclusive,
        );
        *recorded = ticket;
        inner
    }

    fn read_controlled(
        &self,
        controller: &dyn Controller,
        step: Step,
        place: Place,
    ) -> Option<(RwLockReadGuard<'_, T>, bool)> {
        let attempt = || split_try(self.inner.try_read());
        self.outer_clock
            .take_controlled(controller, step, place, attempt)
            .map(|(inner, poisoned)| (self.reading(inner, Ticket::NONE), poisoned))
    }

    fn write_controlled(
        &self,
        controller: &dyn Controller,
        step: Step,
        place: Place,
    ) -> Option<(RwLockWriteGuard<'_, T>, bool)> {
        let attempt = || split_try(self.inner.try_write());
        self.outer_clock
            .take_controlled(controller, step, place, attempt)
            .map(|(inner, poisoned)| (self.writing(inner, Ticket::NONE), poisoned))
    }

    /// As [`std::sync::RwLock::try_read`].
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if let Some(controller) = control::current() {
            let place = Some(Location::caller());
            return tried(self.read_controlled(&*controller, Step::TryReadLock, place));
        }
        let attempt = || split_try(self.inner.try_read());
        let taken = if any_open() {
            self.outer_clock
                .try_take(Some(Location::caller()), attempt, shared)
                .map(|((inner, poisoned), ticket)| (self.reading(inner, ticket), poisoned))
        } else {
            attempt().map(|(mut inner, poisoned)| {
                self.receive_shared(&mut inner, version::shown());
                (self.reading(inner, Ticket::NONE), poisoned)
            })
        };
        tried(taken)
    }

    /// As [`std::sync::RwLock::try_write`].
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if let Some(controller) = control::current() {
            let place = Some(Location::caller());
            return tried(self.write_controlled(&*controller, Step::TryLock, place));
        }
        let attempt = || split_try(self.inner.try_write());
        let taken = if any_open() {
            self.outer_clock
                .try_take(Some(Location::caller()), attempt, exclusive)
                .map(|((inner, poisoned), ticket)| (self.writing(inner, ticket), poisoned))
        } else {
            attempt().map(|(mut inner, poisoned)| {
                self.receive(&mut inner, version::shown());
                (self.writing(inner, Ticket::NONE), poisoned)
            })
        };
        tried(taken)
    }

    /// As [`std::sync::RwLock::is_poisoned`].
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// As [`std::sync::RwLock::clear_poison`].
    #[inline]
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// As [`std::sync::RwLock::get_mut`].
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let (inner, poisoned) = split(self.inner.get_mut());
        self.outer_clock.taken_apart(&inner.left);
        join((&mut inner.value, poisoned))
    }
}

#[cfg(since = "1.92")]
impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// As [`std::sync::RwLockWriteGuard::downgrade`]: there with version 1.92 of the compiler, as the real lock has to do it.
    #[expect(clippy::incompatible_msrv, reason = "it is there if that is")]
    #[track_caller]
    pub fn downgrade(mut s: Self) -> RwLockReadGuard<'a, T> {
        let (lock, ticket) = (s.lock, s.ticket);
        let controller = control::current();
        if let Some(controller) = &controller {
            let place = Some(Location::caller());
            controller.step(Step::Downgrade, lock.outer_clock.object(), place);
        }
        let Some(inner) = s.inner.take() else {
            unreachable!("a guard has something inside until it is dropped");
        };
        let go = Exclusive::downgrade;
        let inner = match controller {
            Some(_) => go(inner),
            None => lock
                .outer_clock
                .downgrade(inner, exclusive, go, shared, ticket),
        };
        lock.reading(inner, ticket)
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let outer_clock = self.outer_clock;
        if let Some(inner) = &self.inner
            && !outer_clock.knows_reader(inner.left.version(), version::shown())
            && let Some(inner) = self.inner.take()
        {
            outer_clock.give_back(inner, shared, self.ticket);
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let outer_clock = &self.lock.outer_clock;
        if let Some(inner) = &self.inner
            && (inner.left.version() != version::shown() || !outer_clock.is_empty())
            && let Some(inner) = self.inner.take()
        {
            outer_clock.give_back(inner, exclusive, self.ticket);
        }
    }
}

shows_its_value!(RwLockReadGuard);
shows_its_value!(mut RwLockWriteGuard);

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match split_try(self.inner.try_read()) {
            Some((inner, _)) => shown.field("data", &&inner.value),
            None => shown.field("data", &"<locked>"),
        };
        shown.field("poisoned", &self.is_poisoned());
        shown.finish_non_exhaustive()
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
