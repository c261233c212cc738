//! The operations of threads, and which pairs of them do not commute. Every search relies on this.
//!
//! Dependence is derived from **the table of edges** of `monitor-core` ([`access_of`]): each kind of operation has its line there
//! ([`Kind::in_table`]), and operations that the table orders never commute here. A search needs more dependences than clocks do, since
//! it also asks what two operations would have done in the opposite order; `is_strict` explains each of these additional ones.
//!
//! | pair on one object, of different threads | dependent | can be reversed |
//! |---|---|---|
//! | two reads | no | |
//! | any other two accesses of a variable | yes | yes, if nothing is between them |
//! | a spinning thread that waits for a change counts as a read | on what changes the object | yes, except for the change that ends the wait |
//! | two locks of a mutex | yes, by the unlock between them | yes |
//! | two shared holders of a lock | no | |
//! | a shared and an exclusive holder of a lock | yes, by the unlock between them | yes, with all others who would still hold it |
//! | a request for the exclusive side and a second shared lock of the same thread | yes | yes |
//! | in programs with tries: a try and any other operation; an unlock and a lock | yes | yes, except for an unlock and the lock that it enables |
//! | waits, spurious wake-ups and notifications of a condition variable | yes | yes, except that a notified thread wakes up after its notification |
//! | two sends; two receives | yes | yes |
//! | a send and the receive of its message, or the receive that made room for it | yes | only if one of them is a try |
//! | a send and a receive that found nothing; a receive and a send that found no room; a send and the drop of the receiver | yes | yes |
//! | in programs that try to receive: the drop of a sender and any receive | yes | yes |
//! | two arrivals at a barrier | yes | yes; all threads leave after the last arrival |
//! | a one-time initialisation and a thread that finds it complete | like an exclusive and a shared holder of a lock | |
//! | an unpark and the park of that thread | yes | yes, unless the park waits for it |
//!
//! An unlock is not an event of its own but part of the last operation of its thread. It disables nothing, and as long as no thread
//! *tries* to lock, only the locks that it enables depend on it. If one does, unlocks become events. The same holds
//! for dropping a sender, and threads that try to receive.

use portent_monitor_core::{Access, Operation, Role, access_of};

use crate::run::NONE;

/// An object, numbered in the order in which the run first used them.
pub(crate) type ObjectIndex = u32;

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Reads a variable.
    Read,
    /// Writes a variable, whatever its value was.
    Write,
    /// Reads and writes a variable in one step.
    Update,
    /// Locks a mutex, or the exclusive side of a read-write lock.
    Lock,
    /// Tries to lock one, successfully.
    TryLock,
    /// Tries to lock one that is taken.
    FailedTryLock,
    /// Waits until an object has changed, like a spin loop.
    Await,
    /// Unlocks it; an event only in programs that try to lock.
    Unlock,
    /// Begins to wait for the exclusive side of a lock; an event only in programs in which a thread takes the shared side twice.
    Request,
    /// Locks the shared side of a read-write lock.
    ReadLock,
    /// Tries to lock the shared side, successfully.
    TryReadLock,
    /// Tries to lock the shared side while another thread holds the exclusive one.
    FailedTryReadLock,
    /// Unlocks the shared side; an event only in programs that try to lock.
    ReadUnlock,
    /// Exchanges the exclusive side of a lock for the shared one.
    Downgrade,
    /// Begins to wait on a condition variable, and unlocks the mutex.
    Wait,
    /// Wakes up from a condition variable, notified or spuriously, and locks the mutex again.
    Wake,
    /// Notifies one thread that waits on a condition variable.
    NotifyOne,
    /// Notifies all threads that wait on a condition variable.
    NotifyAll,
    /// Sends into a channel.
    Send,
    /// Sends into a channel without a receiver.
    FailedSend,
    /// Tries to send into a channel, successfully.
    TrySend,
    /// Tries to send into a channel without a receiver.
    FailedTrySend,
    /// Tries to send into a full channel.
    FullSend,
    /// Receives from a channel.
    Receive,
    /// Tries to receive from a channel, successfully.
    TryReceive,
    /// Tries to receive from an empty channel.
    EmptyReceive,
    /// Drops the receiver of a channel.
    CloseReceiver,
    /// Drops a sender of a channel; an event only in programs that try to receive.
    CloseSender,
    /// Arrives at a barrier.
    Arrive,
    /// Starts a one-time initialisation.
    Initialise,
    /// Finds a one-time initialisation complete.
    FindDone,
    /// Completes a one-time initialisation.
    Done,
    /// Waits to be unparked.
    Park,
    /// Unparks another thread.
    Unpark,
    /// An application event that a property refers to. No other thread can observe it, and it is not a choice.
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
