//! A budget for counting, so that numbers never take longer than the answer is worth.
//!
//! A search often needs a handful of nodes where counting needs every cut, with numbers of hundreds of bits. Unless
//! counts are requested, they are computed only if that takes at most about a second longer than the searches did.
//! Costs are measured in operations, not seconds: the same run gets the same report on every machine.

use super::enumerate::number_words;
use crate::{
    options::{Counting, Options},
    order::Poset,
};

/// Roughly the number of operations in a second.
const SECOND: u64 = 120_000_000;
/// The cost of a cut for each chain, besides the words of its numbers.
const STEP: u64 = 8;

/// The remaining budget for counting, for all instances that are reported together.
#[derive(Clone, Debug)]
pub(crate) struct CountingBudget {
    left: u64,
}

impl CountingBudget {
    pub(crate) fn new(options: &Options) -> CountingBudget {
        let left = match options.counting {
            Counting::Always => u64::MAX,
            Counting::Never => 0,
            Counting::Auto => SECOND,
        };
        CountingBudget { left }
    }

    /// A search has visited this many nodes of this order; counting may cost as much.
    pub(crate) fn allow(&mut self, nodes: u64, poset: &Poset) {
        self.left = self.left.saturating_add(cost(nodes, poset, 0));
    }

    /// The largest number of cuts of this order that the budget allows to measure.
    pub(crate) fn measurable(&self, poset: &Poset) -> u64 {
        match self.left {
            u64::MAX => u64::MAX,
            left => left / (poset.width() as u64).max(1),
        }
    }

    /// Deducts the cost of measuring this many cuts of this order.
    pub(crate) fn measured(&mut self, cuts: u64, poset: &Poset) {
        if self.left != u64::MAX {
            let cost = cuts.saturating_mul(poset.width() as u64);
            self.left = self.left.saturating_sub(cost);
        }
    }

    /// Deducts the cost of counting the runs through this many cuts, if the budget allows it.
    pub(crate) fn take(&mut self, cuts: u64, poset: &Poset) -> bool {
        if self.left == u64::MAX {
            return true;
        }
        let left = self
            .left
            .checked_sub(cost(cuts, poset, number_words(poset)));
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

fn cost(cuts: u64, poset: &Poset, words: u64) -> u64 {
    let each = (poset.width() as u64).saturating_mul(words.saturating_add(STEP));
    cuts.saturating_mul(each)
}
