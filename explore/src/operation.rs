//! What threads do, and which two of these do not commute: **the one table of dependence** that every search relies on.
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

impl Kind {
    /// Whether it commutes with its like.
    #[inline]
    pub(crate) fn is_read(self) -> bool {
        matches!(
            self,
            Kind::Read
                | Kind::ReadLock
                | Kind::TryReadLock
                | Kind::FailedTryReadLock
                | Kind::ReadUnlock
                | Kind::FailedSend
                | Kind::FailedTrySend
                | Kind::CloseSender
                | Kind::FindDone
                | Kind::Await
                | Kind::Event
        )
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
