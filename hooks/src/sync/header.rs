//! The clocks of a variable that can be read without a lock: an atomic, or something that is set once.
//!
//! Reading the value and receiving the clock must be one step. Writers do both under a lock. A
//! reader compares the version of the updates, which also serves as a sequence lock: if it equals the
//! reader's own before and after the value is read, any writer in between had an equal clock,
//! and nothing is lost. The same holds if the reader is listed among the readers of that version.
//!
//! | | ordering | why |
//! |---|---|---|
//! | reader: version | Acquire | else it may see an old list of readers |
//! | reader: value | at least Acquire | a reader that sees a new value then sees that its writer is busy |
//! | reader: version again | Relaxed | it comes after an Acquire |
//! | writer: busy | Relaxed | the value is at least Release |
//! | writer: version | Release | with it goes the list of readers |
//!
//! Relaxed operations of the program are therefore Acquire and Release ones while it is monitored.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use portent_monitor_core::{Mark, Op, Value, VarId, Version};

use crate::{
    control::{self, Class, Controller, Step},
    live::{
        EncodedValue, FirstValue, ObjectClock,
        actor::{self, Place, Ticket, Written},
        line::{OperationRecord, WriteRecord},
        lock,
        names::Name,
        operation::{READ, UPDATE, VarOperation},
        version,
    },
    primitive::{AtomicU64, Mutex, MutexGuard},
};

/// The lowest bit of a version is free.
const BUSY: u64 = 1;
const NOBODY: u64 = 1;

#[derive(Debug)]
pub(crate) struct Header {
    /// Of the updates; odd during a write.
    version: AtomicU64,
    /// Versions of readers that are noted.
    seen: [AtomicU64; 2],
    kind: &'static str,
    name: Name,
    object: Mutex<ObjectClock>,
    first: FirstValue,
}

/// While it lives, no other thread writes, and readers wait for the lock.
pub(crate) struct Writing<'a> {
    header: &'a Header,
    object: MutexGuard<'a, ObjectClock>,
}

impl Header {
    pub(crate) const fn new(kind: &'static str, name: Name) -> Header {
        Header {
            version: AtomicU64::new(Version::EMPTY.bits()),
            seen: [const { AtomicU64::new(NOBODY) }; 2],
            kind,
            name,
            object: Mutex::new(ObjectClock::EMPTY),
            first: FirstValue::untold(),
        }
    }

    /// As the controller sees something that is done once.
    pub(super) fn as_once(&self, done: bool) -> control::Object<'_> {
        control::Object::new(&self.name, self.kind, Class::Once { done })
    }

    /// As the controller of this thread sees it.
    fn as_object(&self) -> control::Object<'_> {
        control::Object::new(&self.name, self.kind, Class::Atomic)
    }

    fn id(&self) -> VarId {
        self.name.id(self.kind, |symbols| &mut symbols.vars)
    }

    #[inline(always)]
    fn slot(&self, version: Version) -> &AtomicU64 {
        &self.seen[(version.bits() >> 36) as usize & 1]
    }

    /// Reads by `value`, which is at least Acquire.
    #[inline(always)]
    pub(crate) fn read<R>(&self, place: Place, value: impl Fn() -> R) -> R {
        let mine = version::shown();
        let before = self.version.load(Acquire);
        if before == mine.bits()
            || (self.slot(mine).load(Relaxed) == mine.bits() && before & BUSY == 0)
        {
            let value = value();
            if self.version.load(Relaxed) == before {
                return value;
            }
        }
        self.read_slowly(place, value)
    }

    #[cold]
    #[inline(never)]
    fn read_slowly<R>(&self, place: Place, value: impl Fn() -> R) -> R {
        if let Some(controller) = control::current() {
            controller.step(Step::Read, self.as_object(), place);
            return value();
        }
        let ticket = if version::is_hidden() {
            actor::prepare()
        } else {
            Ticket::NONE
        };
        let mut object = lock(&self.object);
        let value = value();
        self.note_read(&mut object, place, ticket);
        value
    }

    fn note_read(&self, object: &mut ObjectClock, place: Place, ticket: Ticket) {
        actor::with(|actor| {
            let line = || OperationRecord::new(Op::Read(self.id()), place).marked(Mark::Atomic);
            actor.exchange(object, READ, ticket, line);
            let version = actor.real_version();
            self.slot(version).store(version.bits(), Relaxed);
        });
    }

    /// Asks to record a write, before it happens.
    #[inline]
    pub(crate) fn prepare(&self) -> Ticket {
        if version::is_hidden() || self.name.is_known() {
            actor::prepare_write(self.name.get())
        } else {
            Ticket::NONE
        }
    }

    /// Changes the value by `change`, which is at least Release, or finds that it need not be changed.
    /// `operation` says what was done, `before` what there was, and `value` what was written.
    #[inline(always)]
    pub(crate) fn write<R>(
        &self,
        place: Place,
        change: impl FnOnce() -> Result<R, R>,
        operation: VarOperation,
        before: impl FnOnce() -> Option<Value>,
        value: impl FnOnce() -> Option<Value>,
    ) -> Result<R, R> {
        if let Some(controller) = control::current() {
            return self.write_controlled(&*controller, place, change, operation, before, value);
        }
        let ticket = self.prepare();
        let object = lock(&self.object);
        if !ticket.is_some() && object.version() == version::shown() && !object.has_reads() {
            return change();
        }
        let change = || {
            self.first.tell(ticket, || self.id(), before);
            change()
        };
        self.write_slowly(object, place, ticket, change, operation, value)
    }

    #[inline(never)]
    fn write_controlled<R>(
        &self,
        controller: &dyn Controller,
        place: Place,
        change: impl FnOnce() -> Result<R, R>,
        operation: VarOperation,
        before: impl FnOnce() -> Option<Value>,
        value: impl FnOnce() -> Option<Value>,
    ) -> Result<R, R> {
        let turn = controller.step(operation.step(), self.as_object(), place);
        let before = if turn.tell { before() } else { None };
        let changed = change();
        if changed.is_err() {
            controller.unchanged();
        } else if turn.tell {
            controller.wrote(before, value());
        }
        changed
    }

    #[cold]
    #[inline(never)]
    fn write_slowly<R>(
        &self,
        object: MutexGuard<'_, ObjectClock>,
        place: Place,
        ticket: Ticket,
        change: impl FnOnce() -> Result<R, R>,
        operation: VarOperation,
        value: impl FnOnce() -> Option<Value>,
    ) -> Result<R, R> {
        let mut writing = Writing::begin(self, object);
        let changed = change();
        match changed {
            Ok(_) => writing.end(place, ticket, operation, value),
            Err(_) => {
                self.note_read(&mut writing.object, place, ticket);
                writing.show();
            }
        }
        changed
    }

    /// Begins to write something that takes longer.
    pub(crate) fn begin(&self) -> Writing<'_> {
        Writing::begin(self, lock(&self.object))
    }

    /// An exclusive owner of the variable comes after all who used it.
    pub(crate) fn taken_apart(&mut self) {
        let object = self
            .object
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if object.version() != version::shown() || object.has_reads() {
            actor::with(|actor| actor.receive(object, UPDATE.access));
        }
    }
}

impl<'a> Writing<'a> {
    fn begin(header: &'a Header, object: MutexGuard<'a, ObjectClock>) -> Writing<'a> {
        header
            .version
            .store(object.version().bits() | BUSY, Relaxed);
        Writing { header, object }
    }

    /// The value was written.
    pub(crate) fn end(
        mut self,
        place: Place,
        ticket: Ticket,
        VarOperation { operation, access }: VarOperation,
        value: impl FnOnce() -> Option<Value>,
    ) {
        let header = self.header;
        let line = ticket.is_some().then(|| WriteRecord {
            operation,
            var: header.id(),
            told: value().map(EncodedValue::from),
            mark: Some(Mark::Atomic),
            place,
        });
        actor::wrote(Written {
            object: &mut self.object,
            access,
            ticket,
            line,
        });
        for seen in &header.seen {
            seen.store(NOBODY, Relaxed);
        }
        self.show();
    }

    fn show(self) {
        let version = self.object.version().bits();
        self.header.version.store(version, Release);
    }
}
