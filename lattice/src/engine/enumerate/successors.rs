//! The next level, made cut by cut, for levels with short strips.
//!
//! If strips are hardly longer than one cut, examining their ends saves nothing. Here the cuts are
//! taken one by one: a bitset for each chain says at which of them the chain is advanced; a chain steps through
//! the cuts of one word of these bits ahead of the merge; and in each round of the merge all chains whose
//! next cut is the least one advance together. So the data mostly affects which bits are set,
//! not control flow.

use portent_monitor_core::ChainId;
use smallvec::SmallVec;

use super::{
    frontier::{LeftOut, LevelBounds, NodeRules},
    key::{Field, Key, Layout, PackedCut},
    labelled::LabelledPoset,
    level::{Level, Strip},
};
use crate::{
    order::{EventIndex, FEW_CHAINS, Required},
    stop::Stop,
};

/// The bits of a word say which chains advance together.
const CHAINS: usize = u64::BITS as usize;
/// Keys are compared this many at a time.
const TOGETHER: usize = 4;

/// Room for the individual cuts of a level, reused for one level after the other.
#[derive(Clone, Debug)]
pub(super) struct CutByCut<K> {
    cuts: Vec<K>,
    advanced: Vec<u64>,
}

impl<K> Default for CutByCut<K> {
    fn default() -> Self {
        CutByCut {
            cuts: Vec::new(),
            advanced: Vec::new(),
        }
    }
}

impl<K> CutByCut<K> {
    /// The number of cuts that it has room for.
    pub(super) fn capacity(&self) -> usize {
        self.cuts.capacity()
    }
}

/// The cuts of a level, and where each chain is advanced.
pub(super) struct Successors<'a, K> {
    layout: &'a Layout,
    labelled: LabelledPoset<'a>,
    cuts: &'a [K],
    /// For each chain a bit for each cut; those of chain `c` begin at word `c * stride`.
    advanced: &'a [u64],
    stride: usize,
    /// The greatest key.
    last: K,
}

impl<'a, K: Key> Successors<'a, K> {
    /// `None` if the strips of the level are long enough to be treated as units, or if its cuts have
    /// too many chains.
    pub(super) fn new(
        (strips, nodes): (&[Strip<K>], usize),
        layout: &'a Layout,
        marks: &[u64],
        labelled: LabelledPoset<'a>,
        bounds: LevelBounds<'_>,
        room: &'a mut CutByCut<K>,
    ) -> Option<Self> {
        let width = layout.width();
        if width > CHAINS || nodes >= strips.len().saturating_mul(bounds.short) {
            return None;
        }
        let last = K::LAST?;
        let CutByCut { cuts, advanced } = room;
        cuts.clear();
        cuts.reserve_exact(nodes);
        for strip in strips {
            cuts.extend((0..strip.len).map(|along| strip.first.moved(along, layout)));
        }
        let stride = cuts.len().div_ceil(64);
        advanced.clear();
        advanced.resize(stride * width, 0);
        if marks.is_empty() {
            enable(cuts, layout, labelled, bounds, advanced);
        } else {
            for (cut, mark) in marks.iter().enumerate() {
                for chain in 0..width {
                    advanced[chain * stride + cut / 64] |= (mark >> chain & 1) << (cut % 64);
                }
            }
        }
        Some(Successors {
            layout,
            labelled,
            cuts,
            advanced,
            stride,
            last,
        })
    }

    /// The part of the next level from one line up to another. It is put into `next`, which is empty.
    pub(super) fn merge_range<R: NodeRules>(
        &self,
        nodes: &[R::Node],
        bounds: LevelBounds<'_>,
        rules: &R,
        (from, to): (Option<&K>, Option<&K>),
        mut next: Level<K, R::Node>,
    ) -> (Level<K, R::Node>, LeftOut) {
        let layout = self.layout;
        let mut left_out = LeftOut::default();
        let room = bounds.window.map_or(usize::MAX, |window| window.room());
        let mut walks: SmallVec<[Walk<'_>; FEW_CHAINS]> = SmallVec::new();
        // The next cut of each walk, stored close together, and which walks have not ended.
        let mut heads: SmallVec<[K; FEW_CHAINS]> = SmallVec::new();
        let mut going = 0u64;
        let wanted = |head: &K| to.is_none_or(|to| head < to);
        for chain in layout.chains() {
            if let Some(walk) = self.walk(chain, bounds, from) {
                let head = self.cuts[walk.cut].plus(&walk.field);
                going |= u64::from(wanted(&head)) << heads.len();
                heads.push(head);
                walks.push(walk);
            }
        }
        heads.resize(heads.len().next_multiple_of(TOGETHER), self.last.clone());
        let (walks, heads) = (&mut *walks, &mut *heads);
        while going != 0 {
            let least = least(heads, &self.last);
            let mut here = places(heads, &least) & going;
            let mut node: Option<R::Node> = None;
            while here != 0 {
                let place = here.trailing_zeros() as usize;
                here &= here - 1;
                let walk = &mut walks[place];
                let event = walk.events[least.at(&walk.field) as usize - 1];
                let cut = PackedCut {
                    first: &self.cuts[walk.cut],
                    along: 0,
                    layout,
                };
                let stepped = rules.step(event)(&nodes[walk.cut], cut);
                match &mut node {
                    None => node = Some(stepped),
                    Some(node) => rules.merge(node, stepped),
                }
                walk.rest &= walk.rest - 1;
                heads[place] = self.last.clone();
                if walk.seek() {
                    let head = self.cuts[walk.cut].plus(&walk.field);
                    if wanted(&head) {
                        heads[place] = head;
                        continue;
                    }
                }
                going &= !(1 << place);
            }
            let Some(mut node) = node else { break };
            let cut = PackedCut {
                first: &least,
                along: 0,
                layout,
            };
            if !rules.settle(&mut node, cut) {
                left_out.emptied += 1;
            } else if next.push(least, node, layout) {
                if let Some(window) = bounds.window
                    && next.nodes.len() >= room
                {
                    left_out.dropped += window.narrow(&mut next, layout);
                }
                if bounds.stop.is_some_and(Stop::is_raised) {
                    break;
                }
            }
        }
        if let Some(window) = bounds.window {
            left_out.dropped += window.narrow(&mut next, layout);
        }
        (next, left_out)
    }

    /// The cuts that a chain is advanced to, from a bound on; `None` if there are none.
    fn walk(&self, chain: ChainId, bounds: LevelBounds<'_>, from: Option<&K>) -> Option<Walk<'_>> {
        let layout = self.layout;
        let cut = from.map_or(0, |from| {
            let before = |cut: &K| !cut.reaches(chain, layout, from);
            self.cuts.partition_point(before)
        });
        let advanced = &self.advanced[chain.index() * self.stride..][..self.stride];
        let mut walk = Walk {
            field: *layout.field(chain),
            events: &self.labelled.poset.chain(chain)[..bounds.upper[chain.index()] as usize],
            advanced,
            cut,
            rest: advanced.get(cut / 64)? & u64::MAX << (cut % 64),
        };
        walk.seek().then_some(walk)
    }
}

/// The cuts at which one chain is advanced.
struct Walk<'a> {
    field: Field,
    events: &'a [EventIndex],
    advanced: &'a [u64],
    /// The next cut, and the remaining bits of its word.
    cut: usize,
    rest: u64,
}

impl Walk<'_> {
    /// Advances to the first cut from this one on at which the chain is advanced; false at the end.
    #[inline]
    fn seek(&mut self) -> bool {
        let mut word = self.cut / 64;
        while self.rest == 0 {
            word += 1;
            match self.advanced.get(word) {
                Some(bits) => self.rest = *bits,
                None => return false,
            }
        }
        self.cut = word * 64 + self.rest.trailing_zeros() as usize;
        true
    }
}

/// The least of some keys, whose number is a multiple of [`TOGETHER`].
#[inline]
fn least<K: Key>(keys: &[K], last: &K) -> K {
    let (chunks, _) = keys.as_chunks::<TOGETHER>();
    let chunks = chunks.iter().map(|[a, b, c, d]| a.min(b).min(c.min(d)));
    chunks.fold(last, |least, key| least.min(key)).clone()
}

/// The positions of a key among others, as bits.
#[inline]
fn places<K: Key>(keys: &[K], key: &K) -> u64 {
    let (chunks, _) = keys.as_chunks::<TOGETHER>();
    chunks.iter().rev().fold(0, |bits, chunk| {
        let [a, b, c, d] = chunk.each_ref().map(|other| u64::from(other == key));
        bits << TOGETHER | d << 3 | c << 2 | b << 1 | a
    })
}

/// Finds the cuts at which each chain can be advanced.
#[inline(never)]
fn enable<K: Key>(
    cuts: &[K],
    layout: &Layout,
    labelled: LabelledPoset<'_>,
    bounds: LevelBounds<'_>,
    advanced: &mut [u64],
) {
    let stride = cuts.len().div_ceil(64);
    let requirements = labelled.requirements;
    let next: Vec<(ChainId, &[Required])> = layout
        .chains()
        .map(|chain| {
            let events = requirements.in_brief(chain);
            let most = bounds.upper[chain.index()] as usize;
            (chain, &events[..events.len().min(most)])
        })
        .collect();
    let mut counts = [0; CHAINS];
    for (word, cuts) in cuts.chunks(64).enumerate() {
        let mut words = [0u64; CHAINS];
        for cut in cuts.iter().rev() {
            for (field, count) in layout.fields().iter().zip(&mut counts) {
                *count = cut.at(field);
            }
            let places = words.iter_mut().zip(&counts);
            for (&(chain, events), (word, &count)) in next.iter().zip(places) {
                let enabled = match events.get(count as usize) {
                    None => false,
                    Some(needs) if needs.count == Required::SEVERAL => {
                        let event = labelled.poset.chain(chain)[count as usize];
                        requirements.met(event, |chain| counts[chain.index()])
                    }
                    Some(needs) => counts[needs.chain.index() % CHAINS] >= needs.count,
                };
                *word = *word << 1 | u64::from(enabled);
            }
        }
        for (chain, bits) in words[..next.len()].iter().enumerate() {
            advanced[chain * stride + word] = *bits;
        }
    }
}
