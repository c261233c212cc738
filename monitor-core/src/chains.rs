//! Which thread ticks which component of the clocks.
//!
//! A thread gets a chain at its first relevant event, so threads that do nothing relevant cost
//! nothing. When a thread has ended, its chain goes to the next thread that starts after that end:
//! all events of a chain are then still totally ordered, which is all that a component needs. A
//! program with a hundred thousand short tasks has as many chains as tasks really overlap.
//!
//! The choice is greedy and online. The fewest chains (the width of the order) would need the
//! whole trace; the greedy choice is exact for fork-join programs, where a free chain is free for
//! everybody who comes later.

use crate::{ChainId, Clock, Error};

/// The most chains that there can be. A clock has a component for each: so many threads with one
/// event each take half a gigabyte, and twice as many would take two.
const MAX_CHAINS: usize = 1 << 14;

/// Hands out chains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    /// Relevant events so far, by chain.
    counts: Vec<u32>,
    /// Chains whose threads have ended.
    free: Vec<ChainId>,
}

impl Chains {
    /// A chain for a thread whose past is `past`: a free one that lies wholly in it, or a new one.
    pub(crate) fn acquire(&mut self, past: &Clock) -> Result<ChainId, Error> {
        // No dearer than the clock that is about to be copied: both are linear in the chains.
        let counts = &self.counts;
        let fit = self
            .free
            .iter()
            .rposition(|&c| past.get(c) >= counts[c.index()]);
        if let Some(position) = fit {
            return Ok(self.free.swap_remove(position));
        }
        if self.counts.len() >= MAX_CHAINS {
            return Err(Error::TooManyChains { limit: MAX_CHAINS });
        }
        let chain = ChainId::from_index(self.counts.len()).ok_or(Error::ClockFull)?;
        self.counts.push(0);
        Ok(chain)
    }

    /// The thread of this chain has ended.
    pub(crate) fn release(&mut self, chain: ChainId) {
        self.free.push(chain);
    }

    /// Counts one more relevant event on `chain` and returns its number, from 1.
    pub(crate) fn tick(&mut self, chain: ChainId) -> Result<u32, Error> {
        let count = &mut self.counts[chain.index()];
        *count = count.checked_add(1).ok_or(Error::ClockFull)?;
        Ok(*count)
    }

    /// How many chains were ever needed.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }
}
