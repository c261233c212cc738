//! Sets of threads, in one machine word.

use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// The maximum number of threads of a run.
pub(crate) const MOST_THREADS: usize = 64;

/// A set of threads of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadSet(u64);

impl ThreadSet {
    /// The empty set.
    pub const EMPTY: ThreadSet = ThreadSet(0);

    /// The set of one thread.
    #[inline]
    #[must_use]
    pub fn only(thread: usize) -> ThreadSet {
        ThreadSet(1 << thread)
    }

    /// The set as a number with one bit per thread.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> ThreadSet {
        ThreadSet(bits)
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of threads in the set.
    #[inline]
    #[must_use]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether this thread is in the set.
    #[inline]
    #[must_use]
    pub fn contains(self, thread: usize) -> bool {
        self.0 >> thread & 1 != 0
    }

    /// Whether the thread of this number is in it, which may be any.
    pub(crate) fn has(self, thread: u32) -> bool {
        (thread as usize) < MOST_THREADS && self.contains(thread as usize)
    }

    /// The lowest-numbered thread.
    #[inline]
    #[must_use]
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// Adds a thread.
    #[inline]
    pub fn insert(&mut self, thread: usize) {
        self.0 |= 1 << thread;
    }

    /// Removes a thread.
    #[inline]
    pub fn remove(&mut self, thread: usize) {
        self.0 &= !(1 << thread);
    }
}

/// Iterates in ascending order.
impl Iterator for ThreadSet {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let first = self.first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

impl BitOr for ThreadSet {
    type Output = ThreadSet;

    #[inline]
    fn bitor(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 | other.0)
    }
}

impl BitOrAssign for ThreadSet {
    #[inline]
    fn bitor_assign(&mut self, other: ThreadSet) {
        self.0 |= other.0;
    }
}

impl BitAnd for ThreadSet {
    type Output = ThreadSet;

    #[inline]
    fn bitand(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 & other.0)
    }
}

impl Sub for ThreadSet {
    type Output = ThreadSet;

    #[inline]
    fn sub(self, other: ThreadSet) -> ThreadSet {
        ThreadSet(self.0 & !other.0)
    }
}
