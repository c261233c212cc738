//! What hooks need of the rest of the crate, as small as it can be: threads that have a clock and record nothing. Clocks themselves are the real
//! ones, and what an operation does with them is what the table of edges says.

#![allow(dead_code, reason = "what is only recorded is never called")]

use portent_monitor_core::{self as core, Clock};

use crate::primitive::{Mutex, MutexGuard};

#[path = "../../src/live/operation.rs"]
pub(crate) mod operation;

pub(crate) type Published = core::Snapshot<Box<Clock>>;
pub(crate) type ObjectClock = core::ObjectClock<Published>;
pub(crate) type ActorClock = core::ThreadClock<Box<Clock>>;

#[track_caller]
pub(crate) fn lock<T: Default>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

pub(crate) mod version {
    use std::cell::Cell;

    use portent_monitor_core::Version;

    loom::thread_local! {
        static SHOWN: Cell<Version> = Cell::new(Version::EMPTY);
    }

    pub(crate) fn shown() -> Version {
        SHOWN.with(Cell::get)
    }

    pub(crate) fn show(version: Version) {
        SHOWN.with(|shown| shown.set(version));
    }

    pub(crate) fn is_hidden() -> bool {
        false
    }
}

pub(crate) mod actor {
    use std::{
        cell::{Cell, RefCell},
        panic::Location,
    };

    use portent_monitor_core::{Access, Chain, Clock, Knowledge, VarId, Version};

    use super::{ActorClock, ObjectClock, Published, line::WriteRecord, version};

    loom::thread_local! {
        static ACTOR: RefCell<Option<Actor>> = RefCell::new(None);
    }

    thread_local! {
        /// All threads of a model run in one of the operating system.
        static READS_ARE_LOST: Cell<bool> = const { Cell::new(false) };
    }

    /// From now on nobody receives what readers of a variable left.
    pub(crate) fn lose_reads(lost: bool) {
        READS_ARE_LOST.set(lost);
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Ticket;

    impl Ticket {
        pub(crate) const NONE: Ticket = Ticket;

        pub(crate) fn is_some(self) -> bool {
            false
        }
    }

    pub(crate) type Place = Option<&'static Location<'static>>;

    pub(crate) struct Actor {
        clock: ActorClock,
        chain: Option<Chain>,
        pub(crate) blind: u32,
    }

    pub(crate) struct Written<'a> {
        pub(crate) object: &'a mut ObjectClock,
        pub(crate) access: Access,
        pub(crate) ticket: Ticket,
        pub(crate) line: Option<WriteRecord>,
    }

    /// This thread begins; its number is its own.
    pub(crate) fn begin(number: u32, chain: Chain) {
        ACTOR.with(|slot| {
            *slot.borrow_mut() = Some(Actor {
                clock: ActorClock::numbered(number),
                chain: Some(chain),
                blind: 0,
            });
        });
    }

    pub(crate) fn with<R>(f: impl FnOnce(&mut Actor) -> R) -> Option<R> {
        ACTOR.with(|slot| {
            let mut slot = slot.borrow_mut();
            let actor = slot.as_mut()?;
            let done = f(actor);
            version::show(actor.clock.version());
            Some(done)
        })
    }

    /// A relevant event.
    pub(crate) fn tick() {
        with(|actor| {
            let chain = &mut actor.chain;
            actor.clock.tick(|_| Ok(chain.take().unwrap())).unwrap();
        });
    }

    pub(crate) fn knows() -> Clock {
        with(|actor| actor.clock.clock()).unwrap()
    }

    pub(crate) fn prepare() -> Ticket {
        Ticket
    }

    pub(crate) fn prepare_write(_: Option<VarId>) -> Ticket {
        Ticket
    }

    pub(crate) fn publish_updates(updates: &mut Published, access: Access) {
        with(|actor| actor.clock.publish_updates(updates, access));
    }

    pub(crate) fn wrote(write: Written<'_>) {
        with(|actor| {
            if READS_ARE_LOST.get() {
                let mut updates = ObjectClock::EMPTY;
                // A read gets what is there of the updates alone.
                actor.clock.receive(write.object, super::operation::READ);
                actor.clock.publish(&mut updates, write.access);
                *write.object = updates;
            } else {
                actor.exchange(write.object, write.access, write.ticket, || ());
            }
        });
    }

    impl Actor {
        pub(crate) fn receive(&mut self, object: &ObjectClock, access: Access) {
            self.clock.receive(object, access);
        }

        pub(crate) fn publish(&mut self, object: &mut ObjectClock, access: Access) {
            self.clock.publish(object, access);
        }

        pub(crate) fn receive_updates(&mut self, updates: &Published, access: Access) {
            self.clock.receive_updates(updates, access);
        }

        pub(crate) fn publish_updates(&mut self, updates: &mut Published, access: Access) {
            self.clock.publish_updates(updates, access);
        }

        /// As that of `src/live/actor.rs`, without a line.
        pub(crate) fn exchange<L>(
            &mut self,
            object: &mut ObjectClock,
            access: Access,
            _: Ticket,
            _: impl FnOnce() -> L,
        ) {
            self.clock.receive(object, access);
            if access != Access::Read || self.clock.is_news(object) {
                self.clock.publish(object, access);
            }
        }

        pub(crate) fn did<L>(&mut self, _: Ticket, _: impl FnOnce() -> L) {}

        pub(crate) fn real_version(&self) -> Version {
            self.clock.version()
        }

        pub(crate) fn saw_nobody(&mut self) {
            self.blind += 1;
        }
    }
}

pub(crate) mod names {
    use std::panic::Location;

    use portent_monitor_core::{Id, Interner, Symbols};

    #[derive(Debug)]
    pub(crate) struct Name;

    impl Name {
        pub(crate) fn is_known(&self) -> bool {
            false
        }

        pub(crate) fn get<I: Id>(&self) -> Option<I> {
            None
        }

        pub(crate) fn id<I: Id>(
            &self,
            _: &str,
            _: impl FnOnce(&mut Symbols) -> &mut Interner<I>,
        ) -> I {
            unreachable!("nothing is recorded")
        }

        pub(crate) fn id_at<I: Id>(
            &self,
            _: &str,
            _: Option<&'static Location<'static>>,
            _: impl FnOnce(&mut Symbols) -> &mut Interner<I>,
        ) -> I {
            unreachable!("nothing is recorded")
        }
    }
}

pub(crate) mod line {
    use portent_monitor_core::{Mark, Op, Operation, VarId};

    use super::{EncodedValue, actor::Place};

    pub(crate) struct WriteRecord {
        pub(crate) operation: Operation,
        pub(crate) var: VarId,
        pub(crate) told: Option<EncodedValue>,
        pub(crate) mark: Option<Mark>,
        pub(crate) place: Place,
    }

    pub(crate) struct OperationRecord;

    impl OperationRecord {
        pub(crate) fn new(_: Op, _: Place) -> OperationRecord {
            OperationRecord
        }

        pub(crate) fn marked(self, _: Mark) -> OperationRecord {
            self
        }
    }

    pub(crate) fn never_asked() -> OperationRecord {
        unreachable!("nothing is recorded")
    }
}

pub(crate) struct EncodedValue;

impl From<core::Value> for EncodedValue {
    fn from(_: core::Value) -> Self {
        EncodedValue
    }
}

#[derive(Debug)]
pub(crate) struct FirstValue;

impl FirstValue {
    pub(crate) const fn untold() -> FirstValue {
        FirstValue
    }

    pub(crate) fn tell(
        &self,
        _: actor::Ticket,
        _: impl FnOnce() -> core::VarId,
        _: impl FnOnce() -> Option<core::Value>,
    ) {
    }
}
