//! The sorted streams that a level is merged from: one for each chain, with the cuts that the chain
//! is advanced to.
//!
//! A stream is made a block at a time. So the loops are short and without surprises, the states
//! are stepped in sequence, and what is ready stays in the cache until the merge takes it.

use std::ops::Range;

use super::{
    frontier::{Bounds, Frontier, Rules},
    ground::Ground,
    key::{Cut, Key},
    mark::words,
};
use crate::EventIndex;

/// So many cuts are advanced at a time, or fewer where the keys of all streams together would take
/// more than a few megabytes.
const BLOCK: usize = 512;
const BLOCK_BYTES: usize = 1 << 22;

/// The cuts that one chain is advanced to, a block at a time.
pub(super) struct Stream<'a, K, N> {
    chain: usize,
    events: &'a [EventIndex],
    /// From here on cuts are to be advanced.
    position: usize,
    /// What was made of those before, the next one last.
    pub(super) ready: Vec<(K, N)>,
}

impl<K: Key, N> Stream<'_, K, N> {
    pub(super) fn head(&self) -> Option<K> {
        self.ready.last().map(|(key, _)| key.clone())
    }
}

impl<K: Key, N: Clone + Send + Sync> Frontier<K, N> {
    /// The cuts that a chain is advanced to, from a key on; `None` if there are none.
    pub(super) fn stream<'a, R: Rules<Node = N>>(
        &self,
        ground: Ground<'a>,
        bounds: Bounds<'_>,
        rules: &R,
        chain: usize,
        from: Option<&K>,
        to: Option<&K>,
    ) -> Option<Stream<'a, K, N>> {
        let keys = &self.level.keys;
        let position = match from {
            None => 0,
            Some(from) => keys.partition_point(|key| !key.reaches(chain, &self.layout, from)),
        };
        let mut stream = Stream {
            chain,
            events: ground.poset.chain(chain),
            position,
            ready: Vec::new(),
        };
        self.refill(&mut stream, ground, bounds, rules, to);
        (!stream.ready.is_empty()).then_some(stream)
    }

    /// Makes the next block of a stream, empty if the range has none left.
    pub(super) fn refill<R: Rules<Node = N>>(
        &self,
        stream: &mut Stream<'_, K, N>,
        ground: Ground<'_>,
        bounds: Bounds<'_>,
        rules: &R,
        to: Option<&K>,
    ) {
        let keys = &self.level.keys;
        let streams_bytes = self.layout.chains() * self.key_bytes();
        let size = (BLOCK_BYTES / streams_bytes.max(1)).clamp(1, BLOCK);
        while stream.ready.is_empty() && stream.position < keys.len() {
            let start = stream.position;
            let end = keys.len().min(start + size);
            stream.position = end;
            self.advance_block(stream, start..end, ground, bounds, rules);
            if let Some(to) = to
                && stream.ready.last().is_some_and(|(key, _)| key >= to)
            {
                stream
                    .ready
                    .truncate(stream.ready.partition_point(|(key, _)| key < to));
                stream.position = keys.len();
            }
            stream.ready.reverse();
        }
    }

    /// Advances a chain in the cuts of a block in which it is marked, or can be advanced.
    fn advance_block<R: Rules<Node = N>>(
        &self,
        stream: &mut Stream<'_, K, N>,
        block: Range<usize>,
        ground: Ground<'_>,
        bounds: Bounds<'_>,
        rules: &R,
    ) {
        let mut marked = [0; BLOCK];
        let number = match self.marks.is_empty() {
            true => self.enabled(stream.chain, block.clone(), ground, bounds, &mut marked),
            false => self.marked(stream.chain, block.clone(), &mut marked),
        };
        let (keys, nodes) = (&self.level.keys[block.clone()], &self.level.nodes[block]);
        stream.ready.extend(marked[..number].iter().map(|&place| {
            let key = &keys[place as usize];
            let cut = Cut {
                key,
                layout: &self.layout,
            };
            let event = stream.events[cut.count(stream.chain) as usize];
            let node = rules.step(&nodes[place as usize], cut, event);
            (key.advanced(stream.chain, &self.layout), node)
        }));
    }

    /// The cuts of a block in which a chain can be advanced: how many, and where they are.
    // Here and below every place is written and kept if it is one: a branch would be guessed wrong
    // half the time.
    fn enabled(
        &self,
        chain: usize,
        block: Range<usize>,
        ground: Ground<'_>,
        bounds: Bounds<'_>,
        found: &mut [u16; BLOCK],
    ) -> usize {
        let needs = ground.needs.of_chain(chain, bounds.upper[chain]);
        let layout = &self.layout;
        let mut number = 0;
        for (place, key) in self.level.keys[block].iter().enumerate() {
            found[number] = place as u16;
            let count = |chain| key.count(chain, layout);
            number += usize::from(needs.met(count(chain), count));
        }
        number
    }

    /// The cuts of a block in which a chain is marked.
    fn marked(&self, chain: usize, block: Range<usize>, found: &mut [u16; BLOCK]) -> usize {
        let stride = words(self.layout.chains());
        let (word, bit) = (chain / 64, chain % 64);
        let mut number = 0;
        let marks = self.marks[block.start * stride..block.end * stride].chunks_exact(stride);
        for (place, marks) in marks.enumerate() {
            found[number] = place as u16;
            number += (marks[word] >> bit & 1) as usize;
        }
        number
    }
}
