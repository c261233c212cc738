//! The actor of a thread: its clock, and the recording that it takes part in.
//!
//! Everything here is the slow path of some hook. Where a thread keeps its actor is described in `here`.

mod here;

use std::{
    panic::Location,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use portent_monitor_core::{Access, Knowledge, LocId, NameId, Value, VarId, Version};
use rustc_hash::FxHashMap;

use super::{
    ActorClock, ObjectClock, Published, event,
    identity::Identity,
    line::Line,
    names,
    outbox::Outbox,
    record::{self, Words},
    recording::{self, Subscriber},
};

pub(crate) use here::{
    Written, begin, control, prepare, prepare_write, publish_updates, with, wrote,
};
pub(in crate::live) use here::{enter, knows_of_recordings, late, look_around};
#[cfg(feature = "tokio")]
pub(crate) use here::{is_there, with_existing};
#[cfg(feature = "tokio")]
pub(in crate::live) use here::{notice, swap};

/// No two actors have the same number.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// Numbers that clocks can have.
const NUMBERS: u32 = 1 << 28;

/// Permission to record one operation, or one and its counterpart: in which recording. What was
/// recorded as taken is recorded as given back if its thread still takes part in the same recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket(u32);

impl Ticket {
    /// Nothing is recorded.
    pub(crate) const NONE: Ticket = Ticket(0);

    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self != Ticket::NONE
    }

    /// Which recording it is; 0 is none.
    #[inline]
    pub(crate) fn recording(self) -> u32 {
        self.0
    }
}

/// Where an operation is in the source, if that is known.
pub(crate) type Place = Option<&'static Location<'static>>;

/// One thread.
pub(crate) struct Actor {
    clock: ActorClock,
    identity: Arc<Identity>,
    /// It was not spawned through hooks.
    foreign: bool,
    /// It has finished its work; only destructors still run.
    ended: bool,
    /// The recording that it entered or inherited; if none, it is the global one.
    own: Option<Arc<Subscriber>>,
    outbox: Option<Outbox>,
    generation: u64,
    /// It is under control.
    controlled: bool,
    places: FxHashMap<usize, LocId>,
}

impl Actor {
    fn new(identity: Arc<Identity>, foreign: bool) -> Option<Actor> {
        Some(Actor {
            clock: ActorClock::numbered(next_number()?),
            identity,
            foreign,
            ended: false,
            own: None,
            outbox: None,
            // Never the current one: it has not looked yet.
            generation: u64::MAX,
            controlled: false,
            places: FxHashMap::default(),
        })
    }

    /// For a thread that was not spawned through hooks.
    #[cold]
    #[inline(never)]
    fn foreign() -> Option<Box<Actor>> {
        let identity = Identity::current();
        // Nobody spawned the first thread of a process, so nothing is missing before it.
        let is_first = identity.name() == Some("main");
        Actor::new(Arc::new(identity), !is_first).map(Box::new)
    }

    #[inline]
    fn version(&self) -> Version {
        match &self.outbox {
            _ if self.controlled => Version::NONE,
            Some(outbox) if outbox.everything => Version::NONE,
            _ => self.clock.version(),
        }
    }

    /// Whoever it is.
    pub(crate) fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// The recording that a thread it spawns takes part in.
    pub(crate) fn recording(&self) -> Option<Arc<Subscriber>> {
        self.own.clone().filter(|own| !own.is_closed())
    }

    #[cold]
    #[inline(never)]
    fn look_around(&mut self) {
        self.generation = recording::generation();
        if !self.clock.has_versions()
            && let Some(number) = next_number()
        {
            self.clock.renumber(number);
        }
        let wanted = self.recording().or_else(recording::global);
        let wanted = wanted.filter(|subscriber| !subscriber.is_closed());
        let current = self.outbox.as_ref().map(|outbox| &outbox.subscriber);
        let same = match (&wanted, current) {
            (Some(wanted), Some(current)) => Arc::ptr_eq(wanted, current),
            (None, None) => true,
            _ => false,
        };
        event::forget_wanted();
        if !same {
            self.leave_outbox();
            if self.foreign
                && let Some(subscriber) = &wanted
            {
                subscriber.count_foreign();
            }
            self.outbox = wanted.map(Outbox::new);
        }
    }

    /// Leaves its recording, and gives its chain back.
    fn leave_outbox(&mut self) {
        if let Some(outbox) = self.outbox.take() {
            if let Some(chain) = self.clock.end() {
                outbox.subscriber.release(chain);
            }
            outbox.close();
        }
    }

    /// Whether an event of this name is recorded.
    #[inline]
    pub(super) fn wants(&mut self, name: NameId) -> bool {
        self.outbox
            .as_mut()
            .is_some_and(|outbox| outbox.wants(name))
    }

    #[inline]
    fn prepare(&mut self, records: usize) -> Ticket {
        match &mut self.outbox {
            Some(outbox) if self.ended => {
                outbox.subscriber.count_late();
                Ticket::NONE
            }
            Some(outbox) => {
                if outbox.make_room(records) {
                    Ticket(outbox.id)
                } else {
                    Ticket::NONE
                }
            }
            None => Ticket::NONE,
        }
    }

    /// Receives what the access to an object receives, records the operation, and publishes what
    /// the access publishes. The object is held meanwhile.
    pub(crate) fn visit<L: Line>(
        &mut self,
        object: &mut ObjectClock,
        access: Access,
        ticket: Ticket,
        line: impl FnOnce() -> L,
    ) {
        self.clock.receive(object, access);
        self.did(ticket, line);
        self.clock.publish(object, access);
    }

    /// As [`visit`](Self::visit), of a variable or lock: their updates are exclusive, so that a read which knows no more than the last of
    /// them need not be noted.
    pub(crate) fn exchange<L: Line>(
        &mut self,
        object: &mut ObjectClock,
        access: Access,
        ticket: Ticket,
        line: impl FnOnce() -> L,
    ) {
        self.clock.receive(object, access);
        self.did(ticket, line);
        if access != Access::Read || self.clock.is_news(object) {
            self.clock.publish(object, access);
        }
    }

    #[inline]
    pub(crate) fn receive(&mut self, object: &ObjectClock, access: Access) {
        self.clock.receive(object, access);
    }

    #[inline]
    pub(crate) fn publish(&mut self, object: &mut ObjectClock, access: Access) {
        self.clock.publish(object, access);
    }

    /// Of an object that keeps its updates elsewhere than its reads.
    #[inline]
    pub(crate) fn receive_updates(&mut self, updates: &Published, access: Access) {
        self.clock.receive_updates(updates, access);
    }

    #[inline]
    pub(crate) fn receive_reads(&mut self, reads: &Published, access: Access) {
        self.clock.receive_reads(reads, access);
    }

    #[inline]
    pub(crate) fn receive_awaited(&mut self, updates: &Published, access: Access) {
        self.clock.receive_awaited(updates, access);
    }

    #[inline]
    pub(crate) fn publish_updates(&mut self, updates: &mut Published, access: Access) {
        self.clock.publish_updates(updates, access);
    }

    #[inline]
    pub(crate) fn publish_reads(&mut self, reads: &mut Published, access: Access) {
        self.clock.publish_reads(reads, access);
    }

    pub(crate) fn clock(&mut self) -> &mut ActorClock {
        &mut self.clock
    }

    /// A variable has this value before its first write in the recording.
    pub(super) fn began_with(&self, ticket: Ticket, var: VarId, value: Value) {
        if let Some(outbox) = &self.outbox
            && outbox.id == ticket.0
        {
            outbox.subscriber.began_with(var, value);
        }
    }

    /// Whether a write of this variable is recorded.
    #[cfg(feature = "tracing-layer")]
    pub(super) fn wants_var(&self, var: VarId) -> bool {
        self.outbox
            .as_ref()
            .is_some_and(|outbox| outbox.subscriber.wants_var(var))
    }

    /// It recorded an event whose order was assumed.
    #[cfg(feature = "tracing-layer")]
    pub(crate) fn assumed(&self) {
        if let Some(outbox) = &self.outbox {
            outbox.subscriber.count_assumed();
        }
    }

    /// It saw that a lock is held, but not by whom.
    pub(crate) fn saw_nobody(&self) {
        if let Some(outbox) = &self.outbox {
            outbox.subscriber.count_blind();
        }
    }

    /// Its real version, whatever it shows.
    #[inline]
    pub(crate) fn real_version(&self) -> Version {
        self.clock.version()
    }

    /// Ticks and records an operation, if there is a ticket for it.
    #[inline]
    pub(crate) fn did<L: Line>(&mut self, ticket: Ticket, line: impl FnOnce() -> L) {
        if ticket.is_some() {
            self.record(ticket, line);
        }
    }

    fn record<L: Line>(&mut self, ticket: Ticket, line: impl FnOnce() -> L) {
        let Some(outbox) = &mut self.outbox else {
            return;
        };
        if outbox.id != ticket.0 || !tick(&mut self.clock, outbox) {
            return;
        }
        outbox.need_queue();
        let line = line();
        let loc = match line.place() {
            Some(place) if outbox.everything => {
                let known = self.places.entry(std::ptr::from_ref(place) as usize);
                Some(*known.or_insert_with(|| names::place(place)))
            }
            _ => None,
        };
        outbox.tell(&mut self.clock, &self.identity);
        outbox.tell_place();
        let (head, part) = line.words(loc, outbox.texts());
        outbox.put(head);
        if let Some(part) = part {
            outbox.put(part);
        }
    }

    /// An application event, if it is wanted.
    #[inline(always)]
    pub(super) fn event(
        &mut self,
        name: NameId,
        loc: LocId,
        args: &[Words],
        texts: &mut Vec<Arc<str>>,
    ) {
        let Some(outbox) = &mut self.outbox else {
            return;
        };
        if !outbox.wants(name) {
            return;
        }
        if self.ended {
            return outbox.subscriber.count_late();
        }
        if outbox.make_room(1 + args.len()) && tick(&mut self.clock, outbox) {
            outbox.tell(&mut self.clock, &self.identity);
            outbox.tell_place();
            outbox.put(record::event(name, loc, args.len()));
            if !texts.is_empty() {
                outbox.texts().with(|there| there.extend(texts.drain(..)));
            }
            args.iter().for_each(|&arg| outbox.put(arg));
        }
    }

    /// The actor has finished its work: whoever waits for that knows everything that it did. Destructors of
    /// thread-locals may still run, but record nothing if others need not wait for them.
    pub(crate) fn finish(&mut self, waited_for: bool) {
        if !waited_for {
            self.ended = true;
            if let (Some(chain), Some(outbox)) = (self.clock.end(), &mut self.outbox) {
                outbox.subscriber.release(chain);
                outbox.begin_again();
            }
        }
        self.identity.end(&mut self.clock);
    }
}

#[cfg(feature = "tokio")]
impl Actor {
    /// Of a task that is spawned now, and of which this is known.
    pub(super) fn of_task(
        identity: Arc<Identity>,
        recording: Option<Arc<Subscriber>>,
    ) -> Option<Box<Actor>> {
        let mut actor = Actor::new(identity, false)?;
        actor.own = recording;
        actor.look_around();
        let identity = Arc::clone(&actor.identity);
        identity.begin(&mut actor.clock);
        Some(Box::new(actor))
    }

    /// The task is no longer polled.
    #[inline]
    pub(super) fn rest(&mut self) {
        if let Some(outbox) = &mut self.outbox {
            outbox.rest();
        }
    }

    /// It leaves its recording.
    pub(super) fn leave(&mut self) {
        self.leave_outbox();
    }

    /// A ticket for an operation that must not wait: if there is no room for it, it is kept until there is.
    pub(crate) fn ticket_at_once(&self) -> Ticket {
        match &self.outbox {
            Some(outbox) if outbox.everything && !self.ended => Ticket(outbox.id),
            _ => Ticket::NONE,
        }
    }
}

#[inline]
fn tick(clock: &mut ActorClock, outbox: &mut Outbox) -> bool {
    clock.tick_on() || tick_anew(clock, outbox)
}

/// There is no chain yet, or it is full, or there are no versions left.
#[cold]
#[inline(never)]
fn tick_anew(clock: &mut ActorClock, outbox: &mut Outbox) -> bool {
    if clock.tick(|past| outbox.subscriber.acquire(past)).is_ok() {
        return true;
    }
    if !clock.has_versions()
        && let Some(number) = next_number()
    {
        clock.renumber(number);
    } else if let Some(chain) = clock.end() {
        outbox.subscriber.release(chain);
        outbox.begin_again();
    }
    match clock.tick(|past| outbox.subscriber.acquire(past)) {
        Ok(_) => true,
        Err(_) => {
            outbox.subscriber.count_dropped();
            false
        }
    }
}

fn next_number() -> Option<u32> {
    NUMBER
        .fetch_update(Relaxed, Relaxed, |number| {
            (number < NUMBERS - 1).then_some(number + 1)
        })
        .ok()
}
