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
//! | shared lock, shared unlock | lock: read |
//! | fork | the child: contribute |
//! | join | the child: observe |
//! | send | message: contribute |
//! | receive | message: observe |
//! | notify | condition: contribute |
//! | wake-up | condition: observe |
//! | barrier | round: contribute, and await |
//! | a line with a clock | that line: contribute; the lines that it counts: observe |

use crate::{BarrierId, ChanId, CondId, Event, LockId, Msg, Op, ThreadId, VarId};

/// Something through which events are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A variable.
    Var(VarId),
    /// A lock.
    Lock(LockId),
    /// A message on its channel.
    Message(ChanId, Msg),
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
        Op::Send(chan, msg) => visit(Object::Message(*chan, *msg), Access::Contribute),
        Op::Recv(chan, msg) => visit(Object::Message(*chan, *msg), Access::Observe),
        Op::Wait(cond) => visit(Object::Condition(*cond), Access::Observe),
        Op::Notify(cond) => visit(Object::Condition(*cond), Access::Contribute),
        Op::Barrier(barrier, round) => {
            visit(Object::Round(*barrier, *round), Access::Contribute);
            visit(Object::Round(*barrier, *round), Access::Await);
        }
        Op::Stamped(stamped) => {
            for &(thread, lines) in &stamped.clock {
                let access = if thread == event.thread {
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
        Op::ReadLock(lock) | Op::ReadUnlock(lock) => (Object::Lock(*lock), Access::Read),
        _ => return None,
    })
}
