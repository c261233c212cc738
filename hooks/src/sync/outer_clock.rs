//! Clocks of a lock that are used without holding it.
//!
//! An exclusive holder leaves its clock inside the lock, where the next holder finds it; most locks need no
//! more. There are two exceptions. Readers merge their clocks outside. And a failed try comes after the
//! holder's lock and before its unlock, although it never gets inside. From the first try on, or when a thread records
//! everything, each operation is therefore also entered in a ledger outside of the lock, in one step with the operation
//! itself. A holder at the time of the very first try is in no ledger; such a try is counted as blind.

#[cfg(feature = "lock_api")]
use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;

use portent_monitor_core::{Access, LockId, Mark, Op, Version};

use crate::{
    control::{self, Class, Controller, Object, Release, Step},
    live::{
        ObjectClock, Published,
        actor::{self, Actor, Place, Ticket},
        line::{OperationRecord, never_asked},
        lock,
        names::Name,
        operation::{LOCK, LockOperation, READ_LOCK, READ_UNLOCK, TRY_LOCK, UNLOCK},
        version,
    },
    primitive::{AtomicU8, AtomicU64, Mutex, MutexGuard, yield_now},
};

/// Every operation is entered in the ledger.
const WATCHED: u8 = 1;
/// There are reads in the ledger that no exclusive holder has received.
const READ: u8 = 2;
/// No version is odd, except for that which no clock has.
const NOBODY: u64 = 1;

/// The outside of a lock.
#[derive(Debug)]
pub(super) struct OuterClock {
    flags: AtomicU8,
    /// Versions of readers that are in the ledger, so that they need not look.
    seen: [AtomicU64; 2],
    pub(super) name: Name,
    kind: &'static str,
    ledger: Mutex<Ledger>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    object: ObjectClock,
    /// How many hold the lock, as far as is recorded.
    holders: u32,
}

/// One side of a lock, and what was left inside.
pub(super) enum LockSide<'a> {
    Exclusive(&'a mut Published),
    Shared(&'a Published),
}

// Who shares the lock cannot replace what is inside.
const _: () = assert!(
    matches!(READ_LOCK.access, Access::Read | Access::Observe)
        && matches!(READ_UNLOCK.access, Access::Read | Access::Observe)
);

impl LockSide<'_> {
    fn inside(&self) -> &Published {
        match self {
            LockSide::Exclusive(left) => left,
            LockSide::Shared(left) => left,
        }
    }

    /// What it does to be taken.
    pub(super) fn lock(&self) -> LockOperation {
        match self {
            LockSide::Exclusive(_) => LOCK,
            LockSide::Shared(_) => READ_LOCK,
        }
    }

    /// What it does to be given back.
    fn unlock(&self) -> LockOperation {
        match self {
            LockSide::Exclusive(_) => UNLOCK,
            LockSide::Shared(_) => READ_UNLOCK,
        }
    }
}

impl OuterClock {
    pub(super) const fn new(kind: &'static str, name: Name) -> OuterClock {
        OuterClock {
            flags: AtomicU8::new(0),
            seen: [const { AtomicU64::new(NOBODY) }; 2],
            name,
            kind,
            ledger: Mutex::new(Ledger {
                object: ObjectClock::EMPTY,
                holders: 0,
            }),
        }
    }

    /// As the controller of this thread sees it.
    pub(super) fn object(&self) -> Object<'_> {
        let class = match self.kind {
            "RwLock" | "RawRwLock" => Class::ReadWrite,
            _ => Class::Mutex,
        };
        Object::new(&self.name, self.kind, class)
    }

    pub(super) fn id(&self) -> LockId {
        self.name.id(self.kind, |symbols| &mut symbols.locks)
    }

    /// If it has no name yet, it is named after this place.
    #[cfg(feature = "lock_api")]
    pub(super) fn is_at(&self, place: &'static Location<'static>) {
        if version::is_hidden() {
            self.name
                .id_at(self.kind, Some(place), |symbols| &mut symbols.locks);
        }
    }

    /// Whether there is nothing outside.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.flags.load(Relaxed) == 0
    }

    #[inline(always)]
    fn is_watched(&self) -> bool {
        self.flags.load(Relaxed) & WATCHED != 0
    }

    pub(super) fn watch(&self) {
        if !self.is_watched() {
            self.flags.fetch_or(WATCHED, Relaxed);
        }
    }

    /// Whether a reader of this version has nothing to receive from what is inside and is in the ledger.
    #[inline(always)]
    pub(super) fn knows_reader(&self, inside: Version, version: Version) -> bool {
        (inside == version || self.slot(version).load(Relaxed) == version.bits())
            && !self.is_watched()
    }

    #[inline(always)]
    fn slot(&self, version: Version) -> &AtomicU64 {
        // The lowest bit of the number of the thread.
        &self.seen[(version.bits() >> 36) as usize & 1]
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// The lock was taken; it is not watched, or the ledger is open.
    #[inline(never)]
    pub(super) fn taken(&self, side: LockSide<'_>) {
        if self.is_watched() {
            let mut ledger = self.open();
            return self.enter_taken(&mut ledger, side, Ticket::NONE, never_asked);
        }
        actor::with(|actor| match side {
            LockSide::Shared(left) => actor.receive_updates(left, READ_LOCK.access),
            LockSide::Exclusive(left) => {
                actor.receive_updates(left, LOCK.access);
                if self.flags.load(Relaxed) & READ != 0 {
                    self.receive_reads(actor, &mut self.open());
                }
            }
        });
    }

    /// The lock is about to be given back and is not watched.
    #[inline(always)]
    fn giving_back(&self, side: LockSide<'_>) {
        match side {
            LockSide::Exclusive(left) => actor::publish_updates(left, UNLOCK.access),
            LockSide::Shared(_) => {
                let mut ledger = self.open();
                actor::with(|actor| self.note_reader(actor, &mut ledger, READ_UNLOCK.access));
            }
        }
    }

    fn note_reader(&self, actor: &mut Actor, ledger: &mut Ledger, access: Access) {
        actor.publish(&mut ledger.object, access);
        self.flags.fetch_or(READ, Relaxed);
        let version = actor.real_version();
        self.slot(version).store(version.bits(), Relaxed);
    }

    fn receive_reads(&self, actor: &mut Actor, ledger: &mut Ledger) {
        actor.receive(&ledger.object, LOCK.access);
        actor.publish(&mut ledger.object, LOCK.access);
        self.forget_readers();
    }

    fn forget_readers(&self) {
        self.flags.fetch_and(!READ, Relaxed);
        for seen in &self.seen {
            seen.store(NOBODY, Relaxed);
        }
    }

    /// Enters in the ledger that the lock was taken.
    pub(super) fn enter_taken(
        &self,
        ledger: &mut Ledger,
        side: LockSide<'_>,
        ticket: Ticket,
        line: impl FnOnce() -> OperationRecord,
    ) {
        ledger.count(&side, true);
        let access = side.lock().access;
        self.enter(ledger, side, access, ticket, line, |_| {});
    }

    /// Enters an operation of a holder in the ledger; `also` is what else it receives.
    pub(super) fn enter(
        &self,
        ledger: &mut Ledger,
        side: LockSide<'_>,
        access: Access,
        ticket: Ticket,
        line: impl FnOnce() -> OperationRecord,
        also: impl FnOnce(&mut Actor),
    ) {
        actor::with(|actor| {
            also(actor);
            actor.receive_updates(side.inside(), access);
            actor.exchange(&mut ledger.object, access, ticket, line);
            match side {
                LockSide::Exclusive(left) => {
                    self.forget_readers();
                    actor.publish_updates(left, access);
                }
                LockSide::Shared(_) => self.note_reader(actor, ledger, access),
            }
        });
    }

    /// Takes the lock in a way that its entry in the ledger is made at once.
    ///
    /// `attempt` takes it if it is free; `wait` waits for it; `side` says what is inside.
    pub(super) fn take<G>(
        &self,
        place: Place,
        attempt: impl FnOnce() -> Option<(G, bool)>,
        wait: impl FnOnce() -> (G, bool),
        side: impl FnOnce(&mut G) -> LockSide<'_>,
    ) -> ((G, bool), Ticket) {
        let ticket = actor::prepare();
        self.watch();
        let mut ledger = self.open();
        let mut taken = match attempt() {
            Some(taken) => taken,
            None => {
                drop(ledger);
                let request = || OperationRecord::new(Op::Request(self.id()), place);
                actor::with(|actor| actor.did(ticket, request));
                let taken = wait();
                ledger = self.open();
                taken
            }
        };
        let side = side(&mut taken.0);
        let op = side.lock().op;
        let line = || OperationRecord::new(op(self.id()), place);
        self.enter_taken(&mut ledger, side, ticket, line);
        (taken, ticket)
    }

    /// Tries to take the lock; enters in the ledger that it was taken, or that it was not.
    pub(super) fn try_take<G>(
        &self,
        place: Place,
        mut attempt: impl FnMut() -> Option<(G, bool)>,
        side: impl FnOnce(&mut G) -> LockSide<'_>,
    ) -> Option<((G, bool), Ticket)> {
        // How often somebody is waited for who took it a moment ago, or is about to give it back.
        const PATIENCE: u32 = 64;
        let ticket = if version::is_hidden() {
            actor::prepare()
        } else {
            Ticket::NONE
        };
        self.watch();
        let mut ledger = self.open();
        let mut patience = 0;
        loop {
            if let Some(mut taken) = attempt() {
                let side = side(&mut taken.0);
                let op = side.lock().op;
                let line = || OperationRecord::new(op(self.id()), place).marked(Mark::Try);
                self.enter_taken(&mut ledger, side, ticket, line);
                return Some((taken, ticket));
            }
            if ledger.holders > 0 || patience == PATIENCE {
                let line = || OperationRecord::new((TRY_LOCK.op)(self.id()), place);
                actor::with(|actor| {
                    actor.exchange(&mut ledger.object, TRY_LOCK.access, ticket, line);
                    self.flags.fetch_or(READ, Relaxed);
                    if ledger.holders == 0 {
                        actor.saw_nobody();
                    }
                });
                return None;
            }
            patience += 1;
            drop(ledger);
            yield_now();
            ledger = self.open();
        }
    }

    /// Takes the lock when it is the thread's turn, by `attempt`.
    pub(super) fn take_controlled<G>(
        &self,
        controller: &dyn Controller,
        step: Step,
        place: Place,
        attempt: impl Fn() -> Option<(G, bool)>,
    ) -> Option<(G, bool)> {
        if !controller.step(step, self.object(), place).succeeds {
            return None;
        }
        loop {
            if let Some(taken) = attempt() {
                return Some(taken);
            }
            if !controller.try_again() {
                controller.obstructed(self.object(), place);
            }
        }
    }

    /// Gives the lock back, whose guard is `guard`.
    #[inline(never)]
    pub(super) fn give_back<G>(
        &self,
        mut guard: G,
        side: impl FnOnce(&mut G) -> LockSide<'_>,
        ticket: Ticket,
    ) {
        if let Some(controller) = control::current() {
            let release = match side(&mut guard) {
                LockSide::Exclusive(_) => Release::Unlock,
                LockSide::Shared(_) => Release::ReadUnlock,
            };
            controller.release(release, self.object());
            drop(guard);
        } else if self.is_watched() {
            self.give_back_watched(guard, side, ticket);
        } else {
            self.giving_back(side(&mut guard));
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back_watched<G>(
        &self,
        mut guard: G,
        side: impl FnOnce(&mut G) -> LockSide<'_>,
        ticket: Ticket,
    ) {
        let mut ledger = self.open();
        let side = side(&mut guard);
        ledger.count(&side, false);
        let LockOperation { op, access } = side.unlock();
        let line = || OperationRecord::new(op(self.id()), None);
        self.enter(&mut ledger, side, access, ticket, line, |_| {});
        drop(guard);
    }

    /// An exclusive holder becomes one that shares the lock, by `go`.
    #[cfg(any(since = "1.92", feature = "lock_api", feature = "tokio"))]
    pub(super) fn downgrade<E, S>(
        &self,
        mut guard: E,
        exclusive: impl FnOnce(&mut E) -> LockSide<'_>,
        go: impl FnOnce(E) -> S,
        shared: impl FnOnce(&mut S) -> LockSide<'_>,
        ticket: Ticket,
    ) -> S {
        if !self.is_watched() {
            self.giving_back(exclusive(&mut guard));
            // What is inside is what it knows.
            return go(guard);
        }
        let mut ledger = self.open();
        let side = exclusive(&mut guard);
        ledger.count(&side, false);
        let LockOperation { op, access } = side.unlock();
        let line = || OperationRecord::new(op(self.id()), None);
        self.enter(&mut ledger, side, access, ticket, line, |_| {});
        let mut guard = go(guard);
        let side = shared(&mut guard);
        let op = side.lock().op;
        let line = || OperationRecord::new(op(self.id()), None);
        self.enter_taken(&mut ledger, side, ticket, line);
        guard
    }

    /// An exclusive owner of the lock, or whoever takes it apart, comes after all who held it.
    pub(super) fn taken_apart(&self, inside: &Published) {
        if inside.version() != version::shown() || !self.is_empty() {
            actor::with(|actor| {
                actor.receive_updates(inside, LOCK.access);
                actor.receive(&self.open().object, LOCK.access);
            });
        }
    }
}

impl Ledger {
    /// Somebody has the lock, or has it no more.
    pub(super) fn count(&mut self, side: &LockSide<'_>, holds: bool) {
        self.holders = match (side, holds) {
            (LockSide::Exclusive(_), holds) => u32::from(holds),
            (LockSide::Shared(_), true) => self.holders + 1,
            (LockSide::Shared(_), false) => self.holders.saturating_sub(1),
        };
    }
}
