//! What threads do, and which two of these do not commute: **the one table of dependence** that every search relies on.
//!
//! | pair on one object, of different threads | dependent | can be reversed |
//! |---|---|---|
//! | two reads | no | |
//! | any other two accesses of a variable | yes | yes, if nothing is between them |
//! | a thread that spins waits for a change: as if it read | with what changes it | yes, but for the change that lets it go on |
//! | two locks of a mutex | yes, by the unlock between them | yes |
//! | if locks are tried: anything and a try, an unlock or a lock | yes | yes, but for an unlock and the lock that it enables |
//!
//! Giving a lock back is no event of its own: it is part of what its thread did last. It disables nothing, and as long as nobody
//! *tries* to lock, nothing but the locks that it enables depends on it. Where somebody tries, it becomes an event.

/// Which object, in the order in which a run met them.
pub(crate) type ObjectIndex = u32;

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Of a variable.
    Read,
    /// Of a variable, whatever it was.
    Write,
    /// Of a variable, depending on what it was.
    Update,
    /// Of a mutex.
    Lock,
    /// Of a mutex, if it is free.
    TryLock,
    /// Of a mutex that was not free.
    FailedTryLock,
    /// Of anything, until it has changed.
    Await,
    /// Of a mutex, where somebody tries to lock.
    Unlock,
    /// An application event that a property wants. It is no choice, and commutes with everything: the number of its label stands
    /// where that of an object would.
    Event,
}

impl Kind {
    /// Whether it commutes with its like.
    #[inline]
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Kind::Read | Kind::Await)
    }

    /// Whether what it depends on is what was given back, not what was taken.
    #[inline]
    pub(crate) fn is_acquire(self) -> bool {
        self == Kind::Lock
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
            Kind::Event => "event",
        }
    }
}

/// What a thread does with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    pub(crate) object: ObjectIndex,
}

/// Whether two operations of different threads do not commute.
#[inline]
pub(crate) fn dependent(one: Op, other: Op) -> bool {
    one.object == other.object
        && one.kind != Kind::Event
        && other.kind != Kind::Event
        && !(one.kind.is_read() && other.kind.is_read())
}
