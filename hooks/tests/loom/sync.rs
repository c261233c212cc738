//! The code that is checked, and locks made of it: what `src/sync/mutex.rs`, `rwlock.rs` and `once_lock.rs` do, around locks of loom.

#[path = "../../src/sync/header.rs"]
mod header;
#[path = "../../src/sync/outer_clock.rs"]
mod outer_clock;

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Mutex as Plain, MutexGuard as PlainGuard,
        atomic::Ordering::{Acquire, Release},
    },
};

use loom::sync::{self, RwLockReadGuard, RwLockWriteGuard};

pub(crate) use self::header::Header;
use self::outer_clock::{LockSide, OuterClock};
use crate::{
    gate::Gate,
    live::{Published, actor::Ticket, names::Name, operation::UPDATE, version},
    primitive::{AtomicU64, made},
};

/// A mutex, or a lock with two sides.
pub(crate) struct Lock<I> {
    outer_clock: OuterClock,
    inner: I,
}

pub(crate) type Mutex = Lock<Inner>;
pub(crate) type RwLock = Lock<sync::RwLock<Guarded>>;

/// What is inside: how often somebody had it alone.
pub(crate) struct Guarded {
    left: Published,
    pub(crate) sections: u64,
}

const NEW: Guarded = Guarded {
    left: Published::EMPTY,
    sections: 0,
};

type Writing<'a> = RwLockWriteGuard<'a, Guarded>;
type Reading<'a> = RwLockReadGuard<'a, Guarded>;

fn alone<'g>(guard: &'g mut Alone<'_>) -> LockSide<'g> {
    LockSide::Exclusive(&mut guard.left)
}

fn writing<'g>(guard: &'g mut Writing<'_>) -> LockSide<'g> {
    LockSide::Exclusive(&mut guard.left)
}

fn reading<'g>(guard: &'g mut Reading<'_>) -> LockSide<'g> {
    LockSide::Shared(&guard.left)
}

/// A mutex whose `try_lock` never waits: that of loom may.
pub(crate) struct Inner {
    gate: Gate,
    inside: Plain<Guarded>,
}

/// The guard of [`Inner`].
pub(crate) struct Alone<'a> {
    gate: &'a Gate,
    inside: Option<PlainGuard<'a, Guarded>>,
}

impl Inner {
    fn lock(&self) -> Alone<'_> {
        self.gate.exclusive();
        self.guard()
    }

    fn try_lock(&self) -> Option<Alone<'_>> {
        self.gate.try_exclusive().then(|| self.guard())
    }

    fn guard(&self) -> Alone<'_> {
        Alone {
            gate: &self.gate,
            inside: self.inside.try_lock().ok(),
        }
    }
}

impl Deref for Alone<'_> {
    type Target = Guarded;

    fn deref(&self) -> &Guarded {
        self.inside.as_ref().unwrap()
    }
}

impl DerefMut for Alone<'_> {
    fn deref_mut(&mut self) -> &mut Guarded {
        self.inside.as_mut().unwrap()
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        drop(self.inside.take());
        self.gate.leave_exclusive();
    }
}

impl Mutex {
    pub(crate) fn new() -> Mutex {
        Lock {
            outer_clock: made(OuterClock::new("Mutex", Name)),
            inner: Inner {
                gate: made(Gate::new()),
                inside: Plain::new(NEW),
            },
        }
    }

    pub(crate) fn lock(&self) -> Alone<'_> {
        let mut inner = self.inner.lock();
        if inner.left.version() != version::shown() || !self.outer_clock.is_empty() {
            self.outer_clock.taken(alone(&mut inner));
        }
        inner.sections += 1;
        inner
    }

    /// As one who records everything.
    pub(crate) fn lock_recorded(&self) -> Alone<'_> {
        let ((mut inner, _), _) = self.outer_clock.take(
            None,
            || Some((self.inner.try_lock()?, false)),
            || (self.inner.lock(), false),
            alone,
        );
        inner.sections += 1;
        inner
    }

    pub(crate) fn try_lock(&self) -> Option<Alone<'_>> {
        let attempt = || Some((self.inner.try_lock()?, false));
        let ((mut inner, _), _) = self.outer_clock.try_take(None, attempt, alone)?;
        inner.sections += 1;
        Some(inner)
    }

    pub(crate) fn unlock(&self, inner: Alone<'_>) {
        if inner.left.version() != version::shown() || !self.outer_clock.is_empty() {
            self.outer_clock.give_back(inner, alone, Ticket::NONE);
        }
    }
}

impl RwLock {
    pub(crate) fn new() -> RwLock {
        Lock {
            outer_clock: made(OuterClock::new("RwLock", Name)),
            inner: sync::RwLock::new(NEW),
        }
    }

    pub(crate) fn write(&self) -> Writing<'_> {
        let mut inner = self.inner.write().unwrap();
        if inner.left.version() != version::shown() || !self.outer_clock.is_empty() {
            self.outer_clock.taken(writing(&mut inner));
        }
        inner.sections += 1;
        inner
    }

    pub(crate) fn end_write(&self, inner: Writing<'_>) {
        if inner.left.version() != version::shown() || !self.outer_clock.is_empty() {
            self.outer_clock.give_back(inner, writing, Ticket::NONE);
        }
    }

    pub(crate) fn read(&self) -> Reading<'_> {
        let mut inner = self.inner.read().unwrap();
        if !self.knows_reader(&inner) {
            self.outer_clock.taken(reading(&mut inner));
        }
        inner
    }

    pub(crate) fn end_read(&self, inner: Reading<'_>) {
        if !self.knows_reader(&inner) {
            self.outer_clock.give_back(inner, reading, Ticket::NONE);
        }
    }

    fn knows_reader(&self, inner: &Reading<'_>) -> bool {
        self.outer_clock
            .knows_reader(inner.left.version(), version::shown())
    }
}

/// A cell that is written once; `late` makes its clock closed only after the value is there.
pub(crate) struct Once {
    header: Header,
    is_set: AtomicU64,
    /// Who makes the value.
    maker: sync::Mutex<()>,
    late: bool,
}

impl Once {
    pub(crate) fn new(late: bool) -> Once {
        Once {
            header: made(Header::new("OnceLock", Name)),
            is_set: made(AtomicU64::new(0)),
            maker: sync::Mutex::new(()),
            late,
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.header.read(None, || self.is_set.load(Acquire) == 1)
    }

    /// Whether this thread was the one to set it.
    pub(crate) fn set(&self) -> bool {
        let maker = self.maker.lock().unwrap();
        if self.is_set.load(Acquire) == 1 {
            drop(maker);
            self.header.read(None, || ());
            return false;
        }
        let writing = (!self.late).then(|| self.header.begin());
        self.is_set.store(1, Release);
        drop(maker);
        let writing = writing.unwrap_or_else(|| self.header.begin());
        writing.end(None, Ticket::NONE, UPDATE, || None);
        true
    }
}
