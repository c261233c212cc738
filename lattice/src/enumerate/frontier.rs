//! One level of the lattice, and the next.
//!
//! A level is sorted by key. Advancing one chain in all cuts where it can be advanced keeps the
//! order, so the next level is a merge of as many sorted streams as there are chains, all read
//! from the level itself; equal keys are the same cut and are merged. Memory is touched in
//! sequence, and nothing is hashed. A wide level is cut into ranges of keys that are merged at the
//! same time on several cores.

use rayon::prelude::*;

use super::{
    ground::Ground,
    key::{Cut, Key, Layout},
    persistent::Persistent,
    streams::Stream,
    window::Window,
};
use crate::EventIndex;

/// Levels narrower than this are not worth several threads.
pub(crate) const PARALLEL: usize = 1 << 15;

/// What is kept at a cut, and how events change it.
pub(crate) trait Rules: Sync {
    type Node: Clone + Send + Sync;

    /// The node after an event that is added to `cut`.
    fn step<K: Key>(&self, node: &Self::Node, cut: Cut<'_, K>, event: EventIndex) -> Self::Node;

    /// Another way to the same cut.
    fn merge(&self, into: &mut Self::Node, other: Self::Node);

    /// Takes a last look at a node when all ways to its cut are merged; false drops it.
    fn settle<K: Key>(&self, _: &mut Self::Node, _: Cut<'_, K>) -> bool {
        true
    }
}

/// What may be left out of the next level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<'a> {
    /// Cuts do not go beyond this one.
    pub(crate) upper: &'a [u32],
    /// What counts may ever become, when there will be more events; at least `upper`.
    pub(crate) ceiling: &'a [u32],
    /// Only so many events past the oldest that is missing are considered.
    pub(crate) lookahead: Option<u32>,
    pub(crate) window: Option<Window<'a>>,
    pub(crate) persistent: Option<&'a Persistent>,
    pub(crate) parallel: bool,
}

/// What was left out of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Cuts that were let go for the window.
    pub(crate) dropped: u64,
    /// Events not added to some cut for the lookahead.
    pub(crate) suppressed: u64,
    /// Events not added to some cut because they commute with what is added.
    pub(crate) commuted: u64,
    /// Cuts at which nothing was left to keep.
    pub(crate) emptied: u64,
}

impl LeftOut {
    pub(crate) fn add(&mut self, other: LeftOut) {
        self.dropped += other.dropped;
        self.suppressed += other.suppressed;
        self.commuted += other.commuted;
        self.emptied += other.emptied;
    }
}

/// Cuts in the order of their keys, and what is kept at each.
#[derive(Clone, Debug)]
pub(crate) struct Level<K, N> {
    pub(crate) keys: Vec<K>,
    pub(crate) nodes: Vec<N>,
}

impl<K, N> Default for Level<K, N> {
    fn default() -> Self {
        Level {
            keys: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

/// A level with what is needed to make the next.
#[derive(Clone, Debug)]
pub(crate) struct Frontier<K, N> {
    pub(crate) layout: Layout,
    pub(crate) level: Level<K, N>,
    /// For each cut, the chains that are advanced from it, as many words as `words`; empty where all
    /// are that can be.
    pub(crate) marks: Vec<u64>,
}

/// The keys are too narrow for the next level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl<K: Key, N: Clone + Send + Sync> Frontier<K, N> {
    /// The level with one cut.
    pub(crate) fn new(cut: &[u32], node: N, ceiling: &[u32]) -> Result<Self, Full> {
        let layout = Layout::fit(cut, cut, ceiling, K::BITS).ok_or(Full)?;
        let keys = vec![K::pack(cut, &layout)];
        let nodes = vec![node];
        let level = Level { keys, nodes };
        Ok(Frontier {
            layout,
            level,
            marks: Vec::new(),
        })
    }

    /// The bytes that the level holds, without what nodes point to, and those of the marks, which
    /// are made for one level after the other.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let heap = self.level.keys.len() * K::heap_bytes(&self.layout);
        let keys = self.level.keys.capacity() * size_of::<K>() + heap;
        let nodes = self.level.nodes.capacity() * size_of::<N>();
        let marks = self.marks.capacity() * size_of::<u64>();
        ((keys + nodes) as u64, marks as u64)
    }

    /// The bytes of one key.
    pub(crate) fn key_bytes(&self) -> usize {
        size_of::<K>() + K::heap_bytes(&self.layout)
    }

    /// The same level with other keys, or with the same kind of keys packed again.
    pub(crate) fn repacked<L: Key>(&mut self, ceiling: &[u32]) -> Result<Frontier<L, N>, Full> {
        let chains = ceiling.len();
        let count = |key: &K, chain: usize| match chain < self.layout.chains() {
            true => key.count(chain, &self.layout),
            // A chain that nobody knew of when this level was packed.
            false => 0,
        };
        let (mut least, mut most) = (vec![u32::MAX; chains], vec![0; chains]);
        for key in &self.level.keys {
            for chain in 0..chains {
                let n = count(key, chain);
                least[chain] = least[chain].min(n);
                most[chain] = most[chain].max(n);
            }
        }
        let layout = Layout::fit(&least, &most, ceiling, L::BITS).ok_or(Full)?;
        let mut counts = vec![0; chains];
        let mut keys = Vec::with_capacity(self.level.keys.len());
        for key in &self.level.keys {
            for (chain, n) in counts.iter_mut().enumerate() {
                *n = count(key, chain);
            }
            keys.push(L::pack(&counts, &layout));
        }
        let nodes = std::mem::take(&mut self.level.nodes);
        Ok(Frontier {
            layout,
            level: Level { keys, nodes },
            marks: Vec::new(),
        })
    }

    /// Makes the next level.
    pub(crate) fn advance<R: Rules<Node = N>>(
        &mut self,
        ground: Ground<'_>,
        bounds: Bounds<'_>,
        rules: &R,
    ) -> Result<LeftOut, Full> {
        if self.layout.slack() == 0 || self.layout.chains() < bounds.upper.len() {
            *self = self.repacked(bounds.ceiling)?;
        }
        self.marks.clear();
        let mut left_out = match bounds.lookahead.is_some() || bounds.persistent.is_some() {
            true => self.mark(ground, bounds),
            false => LeftOut::default(),
        };
        let parallel = bounds.parallel && self.level.keys.len() >= PARALLEL;
        let (next, more) = if parallel {
            self.merge_in_parallel(ground, bounds, rules)
        } else {
            self.merge_range(ground, bounds, rules, None, None)
        };
        left_out.add(more);
        self.level = next;
        self.layout.spend();
        Ok(left_out)
    }

    fn merge_in_parallel<R: Rules<Node = N>>(
        &self,
        ground: Ground<'_>,
        bounds: Bounds<'_>,
        rules: &R,
    ) -> (Level<K, N>, LeftOut) {
        let parts = rayon::current_num_threads() * 4;
        let keys = &self.level.keys;
        // The level's own keys are as good as any to cut the next level into even ranges.
        let border = |part: usize| match part {
            0 => None,
            part if part == parts => None,
            part => Some(&keys[keys.len() * part / parts]),
        };
        let made: Vec<(Level<K, N>, LeftOut)> = (0..parts)
            .into_par_iter()
            .map(|part| self.merge_range(ground, bounds, rules, border(part), border(part + 1)))
            .collect();
        let mut left_out = LeftOut::default();
        let mut whole = Level::default();
        let total = made.iter().map(|(level, _)| level.keys.len()).sum();
        whole.keys.reserve_exact(total);
        whole.nodes.reserve_exact(total);
        for (part, more) in made {
            left_out.add(more);
            whole.keys.extend(part.keys);
            whole.nodes.extend(part.nodes);
        }
        if let Some(window) = bounds.window {
            left_out.dropped += window.narrow(&mut whole, &self.layout);
        }
        (whole, left_out)
    }

    /// The part of the next level with keys from `from` and below `to`.
    fn merge_range<R: Rules<Node = N>>(
        &self,
        ground: Ground<'_>,
        bounds: Bounds<'_>,
        rules: &R,
        from: Option<&K>,
        to: Option<&K>,
    ) -> (Level<K, N>, LeftOut) {
        let mut left_out = LeftOut::default();
        let mut next = Level::default();
        let room = bounds.window.map_or(usize::MAX, |window| window.room());
        let mut streams: Vec<Stream<'_, K, N>> = (0..self.layout.chains())
            .filter_map(|chain| self.stream(ground, bounds, rules, chain, from, to))
            .collect();
        // The first key of each stream, close together.
        let mut heads: Vec<K> = streams.iter().filter_map(|stream| stream.head()).collect();
        while let Some((first, others)) = heads.split_first() {
            let least = others
                .iter()
                .fold(first, |least, key| least.min(key))
                .clone();
            let mut merged: Option<N> = None;
            // From the last, so that what takes the place of an exhausted stream is done already.
            for index in (0..heads.len()).rev() {
                if heads[index] != least {
                    continue;
                }
                let stream = &mut streams[index];
                match (&mut merged, stream.ready.pop()) {
                    (Some(merged), Some((_, node))) => rules.merge(merged, node),
                    (None, Some((_, node))) => merged = Some(node),
                    (_, None) => {}
                }
                if stream.ready.is_empty() {
                    self.refill(stream, ground, bounds, rules, to);
                }
                match stream.head() {
                    Some(key) => heads[index] = key,
                    None => {
                        heads.swap_remove(index);
                        streams.swap_remove(index);
                    }
                }
            }
            let cut = Cut {
                key: &least,
                layout: &self.layout,
            };
            let settled = merged.and_then(|mut node| rules.settle(&mut node, cut).then_some(node));
            match settled {
                Some(node) => {
                    make_room(&mut next.keys);
                    make_room(&mut next.nodes);
                    next.keys.push(least);
                    next.nodes.push(node);
                }
                None => left_out.emptied += 1,
            }
            if next.keys.len() >= room
                && let Some(window) = bounds.window
            {
                left_out.dropped += window.narrow(&mut next, &self.layout);
            }
        }
        if let Some(window) = bounds.window {
            left_out.dropped += window.narrow(&mut next, &self.layout);
        }
        (next, left_out)
    }
}

/// Grows by an eighth instead of doubling: levels grow slowly, and the frontier is the memory.
fn make_room<T>(all: &mut Vec<T>) {
    if all.len() == all.capacity() {
        all.reserve_exact((all.len() / 8).max(1024));
    }
}
