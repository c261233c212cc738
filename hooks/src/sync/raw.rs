//! A raw lock with clocks, for data that are stored elsewhere.
//!
//! As in `Mutex` and `RwLock`, the clock of the last exclusive holder is inside the lock, where later holders find it. A raw lock has
//! no guard that could keep this clock, or what was recorded, so both are kept here.

use std::{
    panic::Location,
    sync::{
        Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{
            AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread::{self, ThreadId},
};

use portent_monitor_core::Version;

use super::outer_clock::{LockSide, OuterClock};
use crate::{
    control::{self, Controller, Step},
    gate::Gate,
    live::{Published, actor::Ticket, any_open, lock, names::Name, version},
};

#[derive(Debug)]
pub(crate) struct RawLock {
    gate: Gate,
    outer_clock: OuterClock,
    /// Of what is inside. Only holders look, and only an exclusive one changes it.
    version: AtomicU64,
    /// Nobody ever waits for it: who has the gate has it, too.
    inside: RwLock<Published>,
    /// What holders recorded, if they did.
    tickets: Mutex<Vec<(ThreadId, Ticket)>>,
    ticket_count: AtomicUsize,
}

type Shared<'a> = RwLockReadGuard<'a, Published>;
type Exclusive<'a> = RwLockWriteGuard<'a, Published>;

/// An exclusive holder that is about to go: its version is shown, then what is inside is released, then the gate.
struct Leaving<'a> {
    inside: Showing<'a>,
    _gate: Opens<'a>,
}

impl Leaving<'_> {
    fn side(&mut self) -> LockSide<'_> {
        exclusive(&mut self.inside.inside)
    }
}

/// Shows the version of what is inside when it is dropped.
struct Showing<'a> {
    inside: Exclusive<'a>,
    version: &'a AtomicU64,
}

impl Drop for Showing<'_> {
    fn drop(&mut self) {
        self.version.store(self.inside.version().bits(), Relaxed);
    }
}

/// Gives the gate back when it is dropped.
struct Opens<'a>(&'a Gate, fn(&Gate));

impl Drop for Opens<'_> {
    fn drop(&mut self) {
        (self.1)(self.0);
    }
}

fn shared<'g>(inside: &'g mut Shared<'_>) -> LockSide<'g> {
    LockSide::Shared(inside)
}

fn exclusive<'g>(inside: &'g mut Exclusive<'_>) -> LockSide<'g> {
    LockSide::Exclusive(inside)
}

impl RawLock {
    pub(crate) const fn new(kind: &'static str) -> RawLock {
        RawLock::called(kind, Name::nowhere())
    }

    pub(crate) fn with_name(kind: &'static str, name: &str) -> RawLock {
        RawLock::called(kind, Name::given(name, |symbols| &mut symbols.locks))
    }

    const fn called(kind: &'static str, name: Name) -> RawLock {
        RawLock {
            gate: Gate::new(),
            outer_clock: OuterClock::new(kind, name),
            version: AtomicU64::new(Version::EMPTY.bits()),
            inside: RwLock::new(Published::EMPTY),
            tickets: Mutex::new(Vec::new()),
            ticket_count: AtomicUsize::new(0),
        }
    }

    #[inline]
    #[track_caller]
    pub(crate) fn exclusive(&self) {
        let version = version::shown();
        if version == Version::NONE {
            return self.exclusive_recorded(Location::caller());
        }
        self.gate.exclusive();
        self.took_exclusive(version);
    }

    #[inline]
    #[track_caller]
    pub(crate) fn shared(&self) {
        let version = version::shown();
        if version == Version::NONE {
            return self.shared_recorded(Location::caller());
        }
        self.gate.shared();
        self.took_shared(version);
    }

    #[track_caller]
    pub(crate) fn try_exclusive(&self) -> bool {
        if let Some(controller) = control::current() {
            let place = Location::caller();
            return self.enter(&*controller, Step::TryLock, place, Gate::try_exclusive);
        }
        if !any_open() {
            // Nobody will ever ask.
            let taken = self.gate.try_exclusive();
            if taken {
                self.took_exclusive(version::shown());
            }
            return taken;
        }
        let place = Location::caller();
        self.outer_clock.is_at(place);
        let attempt = || self.attempt_exclusive();
        let taken = self.outer_clock.try_take(Some(place), attempt, exclusive);
        if let Some(((inside, _), ticket)) = &taken {
            self.show(inside);
            self.remember(*ticket);
        }
        taken.is_some()
    }

    #[track_caller]
    pub(crate) fn try_shared(&self) -> bool {
        if let Some(controller) = control::current() {
            let place = Location::caller();
            return self.enter(&*controller, Step::TryReadLock, place, Gate::try_shared);
        }
        if !any_open() {
            let taken = self.gate.try_shared();
            if taken {
                self.took_shared(version::shown());
            }
            return taken;
        }
        let place = Location::caller();
        self.outer_clock.is_at(place);
        let attempt = || self.attempt_shared();
        let taken = self.outer_clock.try_take(Some(place), attempt, shared);
        if let Some((_, ticket)) = &taken {
            self.remember(*ticket);
        }
        taken.is_some()
    }

    #[inline]
    pub(crate) fn leave_exclusive(&self) {
        if self.version() == version::shown() && self.outer_clock.is_empty() {
            self.gate.leave_exclusive();
        } else {
            let leaving = Leaving {
                inside: self.showing(),
                _gate: Opens(&self.gate, Gate::leave_exclusive),
            };
            let ticket = self.recall();
            self.outer_clock.give_back(leaving, Leaving::side, ticket);
        }
    }

    #[inline]
    pub(crate) fn leave_shared(&self) {
        let known = self
            .outer_clock
            .knows_reader(self.version(), version::shown());
        if known {
            self.gate.leave_shared();
        } else {
            // In this order, which is that in which they are dropped.
            let leaving = (self.read(), Opens(&self.gate, Gate::leave_shared));
            let ticket = self.recall();
            self.outer_clock
                .give_back(leaving, |(inside, _)| shared(inside), ticket);
        }
    }

    /// From the exclusive side to the shared one. It is recorded as giving back the one and taking the other.
    pub(crate) fn downgrade(&self) {
        if let Some(controller) = control::current() {
            controller.step(Step::Downgrade, self.outer_clock.object(), None);
            return self.gate.downgrade();
        }
        if self.version() == version::shown() && self.outer_clock.is_empty() {
            return self.gate.downgrade();
        }
        let ticket = self.recall();
        let go = |showing: Showing<'_>| {
            drop(showing);
            self.gate.downgrade();
            self.read()
        };
        drop(self.outer_clock.downgrade(
            self.showing(),
            |showing| exclusive(&mut showing.inside),
            go,
            shared,
            ticket,
        ));
        self.remember(ticket);
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.gate.is_taken()
    }

    pub(crate) fn is_exclusive(&self) -> bool {
        self.gate.is_exclusive()
    }

    #[inline]
    fn version(&self) -> Version {
        Version::from_bits(self.version.load(Relaxed))
    }

    fn show(&self, inside: &Published) {
        self.version.store(inside.version().bits(), Relaxed);
    }

    fn showing(&self) -> Showing<'_> {
        Showing {
            inside: self.write(),
            version: &self.version,
        }
    }

    fn read(&self) -> Shared<'_> {
        self.inside.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> Exclusive<'_> {
        self.inside.write().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn took_exclusive(&self, version: Version) {
        if self.version() != version || !self.outer_clock.is_empty() {
            let mut inside = self.write();
            self.outer_clock.taken(exclusive(&mut inside));
            self.show(&inside);
        }
    }

    #[inline]
    fn took_shared(&self, version: Version) {
        if !self.outer_clock.knows_reader(self.version(), version) {
            self.outer_clock.taken(shared(&mut self.read()));
        }
    }

    fn attempt_exclusive(&self) -> Option<(Exclusive<'_>, bool)> {
        self.gate.try_exclusive().then(|| (self.write(), false))
    }

    fn attempt_shared(&self) -> Option<(Shared<'_>, bool)> {
        self.gate.try_shared().then(|| (self.read(), false))
    }

    #[cold]
    fn exclusive_recorded(&self, place: &'static Location<'static>) {
        if let Some(controller) = control::current() {
            self.enter(&*controller, Step::Lock, place, Gate::try_exclusive);
            return;
        }
        self.outer_clock.is_at(place);
        let wait = || {
            self.gate.exclusive();
            (self.write(), false)
        };
        let attempt = || self.attempt_exclusive();
        let ((inside, _), ticket) = self.outer_clock.take(Some(place), attempt, wait, exclusive);
        self.show(&inside);
        self.remember(ticket);
    }

    #[cold]
    fn shared_recorded(&self, place: &'static Location<'static>) {
        if let Some(controller) = control::current() {
            self.enter(&*controller, Step::ReadLock, place, Gate::try_shared);
            return;
        }
        self.outer_clock.is_at(place);
        let wait = || {
            self.gate.shared();
            (self.read(), false)
        };
        let attempt = || self.attempt_shared();
        let (_, ticket) = self.outer_clock.take(Some(place), attempt, wait, shared);
        self.remember(ticket);
    }

    /// Goes through the gate when it is the thread's turn, if it does.
    fn enter(
        &self,
        controller: &dyn Controller,
        step: Step,
        place: &'static Location<'static>,
        attempt: impl Fn(&Gate) -> bool,
    ) -> bool {
        let attempt = || attempt(&self.gate).then_some(((), false));
        self.outer_clock
            .take_controlled(controller, step, Some(place), attempt)
            .is_some()
    }

    /// What this thread recorded when it took the lock.
    fn remember(&self, ticket: Ticket) {
        if ticket.is_some() {
            lock(&self.tickets).push((thread::current().id(), ticket));
            self.ticket_count.fetch_add(1, Release);
        }
    }

    fn recall(&self) -> Ticket {
        if self.ticket_count.load(Acquire) == 0 {
            return Ticket::NONE;
        }
        let mut tickets = lock(&self.tickets);
        let me = thread::current().id();
        match tickets.iter().rposition(|(who, _)| *who == me) {
            Some(at) => {
                self.ticket_count.fetch_sub(1, Release);
                tickets.swap_remove(at).1
            }
            None => Ticket::NONE,
        }
    }
}
