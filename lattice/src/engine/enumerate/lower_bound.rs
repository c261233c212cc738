//! A lower bound on the number of cuts, found at almost no cost, so that no time is spent counting a lattice with far
//! too many cuts.
//!
//! From a cut, take on each chain the events that need nothing except the cut and their own chain. However many of them
//! each chain performs, the result is a cut: the product of the numbers of choices is a lower bound. It is computed at a few
//! cuts of the observed run.

use super::labelled::LabelledPoset;
use crate::order::EventIndex;

/// The number of cuts of the observed run at which the bound is computed.
const SAMPLES: usize = 64;

/// A lower bound on the number of cuts of the lattice; the search for a better one ends above `enough`.
pub(super) fn cuts(labelled: LabelledPoset<'_>, enough: u64) -> u64 {
    let events = labelled.poset.len();
    let every = events.div_ceil(SAMPLES).max(1);
    let mut cut = vec![0; labelled.poset.width()];
    let mut most = events as u64 + 1;
    for event in 0..events {
        if event % every == 0 {
            most = most.max(free(labelled, &cut, enough));
            if most > enough {
                break;
            }
        }
        cut[labelled.poset.chain_of(EventIndex(event as u32)).index()] += 1;
    }
    most
}

/// The number of cuts between one cut and the furthest that the chains reach on their own.
fn free(labelled: LabelledPoset<'_>, cut: &[u32], enough: u64) -> u64 {
    let mut product = 1u64;
    for (chain, &count) in labelled.poset.chains().zip(cut) {
        let later = &labelled.poset.chain(chain)[count as usize..];
        let needs_none = |event: &&EventIndex| {
            let mut needs = labelled.requirements.of(**event).iter();
            needs.all(|&(other, needed)| cut[other.index()] >= needed)
        };
        let alone = later.iter().take_while(needs_none).count() as u64;
        product = product.saturating_mul(alone + 1);
        if product > enough {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::enumerate::shape,
        order::{Poset, Requirements},
    };
    use portent_monitor_core::ChainId;

    fn bound(poset: &Poset) -> u64 {
        cuts(
            LabelledPoset::new(poset, &Requirements::of_poset(poset), &[]),
            u64::MAX,
        )
    }

    #[test]
    fn independent_threads_are_counted_exactly() {
        let mut poset = Poset::new(3);
        for count in 1..=4 {
            for chain in poset.chains() {
                let mut clock = [0; 3];
                clock[chain.index()] = count;
                poset.push(chain, &clock);
            }
        }
        assert_eq!(bound(&poset), 125);
    }

    #[test]
    fn never_more_than_there_are() {
        let mut state = 1u64;
        let mut random = move |n: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let mut close = 0;
        for _ in 0..3000 {
            let chains = 1 + random(4);
            let mut poset = Poset::new(chains);
            let mut clocks = vec![vec![0u32; chains]; chains];
            for _ in 0..random(14) {
                let me = random(chains);
                if random(3) == 0 {
                    let theirs = clocks[random(chains)].clone();
                    for (mine, theirs) in clocks[me].iter_mut().zip(theirs) {
                        *mine = (*mine).max(theirs);
                    }
                }
                clocks[me][me] += 1;
                poset.push(ChainId::from(me as u32), &clocks[me]);
            }
            let cuts = shape(&poset, u64::MAX, u64::MAX, false).map_or(0, |shape| shape.cuts);
            let bound = bound(&poset);
            assert!(bound <= cuts, "{bound} of {cuts}");
            close += usize::from(2 * bound >= cuts);
        }
        assert!(close > 1000, "{close}");
    }
}
