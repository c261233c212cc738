//! The table of edges: what each operation receives from others, and what it leaves for others.
//!
//! Everything through which one event can come before another, other than program order, is an
//! [`Object`]: a variable, a lock, a message, the past of a thread. What an event does with an object
//! is one of a few kinds of [`Access`], and these say all: who leaves something behind, and who picks
//! it up. Clocks, the maximal model and live hooks read this one table; the
//! [`definition`](crate::definition) does not, so that it can be compared with.
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
//! An event of several threads receives what all of them know, and all of them know it afterwards.

use crate::{BarrierId, ChanId, CondId, Delivery, Event, LockId, Msg, Op, ThreadId, VarId};

/// Something through which events are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A variable.
    Var(VarId),
    /// A lock.
    Lock(LockId),
    /// A message on its channel.
    Message(ChanId, Msg),
    /// A channel, as one sees it who finds it empty.
    Channel(ChanId),
    /// The order of the sends on a channel.
    Sends(ChanId),
    /// The order of the receives on a channel.
    Receives(ChanId),
    /// The room of a channel for this many messages, more than 0: what the k-th receive contributes is
    /// observed by as many sends later, counted from the k-th.
    Room(ChanId, u32),
    /// That a message was received, which its sender waits for.
    Delivery(ChanId, Msg),
    /// A condition variable.
    Condition(CondId),
    /// One use of a barrier.
    Round(BarrierId, u64),
    /// A thread: what is contributed to it is before its next event; to observe it is to come after
    /// all that it did.
    Thread(ThreadId),
    /// The lines of a thread up to this number, in a trace with clocks.
    Lines(ThreadId, u32),
}

/// What an event does with an object.
///
/// An object remembers two things: its *updates*, and the *reads* since the last exclusive one. No
/// object has exclusive updates and contributions.
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
    /// Comes after the updates, and is in nobody's way.
    Observe,
    /// As [`Observe`](Self::Observe), but it is the thread's next event that comes after the updates.
    Await,
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

/// Calls `visit` with each object that an event has to do with, and what it does there.
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
        Op::Fork(child) => visit(Object::Thread(*child), Access::Contribute),
        Op::Join(child) => visit(Object::Thread(*child), Access::Observe),
        Op::Send(chan, msg, delivery) | Op::Recv(chan, msg, delivery) => {
            let access = message_access(&event.op);
            visit(Object::Message(*chan, *msg), access);
            visit(Object::Channel(*chan), Access::Contribute);
            let is_send = access == Access::Contribute;
            if delivery.is_ordered() {
                let order = if is_send {
                    Object::Sends(*chan)
                } else {
                    Object::Receives(*chan)
                };
                visit(order, Access::Update);
            }
            match (delivery, is_send) {
                (Delivery::Unordered | Delivery::Fifo, _) => {}
                (Delivery::Bounded(0), true) => visit(Object::Delivery(*chan, *msg), Access::Await),
                (Delivery::Bounded(0), false) => {
                    visit(Object::Delivery(*chan, *msg), Access::Contribute);
                }
                (Delivery::Bounded(n), true) => visit(Object::Room(*chan, *n), Access::Observe),
                (Delivery::Bounded(n), false) => visit(Object::Room(*chan, *n), Access::Contribute),
            }
        }
        Op::TryRecv(chan) => visit(Object::Channel(*chan), Access::Read),
        Op::Waiting(cond, lock) | Op::Wait(cond, lock) => {
            let access = match event.op {
                Op::Waiting(..) => Access::Read,
                _ => Access::Observe,
            };
            visit(Object::Condition(*cond), access);
            if let Some(lock) = lock {
                visit(Object::Lock(*lock), Access::Update);
            }
        }
        Op::Notify(cond) => visit(Object::Condition(*cond), Access::Contribute),
        Op::Barrier(barrier, round) => {
            visit(Object::Round(*barrier, *round), Access::Contribute);
            visit(Object::Round(*barrier, *round), Access::Await);
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
                visit(Object::Var(*var), Access::Update);
            }
        }
        Op::Event(action) => {
            for (var, _) in &action.set {
                visit(Object::Var(*var), Access::Update);
            }
        }
        _ => {}
    }
}

/// The edge of the operations that have one, of a variable or a lock: most events of most traces.
#[inline(always)]
pub(super) fn sole_edge(op: &Op) -> Option<(Object, Access)> {
    Some(match op {
        Op::Read(var) => (Object::Var(*var), Access::Read),
        Op::Write(var, _) | Op::Update(var, _) => (Object::Var(*var), Access::Update),
        Op::Lock(lock) | Op::Unlock(lock) => (Object::Lock(*lock), Access::Update),
        Op::ReadLock(lock) | Op::ReadUnlock(lock) | Op::TryLock(lock) => {
            (Object::Lock(*lock), Access::Read)
        }
        _ => return None,
    })
}

/// What a send or receive does with its message.
#[inline(always)]
fn message_access(op: &Op) -> Access {
    match op {
        Op::Send(..) => Access::Contribute,
        _ => Access::Observe,
    }
}

/// The message of a send or receive on a network, and what is done with it: besides that it only
/// contributes to the channel.
#[inline(always)]
pub(super) fn network_edge(op: &Op) -> Option<(ChanId, Msg, Access)> {
    match op {
        Op::Send(chan, msg, Delivery::Unordered) | Op::Recv(chan, msg, Delivery::Unordered) => {
            Some((*chan, *msg, message_access(op)))
        }
        _ => None,
    }
}
