//! A prefix of each thread.

use super::Place;
use crate::{Id, ThreadId};

/// The number of events of each thread in a run, whatever their order.
///
/// ```
/// use portent_monitor_core::{Cut, Place, ThreadId};
///
/// let [t1, t2] = [0, 1].map(|index| ThreadId::from_index(index).unwrap());
/// let mut cut = Cut::default();
/// cut.include(Place { thread: t2, position: 3 });
/// assert!(cut.contains(Place { thread: t2, position: 2 }));
/// assert_eq!((cut.count(t1), cut.count(t2)), (0, 3));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut(Vec<u32>);

impl Cut {
    /// The number of events of a thread in it.
    #[inline]
    pub fn count(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    /// The same for all threads, by their indices; missing ones count as 0.
    #[inline]
    pub fn counts(&self) -> &[u32] {
        &self.0
    }

    /// Whether it contains an event.
    #[inline]
    pub fn contains(&self, place: Place) -> bool {
        place.position <= self.count(place.thread)
    }

    /// Adds an event and everything that its thread did before it.
    #[inline]
    pub fn include(&mut self, place: Place) {
        let count = place.thread.entry(&mut self.0);
        *count = (*count).max(place.position);
    }

    /// Adds everything in another cut.
    #[inline]
    pub fn join(&mut self, other: &Cut) {
        self.join_counts(&other.0);
    }

    /// Copies another cut, reusing its own memory.
    pub fn copy_from(&mut self, other: &Cut) {
        self.0.clone_from(&other.0);
    }

    /// Makes the cut empty.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    pub(super) fn join_counts(&mut self, other: &[u32]) {
        if self.0.len() < other.len() {
            self.0.resize(other.len(), 0);
        }
        for (mine, &theirs) in self.0.iter_mut().zip(other) {
            *mine = (*mine).max(theirs);
        }
    }
}
