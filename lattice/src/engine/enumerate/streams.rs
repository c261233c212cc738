//! The sorted streams that a level is merged from: one for each chain, with the strips of cuts that
//! the chain is advanced to.
//!
//! The cuts of a strip in which a chain can be advanced are neighbours, too: the needs of the chain's next event
//! bound each count from below, and along a strip one count only grows and
//! one only shrinks. So a strip is advanced by examining its ends, not its cuts.

use std::ops::Range;

use portent_monitor_core::ChainId;

use super::{
    frontier::{Frontier, LevelBounds, NodeRules},
    key::Key,
    labelled::LabelledPoset,
    level::{Level, LineStart, Strip},
    mark::{self, words},
};
use crate::order::EventIndex;

/// The cuts that one chain is advanced to, a strip at a time.
pub(super) struct ChainStream<'a, K, N> {
    frontier: &'a Frontier<K, N>,
    labelled: LabelledPoset<'a>,
    chain: ChainId,
    /// The chain's events, as far as the cuts may extend.
    events: &'a [EventIndex],
    /// How the count of the chain changes along a strip.
    slope: i32,
    /// Cuts at or past this one are not wanted.
    to: Option<&'a K>,
    /// The next strip: its index, its first node, and how much of it was examined.
    strip: usize,
    node: usize,
    along: u32,
    /// The next part.
    head: Option<Advanced<K>>,
}

/// A part of a strip of which every cut is advanced.
struct Advanced<K> {
    /// The cuts after the step.
    strip: Strip<K>,
    /// The strip that contained this part, and where in it.
    from: usize,
    along: u32,
    /// The first node of the part.
    node: usize,
    /// The number of events of the chain in the first cut.
    count: u32,
}

impl<'a, K: Key, N> ChainStream<'a, K, N> {
    /// The cuts that a chain is advanced to, between two bounds; `starts` are the first nodes
    /// of all strips, if there is a lower bound.
    pub(super) fn new(
        frontier: &'a Frontier<K, N>,
        labelled: LabelledPoset<'a>,
        bounds: LevelBounds<'_>,
        chain: ChainId,
        (from, to): (Option<&K>, Option<&'a K>),
        starts: &[usize],
    ) -> Self {
        let (strip, node) = from.map_or((0, 0), |from| {
            let before = |strip: &Strip<K>| !strip.first.reaches(chain, &frontier.layout, from);
            let strip = frontier.level.strips.partition_point(before);
            (strip, starts.get(strip).copied().unwrap_or(0))
        });
        let mut stream = ChainStream {
            frontier,
            labelled,
            chain,
            events: &labelled.poset.chain(chain)[..bounds.upper[chain.index()] as usize],
            slope: frontier.layout.slope(chain),
            to,
            strip,
            node,
            along: 0,
            head: None,
        };
        stream.pull();
        stream
    }

    /// The first cut of the next part.
    pub(super) fn first(&self) -> Option<&K> {
        self.head.as_ref().map(|head| &head.strip.first)
    }

    /// Adds the next part to the current line of the next level.
    #[inline]
    pub(super) fn append<R: NodeRules<Node = N>>(
        &mut self,
        next: &mut Level<K, N>,
        line: LineStart,
        rules: &R,
    ) {
        let Some(part) = &self.head else { return };
        let (level, layout) = (&self.frontier.level, &self.frontier.layout);
        let (len, count) = (part.strip.len as usize, part.count as usize);
        let from = &level.strips[part.from];
        let nodes = level.nodes[part.node..part.node + len].iter();
        let before = nodes
            .zip(part.along..)
            .map(|(node, along)| (node, from.cut(along, layout)));
        match self.slope {
            1 => {
                let events = &self.events[count..count + len];
                let after = before
                    .zip(events)
                    .map(|((node, cut), &event)| rules.step(event)(node, cut));
                next.append(line, &part.strip, after, layout, rules);
            }
            -1 => {
                let events = self.events[count + 1 - len..=count].iter().rev();
                let after = before
                    .zip(events)
                    .map(|((node, cut), &event)| rules.step(event)(node, cut));
                next.append(line, &part.strip, after, layout, rules);
            }
            _ => {
                let step = rules.step(self.events[count]);
                let after = before.map(|(node, cut)| step(node, cut));
                next.append(line, &part.strip, after, layout, rules);
            }
        }
        self.pull();
    }

    /// The part of a strip in which the chain can be advanced.
    fn enabled(&self, strip: &Strip<K>) -> Range<u32> {
        let enabled = |along| {
            let cut = strip.cut(along, &self.frontier.layout);
            let event = self.events.get(cut.count(self.chain) as usize);
            event.is_some_and(|event| {
                self.labelled
                    .requirements
                    .met(*event, |chain| cut.count(chain))
            })
        };
        match self.slope {
            // A later event of this chain, and fewer of the other one.
            1 => 0..edge(strip.len, enabled),
            -1 => strip.len - edge(strip.len, |along| enabled(strip.len - 1 - along))..strip.len,
            _ => self.between_needs(strip),
        }
    }

    /// The part of a strip in which a chain that does not change along it can be advanced.
    fn between_needs(&self, strip: &Strip<K>) -> Range<u32> {
        let layout = &self.frontier.layout;
        let count = |chain| strip.first.count(chain, layout);
        let Some(event) = self.events.get(count(self.chain) as usize) else {
            return 0..0;
        };
        let (mut start, mut end) = (0, strip.len);
        for &(chain, needed) in self.labelled.requirements.of(*event) {
            let has = count(chain);
            match layout.slope(chain) {
                1 => start = start.max(needed.saturating_sub(has)),
                -1 => end = end.min((has + 1).saturating_sub(needed)),
                _ if has < needed => return 0..0,
                _ => {}
            }
        }
        start..end
    }

    /// The next part of a strip in which the chain is marked.
    fn marked(&self, strip: &Strip<K>) -> Range<u32> {
        let stride = words(self.frontier.layout.width());
        let (word, bit) = mark::place(self.chain);
        let marked = |along: u32| {
            let marks = (self.node + along as usize) * stride;
            self.frontier.marks[marks + word] & bit != 0
        };
        let mut rest = self.along..strip.len;
        let start = rest.find(|&along| marked(along)).unwrap_or(strip.len);
        let end = rest.find(|&along| !marked(along)).unwrap_or(strip.len);
        start..end
    }

    /// Finds the next part.
    fn pull(&mut self) {
        self.head = None;
        let layout = &self.frontier.layout;
        let marks = !self.frontier.marks.is_empty();
        while let Some(strip) = self.frontier.level.strips.get(self.strip) {
            let (from, start) = (self.strip, self.node);
            let part = if marks {
                self.marked(strip)
            } else {
                self.enabled(strip)
            };
            if marks && part.end < strip.len {
                self.along = part.end;
            } else {
                self.strip += 1;
                self.node += strip.len as usize;
                self.along = 0;
            }
            if part.is_empty() {
                continue;
            }
            let first = strip.first.moved(part.start, layout);
            let field = layout.field(self.chain);
            let (count, first) = (first.at(field), first.plus(field));
            if self.to.is_none_or(|to| first < *to) {
                self.head = Some(Advanced {
                    strip: Strip {
                        first,
                        len: part.end - part.start,
                    },
                    from,
                    along: part.start,
                    node: start + part.start as usize,
                    count,
                });
            }
            return;
        }
    }
}

/// How many of the first `len` numbers have a property that is true up to some number and false
/// from there on. Usually all or none.
#[inline]
fn edge(len: u32, has: impl Fn(u32) -> bool) -> u32 {
    if !has(0) {
        return 0;
    }
    if len == 1 || has(len - 1) {
        return len;
    }
    let (mut yes, mut no) = (0, len - 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if has(middle) {
            yes = middle
        } else {
            no = middle
        }
    }
    no
}
