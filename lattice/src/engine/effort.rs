//! What counting may cost, so that nobody waits longer for numbers than for the answer.
//!
//! A search often needs a handful of nodes where counting needs every cut, with numbers of hundreds of bits. Unless
//! counts are requested, they are computed only if that takes at most about a second longer than the searches did.
//! Costs are measured in operations, not seconds: the same run gets the same report on every machine.

use super::enumerate::number_words;
use crate::{
    options::{Counting, Options},
    order::Poset,
};

/// About as many operations as a second allows for.
const SECOND: u64 = 120_000_000;
/// What a cut costs for each chain besides the words of its numbers.
const STEP: u64 = 8;

/// What is left to be spent on counting, for all instances that are reported together.
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

    /// A search has visited this many nodes of this order, so that counting may cost as much.
    pub(crate) fn allow(&mut self, nodes: u64, poset: &Poset) {
        self.left = self.left.saturating_add(cost(nodes, poset, 0));
    }

    /// The most cuts of this order that can be measured.
    pub(crate) fn measurable(&self, poset: &Poset) -> u64 {
        match self.left {
            u64::MAX => u64::MAX,
            left => left / (poset.width() as u64).max(1),
        }
    }

    /// This many cuts of this order were measured.
    pub(crate) fn measured(&mut self, cuts: u64, poset: &Poset) {
        if self.left != u64::MAX {
            let cost = cuts.saturating_mul(poset.width() as u64);
            self.left = self.left.saturating_sub(cost);
        }
    }

    /// Takes what it costs to count the runs through this many cuts, if that is left.
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
