//! One level of the lattice, and the construction of the next.
//!
//! A level is sorted by key. Advancing one chain in all cuts where it can be advanced keeps the order, so the next level is a
//! merge of one sorted stream for each chain, all read from the level itself; equal keys are the same cut and are merged.
//! Memory is accessed sequentially, and nothing is hashed. Short strips are split into cuts (`successors`). A wide level is
//! divided into ranges of keys that are merged in parallel on several cores.

use portent_monitor_core::ChainId;
use smallvec::SmallVec;

use super::{
    key::{Key, Layout, PackedCut},
    labelled::LabelledPoset,
    level::{Level, Strip},
    mark::mark,
    parallel,
    persistent::Persistent,
    streams::ChainStream,
    successors::{CutByCut, Successors},
    window::Window,
};
use crate::{
    order::{Counts, EventIndex, FEW_CHAINS},
    stop::Stop,
};

/// Levels narrower than this are not worth several threads; in tests hardly any level is narrower.
pub(crate) const PARALLEL: usize = if cfg!(test) { 8 } else { 1 << 13 };

/// Strips with fewer cuts than this, on average, are not worth treating as units.
pub(crate) const SHORT: usize = 4;

/// The data kept at a cut, and how events change it.
pub(crate) trait NodeRules: Sync {
    type Node: Clone + Send + Sync;

    /// How an event changes a node when it is added to a cut.
    fn step<K: Key>(
        &self,
        event: EventIndex,
    ) -> impl Fn(&Self::Node, PackedCut<'_, K>) -> Self::Node;

    /// Merges another way to the same cut.
    fn merge(&self, into: &mut Self::Node, other: Self::Node);

    /// The bytes that a node points to, in addition to its own size.
    fn heap_bytes(&self, _: &Self::Node) -> usize {
        0
    }

    /// Finishes a node once all ways to its cut are merged; false drops it.
    fn settle<K: Key>(&self, _: &mut Self::Node, _: PackedCut<'_, K>) -> bool {
        true
    }
}

/// What may be left out of the next level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelBounds<'a> {
    /// Cuts do not exceed this one.
    pub(crate) upper: &'a [u32],
    /// An upper bound on all future counts, including events yet to come; at least `upper`.
    pub(crate) ceiling: &'a [u32],
    /// Only this many events past the oldest missing one are considered.
    pub(crate) lookahead: Option<u32>,
    pub(crate) window: Option<Window<'a>>,
    pub(crate) persistent: Option<&'a Persistent>,
    pub(crate) parallel: bool,
    /// A level whose strips have fewer cuts on average is processed cut by cut; see [`SHORT`].
    pub(crate) short: usize,
    /// When it is raised, the next level has only some of its cuts.
    pub(crate) stop: Option<&'a Stop>,
}

/// Counts of what was left out of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Cuts dropped because of the window.
    pub(crate) dropped: u64,
    /// Events not added to some cut because of the lookahead.
    pub(crate) suppressed: u64,
    /// Events not added to some cut because they commute with those added.
    pub(crate) commuted: u64,
    /// Cuts at which no state was left.
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

/// A level with the data needed to make the next.
#[derive(Clone, Debug)]
pub(crate) struct Frontier<K, N> {
    pub(crate) layout: Layout,
    pub(crate) level: Level<K, N>,
    /// For each cut, the chains that are advanced from it, in `words` words; empty if every chain that can be advanced is.
    pub(crate) marks: Vec<u64>,
    pub(crate) workspace: Workspace<K, N>,
}

/// Memory of old levels, for reuse by later ones. Only narrow levels leave their memory: when a run is watched, levels are made
/// one after the other, while the memory of wide levels is the limiting resource of a search.
#[derive(Clone, Debug)]
pub(crate) struct Workspace<K, N> {
    /// Empty.
    next: Level<K, N>,
    /// Not a valid level; it only provides its memory.
    layout: Layout,
    cut_by_cut: CutByCut<K>,
}

/// The memory of levels with room for more cuts than this is freed.
const NARROW: usize = 4096;

impl<K, N> Default for Workspace<K, N> {
    fn default() -> Self {
        Workspace {
            next: Level::default(),
            layout: Layout::default(),
            cut_by_cut: CutByCut::default(),
        }
    }
}

impl<K, N> Workspace<K, N> {
    /// Takes the memory of an old level, unless it is too large.
    fn reuse(&mut self, mut gone: Level<K, N>) {
        if gone.has_usual_room(NARROW) {
            gone.strips.clear();
            gone.nodes.clear();
            self.next = gone;
        }
        if self.cut_by_cut.capacity() > NARROW {
            self.cut_by_cut = CutByCut::default();
        }
    }
}

/// The keys are too narrow for the next level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl<K: Key, N: Clone + Send + Sync> Frontier<K, N> {
    /// The level with these sorted cuts.
    pub(crate) fn new(cuts: &[Vec<u32>], nodes: Vec<N>, layout: Layout) -> Self {
        let strips = cuts.iter().map(|cut| Strip {
            first: K::pack(cut, &layout),
            len: 1,
        });
        Frontier {
            level: Level {
                strips: strips.collect(),
                nodes,
            },
            layout,
            marks: Vec::new(),
            workspace: Workspace::default(),
        }
    }

    /// The bytes of the level, without the data that nodes point to; and separately those of its marks, which are made for one
    /// level at a time.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let heap = self.level.strips.len() * K::heap_bytes(&self.layout);
        let strips = self.level.strips.capacity() * size_of::<Strip<K>>() + heap;
        let nodes = self.level.nodes.capacity() * size_of::<N>();
        let marks = self.marks.capacity() * size_of::<u64>();
        ((strips + nodes) as u64, marks as u64)
    }

    /// The same cuts, with nothing kept at them.
    pub(crate) fn cuts_alone(&self) -> Frontier<K, ()> {
        Frontier {
            layout: self.layout.clone(),
            level: Level {
                strips: self.level.strips.clone(),
                nodes: vec![(); self.level.nodes.len()],
            },
            marks: Vec::new(),
            workspace: Workspace::default(),
        }
    }

    /// The least number of events of a chain in any cut; `None` if there are no cuts.
    pub(crate) fn least(&self, chain: ChainId) -> Option<u32> {
        let known = chain.index() < self.layout.width();
        let least = |strip: &Strip<K>| {
            let ends = [0, strip.len - 1].map(|along| strip.cut(along, &self.layout));
            let [first, last] = ends.map(|cut| if known { cut.count(chain) } else { 0 });
            first.min(last)
        };
        self.level.strips.iter().map(least).min()
    }

    /// Copies another level, reusing its own memory.
    pub(crate) fn assign(&mut self, other: &Frontier<K, N>) {
        self.layout.assign(&other.layout);
        self.level.strips.clone_from(&other.level.strips);
        self.level.nodes.clone_from(&other.level.nodes);
        self.marks.clone_from(&other.marks);
    }

    /// The bytes of a strip of one cut.
    pub(crate) fn strip_bytes(&self) -> usize {
        size_of::<Strip<K>>() + K::heap_bytes(&self.layout)
    }

    /// The same level with other keys.
    pub(crate) fn repacked<L: Key>(&mut self, ceiling: &[u32]) -> Result<Frontier<L, N>, Full> {
        let (mut strips, mut layout) = (Vec::new(), Layout::default());
        let into = (&mut strips, &mut layout);
        repack((&self.level.strips, &self.layout), ceiling, into)?;
        let nodes = std::mem::take(&mut self.level.nodes);
        Ok(Frontier {
            layout,
            level: Level { strips, nodes },
            marks: Vec::new(),
            workspace: Workspace::default(),
        })
    }

    /// Packs the keys again, in the existing memory.
    fn repack(&mut self, ceiling: &[u32]) -> Result<(), Full> {
        let spare = &mut self.workspace;
        let into = (&mut spare.next.strips, &mut spare.layout);
        repack((&self.level.strips, &self.layout), ceiling, into)?;
        std::mem::swap(&mut self.level.strips, &mut spare.next.strips);
        std::mem::swap(&mut self.layout, &mut spare.layout);
        if spare.next.strips.capacity() > NARROW {
            spare.next.strips = Vec::new();
        }
        spare.next.strips.clear();
        Ok(())
    }

    /// Makes the next level.
    pub(crate) fn advance<R: NodeRules<Node = N>>(
        &mut self,
        labelled: LabelledPoset<'_>,
        bounds: LevelBounds<'_>,
        rules: &R,
    ) -> Result<LeftOut, Full> {
        if self.layout.slack() == 0 || self.layout.width() < bounds.upper.len() {
            self.repack(bounds.ceiling)?;
        }
        self.marks.clear();
        let mut left_out = if bounds.lookahead.is_some() || bounds.persistent.is_some() {
            let cuts = (&*self.level.strips, self.level.nodes.len());
            mark(cuts, &self.layout, labelled, bounds, &mut self.marks)
        } else {
            LeftOut::default()
        };
        let parallel = bounds.parallel && self.level.nodes.len() >= PARALLEL;
        let mut workspace = std::mem::take(&mut self.workspace);
        let room = &mut workspace.cut_by_cut;
        let (next, more) = if parallel {
            self.merge_in_parallel(labelled, bounds, rules, room)
        } else {
            let next = std::mem::take(&mut workspace.next);
            match self.successors(labelled, bounds, room) {
                Some(cuts) => {
                    cuts.merge_range(&self.level.nodes, bounds, rules, (None, None), next)
                }
                None => self.merge_range(labelled, bounds, rules, (None, None), &[], next),
            }
        };
        left_out.add(more);
        workspace.reuse(std::mem::replace(&mut self.level, next));
        self.workspace = workspace;
        self.layout.spend();
        Ok(left_out)
    }

    /// The cuts one by one, if its strips are short.
    fn successors<'a>(
        &'a self,
        labelled: LabelledPoset<'a>,
        bounds: LevelBounds<'_>,
        room: &'a mut CutByCut<K>,
    ) -> Option<Successors<'a, K>> {
        let cuts = (&*self.level.strips, self.level.nodes.len());
        Successors::new(cuts, &self.layout, &self.marks, labelled, bounds, room)
    }

    fn merge_in_parallel<R: NodeRules<Node = N>>(
        &self,
        labelled: LabelledPoset<'_>,
        bounds: LevelBounds<'_>,
        rules: &R,
        room: &mut CutByCut<K>,
    ) -> (Level<K, N>, LeftOut) {
        let parts = parallel::parts(self.level.nodes.len());
        let (starts, borders) = even_ranges(&self.level.strips, &self.layout, parts);
        let cuts = self.successors(labelled, bounds, room);
        let merge = |part: usize| {
            let range = (borders[part].as_ref(), borders[part + 1].as_ref());
            // About its share of a level that is a little wider than this one.
            let share = |all: usize| all / parts * 9 / 8;
            let next = Level::with_room(
                share(self.level.strips.len()),
                share(self.level.nodes.len()),
            );
            match &cuts {
                Some(cuts) => cuts.merge_range(&self.level.nodes, bounds, rules, range, next),
                None => self.merge_range(labelled, bounds, rules, range, &starts, next),
            }
        };
        // If cuts will be dropped, only a few parts are made at a time, so that there are never far too many cuts.
        let together = match bounds.window {
            Some(window) if self.level.nodes.len() > window.width / 2 => parallel::threads(),
            _ => parts,
        };
        let mut left_out = LeftOut::default();
        let mut whole = Level::default();
        for first in (0..parts).step_by(together) {
            let made = parallel::map(together.min(parts - first), |part| merge(first + part));
            if first == 0 && together == parts {
                let strips = made.iter().map(|(part, _)| part.strips.len()).sum();
                let nodes = made.iter().map(|(part, _)| part.nodes.len()).sum();
                whole = Level::with_room(strips, nodes);
            }
            for (part, more) in made {
                left_out.add(more);
                whole.extend(part);
            }
            if let Some(window) = bounds.window
                && (first + together >= parts || whole.nodes.len() >= window.room())
            {
                left_out.dropped += window.narrow(&mut whole, &self.layout);
            }
        }
        (whole, left_out)
    }

    /// The part of the next level from one line up to another; `starts` are the first nodes of all strips, if the range does
    /// not begin at the first. The part is put into `next`, which is empty.
    fn merge_range<R: NodeRules<Node = N>>(
        &self,
        labelled: LabelledPoset<'_>,
        bounds: LevelBounds<'_>,
        rules: &R,
        range: (Option<&K>, Option<&K>),
        starts: &[usize],
        mut next: Level<K, N>,
    ) -> (Level<K, N>, LeftOut) {
        let mut left_out = LeftOut::default();
        let room = bounds.window.map_or(usize::MAX, |window| window.room());
        let layout = &self.layout;
        let mut streams: SmallVec<[ChainStream<'_, K, N>; FEW_CHAINS]> = layout
            .chains()
            .map(|chain| ChainStream::new(self, labelled, bounds, chain, range, starts))
            .filter(|stream| stream.first().is_some())
            .collect();
        // The first cut of each stream, stored close together.
        let mut heads: SmallVec<[K; FEW_CHAINS]> = streams
            .iter()
            .filter_map(ChainStream::first)
            .cloned()
            .collect();
        let mut line = next.begin();
        let mut last: Option<K> = None;
        while let Some((index, least)) = heads.iter().enumerate().min_by_key(|(_, head)| *head) {
            if last
                .as_ref()
                .is_some_and(|last| !last.on_line_of(least, layout))
            {
                left_out.emptied += next.settle(line, layout, rules);
                if let Some(window) = bounds.window
                    && next.nodes.len() >= room
                {
                    left_out.dropped += window.narrow(&mut next, layout);
                }
                // The line has ended, and the narrowed level no longer begins where it did.
                line = next.begin();
                if bounds.stop.is_some_and(Stop::is_raised) {
                    break;
                }
            }
            last = Some(least.clone());
            streams[index].append(&mut next, line, rules);
            match streams[index].first() {
                Some(first) => heads[index] = first.clone(),
                None => {
                    heads.swap_remove(index);
                    streams.swap_remove(index);
                }
            }
        }
        left_out.emptied += next.settle(line, layout, rules);
        if let Some(window) = bounds.window {
            left_out.dropped += window.narrow(&mut next, &self.layout);
        }
        (next, left_out)
    }
}

/// Packs the same strips into keys of another kind, or again into the same kind.
///
/// Needs only the cuts, like [`mark`].
fn repack<K: Key, L: Key>(
    (strips, known): (&[Strip<K>], &Layout),
    ceiling: &[u32],
    (packed, layout): (&mut Vec<Strip<L>>, &mut Layout),
) -> Result<(), Full> {
    let chains = ceiling.len();
    let (mut least, mut most) = (
        Counts::from_elem(u32::MAX, chains),
        Counts::from_elem(0, chains),
    );
    // A chain that was unknown when this level was packed has no event in any cut.
    least[known.width()..].fill(0);
    for strip in strips {
        for cut in [0, strip.len - 1].map(|along| strip.cut(along, known)) {
            let bounds = least.iter_mut().zip(&mut most);
            for (chain, (least, most)) in known.chains().zip(bounds) {
                let count = cut.count(chain);
                *least = count.min(*least);
                *most = count.max(*most);
            }
        }
    }
    if !layout.refit(&least, &most, ceiling, L::BITS) {
        return Err(Full);
    }
    let pack = |cut: PackedCut<'_, K>, len| {
        let mut counts: Counts = cut.counts();
        counts.resize(chains, 0);
        Strip {
            first: L::pack(&counts, layout),
            len,
        }
    };
    packed.clear();
    if chains == known.width() {
        packed.extend(
            strips
                .iter()
                .map(|strip| pack(strip.cut(0, known), strip.len)),
        );
    } else {
        // The lines now lie along other chains.
        let cuts = strips.iter().flat_map(|strip| strip.cuts(known));
        packed.extend(cuts.map(|cut| pack(cut, 1)));
    }
    Ok(())
}

/// The first nodes of all strips, and the lines that divide the next level into this many ranges, with `None` at both ends.
fn even_ranges<K: Key>(
    strips: &[Strip<K>],
    layout: &Layout,
    parts: usize,
) -> (Vec<usize>, Vec<Option<K>>) {
    let mut starts = Vec::with_capacity(strips.len());
    let mut nodes = 0;
    for strip in strips {
        starts.push(nodes);
        nodes += strip.len as usize;
    }
    // The level's own lines divide the next level evenly enough.
    let border = |part| {
        let strip = starts.partition_point(|start| *start <= nodes * part / parts) - 1;
        Some(strips[strip].first.line(layout))
    };
    let inner = (1..parts).map(border);
    let borders = [None].into_iter().chain(inner).chain([None]).collect();
    (starts, borders)
}
