//! The cuts of the observed run, without storing all of them.

use crate::order::{EventIndex, Poset};

/// A cut is stored after each group of this many events.
const EVERY: usize = 256;

/// The cuts that the observed run passes through.
#[derive(Clone, Debug)]
pub(crate) struct ObservedCuts {
    stored: Vec<Vec<u32>>,
}

impl ObservedCuts {
    pub(crate) fn new(poset: &Poset) -> ObservedCuts {
        let mut cut = vec![0; poset.width()];
        let mut stored = Vec::with_capacity(poset.len() / EVERY + 1);
        for event in 0..poset.len() {
            if event % EVERY == 0 {
                stored.push(cut.clone());
            }
            cut[poset.chain_of(EventIndex(event as u32)).index()] += 1;
        }
        if poset.is_empty() {
            stored.push(cut);
        }
        ObservedCuts { stored }
    }

    /// The cut of the first `level` events.
    pub(crate) fn cut(&self, poset: &Poset, level: usize) -> Vec<u32> {
        let block = (level / EVERY).min(self.stored.len() - 1);
        let mut cut = self.stored[block].clone();
        for event in block * EVERY..level {
            self.advance(poset, event, &mut cut);
        }
        cut
    }

    /// Adds the event with this index to the cut of those before it.
    pub(crate) fn advance(&self, poset: &Poset, event: usize, cut: &mut [u32]) {
        cut[poset.chain_of(EventIndex(event as u32)).index()] += 1;
    }
}
