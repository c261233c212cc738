//! Rounds of a barrier.

use std::collections::BTreeSet;

/// A set of rounds; usually they are left one after the other, from 0 on.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// All before this one are in the set.
    below: u64,
    beyond: BTreeSet<u64>,
}

impl Rounds {
    pub(super) fn contains(&self, round: u64) -> bool {
        round < self.below || self.beyond.contains(&round)
    }

    pub(super) fn insert(&mut self, round: u64) {
        if self.contains(round) {
            return;
        }
        self.beyond.insert(round);
        // The greatest number stays: no round comes after it.
        while self.below < u64::MAX && self.beyond.remove(&self.below) {
            self.below += 1;
        }
    }
}
