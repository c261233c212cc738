//! Raw locks for the crate `lock_api`, for programs and crates that choose their locks by a type parameter.
//!
//! **The only unsafe code of the project**: the traits are unsafe to implement, because
//! `lock_api::Mutex<RawMutex, T>` relies on mutual exclusion. A state machine in safe code (`gate.rs`) provides it,
//! and nothing here touches a raw pointer.
//!
//! `get_mut` and `into_inner` of `lock_api` do not involve the raw lock, so the order between them and earlier
//! holders is not seen.

use ::lock_api::{
    GuardNoSend, RawMutex as Mutex, RawRwLock as RwLock, RawRwLockDowngrade, RawRwLockRecursive,
};

#[cfg(not(feature = "monitor"))]
use crate::gate::Gate as RawLock;
#[cfg(feature = "monitor")]
use crate::sync::raw::RawLock;

/// A raw mutex, which has clocks with the feature `monitor`.
///
/// ```
/// type Mutex<T> = lock_api::Mutex<portent_hooks::sync::lock_api::RawMutex, T>;
///
/// static TOTAL: Mutex<u32> = Mutex::new(0);
/// *TOTAL.lock() += 1;
/// assert_eq!(*TOTAL.lock(), 1);
/// ```
#[derive(Debug)]
pub struct RawMutex(RawLock);

/// A raw lock with a shared and an exclusive side, which has clocks with the feature `monitor`. Readers do not wait for writers that
/// wait.
///
/// ```
/// use lock_api::RwLockWriteGuard;
/// type RwLock<T> = lock_api::RwLock<portent_hooks::sync::lock_api::RawRwLock, T>;
///
/// let cache = RwLock::new(vec![1]);
/// let mut writing = cache.write();
/// writing.push(2);
/// let reading = RwLockWriteGuard::downgrade(writing);
/// assert_eq!((reading.len(), cache.read().len()), (2, 2));
/// ```
#[derive(Debug)]
pub struct RawRwLock(RawLock);

#[cfg(feature = "monitor")]
impl RawMutex {
    /// Creates a mutex with this name in recordings, for `lock_api::Mutex::from_raw`. Without a name it is named after the place
    /// where it is first recorded.
    pub fn with_name(name: &str) -> RawMutex {
        RawMutex(RawLock::with_name("RawMutex", name))
    }
}

#[cfg(feature = "monitor")]
impl RawRwLock {
    /// Creates a lock with this name in recordings, for `lock_api::RwLock::from_raw`. Without a name it is named after the place
    /// where it is first recorded.
    pub fn with_name(name: &str) -> RawRwLock {
        RawRwLock(RawLock::with_name("RawRwLock", name))
    }
}

#[cfg(feature = "monitor")]
const fn raw(kind: &'static str) -> RawLock {
    RawLock::new(kind)
}

#[cfg(not(feature = "monitor"))]
const fn raw(_: &'static str) -> RawLock {
    RawLock::new()
}

// SAFETY: `exclusive` returns, and `try_exclusive` answers that it has it, only after the one word of the gate went from "nobody" to
// "exclusive" in a single atomic step, with Acquire; until `leave_exclusive`, with Release, no such step is possible. `leave_exclusive`
// is called in `unlock` only, whose callers hold the mutex.
#[allow(unsafe_code)]
unsafe impl Mutex for RawMutex {
    const INIT: RawMutex = RawMutex(raw("RawMutex"));

    type GuardMarker = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        self.0.exclusive();
    }

    #[inline]
    #[track_caller]
    fn try_lock(&self) -> bool {
        self.0.try_exclusive()
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.0.leave_exclusive();
    }

    /// It orders nothing.
    fn is_locked(&self) -> bool {
        self.0.is_taken()
    }
}

// SAFETY: as above for the exclusive side. The shared side is had by adding to the count in the same word, in an atomic step that is
// possible only where nobody is exclusive; and to become exclusive is possible only where that count is 0.
#[allow(unsafe_code)]
unsafe impl RwLock for RawRwLock {
    const INIT: RawRwLock = RawRwLock(raw("RawRwLock"));

    type GuardMarker = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) {
        self.0.shared();
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared(&self) -> bool {
        self.0.try_shared()
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        self.0.leave_shared();
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) {
        self.0.exclusive();
    }

    #[inline]
    #[track_caller]
    fn try_lock_exclusive(&self) -> bool {
        self.0.try_exclusive()
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        self.0.leave_exclusive();
    }

    /// It orders nothing.
    fn is_locked(&self) -> bool {
        self.0.is_taken()
    }

    /// It orders nothing.
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_exclusive()
    }
}

// SAFETY: the one word goes from "exclusive" to "one shares it" in a single atomic step.
#[allow(unsafe_code)]
unsafe impl RawRwLockDowngrade for RawRwLock {
    unsafe fn downgrade(&self) {
        self.0.downgrade();
    }
}

// SAFETY: readers never wait for writers that wait, so that the shared side is to be had wherever somebody shares it.
#[allow(unsafe_code)]
unsafe impl RawRwLockRecursive for RawRwLock {
    #[inline]
    #[track_caller]
    fn lock_shared_recursive(&self) {
        self.0.shared();
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        self.0.try_shared()
    }
}
