//! The order of some events of a larger one.
//!
//! Order between events is decided by counting: `e` precedes `f` iff `f`'s clock counts `e`. So the
//! clocks of a subset need not be computed again: a component that counts the events of a chain is
//! replaced by the number of those that are in the subset. Online, the first events of the subset may
//! have been forgotten; these are no longer counted.

use portent_monitor_core::ChainId;
use smallvec::SmallVec;

use crate::order::{EventIndex, Packing, Poset, Unpacking};

/// Which events of which chains are in the subset; its chains are numbered in the order of their
/// first events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restriction {
    chains: Vec<Chain>,
}

#[derive(Clone, Debug)]
struct Chain {
    /// Its number in the whole order.
    origin: ChainId,
    /// The position there of the last forgotten event; 0 if none was forgotten.
    forgotten: u32,
    /// The positions there of the others: usually few, and there may be very many subsets.
    places: SmallVec<[u32; 4]>,
}

impl Chain {
    /// How many events of the chain are in the subset, of the first `seen` in the whole order.
    fn count(&self, seen: u32) -> u32 {
        match self.places.last() {
            // The subset has all events of that chain.
            Some(&last) if last as usize == self.places.len() => seen.min(last),
            _ => self.places.partition_point(|&place| place <= seen) as u32,
        }
    }
}

/// The events of a subset that come before another event in every run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// For each chain, how many there are, without the forgotten ones.
    pub(crate) counts: Vec<u32>,
    /// Whether all forgotten events are among them.
    pub(crate) whole: bool,
}

impl Past {
    pub(crate) fn len(&self) -> usize {
        self.counts.iter().map(|&n| n as usize).sum()
    }
}

impl Restriction {
    /// Replaces a past by that of an event with this clock in the whole order.
    pub(crate) fn find_past(&self, clock: &[u32], past: &mut Past) {
        past.counts.clear();
        past.whole = true;
        for chain in &self.chains {
            let seen = clock.get(chain.origin.index()).copied().unwrap_or(0);
            past.counts.push(chain.count(seen));
            past.whole &= chain.forgotten <= seen;
        }
    }

    /// Adds the event at a position of a chain of the whole order, and returns its chain in the subset.
    pub(crate) fn push(&mut self, origin: ChainId, place: u32) -> ChainId {
        let chain = self.chain(origin).unwrap_or_else(|| {
            let next = ChainId::from(self.chains.len() as u32);
            self.chains.push(Chain {
                origin,
                forgotten: 0,
                places: SmallVec::new(),
            });
            next
        });
        self.chains[chain.index()].places.push(place);
        chain
    }

    /// The chain of the subset that corresponds to a chain of the whole order.
    pub(crate) fn chain(&self, origin: ChainId) -> Option<ChainId> {
        let place = self.chains.iter().position(|chain| chain.origin == origin);
        place.and_then(ChainId::from_index)
    }

    /// Forgets the first events of each chain, as many as `prefix` says.
    pub(crate) fn forget(&mut self, prefix: &[u32]) {
        for (chain, &count) in self.chains.iter_mut().zip(prefix) {
            if let Some(last) = chain.places.drain(..count as usize).next_back() {
                chain.forgotten = last;
            }
        }
    }
}

impl Restriction {
    pub(crate) fn pack(&self, packing: &mut Packing) {
        packing.put_all({ self.chains.iter() }.map(|chain| {
            let places = chain.places.len() as u32;
            [chain.origin.index() as u32, chain.forgotten, places]
        }));
        for chain in &self.chains {
            packing.put_rest(&chain.places);
        }
    }

    /// Restores a packed restriction, reusing its own memory.
    pub(crate) fn unpack(&mut self, unpacking: &mut Unpacking<'_>) {
        let (chains, _) = unpacking.next().as_chunks();
        self.chains.resize_with(chains.len(), || Chain {
            origin: ChainId::from(0),
            forgotten: 0,
            places: SmallVec::new(),
        });
        for (chain, &[origin, forgotten, places]) in self.chains.iter_mut().zip(chains) {
            (chain.origin, chain.forgotten) = (ChainId::from(origin), forgotten);
            chain.places.clear();
            chain
                .places
                .extend_from_slice(unpacking.take(places as usize));
        }
    }
}

/// An event of the larger order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnrestrictedEvent<'c> {
    pub(crate) chain: ChainId,
    /// May omit trailing components that are 0.
    pub(crate) clock: &'c [u32],
    /// Its number in the run.
    pub(crate) number: u64,
}

impl Poset {
    /// An event of this poset, in the form that a restriction takes.
    pub(crate) fn origin(&self, event: EventIndex) -> UnrestrictedEvent<'_> {
        UnrestrictedEvent {
            chain: self.chain_of(event),
            clock: self.clock(event),
            number: self.number(event),
        }
    }

    /// The order of some events of a larger one, in observed order.
    pub(crate) fn restricted<'c>(
        events: impl Iterator<Item = UnrestrictedEvent<'c>> + Clone,
    ) -> Poset {
        let mut restriction = Restriction::default();
        let chains: Vec<ChainId> = events
            .clone()
            .map(|event| restriction.push(event.chain, event.clock[event.chain.index()]))
            .collect();
        let mut poset = Poset::new(restriction.chains.len());
        let mut counts = vec![0; restriction.chains.len()];
        for (event, chain) in events.zip(chains) {
            for (count, chain) in counts.iter_mut().zip(&restriction.chains) {
                *count = chain.count(event.clock.get(chain.origin.index()).copied().unwrap_or(0));
            }
            poset.push_numbered(chain, &counts, event.number);
        }
        poset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Requirements;
    use portent_testing::Rng;

    /// A poset without its first events equals its restriction to the others, except for the numbering of chains.
    fn assert_forgets(whole: &Poset, settled: usize) {
        let (mut rest, mut requirements) = (whole.clone(), Requirements::of_poset(whole));
        rest.forget(&whole.prefix(settled));
        requirements.renew(&rest);
        let part = Poset::restricted(whole.events().skip(settled).map(|e| whole.origin(e)));
        assert_eq!(rest.len(), part.len());
        let fresh = Requirements::of_poset(&rest);
        for one in rest.events() {
            assert_eq!(rest.number(one), part.number(one));
            let chain = rest.chain_of(one);
            let place = rest.clock(one)[chain.index()] as usize - 1;
            assert_eq!(rest.chain(chain)[place], one);
            assert_eq!(requirements.of(one), fresh.of(one));
            for other in rest.events() {
                assert_eq!(rest.precedes(one, other), part.precedes(one, other));
            }
        }
    }

    #[test]
    fn a_restriction_orders_its_events_as_the_whole_does() {
        let mut rng = Rng::new(7);
        for _ in 0..2_000 {
            let width = 1 + rng.below(4);
            let mut whole = Poset::new(width);
            let mut clocks = vec![vec![0u32; width]; width];
            for _ in 0..rng.below(14) {
                let (own, other) = (rng.below(width), rng.below(width));
                if rng.below(3) == 0 {
                    let known = clocks[other].clone();
                    for (mine, theirs) in clocks[own].iter_mut().zip(known) {
                        *mine = (*mine).max(theirs);
                    }
                }
                clocks[own][own] += 1;
                whole.push(ChainId::from(own as u32), &clocks[own]);
            }
            let kept: Vec<_> = whole.events().filter(|_| rng.below(2) == 0).collect();
            let part = Poset::restricted(kept.iter().map(|&event| whole.origin(event)));
            let settled = rng.below(whole.len() + 1);
            assert_forgets(&whole, settled);
            assert_eq!(part.len(), kept.len());
            for (i, a) in part.events().zip(&kept) {
                assert_eq!(part.number(i), whole.number(*a));
                for (j, b) in part.events().zip(&kept) {
                    assert_eq!(part.precedes(i, j), whole.precedes(*a, *b));
                }
            }
        }
    }
}
