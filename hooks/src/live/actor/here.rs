//! The thread-local that holds the actor of this thread.
//!
//! The thread-local has a destructor, so in the destructors of others the actor may already be gone; and it may be in
//! use already, if an allocator uses hooked types. The operation is then performed without a clock, and counted.

use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use portent_monitor_core::{Access, Knowledge, VarId, Version};

use super::{Actor, Ticket};
use crate::live::{
    ObjectClock, Published, event,
    identity::Identity,
    line::{WriteRecord, never_asked},
    recording::{self, Subscriber},
    version,
};

thread_local! {
    static ACTOR: Slot = const { Slot(RefCell::new(None)) };
}

struct Slot(RefCell<Option<Box<Actor>>>);

/// Operations, during recordings, of threads whose actor was gone or in use.
static LATE: AtomicU64 = AtomicU64::new(0);
pub(in crate::live) fn late() -> u64 {
    LATE.load(Relaxed)
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

/// Publishes the clock to the updates of an object. This does not change the actor, so it does not look for new recordings.
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

/// Exchanges the actor of this thread with another; returns whether that was possible. If there is no actor, the next
/// operation creates a foreign one. The caller is responsible for the shown version.
#[cfg(feature = "tokio")]
#[inline(always)]
pub(in crate::live) fn swap(other: &mut Option<Box<Actor>>) -> bool {
    let swapped = ACTOR.try_with(|slot| match slot.0.try_borrow_mut() {
        Ok(mut slot) => {
            std::mem::swap(&mut *slot, other);
            true
        }
        Err(_) => false,
    });
    swapped == Ok(true)
}

/// Lets the current actor look for a new recording to take part in, and shows its version.
#[cfg(feature = "tokio")]
#[cold]
#[inline(never)]
pub(in crate::live) fn notice() {
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

/// An operation was performed without a clock.
#[cold]
#[inline(never)]
fn passed<R>() -> Option<R> {
    if recording::any_open() {
        LATE.fetch_add(1, Relaxed);
    }
    None
}

/// Creates the actor of a newly spawned thread. The thread calls this before anything else, because the thread-local that is
/// touched first is destroyed last.
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
pub(in crate::live) fn enter(subscriber: Option<Arc<Subscriber>>) -> Option<Arc<Subscriber>> {
    // Before it looks around: else it would take part in the global one for a moment, as a foreign thread.
    let before = ACTOR.try_with(|slot| {
        let mut slot = slot.0.try_borrow_mut().ok()?;
        let actor = match &mut *slot {
            Some(actor) => actor,
            empty => empty.insert(Actor::foreign()?),
        };
        actor.foreign &= subscriber.is_none();
        Some(std::mem::replace(&mut actor.own, subscriber))
    });
    look_around();
    before.ok().flatten().flatten()
}

/// Puts this thread under control, so that it takes every slow path, or ends that.
pub(crate) fn control(controlled: bool) {
    event::forget_wanted();
    with(|actor| actor.controlled = controlled);
}

/// A thread that starts a recording is not foreign to it, however it was spawned.
pub(in crate::live) fn knows_of_recordings() {
    with(|actor| actor.foreign = false);
}

/// Looks for a new recording to take part in.
pub(in crate::live) fn look_around() {
    with(Actor::look_around);
}

/// Reserves room for an operation of a thread that records everything, before it happens; may wait.
#[cold]
#[inline(never)]
pub(crate) fn prepare() -> Ticket {
    with(|actor| actor.prepare(2)).unwrap_or_default()
}

/// Reserves room for the write of a variable, before it happens; may wait.
#[inline]
pub(crate) fn prepare_write(var: Option<VarId>) -> Ticket {
    with(|actor| match (&actor.outbox, var) {
        (Some(outbox), _) if outbox.everything => actor.prepare(2),
        (Some(outbox), Some(var)) if outbox.subscriber.wants_var(var) => actor.prepare(2),
        _ => Ticket::NONE,
    })
    .unwrap_or_default()
}

/// A variable was written by its holder: receives its clocks, records the write, and publishes the new clock.
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

/// A write: its object, and how it is recorded.
pub(crate) struct Written<'a> {
    pub(crate) object: &'a mut ObjectClock,
    pub(crate) access: Access,
    pub(crate) ticket: Ticket,
    pub(crate) line: Option<WriteRecord>,
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
