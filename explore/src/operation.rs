//! What threads do, and which two of these do not commute: what every search relies on.
//!
//! It is made of **the table of edges** of `monitor-core` ([`access_of`]): each kind of operation has its line there
//! ([`Kind::in_table`]), and what that table orders never commutes here. A search needs more than clocks do, as it also asks what
//! would have come of two operations the other way round; where it therefore keeps an order that the table does not have, `is_strict` says why.
//!
//! | pair on one object, of different threads | dependent | can be reversed |
//! |---|---|---|
//! | two reads | no | |
//! | any other two accesses of a variable | yes | yes, if nothing is between them |
//! | a thread that spins waits for a change: as if it read | with what changes it | yes, but for the change that lets it go on |
//! | two locks of a mutex | yes, by the unlock between them | yes |
//! | two who share a lock | no | |
//! | one who shares a lock and one who has it alone | yes, by the unlock between them | yes, but all who would still be inside come later, too |
//! | one who asks for a lock and one who shares it already, and once more | yes | yes |
//! | if locks are tried: anything and a try, an unlock or a lock | yes | yes, but for an unlock and the lock that it enables |
//! | to wait for a condition, to wake up by oneself, to notify | yes | yes; who was notified comes after that |
//! | two sends; two receives | yes | yes |
//! | a send and the receive of that message, or the receive that made room for it | yes | only by one who tries |
//! | a send and one who found nothing; a receive and one who found no room; a send and the end of the receiver | yes | yes |
//! | if receives are tried: the end of a sender and any receive | yes | yes |
//! | two arrivals at a barrier | yes | yes; all who met come after the last |
//! | who does something once and who finds it done | as who has a lock alone and who shares it | |
//! | to unpark a thread, and to park | yes | yes, unless the thread needs it to go on |
//!
//! Giving a lock back is no event of its own: it is part of what its thread did last. It disables nothing, and as long as nobody
//! *tries* to lock, nothing but the locks that it enables depends on it. Where somebody tries, it becomes an event. The same is true
//! of the end of a sender and those who try to receive.

use portent_monitor_core::{Access, Operation, Role, access_of};

use crate::run::NONE;

/// Which object, in the order in which a run met them.
pub(crate) type ObjectIndex = u32;

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Of a variable.
    Read,
    /// Of a variable, whatever it was.
    Write,
    /// Of a variable, depending on what it was.
    Update,
    /// Of a mutex, or the exclusive side of a lock.
    Lock,
    /// The same, if it is free.
    TryLock,
    /// The same, of one that was not free.
    FailedTryLock,
    /// Of anything, until it has changed.
    Await,
    /// The same is given back, where somebody tries to lock.
    Unlock,
    /// Of the exclusive side of a lock: begins to wait for it, where somebody shares a lock twice.
    Request,
    /// Of the shared side of a lock.
    ReadLock,
    /// The same, if nobody has the lock alone.
    TryReadLock,
    /// The same, of a lock that somebody had alone.
    FailedTryReadLock,
    /// The same is given back, where somebody tries to lock.
    ReadUnlock,
    /// From the exclusive side of a lock to the shared one.
    Downgrade,
    /// Begins to wait for a condition, and gives the mutex back.
    Wait,
    /// Has been notified of a condition, or wakes up by itself.
    Wake,
    /// Of one who waits for a condition.
    NotifyOne,
    /// Of all who wait for a condition.
    NotifyAll,
    /// Into a channel.
    Send,
    /// Into a channel without a receiver.
    FailedSend,
    /// Into a channel, if it has room.
    TrySend,
    /// The same, into a channel without a receiver.
    FailedTrySend,
    /// Into a channel that had no room.
    FullSend,
    /// Out of a channel.
    Receive,
    /// Out of a channel, if there is something.
    TryReceive,
    /// Out of a channel that had nothing.
    EmptyReceive,
    /// The receiver of a channel goes.
    CloseReceiver,
    /// A sender of a channel goes, where somebody tries to receive.
    CloseSender,
    /// At a barrier.
    Arrive,
    /// Begins what is to be done once.
    Initialise,
    /// Finds done what is to be done once.
    FindDone,
    /// It is done from now on.
    Done,
    /// Waits to be unparked.
    Park,
    /// Of another thread.
    Unpark,
    /// An application event that a property wants. Nobody can notice it, and it is no choice.
    Event,
}

/// Which kinds commute with their like, as bits: the compiler works it out from the table of edges.
const READS: u64 = {
    let mut bits = 0;
    let mut at = 0;
    while at < Kind::ALL.len() {
        let kind = Kind::ALL[at];
        if kind.is_unordered() && !kind.is_strict() {
            bits |= 1 << kind as u32;
        }
        at += 1;
    }
    bits
};

impl Kind {
    /// All of them.
    pub const ALL: &[Kind] = &[
        Kind::Read,
        Kind::Write,
        Kind::Update,
        Kind::Lock,
        Kind::TryLock,
        Kind::FailedTryLock,
        Kind::Await,
        Kind::Unlock,
        Kind::Request,
        Kind::ReadLock,
        Kind::TryReadLock,
        Kind::FailedTryReadLock,
        Kind::ReadUnlock,
        Kind::Downgrade,
        Kind::Wait,
        Kind::Wake,
        Kind::NotifyOne,
        Kind::NotifyAll,
        Kind::Send,
        Kind::FailedSend,
        Kind::TrySend,
        Kind::FailedTrySend,
        Kind::FullSend,
        Kind::Receive,
        Kind::TryReceive,
        Kind::EmptyReceive,
        Kind::CloseReceiver,
        Kind::CloseSender,
        Kind::Arrive,
        Kind::Initialise,
        Kind::FindDone,
        Kind::Done,
        Kind::Park,
        Kind::Unpark,
        Kind::Event,
    ];

    /// Its line in the table of edges: which operation it is, and what its object is to that. `None` of what the table does not
    /// know: nobody can notice an [`Event`](Self::Event), and only a scheduler sees a [`Request`](Self::Request).
    ///
    /// ```
    /// use portent_explore::Kind;
    /// use portent_monitor_core::{Operation, Role};
    ///
    /// assert_eq!(Kind::TryReadLock.in_table(), Some((Operation::ReadLock, Role::Lock)));
    /// assert_eq!(Kind::Event.in_table(), None);
    /// ```
    #[must_use]
    pub const fn in_table(self) -> Option<(Operation, Role)> {
        Some(match self {
            Kind::Read | Kind::Await | Kind::FindDone => (Operation::Read, Role::Var),
            Kind::Write => (Operation::Write, Role::Var),
            Kind::Update | Kind::Initialise | Kind::Done => (Operation::Update, Role::Var),
            Kind::Lock | Kind::TryLock => (Operation::Lock, Role::Lock),
            Kind::Unlock | Kind::Downgrade => (Operation::Unlock, Role::Lock),
            Kind::ReadLock | Kind::TryReadLock => (Operation::ReadLock, Role::Lock),
            Kind::ReadUnlock => (Operation::ReadUnlock, Role::Lock),
            Kind::FailedTryLock | Kind::FailedTryReadLock => (Operation::TryLock, Role::Lock),
            Kind::Wait => (Operation::Waiting, Role::Condition),
            Kind::Wake | Kind::Park => (Operation::Wait, Role::Condition),
            Kind::NotifyOne | Kind::NotifyAll | Kind::Unpark => {
                (Operation::Notify, Role::Condition)
            }
            Kind::Send | Kind::TrySend | Kind::FullSend => (Operation::Send, Role::Sends),
            Kind::Receive | Kind::TryReceive => (Operation::Recv, Role::Receives),
            Kind::EmptyReceive => (Operation::TryRecv, Role::Channel),
            // The end of one side of a channel is a condition for the other.
            Kind::CloseReceiver | Kind::CloseSender => (Operation::Notify, Role::Condition),
            Kind::FailedSend | Kind::FailedTrySend => (Operation::Wait, Role::Condition),
            Kind::Arrive => (Operation::Barrier, Role::Arrival),
            Kind::Request | Kind::Event => return None,
        })
    }

    /// Whether the table has no order between two of this kind.
    const fn is_unordered(self) -> bool {
        match self.in_table() {
            Some((operation, role)) => {
                !matches!(access_of(operation, role), Some(Access::Update) | None)
            }
            None => matches!(self, Kind::Event),
        }
    }

    /// Whether two of this kind do not commute although the table has no order between them.
    const fn is_strict(self) -> bool {
        match self {
            // Until it is done nobody knows that it fails.
            Kind::FailedTryLock | Kind::EmptyReceive => true,
            // Who waits first may be woken up first, and a notify wakes up those who wait already, one of them or none.
            Kind::Wait | Kind::Wake | Kind::NotifyOne | Kind::NotifyAll => true,
            // What was unparked twice is parked once.
            Kind::Park | Kind::Unpark => true,
            // The last one to arrive is the leader, and who is in this round is not in the next.
            Kind::Arrive => true,
            // There is one, and all sends depend on it.
            Kind::CloseReceiver => true,
            _ => false,
        }
    }

    /// Whether two of these, of different threads and about the same object, can come in either order with the same result.
    ///
    /// ```
    /// use portent_explore::Kind;
    ///
    /// assert!(Kind::Read.commutes_with(Kind::Read));
    /// assert!(!Kind::Read.commutes_with(Kind::Write));
    /// ```
    #[must_use]
    pub fn commutes_with(self, other: Kind) -> bool {
        self.is_read() && other.is_read()
    }

    /// Whether it commutes with its like.
    #[inline]
    pub(crate) fn is_read(self) -> bool {
        READS >> self as u32 & 1 != 0
    }

    /// Whether its object is as it was.
    pub(crate) fn only_looks(self) -> bool {
        matches!(
            self,
            Kind::Read
                | Kind::Await
                | Kind::FailedTryLock
                | Kind::FailedTryReadLock
                | Kind::EmptyReceive
                | Kind::FullSend
                | Kind::FailedSend
                | Kind::FailedTrySend
                | Kind::FindDone
                | Kind::Event
        )
    }

    /// Whether it has a lock alone from now on.
    #[inline]
    pub(crate) fn is_exclusive(self) -> bool {
        matches!(self, Kind::Lock | Kind::TryLock | Kind::Initialise)
    }

    /// Whether it shares a lock from now on.
    #[inline]
    pub(crate) fn is_shared(self) -> bool {
        matches!(
            self,
            Kind::ReadLock | Kind::TryReadLock | Kind::Downgrade | Kind::FindDone
        )
    }

    /// Whether what it depends on is what was given back, not what was taken; `tries`: giving back is an event.
    #[inline]
    pub(crate) fn is_acquire(self, tries: bool) -> bool {
        match self {
            Kind::Lock | Kind::ReadLock | Kind::Downgrade => !tries,
            Kind::Initialise | Kind::FindDone => true,
            _ => false,
        }
    }

    /// Whether it does more than to look or to wait for something.
    #[inline]
    pub(crate) fn changes(self) -> bool {
        !self.is_read()
            && !matches!(
                self,
                Kind::Lock
                    | Kind::TryLock
                    | Kind::FailedTryLock
                    | Kind::Unlock
                    | Kind::Request
                    | Kind::Wait
                    | Kind::Wake
                    | Kind::FullSend
                    | Kind::EmptyReceive
                    | Kind::Park
            )
    }

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Update => "update",
            Kind::Lock => "lock",
            Kind::TryLock => "try_lock",
            Kind::FailedTryLock => "try_lock (in vain)",
            Kind::Await => "look again at",
            Kind::Unlock => "unlock",
            Kind::Request => "ask to lock",
            Kind::ReadLock => "read-lock",
            Kind::TryReadLock => "try_read",
            Kind::FailedTryReadLock => "try_read (in vain)",
            Kind::ReadUnlock => "read-unlock",
            Kind::Downgrade => "downgrade",
            Kind::Wait => "begin to wait for",
            Kind::Wake => "be notified of",
            Kind::NotifyOne => "notify_one",
            Kind::NotifyAll => "notify_all",
            Kind::Send => "send to",
            Kind::FailedSend => "send to (nobody)",
            Kind::TrySend => "try_send",
            Kind::FailedTrySend => "try_send (to nobody)",
            Kind::FullSend => "try_send (no room)",
            Kind::Receive => "receive from",
            Kind::TryReceive => "try_recv",
            Kind::EmptyReceive => "receive from (nothing there)",
            Kind::CloseReceiver => "drop the receiver of",
            Kind::CloseSender => "drop a sender of",
            Kind::Arrive => "meet others at",
            Kind::Initialise => "initialise",
            Kind::FindDone => "find initialised",
            Kind::Done => "finish to initialise",
            Kind::Park => "be unparked by somebody as",
            Kind::Unpark => "unpark",
            Kind::Event => "event",
        }
    }
}

/// What a thread does with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    /// [`NONE`] of what nobody can notice.
    pub(crate) object: ObjectIndex,
    /// Another one that it depends on, or [`NONE`]. Who waits for a condition gives a mutex back; who tries to receive looks at sends.
    pub(crate) second: ObjectIndex,
}

impl Op {
    #[inline]
    pub(crate) fn new(kind: Kind, object: ObjectIndex) -> Op {
        Op {
            kind,
            object,
            second: NONE,
        }
    }

    /// Whether it only looks at this object, which is one of its two.
    #[inline]
    pub(crate) fn reads(self, object: ObjectIndex) -> bool {
        if object == self.object {
            self.kind.is_read()
        } else {
            self.kind != Kind::Wait
        }
    }

    /// What a try comes down to where there is nothing to be received, or no room: it looks at the other side of its channel, too.
    pub(crate) fn in_vain(self) -> Op {
        match self.kind {
            Kind::Receive | Kind::TryReceive => Op {
                kind: Kind::EmptyReceive,
                object: self.object,
                second: self.object - 1,
            },
            Kind::Send | Kind::TrySend => Op {
                kind: Kind::FullSend,
                object: self.object,
                second: self.object + 1,
            },
            _ => self,
        }
    }

    #[inline]
    fn conflicts(self, other: Op, object: ObjectIndex) -> bool {
        object != NONE
            && (other.object == object || other.second == object)
            && !(self.reads(object) && other.reads(object))
    }
}

/// Whether two operations of different threads do not commute.
#[inline]
pub(crate) fn dependent(one: Op, other: Op) -> bool {
    one.conflicts(other, one.object) || one.conflicts(other, one.second)
}
