//! Handles of threads; parking and unparking.
//!
//! In a trace the token of a thread is a condition named after the thread. To park is to wait for it; a park that returns because
//! the time is over, or for no reason, is recorded without a wake-up.

use std::{fmt, panic::Location, sync::Arc, thread, time::Duration};

use portent_monitor_core::{Access, Op, Operation, Role};

use crate::{
    control,
    live::{
        actor::{self, Place, Ticket},
        identity::Identity,
        line::OperationRecord,
        operation::access,
        version,
    },
};

const WAITING: Access = access(Operation::Waiting, Role::Condition);
const WAIT: Access = access(Operation::Wait, Role::Condition);
const NOTIFY: Access = access(Operation::Notify, Role::Condition);

/// [`std::thread::Thread`], which carries clocks from a thread that unparks to the one that is parked.
#[derive(Clone)]
pub struct Thread(Arc<Identity>);

/// As [`std::thread::current`].
///
/// ```
/// use portent_hooks::thread;
///
/// assert_eq!(thread::current().id(), std::thread::current().id());
/// ```
#[must_use]
pub fn current() -> Thread {
    if let Some(controller) = control::current() {
        return Thread::controlled(controller.current(), controller.name().as_deref());
    }
    let identity = actor::with(|actor| Arc::clone(actor.identity()));
    Thread(identity.unwrap_or_else(|| Arc::new(Identity::current())))
}

/// As [`std::thread::park`].
///
/// ```
/// use portent_hooks::thread;
///
/// thread::current().unpark();
/// thread::park();
/// ```
#[track_caller]
pub fn park() {
    if let Some(controller) = control::current() {
        return controller.park(false, Some(Location::caller()));
    }
    park_by(Some(Location::caller()), thread::park);
}

/// As [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(time: Duration) {
    if let Some(controller) = control::current() {
        return controller.park(true, Some(Location::caller()));
    }
    park_by(Some(Location::caller()), || thread::park_timeout(time));
}

/// As [`std::thread::park_timeout_ms`].
#[deprecated(note = "replaced by `park_timeout`, as in the standard library")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}

/// As [`std::thread::yield_now`].
#[track_caller]
pub fn yield_now() {
    match control::current() {
        Some(controller) => controller.pause(Some(Location::caller())),
        None => thread::yield_now(),
    }
}

/// As [`std::thread::sleep`]. Under a controlled scheduler no time passes.
#[track_caller]
pub fn sleep(time: Duration) {
    match control::current() {
        Some(controller) => controller.pause(Some(Location::caller())),
        None => thread::sleep(time),
    }
}

/// As [`std::thread::sleep_ms`].
#[deprecated(note = "replaced by `sleep`, as in the standard library")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(ms.into()));
}

fn park_by(place: Place, park: impl FnOnce()) {
    let ticket = ticket();
    actor::with(|actor| {
        let identity = Arc::clone(actor.identity());
        identity.with_token(|token| {
            let line = || OperationRecord::new(Op::Waiting(identity.condition(), None), place);
            actor.visit(token, WAITING, ticket, line);
        });
    });
    park();
    actor::with(|actor| {
        let identity = Arc::clone(actor.identity());
        identity.with_token(|token| {
            // It may have returned because the time is over, or for no reason: that is no wake-up.
            if !identity.take_woken() {
                return;
            }
            let line = || OperationRecord::new(Op::Wait(identity.condition(), None), place);
            actor.visit(token, WAIT, ticket, line);
        });
    });
}

fn ticket() -> Ticket {
    if version::is_hidden() {
        actor::prepare()
    } else {
        Ticket::NONE
    }
}

impl Thread {
    pub(super) fn of(identity: Arc<Identity>) -> Thread {
        Thread(identity)
    }

    pub(super) fn controlled(number: u32, name: Option<&str>) -> Thread {
        Thread(Arc::new(Identity::controlled(number, name)))
    }

    /// As [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        let place = Some(Location::caller());
        if let Some(number) = self.0.number() {
            // After a run is over there is nobody to be unparked.
            if let Some(controller) = control::current() {
                controller.unpark(number, place);
            }
            return;
        }
        let ticket = ticket();
        actor::with(|actor| {
            self.0.with_token(|token| {
                let line = || OperationRecord::new(Op::Notify(self.0.condition()), place);
                actor.visit(token, NOTIFY, ticket, line);
                self.0.tell_woken();
            });
        });
        self.handle().unpark();
    }

    /// As [`std::thread::Thread::id`].
    #[must_use]
    pub fn id(&self) -> thread::ThreadId {
        self.handle().id()
    }

    /// As [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self.0.number() {
            Some(_) => self.0.name(),
            None => self.handle().name(),
        }
    }

    pub(super) fn identity(&self) -> &Arc<Identity> {
        &self.0
    }

    fn handle(&self) -> &thread::Thread {
        match self.0.handle() {
            Some(handle) => handle,
            None => unreachable!("who gives out a handle knows the thread"),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
