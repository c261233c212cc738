//! The chains that are advanced from a cut, if not every possible one: a lookahead or commutation leaves some out.

use std::sync::{Mutex, PoisonError};

use portent_monitor_core::ChainId;

use super::{
    frontier::{LeftOut, LevelBounds, PARALLEL},
    key::{Key, Layout, PackedCut},
    labelled::LabelledPoset,
    level::Strip,
    parallel,
};
use crate::{order::Counts, stop::Stop};

/// The number of words for the marks of a cut.
pub(super) fn words(chains: usize) -> usize {
    chains.div_ceil(64).max(1)
}

/// The position of a chain's mark: its word and its bit.
#[inline]
pub(super) fn place(chain: ChainId) -> (usize, u64) {
    (chain.index() / 64, 1 << (chain.index() % 64))
}

/// Finds the chains to advance from each of `nodes` cuts, if not every possible one is advanced.
///
/// Needs only the cuts: the code of a level is compiled for each kind of node, and this only for each kind of key.
pub(super) fn mark<K: Key>(
    (strips, nodes): (&[Strip<K>], usize),
    layout: &Layout,
    labelled: LabelledPoset<'_>,
    bounds: LevelBounds<'_>,
    marks: &mut Vec<u64>,
) -> LeftOut {
    let stride = words(layout.width());
    marks.resize(nodes * stride, 0);
    let work = |(strips, marks): (&[Strip<K>], &mut [u64])| {
        let mut left_out = LeftOut::default();
        let mut counts = Counts::from_elem(0, layout.width());
        let cuts = strips.iter().flat_map(|strip| strip.cuts(layout));
        for (cut, marks) in cuts.zip(marks.chunks_exact_mut(stride)) {
            mark_cut(cut, labelled, bounds, &mut counts, marks, &mut left_out);
        }
        left_out
    };
    if !bounds.parallel || nodes < PARALLEL {
        return work((strips, marks));
    }
    let mut rest = &mut **marks;
    let mut parts = Vec::new();
    for strips in strips.chunks(PARALLEL / 8) {
        let cuts: usize = strips.iter().map(|strip| strip.len as usize).sum();
        let (marks, after) = rest.split_at_mut(cuts * stride);
        parts.push(Mutex::new((strips, marks)));
        rest = after;
    }
    // Each part is processed once, so no thread waits for a lock.
    let left_out = parallel::map(parts.len(), |part| {
        let mut part = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let (strips, marks) = &mut *part;
        work((*strips, marks))
    });
    left_out
        .into_iter()
        .fold(LeftOut::default(), |mut all, part| {
            all.add(part);
            all
        })
}

#[inline]
fn mark_cut<K: Key>(
    cut: PackedCut<'_, K>,
    labelled: LabelledPoset<'_>,
    bounds: LevelBounds<'_>,
    counts: &mut [u32],
    marks: &mut [u64],
    left_out: &mut LeftOut,
) {
    for (chain, count) in cut.layout.chains().zip(&mut *counts) {
        *count = cut.count(chain);
    }
    for (chain, &upper) in labelled.poset.chains().zip(bounds.upper) {
        let events = &labelled.poset.chain(chain)[..upper as usize];
        let event = events.get(counts[chain.index()] as usize);
        let count = |other: ChainId| counts[other.index()];
        if event.is_some_and(|event| labelled.requirements.met(*event, count)) {
            let (word, bit) = place(chain);
            marks[word] |= bit;
        }
    }
    if let Some(lookahead) = bounds.lookahead {
        left_out.suppressed += suppress(lookahead, labelled, bounds.upper, counts, marks);
    }
    // To choose takes long where there are many chains, and a search that ends need not.
    let chooses = !bounds.stop.is_some_and(Stop::is_raised);
    if let (Some(persistent), [mark]) = (bounds.persistent.filter(|_| chooses), &mut *marks) {
        let kept = persistent.choose(labelled, counts, *mark);
        left_out.commuted += u64::from((*mark & !kept).count_ones());
        *mark = kept;
    }
}

/// Removes the events that are too far past the oldest missing one.
fn suppress(
    lookahead: u32,
    labelled: LabelledPoset<'_>,
    upper: &[u32],
    counts: &[u32],
    marks: &mut [u64],
) -> u64 {
    let next = |chain: ChainId| {
        let count = counts[chain.index()];
        let missing = count < upper[chain.index()];
        missing.then(|| {
            let event = labelled.poset.chain(chain)[count as usize];
            labelled.poset.number(event)
        })
    };
    let Some(oldest) = labelled.poset.chains().filter_map(next).min() else {
        return 0;
    };
    let mut suppressed = 0;
    for chain in labelled.poset.chains() {
        let (word, bit) = place(chain);
        let mark = &mut marks[word];
        if *mark & bit != 0
            && next(chain).is_some_and(|event| event - oldest > u64::from(lookahead))
        {
            *mark &= !bit;
            suppressed += 1;
        }
    }
    suppressed
}
