//! The effect of each operation on its lock: taking it, releasing it, or failing to get it.
//!
//! The [table of edges](super::edges) says what a lock orders; this one says which thread holds it. Both concern the same
//! operations, so they are kept side by side. Everything that tracks locks uses this one: the discipline, critical sections,
//! the maximal model, the guards of the model `strong`, and the checker of witnesses.

use crate::{LockId, Op};

/// The effect of an operation on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locking {
    /// The lock.
    pub lock: LockId,
    /// Whether it concerns the exclusive side; the other side is shared by readers.
    pub exclusive: bool,
    /// The effect.
    pub action: LockAction,
}

/// The possible effects on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAction {
    /// It is taken.
    Acquire,
    /// It is taken again by a thread that wakes up from a wait. If no release by that thread was seen, the thread still holds
    /// it, and takes nothing.
    Reacquire,
    /// It is released.
    Release,
    /// It is tried in vain, because another thread holds it.
    Fail,
}

impl LockAction {
    /// Whether the thread holds the lock afterwards.
    pub fn acquires(self) -> bool {
        matches!(self, LockAction::Acquire | LockAction::Reacquire)
    }
}

impl Op {
    /// The effect of the operation on a lock; `None` if it neither takes, tries nor releases one. Requesting a lock
    /// ([`Op::Request`]) changes nothing.
    ///
    /// ```
    /// use portent_monitor_core::{LockAction, Op, Symbols};
    ///
    /// let mut s = Symbols::default();
    /// let (m, c) = (s.locks.intern("m")?, s.conds.intern("c")?);
    /// let wake_up = Op::Wait(c, Some(m)).locking().unwrap();
    /// assert_eq!((wake_up.lock, wake_up.exclusive), (m, true));
    /// assert_eq!(wake_up.action, LockAction::Reacquire);
    /// assert!(!Op::ReadUnlock(m).locking().unwrap().exclusive);
    /// assert_eq!(Op::Wait(c, None).locking(), None);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    #[inline]
    pub fn locking(&self) -> Option<Locking> {
        let (lock, exclusive, action) = match *self {
            Op::Lock(lock) => (lock, true, LockAction::Acquire),
            Op::ReadLock(lock) => (lock, false, LockAction::Acquire),
            Op::Wait(_, Some(lock)) => (lock, true, LockAction::Reacquire),
            Op::Unlock(lock) | Op::Waiting(_, Some(lock)) => (lock, true, LockAction::Release),
            Op::ReadUnlock(lock) => (lock, false, LockAction::Release),
            Op::TryLock(lock) => (lock, true, LockAction::Fail),
            _ => return None,
        };
        Some(Locking {
            lock,
            exclusive,
            action,
        })
    }
}
