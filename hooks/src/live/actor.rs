//! The thread as one who acts: its clock, and the recording that it takes part in.
//!
//! Everything here is the slow path of some hook. The actor lives in a thread-local that has a
//! destructor, so it may be gone, in the destructors of other thread-locals; and it may be in use, if an
//! allocator uses our types. Then the operation goes through without a clock, and is counted.

use std::{
    cell::RefCell,
    panic::Location,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use portent_monitor_core::{Access, Knowledge, LocId, NameId, Value, VarId, Version};
use rustc_hash::FxHashMap;

use super::{
    ActorClock, ObjectClock, Published, event,
    identity::Identity,
    line::{Line, WriteRecord, never_asked},
    lock, names,
    outbox::Outbox,
    record::{self, Words},
    recording,
    recording::Subscriber,
    version,
};

thread_local! {
    static ACTOR: Slot = const { Slot(RefCell::new(None)) };
}

struct Slot(RefCell<Option<Box<Actor>>>);

/// Operations of threads whose actor was gone or in use, while something was recorded.
static LATE: AtomicU64 = AtomicU64::new(0);
/// No two actors have the same number.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// Numbers that clocks can have.
const NUMBERS: u32 = 1 << 28;

pub(super) fn late() -> u64 {
    LATE.load(Relaxed)
}

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
    /// It was not spawned through the hooks.
    foreign: bool,
    /// What it was to do is done; only destructors run.
    ended: bool,
    /// The recording that it entered or inherited; if none, it is the global one.
    own: Option<Arc<Subscriber>>,
    outbox: Option<Outbox>,
    generation: u64,
    /// Somebody decides what it does.
    controlled: bool,
    places: FxHashMap<usize, LocId>,
}

/// Calls `f` with the actor of this thread, and shows its version afterwards.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(&mut Actor) -> R) -> Option<R> {
    let done = ACTOR.try_with(|slot| {
        let mut slot = slot.0.try_borrow_mut().ok()?;
        let actor = match &mut *slot {
            Some(actor) => actor,
            empty => empty.insert(Actor::foreign()?),
        };
        if actor.generation != recording::generation() || !actor.clock.has_versions() {
            actor.look_around();
        }
        let done = f(actor);
        version::show(actor.version());
        Some(done)
    });
    match done {
        Ok(Some(done)) => Some(done),
        _ => passed(),
    }
}

/// Leaves what an access leaves at the updates of an object, which changes nothing of the actor: so it does not look around.
#[inline(always)]
pub(crate) fn publish_updates(updates: &mut Published, access: Access) {
    let left = ACTOR.try_with(|slot| {
        if let Ok(mut slot) = slot.0.try_borrow_mut()
            && let Some(actor) = &mut *slot
        {
            actor.clock.publish_updates(updates, access);
            return true;
        }
        false
    });
    if left != Ok(true) {
        with(|actor| actor.clock.publish_updates(updates, access));
    }
}

/// Puts another actor in the place of this thread's, which then is there; whether that was possible. Where there is none,
/// whoever acts next is a foreign one. What the thread shows is for who does that.
#[cfg(feature = "tokio")]
#[inline(always)]
pub(super) fn swap(other: &mut Option<Box<Actor>>) -> bool {
    let swapped = ACTOR.try_with(|slot| match slot.0.try_borrow_mut() {
        Ok(mut slot) => {
            std::mem::swap(&mut *slot, other);
            true
        }
        Err(_) => false,
    });
    swapped == Ok(true)
}

/// Looks whether there is another recording to take part in, as who acts here now, and shows it.
#[cfg(feature = "tokio")]
#[cold]
#[inline(never)]
pub(super) fn notice() {
    with(|_| {});
}

/// Calls `f` with the actor of this thread, if it has one already.
#[cfg(feature = "tokio")]
pub(crate) fn with_existing<R>(f: impl FnOnce(&mut Actor) -> R) -> Option<R> {
    if is_there() { with(f) } else { None }
}

/// Whether this thread has an actor already.
#[cfg(feature = "tokio")]
pub(crate) fn is_there() -> bool {
    ACTOR.try_with(|slot| slot.0.try_borrow().is_ok_and(|slot| slot.is_some())) == Ok(true)
}

/// An operation went through without a clock.
#[cold]
#[inline(never)]
fn passed<R>() -> Option<R> {
    if recording::any_open() {
        LATE.fetch_add(1, Relaxed);
    }
    None
}

/// The actor of a thread that is spawned now, to be called by it before anything else: what is
/// touched first dies last.
pub(crate) fn begin(identity: Arc<Identity>, recording: Option<Arc<Subscriber>>) {
    let _ = ACTOR.try_with(|slot| {
        if let Some(mut actor) = Actor::new(identity, false) {
            actor.own = recording;
            if let Ok(mut slot) = slot.0.try_borrow_mut() {
                *slot = Some(Box::new(actor));
            }
        }
    });
    with(|actor| {
        actor.look_around();
        let identity = Arc::clone(&actor.identity);
        identity.begin(&mut actor.clock);
    });
}

/// This thread enters a recording, or leaves it for none; returns the one before.
pub(super) fn enter(subscriber: Option<Arc<Subscriber>>) -> Option<Arc<Subscriber>> {
    with(|actor| {
        actor.foreign &= subscriber.is_none();
        let before = std::mem::replace(&mut actor.own, subscriber);
        actor.look_around();
        before
    })
    .flatten()
}

/// This thread is under control, or no longer: then it takes every slow path.
pub(crate) fn control(controlled: bool) {
    event::forget_wanted();
    with(|actor| actor.controlled = controlled);
}

/// A thread that begins a recording is not foreign to it, whoever spawned it.
pub(super) fn knows_of_recordings() {
    with(|actor| actor.foreign = false);
}

/// Looks whether there is another recording to take part in.
pub(super) fn look_around() {
    with(Actor::look_around);
}

/// Asks to record an operation of a thread that records everything, before it happens; may wait.
#[cold]
#[inline(never)]
pub(crate) fn prepare() -> Ticket {
    with(|actor| actor.prepare(2)).unwrap_or_default()
}

/// Asks to record the write of a variable, before it happens; may wait.
#[inline]
pub(crate) fn prepare_write(var: Option<VarId>) -> Ticket {
    with(|actor| match (&actor.outbox, var) {
        (Some(outbox), _) if outbox.everything => actor.prepare(2),
        (Some(outbox), Some(var)) if outbox.subscriber.wants_var(var) => actor.prepare(2),
        _ => Ticket::NONE,
    })
    .unwrap_or_default()
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

    /// Of a thread that was not spawned through the hooks.
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

    /// What a thread that it spawns takes part in.
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

    /// Takes part in nothing any more, and gives its chain back.
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

    /// Receives what an access of an object receives, does and records an operation, and leaves what
    /// the access leaves. The object is held meanwhile.
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

    /// It told an event whose order was assumed.
    #[cfg(feature = "tracing-layer")]
    pub(crate) fn assumed(&self) {
        if let Some(outbox) = &self.outbox {
            outbox.subscriber.count_assumed();
        }
    }

    /// It saw that somebody holds a lock, and nobody knows who.
    pub(crate) fn saw_nobody(&self) {
        if let Some(outbox) = &self.outbox {
            outbox.subscriber.count_blind();
        }
    }

    /// The version that it has, whatever it shows.
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
    #[inline]
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
                lock(outbox.texts()).extend(texts.drain(..));
            }
            args.iter().for_each(|&arg| outbox.put(arg));
        }
    }

    /// What it had to do is done: whoever waits for that knows all that it did. Destructors of
    /// thread-locals may run after that, but record nothing if others can go on without waiting for them.
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

    /// It takes part in nothing any more.
    pub(super) fn leave(&mut self) {
        self.leave_outbox();
    }

    /// A ticket for what must not wait: if there is no room for it, it is kept until there is.
    pub(crate) fn ticket_at_once(&self) -> Ticket {
        match &self.outbox {
            Some(outbox) if outbox.everything && !self.ended => Ticket(outbox.id),
            _ => Ticket::NONE,
        }
    }
}

/// A variable was written by one who holds it: receives, records and leaves what that does.
// One argument, so that the closure is one word: larger ones are copied again and again.
#[inline(never)]
pub(crate) fn wrote(mut write: Written<'_>) {
    let write = &mut write;
    with(|actor| {
        let Written {
            object,
            access,
            ticket,
            line,
        } = &mut *write;
        match line {
            Some(line) => actor.exchange(object, *access, *ticket, || line),
            None => actor.exchange(object, *access, Ticket::NONE, never_asked),
        }
    });
}

/// A write: of what, and how it is recorded if it is.
pub(crate) struct Written<'a> {
    pub(crate) object: &'a mut ObjectClock,
    pub(crate) access: Access,
    pub(crate) ticket: Ticket,
    pub(crate) line: Option<WriteRecord>,
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

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(mut actor) = self.0.get_mut().take() {
            // From here on there is nobody to compare versions with.
            version::show(Version::NONE);
            actor.identity.clone().end(&mut actor.clock);
            actor.leave_outbox();
        }
    }
}
