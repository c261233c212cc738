//! Waiting for a condition.
//!
//! Beginning to wait releases the mutex, and is ordered with every notify. Waking up comes after every
//! notify so far, and takes the mutex again. A wait that timed out comes after no notify: it only takes the
//! mutex again.

use std::{
    fmt,
    panic::Location,
    sync,
    time::{Duration, Instant},
};

use portent_monitor_core::{Access, CondId, Op, Operation, Role, Version};

use super::{LockResult, MutexGuard, join, mutex, outer_clock::LockSide, split};
use crate::{
    control::{self, Class, Controller, Object, Step},
    live::{
        ObjectClock,
        actor::{self, Ticket},
        line::OperationRecord,
        lock,
        names::Name,
        operation::{LOCK, access},
        version,
    },
};

const NOTIFY: Access = access(Operation::Notify, Role::Condition);
const WAITING: Access = access(Operation::Waiting, Role::Condition);
const WAITING_LOCK: Access = access(Operation::Waiting, Role::Lock);
const WAIT: Access = access(Operation::Wait, Role::Condition);
const WAIT_LOCK: Access = access(Operation::Wait, Role::Lock);

/// [`std::sync::Condvar`], with clocks.
///
/// ```
/// use portent_hooks::{sync::{Condvar, Mutex}, thread};
///
/// let (ready, turned) = (Mutex::new(false), Condvar::new());
/// thread::scope(|s| {
///     s.spawn(|| {
///         *ready.lock().unwrap() = true;
///         turned.notify_one();
///     });
///     let guard = turned.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
///     assert!(*guard);
/// });
/// ```
pub struct Condvar {
    name: Name,
    object: sync::Mutex<ObjectClock>,
    inner: sync::Condvar,
}

impl Condvar {
    /// As [`std::sync::Condvar::new`].
    #[inline]
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar::called(Name::here())
    }

    /// Creates a condition variable with this name in recordings.
    #[track_caller]
    pub fn with_name(name: &str) -> Condvar {
        Condvar::called(Name::given(name, |symbols| &mut symbols.conds))
    }

    const fn called(name: Name) -> Condvar {
        Condvar {
            name,
            object: sync::Mutex::new(ObjectClock::EMPTY),
            inner: sync::Condvar::new(),
        }
    }

    /// As the controller of this thread sees it.
    fn as_object(&self) -> Object<'_> {
        Object::new(&self.name, "Condvar", Class::Condition)
    }

    fn wait_controlled<'a, T>(
        &self,
        controller: &dyn Controller,
        guard: MutexGuard<'a, T>,
        timed: bool,
        place: &'static Location<'static>,
    ) -> ((MutexGuard<'a, T>, WaitTimeoutResult), bool) {
        let place = Some(place);
        let mutex = guard.mutex();
        let object = mutex.outer_clock().object();
        controller.wait(self.as_object(), object, place);
        // Now it is given back, and nobody has to be told.
        drop(guard.dismantle());
        let notified = controller.wake(self.as_object(), object, timed, place);
        let (guard, poisoned) = mutex.again(controller, place);
        ((guard, WaitTimeoutResult(!notified)), poisoned)
    }

    fn id(&self) -> CondId {
        self.name.id("Condvar", |symbols| &mut symbols.conds)
    }

    /// As [`std::sync::Condvar::wait`].
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        if let Some(controller) = control::current() {
            let ((guard, _), poisoned) =
                self.wait_controlled(&*controller, guard, false, Location::caller());
            return join((guard, poisoned));
        }
        let ((guard, ()), poisoned) = self.wait_by(guard, Location::caller(), |inner| {
            let (inner, poisoned) = split(self.inner.wait(inner));
            (inner, (), true, poisoned)
        });
        join((guard, poisoned))
    }

    /// As [`std::sync::Condvar::wait_while`].
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`std::sync::Condvar::wait_timeout`].
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        if let Some(controller) = control::current() {
            return join(self.wait_controlled(&*controller, guard, true, Location::caller()));
        }
        let waited = self.wait_by(guard, Location::caller(), |inner| {
            let ((inner, result), poisoned) = split(self.inner.wait_timeout(inner, time));
            let timed_out = result.timed_out();
            (inner, WaitTimeoutResult(timed_out), !timed_out, poisoned)
        });
        join(waited)
    }

    /// As [`std::sync::Condvar::wait_timeout_ms`].
    #[deprecated(note = "replaced by `wait_timeout`, as in the standard library")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let waited = self.wait_timeout(guard, Duration::from_millis(ms.into()));
        let ((guard, result), poisoned) = split(waited);
        join(((guard, !result.timed_out()), poisoned))
    }

    /// As [`std::sync::Condvar::wait_timeout_while`].
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        if control::current().is_some() {
            // Time is over when the wait says so.
            let mut timed_out = false;
            loop {
                if !condition(&mut *guard) {
                    return Ok((guard, WaitTimeoutResult(false)));
                }
                if timed_out {
                    return Ok((guard, WaitTimeoutResult(true)));
                }
                let result;
                (guard, result) = self.wait_timeout(guard, time)?;
                timed_out = result.timed_out();
            }
        }
        let start = Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = time.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// As [`std::sync::Condvar::notify_one`].
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) {
        if let Some(controller) = control::current() {
            let place = Some(Location::caller());
            controller.step(Step::NotifyOne, self.as_object(), place);
            return;
        }
        self.notifies(Location::caller());
        self.inner.notify_one();
    }

    /// As [`std::sync::Condvar::notify_all`].
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) {
        if let Some(controller) = control::current() {
            let place = Some(Location::caller());
            controller.step(Step::NotifyAll, self.as_object(), place);
            return;
        }
        self.notifies(Location::caller());
        self.inner.notify_all();
    }

    /// Before anybody wakes up.
    fn notifies(&self, place: &'static Location<'static>) {
        let ticket = if version::is_hidden() {
            actor::prepare()
        } else {
            Ticket::NONE
        };
        let mut object = lock(&self.object);
        if object.version() != version::shown() || object.has_reads() {
            let line = || OperationRecord::new(Op::Notify(self.id()), Some(place));
            actor::with(|actor| actor.visit(&mut object, NOTIFY, ticket, line));
        }
    }

    /// Waits by calling `wait`, which returns the mutex and whether the thread was notified.
    fn wait_by<'a, T, R>(
        &self,
        guard: MutexGuard<'a, T>,
        place: &'static Location<'static>,
        wait: impl FnOnce(
            sync::MutexGuard<'a, super::Guarded<T>>,
        ) -> (sync::MutexGuard<'a, super::Guarded<T>>, R, bool, bool),
    ) -> ((MutexGuard<'a, T>, R), bool) {
        let Some((mutex, mut inner, before)) = guard.dismantle() else {
            unreachable!("a guard that was passed holds its mutex");
        };
        let outer_clock = mutex.outer_clock();
        // If everything is recorded, the begin and the end of the wait are so together.
        let hidden = version::shown() == Version::NONE;
        let ticket = if hidden { actor::prepare() } else { before };
        let mut ledger = outer_clock.open();
        let line = || {
            let lock = (before == ticket).then(|| outer_clock.id());
            OperationRecord::new(Op::Waiting(self.id(), lock), Some(place))
        };
        let mut object = lock(&self.object);
        let side = LockSide::Exclusive(mutex::left(&mut inner));
        ledger.count(&side, false);
        outer_clock.enter(&mut ledger, side, WAITING_LOCK, ticket, line, |actor| {
            actor.receive(&object, WAITING);
        });
        actor::with(|actor| actor.publish(&mut object, WAITING));
        drop(object);
        drop(ledger);

        let (mut inner, result, woken, poisoned) = wait(inner);

        let mut ledger = outer_clock.open();
        let object = lock(&self.object);
        let (line, access): (&dyn Fn() -> Op, Access) = if woken {
            (&|| Op::Wait(self.id(), Some(outer_clock.id())), WAIT_LOCK)
        } else {
            (&|| (LOCK.op)(outer_clock.id()), LOCK.access)
        };
        let side = LockSide::Exclusive(mutex::left(&mut inner));
        ledger.count(&side, true);
        let line = || OperationRecord::new(line(), Some(place));
        outer_clock.enter(&mut ledger, side, access, ticket, line, |actor| {
            if woken {
                actor.receive(&object, WAIT);
            }
        });
        drop(object);
        let guard = MutexGuard::assemble(mutex, inner, ticket);
        ((guard, result), poisoned)
    }
}

/// [`std::sync::WaitTimeoutResult`] of a [`Condvar`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// As [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
