//! Mutual exclusion.
//!
//! The clock of the last holder is inside the lock, beside the value. If its version equals that of
//! the thread, locking and unlocking cost one comparison more than in the standard library.

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

/// [`std::sync::Mutex`], with a clock.
///
/// ```
/// use portent_hooks::sync::Mutex;
///
/// static TOTAL: Mutex<u32> = Mutex::new(0);
/// *TOTAL.lock().unwrap() += 1;
/// assert_eq!(*TOTAL.lock().unwrap(), 1);
/// ```
pub struct Mutex<T: ?Sized> {
    outer_clock: OuterClock,
    inner: sync::Mutex<Guarded<T>>,
}

/// [`std::sync::MutexGuard`] of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    lock: &'a Mutex<T>,
    /// `None` during a wait for a condition, while the guard is out of reach.
    inner: Option<sync::MutexGuard<'a, Guarded<T>>>,
    ticket: Ticket,
}

type Inner<'a, T> = sync::MutexGuard<'a, Guarded<T>>;

fn side<'g, T: ?Sized>(inner: &'g mut Inner<'_, T>) -> LockSide<'g> {
    LockSide::Exclusive(&mut inner.left)
}

impl<T> Mutex<T> {
    /// As [`std::sync::Mutex::new`].
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex::called(Name::here(), value)
    }

    /// Creates a mutex with this name in recordings.
    #[track_caller]
    pub fn with_name(name: &str, value: T) -> Mutex<T> {
        Mutex::called(Name::given(name, |symbols| &mut symbols.locks), value)
    }

    #[inline]
    const fn called(name: Name, value: T) -> Mutex<T> {
        Mutex {
            outer_clock: OuterClock::new("Mutex", name),
            inner: sync::Mutex::new(Guarded {
                left: Published::EMPTY,
                value,
            }),
        }
    }

    /// As [`std::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        let (inner, poisoned) = split(self.inner.into_inner());
        self.outer_clock.taken_apart(&inner.left);
        join((inner.value, poisoned))
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As [`std::sync::Mutex::lock`].
    // Always: a guard that is returned through memory is written in parts and read as a whole, and the processor stalls. For the same
    // reason the slow path returns the inner guard alone, which fits into registers.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let version = version::shown();
        let mut ticket = Ticket::NONE;
        let (inner, poisoned) = if version == Version::NONE {
            let inner = self.lock_recorded(Location::caller(), &mut ticket);
            (inner, self.inner.is_poisoned())
        } else {
            let (mut inner, poisoned) = split(self.inner.lock());
            self.receive(&mut inner, version);
            (inner, poisoned)
        };
        join((self.guard(inner, ticket), poisoned))
    }

    /// Receives what the last holder left, if that is news.
    #[inline(always)]
    fn receive(&self, inner: &mut Inner<'_, T>, version: Version) {
        if inner.left.version() != version || !self.outer_clock.is_empty() {
            self.outer_clock.taken(side(inner));
        }
    }

    #[inline(always)]
    fn guard<'a>(&'a self, inner: Inner<'a, T>, ticket: Ticket) -> MutexGuard<'a, T> {
        MutexGuard {
            lock: self,
            inner: Some(inner),
            ticket,
        }
    }

    #[cold]
    #[inline(never)]
    fn lock_recorded(
        &self,
        place: &'static Location<'static>,
        recorded: &mut Ticket,
    ) -> Inner<'_, T> {
        if let Some(controller) = control::current() {
            let place = Some(place);
            let attempt = || split_try(self.inner.try_lock());
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
            || split_try(self.inner.try_lock()),
            || split(self.inner.lock()),
            side,
        );
        *recorded = ticket;
        inner
    }

    fn try_lock_controlled(
        &self,
        controller: &dyn Controller,
        place: Place,
    ) -> TryLockResult<MutexGuard<'_, T>> {
        let attempt = || split_try(self.inner.try_lock());
        let taken = self
            .outer_clock
            .take_controlled(controller, Step::TryLock, place, attempt);
        tried(taken.map(|(inner, poisoned)| (self.guard(inner, Ticket::NONE), poisoned)))
    }

    /// As [`std::sync::Mutex::try_lock`].
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if let Some(controller) = control::current() {
            return self.try_lock_controlled(&*controller, Some(Location::caller()));
        }
        let attempt = || split_try(self.inner.try_lock());
        let taken = if any_open() {
            self.outer_clock
                .try_take(Some(Location::caller()), attempt, side)
                .map(|((inner, poisoned), ticket)| (self.guard(inner, ticket), poisoned))
        } else {
            // Nobody will ever ask.
            attempt().map(|(mut inner, poisoned)| {
                self.receive(&mut inner, version::shown());
                (self.guard(inner, Ticket::NONE), poisoned)
            })
        };
        tried(taken)
    }

    /// As [`std::sync::Mutex::is_poisoned`].
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// As [`std::sync::Mutex::clear_poison`].
    #[inline]
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// As [`std::sync::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let (inner, poisoned) = split(self.inner.get_mut());
        self.outer_clock.taken_apart(&inner.left);
        join((&mut inner.value, poisoned))
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.lock
    }

    /// Takes the guard apart, to wait for a condition; what it has to leave was left.
    pub(super) fn dismantle(mut self) -> Option<(&'a Mutex<T>, Inner<'a, T>, Ticket)> {
        let inner = self.inner.take()?;
        Some((self.lock, inner, self.ticket))
    }

    /// Of a mutex that was taken again, as is recorded.
    pub(super) fn assemble(lock: &'a Mutex<T>, inner: Inner<'a, T>, ticket: Ticket) -> Self {
        MutexGuard {
            lock,
            inner: Some(inner),
            ticket,
        }
    }
}

impl<T: ?Sized> Mutex<T> {
    pub(super) fn outer_clock(&self) -> &OuterClock {
        &self.outer_clock
    }

    /// Takes the mutex again after a wait for a condition.
    pub(super) fn again(
        &self,
        controller: &dyn Controller,
        place: Place,
    ) -> (MutexGuard<'_, T>, bool) {
        match split_try(self.inner.try_lock()) {
            Some((inner, poisoned)) => (self.guard(inner, Ticket::NONE), poisoned),
            None => controller.obstructed(self.outer_clock.object(), place),
        }
    }
}

/// The inside of the guard of a mutex, for a wait.
pub(super) fn left<'g, T: ?Sized>(inner: &'g mut Inner<'_, T>) -> &'g mut Published {
    &mut inner.left
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(inner) = &self.inner
            && (inner.left.version() != version::shown() || !self.lock.outer_clock.is_empty())
            && let Some(inner) = self.inner.take()
        {
            self.lock.outer_clock.give_back(inner, side, self.ticket);
        }
    }
}

shows_its_value!(mut MutexGuard);

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // To look at it is no step of the program.
        let mut shown = f.debug_struct("Mutex");
        match split_try(self.inner.try_lock()) {
            Some((inner, _)) => shown.field("data", &&inner.value),
            None => shown.field("data", &"<locked>"),
        };
        shown.field("poisoned", &self.is_poisoned());
        shown.finish_non_exhaustive()
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
