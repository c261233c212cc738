//! Where the steps of a slice are in the order of its property.
//!
//! The clocks of a property count all of its steps; a slice has some of them. As in
//! [`slice`](crate::slice) a component is replaced by the number of those that are in the slice.
//! Here the first steps may have been forgotten; they are not counted any more.

use rustc_hash::FxHashMap;

/// The chains of a slice, in the order in which they got their first steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The chains by their numbers in the order of the property.
    numbers: FxHashMap<usize, usize>,
    chains: Vec<Chain>,
}

#[derive(Clone, Debug)]
struct Chain {
    /// Its number in the order of the property.
    origin: usize,
    /// The place there of the last step that was forgotten; 0 if none was.
    forgotten: u32,
    /// The places there of the others.
    places: Vec<u32>,
}

/// The steps of a slice that come before another in every run.
#[derive(Debug)]
pub(super) struct Past {
    /// For each chain how many, of those that are not forgotten.
    pub(super) counts: Vec<u32>,
    /// Whether all that were forgotten are among them.
    pub(super) whole: bool,
}

impl Past {
    pub(super) fn len(&self) -> usize {
        self.counts.iter().map(|&n| n as usize).sum()
    }
}

impl Order {
    /// The past of a step that has this clock and is not known yet.
    pub(super) fn past(&self, clock: &[u32]) -> Past {
        let mut past = Past {
            counts: Vec::with_capacity(self.chains.len() + 1),
            whole: true,
        };
        for chain in &self.chains {
            let seen = clock.get(chain.origin).copied().unwrap_or(0);
            let count = chain.places.partition_point(|&place| place <= seen);
            past.counts.push(count as u32);
            past.whole &= chain.forgotten <= seen;
        }
        past
    }

    /// Takes the step at a place of the property's chain `origin`; gives its chain in the slice.
    pub(super) fn push(&mut self, origin: usize, place: u32) -> usize {
        let chains = &mut self.chains;
        let number = *self.numbers.entry(origin).or_insert_with(|| {
            chains.push(Chain {
                origin,
                forgotten: 0,
                places: Vec::new(),
            });
            chains.len() - 1
        });
        chains[number].places.push(place);
        number
    }

    /// Forgets so many steps of each chain.
    pub(super) fn forget(&mut self, prefix: &[u32]) {
        for (chain, &count) in self.chains.iter_mut().zip(prefix) {
            if let Some(last) = chain.places.drain(..count as usize).next_back() {
                chain.forgotten = last;
            }
        }
    }
}
