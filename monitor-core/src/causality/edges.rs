//! The table of edges: what each operation receives from objects, and what it leaves there.
//!
//! Everything through which one event can come before another, other than program order, is an
//! [`Object`]: a variable, a lock, a message, the past of a thread. What an event does with an object
//! is one of a few kinds of [`Access`], which determine what the event leaves there and what it picks
//! up. Clocks, the maximal model and live hooks read this one table, [`access_of`]; the
//! [`definition`](crate::definition) does not, so that the two can be compared.
//!
//! | operation | object: access |
//! |---|---|
//! | read | variable: read |
//! | write, update, `set` | variable: update |
//! | lock, unlock | lock: update |
//! | shared lock, shared unlock, failed try | lock: read |
//! | fork | the child: contribute |
//! | join | the child: observe |
//! | send | message: contribute; channel: contribute |
//! | receive | message: observe; channel: contribute |
//! | failed receive | channel: read |
//! | send and receive of a queue | also the sends, or the receives, of the channel: update |
//! | of one with room for n messages | also its room: a receive contributes, a send observes |
//! | of one with room for none | also the message's delivery: a receive contributes, a send awaits |
//! | notify | condition: contribute |
//! | begin of a wait | condition: read; its lock: update |
//! | wake-up | condition: observe; its lock: update |
//! | barrier | round: contribute, and await |
//! | a line with a clock | that line: contribute; the lines that it counts: observe |
//!
//! An event of several threads receives what any of them knows, and all of them know it afterwards.

use crate::{
    BarrierId, ChanId, CondId, Delivery, Event, LockId, Msg, Op, Operation, ThreadId, VarId,
};

/// Something through which events are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A variable.
    Var(VarId),
    /// A lock.
    Lock(LockId),
    /// A message on its channel.
    Message(ChanId, Msg),
    /// A channel as seen by a receive that finds it empty.
    Channel(ChanId),
    /// The order of the sends on a channel.
    Sends(ChanId),
    /// The order of the receives on a channel.
    Receives(ChanId),
    /// The room of a channel for this many messages (at least 1): the contribution of the k-th receive is
    /// observed by the send that comes this many after the k-th.
    Room(ChanId, u32),
    /// The receipt of a message, which its sender waits for.
    Delivery(ChanId, Msg),
    /// A condition variable.
    Condition(CondId),
    /// One use of a barrier.
    Round(BarrierId, u64),
    /// A thread: contributions to it come before its next event; observing it means coming after
    /// everything that it did.
    Thread(ThreadId),
    /// The lines of a thread up to this number, in a trace with clocks.
    Lines(ThreadId, u32),
}

/// How an event accesses an object.
///
/// An object remembers two things: its *updates*, and the *reads* since the last `Update`. No object has both
/// `Update` and `Contribute` accesses.
///
/// | access | receives | leaves |
/// |---|---|---|
/// | `Read` | updates | adds to the reads |
/// | `Update` | updates and reads | replaces both |
/// | `Contribute` | reads | adds to the updates |
/// | `Observe` | updates | nothing |
/// | `Await` | updates, with the thread's next event | nothing |
///
/// ```
/// use portent_monitor_core::Access;
///
/// assert!(Access::Read.orders(Access::Update) && Access::Update.orders(Access::Read));
/// assert!(!Access::Read.orders(Access::Read));
/// assert!(Access::Contribute.orders(Access::Observe));
/// assert!(!Access::Contribute.orders(Access::Contribute));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Conflicts with updates and contributions, not with other reads.
    Read,
    /// Conflicts with every access.
    Update,
    /// An update that does not conflict with others of its kind.
    Contribute,
    /// Comes after the updates, and conflicts with nothing else.
    Observe,
    /// As [`Observe`](Self::Observe), but the thread's next event comes after the updates instead of this one.
    Await,
}

/// The role that an object plays in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The variable of a read or write, or one that an application event sets.
    Var,
    /// The lock that is taken, tried or released, also by a thread that waits for a condition.
    Lock,
    /// The message that is sent or received.
    Message,
    /// Its channel, as seen by a receive that finds it empty.
    Channel,
    /// The order of the sends, if there is one.
    Sends,
    /// The order of the receives, if there is one.
    Receives,
    /// The room of the channel, if it is bounded.
    Room,
    /// The receipt of the message, if its sender waits for it.
    Delivery,
    /// The condition that is waited for.
    Condition,
    /// The round of a barrier, for a thread that arrives.
    Arrival,
    /// The same round, for a thread that leaves.
    Departure,
    /// The thread that is forked or joined.
    Thread,
}

impl Role {
    /// All of them.
    pub const ALL: &[Role] = &[
        Role::Var,
        Role::Lock,
        Role::Message,
        Role::Channel,
        Role::Sends,
        Role::Receives,
        Role::Room,
        Role::Delivery,
        Role::Condition,
        Role::Arrival,
        Role::Departure,
        Role::Thread,
    ];
}

/// **The table**: how an operation accesses the object in this role; `None` if the operation has no such object.
///
/// It can be evaluated at compile time, so that callers with a fixed operation pay nothing.
///
/// ```
/// use portent_monitor_core::{Access, Operation, Role, access_of};
///
/// const TRIED: Access = access_of(Operation::TryLock, Role::Lock).unwrap();
/// assert_eq!(TRIED, Access::Read);
/// assert_eq!(access_of(Operation::TryLock, Role::Var), None);
/// ```
pub const fn access_of(operation: Operation, role: Role) -> Option<Access> {
    Some(match (operation, role) {
        (Operation::Read, Role::Var) => Access::Read,
        (Operation::Write | Operation::Update | Operation::Event, Role::Var) => Access::Update,
        (Operation::Lock | Operation::Unlock, Role::Lock) => Access::Update,
        (Operation::ReadLock | Operation::ReadUnlock, Role::Lock) => Access::Read,
        (Operation::TryLock, Role::Lock) => Access::Read,
        (Operation::Fork, Role::Thread) => Access::Contribute,
        (Operation::Join, Role::Thread) => Access::Observe,
        (Operation::Send, Role::Message) => Access::Contribute,
        (Operation::Recv, Role::Message) => Access::Observe,
        (Operation::Send | Operation::Recv, Role::Channel) => Access::Contribute,
        (Operation::TryRecv, Role::Channel) => Access::Read,
        (Operation::Send, Role::Sends) => Access::Update,
        (Operation::Recv, Role::Receives) => Access::Update,
        (Operation::Recv, Role::Room | Role::Delivery) => Access::Contribute,
        (Operation::Send, Role::Room) => Access::Observe,
        (Operation::Send, Role::Delivery) => Access::Await,
        (Operation::Notify, Role::Condition) => Access::Contribute,
        (Operation::Waiting, Role::Condition) => Access::Read,
        (Operation::Wait, Role::Condition) => Access::Observe,
        (Operation::Waiting | Operation::Wait, Role::Lock) => Access::Update,
        (Operation::Barrier, Role::Arrival) => Access::Contribute,
        (Operation::Barrier, Role::Departure) => Access::Await,
        _ => return None,
    })
}

/// An entry of the table, looked up at compile time.
macro_rules! access {
    ($operation:ident $role:ident) => {
        const { access_of(Operation::$operation, Role::$role).unwrap() }
    };
}

impl Access {
    /// Whether an event with this access of an object comes before a later one with the other.
    pub fn orders(self, later: Access) -> bool {
        match self {
            Access::Update => true,
            Access::Contribute => later != Access::Contribute,
            Access::Read => matches!(later, Access::Update | Access::Contribute),
            Access::Observe | Access::Await => false,
        }
    }
}

/// Calls `visit` with each object that an event accesses, and the kind of access.
///
/// ```
/// use portent_monitor_core::{Access, Event, Object, Op, Symbols, edges};
///
/// let mut s = Symbols::default();
/// let (t, m) = (s.threads.intern("T1")?, s.locks.intern("m")?);
/// let mut found = Vec::new();
/// edges(&Event::new(t, Op::Lock(m)), |object, access| found.push((object, access)));
/// assert_eq!(found, [(Object::Lock(m), Access::Update)]);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
// A visitor and not an iterator: an event costs a jump to its operation and no list.
#[inline]
pub fn edges(event: &Event, mut visit: impl FnMut(Object, Access)) {
    match sole_edge(&event.op) {
        Some((object, access)) => visit(object, access),
        None => other_edges(event, visit),
    }
}

/// The edges of the operations that may have several.
#[inline(always)]
pub(super) fn other_edges(event: &Event, mut visit: impl FnMut(Object, Access)) {
    match &event.op {
        Op::Fork(child) => visit(Object::Thread(*child), access!(Fork Thread)),
        Op::Join(child) => visit(Object::Thread(*child), access!(Join Thread)),
        Op::Send(chan, msg, delivery) => {
            visit(Object::Message(*chan, *msg), access!(Send Message));
            visit(Object::Channel(*chan), access!(Send Channel));
            if delivery.is_ordered() {
                visit(Object::Sends(*chan), access!(Send Sends));
            }
            match delivery {
                Delivery::Unordered | Delivery::Fifo => {}
                Delivery::Bounded(0) => {
                    visit(Object::Delivery(*chan, *msg), access!(Send Delivery));
                }
                Delivery::Bounded(n) => visit(Object::Room(*chan, *n), access!(Send Room)),
            }
        }
        Op::Recv(chan, msg, delivery) => {
            visit(Object::Message(*chan, *msg), access!(Recv Message));
            visit(Object::Channel(*chan), access!(Recv Channel));
            if delivery.is_ordered() {
                visit(Object::Receives(*chan), access!(Recv Receives));
            }
            match delivery {
                Delivery::Unordered | Delivery::Fifo => {}
                Delivery::Bounded(0) => {
                    visit(Object::Delivery(*chan, *msg), access!(Recv Delivery));
                }
                Delivery::Bounded(n) => visit(Object::Room(*chan, *n), access!(Recv Room)),
            }
        }
        Op::TryRecv(chan) => visit(Object::Channel(*chan), access!(TryRecv Channel)),
        Op::Waiting(cond, lock) => {
            visit(Object::Condition(*cond), access!(Waiting Condition));
            if let Some(lock) = lock {
                visit(Object::Lock(*lock), access!(Waiting Lock));
            }
        }
        Op::Wait(cond, lock) => {
            visit(Object::Condition(*cond), access!(Wait Condition));
            if let Some(lock) = lock {
                visit(Object::Lock(*lock), access!(Wait Lock));
            }
        }
        Op::Notify(cond) => visit(Object::Condition(*cond), access!(Notify Condition)),
        Op::Barrier(barrier, round) => {
            visit(Object::Round(*barrier, *round), access!(Barrier Arrival));
            visit(Object::Round(*barrier, *round), access!(Barrier Departure));
        }
        Op::Stamped(stamped) => {
            for &(thread, lines) in &stamped.clock {
                let access = if event.threads().any(|own| own == thread) {
                    Access::Contribute
                } else {
                    Access::Observe
                };
                visit(Object::Lines(thread, lines), access);
            }
            for (var, _) in &stamped.action.set {
                visit(Object::Var(*var), access!(Event Var));
            }
        }
        Op::Event(action) => {
            for (var, _) in &action.set {
                visit(Object::Var(*var), access!(Event Var));
            }
        }
        _ => {}
    }
}

/// The edge of operations on one variable or lock: most events of most traces.
#[inline(always)]
pub(super) fn sole_edge(op: &Op) -> Option<(Object, Access)> {
    Some(match op {
        Op::Read(var) => (Object::Var(*var), access!(Read Var)),
        Op::Write(var, _) => (Object::Var(*var), access!(Write Var)),
        Op::Update(var, _) => (Object::Var(*var), access!(Update Var)),
        Op::Lock(lock) => (Object::Lock(*lock), access!(Lock Lock)),
        Op::Unlock(lock) => (Object::Lock(*lock), access!(Unlock Lock)),
        Op::ReadLock(lock) => (Object::Lock(*lock), access!(ReadLock Lock)),
        Op::ReadUnlock(lock) => (Object::Lock(*lock), access!(ReadUnlock Lock)),
        Op::TryLock(lock) => (Object::Lock(*lock), access!(TryLock Lock)),
        _ => return None,
    })
}

/// The message of a send or receive on a network, and its access: apart from the message, these operations only
/// contribute to the channel.
#[inline(always)]
pub(super) fn network_edge(op: &Op) -> Option<(ChanId, Msg, Access)> {
    match op {
        Op::Send(chan, msg, Delivery::Unordered) => Some((*chan, *msg, access!(Send Message))),
        Op::Recv(chan, msg, Delivery::Unordered) => Some((*chan, *msg, access!(Recv Message))),
        _ => None,
    }
}
