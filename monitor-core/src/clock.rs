//! Vector clocks.
//!
//! A clock is a count for each chain; components past its end count as 0, so that a clock costs what
//! its past costs and not what the program's thread count costs.

use std::fmt;

use smallvec::SmallVec;

use crate::ChainId;

/// How many relevant events of each chain are in the past.
///
/// ```
/// use portent_monitor_core::{ChainId, Clock};
///
/// let a = Clock::from_counts(&[2, 0, 1]);
/// let b = Clock::from_counts(&[1, 3]);
/// assert!(!a.le(&b) && !b.le(&a));
/// let mut both = a.clone();
/// both.join(&b);
/// assert_eq!(both.counts(), [2, 3, 1]);
/// assert_eq!(both.get(ChainId::from_index(7).unwrap()), 0);
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Clock {
    /// The last count is not 0, so that equal clocks are equal slices.
    counts: SmallVec<[u32; 8]>,
}

impl Clock {
    /// A clock with these counts, for the chains from 0.
    pub fn from_counts(counts: &[u32]) -> Clock {
        let len = counts
            .iter()
            .rposition(|&n| n != 0)
            .map_or(0, |last| last + 1);
        Clock {
            counts: SmallVec::from_slice(&counts[..len]),
        }
    }

    /// The count of one chain.
    #[inline]
    pub fn get(&self, chain: ChainId) -> u32 {
        self.counts.get(chain.index()).copied().unwrap_or(0)
    }

    /// The counts up to the last one that is not 0.
    #[inline]
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let spilled = if self.counts.spilled() {
            size_of::<u32>() * self.counts.capacity()
        } else {
            0
        };
        size_of::<Clock>() + spilled
    }

    /// Copies another clock, reusing its own memory.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Clock) {
        if self.counts.len() == other.counts.len() {
            self.counts.copy_from_slice(&other.counts);
        } else {
            self.counts.clone_from(&other.counts);
        }
    }

    /// Sets one count, which must not be 0; meant for counts that grow.
    #[inline]
    pub(crate) fn set(&mut self, chain: ChainId, count: u32) {
        match self.counts.get_mut(chain.index()) {
            Some(there) => *there = count,
            None => self.extend(chain, count),
        }
    }

    #[cold]
    #[inline(never)]
    fn extend(&mut self, chain: ChainId, count: u32) {
        self.counts.resize(chain.index(), 0);
        self.counts.push(count);
    }

    /// Adds the first `count` events of one chain to the past.
    ///
    /// ```
    /// use portent_monitor_core::{ChainId, Clock};
    ///
    /// let mut clock = Clock::from_counts(&[2]);
    /// clock.raise(ChainId::from_index(1).unwrap(), 3);
    /// clock.raise(ChainId::from_index(0).unwrap(), 1);
    /// assert_eq!(clock.counts(), [2, 3]);
    /// ```
    #[inline]
    pub fn raise(&mut self, chain: ChainId, count: u32) {
        if count > self.get(chain) {
            self.set(chain, count);
        }
    }

    /// Whether everything in this past is in the other.
    #[inline]
    pub fn le(&self, other: &Clock) -> bool {
        self.counts.len() <= other.counts.len()
            && self.counts.iter().zip(&other.counts).all(|(a, b)| a <= b)
    }

    /// The union of two pasts.
    pub fn join(&mut self, other: &Clock) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = (*mine).max(*theirs);
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.counts).finish()
    }
}
