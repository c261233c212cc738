//! The cuts of a level, as strips of neighbours.
//!
//! The cuts of a level on one line have no gap between them: the needs of the events of one of the line's two
//! chains bound the line from one side, those of the other chain from the other side. So a line is one strip, and the
//! key of its first cut and its length represent all its cuts. Only where cuts were dropped does a line have several strips.

use super::{
    frontier::NodeRules,
    key::{Key, Layout, PackedCut},
};

/// Neighbouring cuts on a line.
#[derive(Clone, Debug)]
pub(crate) struct Strip<K> {
    pub(crate) first: K,
    pub(crate) len: u32,
}

impl<K: Key> Strip<K> {
    pub(crate) fn cuts<'a>(&'a self, layout: &'a Layout) -> impl Iterator<Item = PackedCut<'a, K>> {
        (0..self.len).map(move |along| self.cut(along, layout))
    }

    #[inline]
    pub(crate) fn cut<'a>(&'a self, along: u32, layout: &'a Layout) -> PackedCut<'a, K> {
        PackedCut {
            first: &self.first,
            along,
            layout,
        }
    }
}

/// Cuts sorted by key, with the data kept at each.
#[derive(Clone, Debug)]
pub(crate) struct Level<K, N> {
    pub(crate) strips: Vec<Strip<K>>,
    pub(crate) nodes: Vec<N>,
}

impl<K, N> Default for Level<K, N> {
    fn default() -> Self {
        Level {
            strips: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

impl<K, N> Level<K, N> {
    /// Whether its capacity is at least that of a new level, and at most that of this many cuts.
    pub(super) fn has_usual_room(&self, most: usize) -> bool {
        let usual = ROOM..=most;
        usual.contains(&self.strips.capacity()) && usual.contains(&self.nodes.capacity())
    }
}

/// The sizes of a level at the start of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineStart {
    strips: usize,
    nodes: usize,
}

impl<K: Key, N> Level<K, N> {
    pub(crate) fn cuts<'a>(&'a self, layout: &'a Layout) -> impl Iterator<Item = PackedCut<'a, K>> {
        self.strips.iter().flat_map(|strip| strip.cuts(layout))
    }

    /// Begins a new line.
    pub(super) fn begin(&self) -> LineStart {
        LineStart {
            strips: self.strips.len(),
            nodes: self.nodes.len(),
        }
    }

    /// Adds a strip to the current line, with the nodes of its cuts. It begins at or after
    /// the previously added strip, and where they overlap they are merged.
    #[inline]
    pub(super) fn append<R: NodeRules<Node = N>>(
        &mut self,
        line: LineStart,
        strip: &Strip<K>,
        mut nodes: impl Iterator<Item = N>,
        layout: &Layout,
        rules: &R,
    ) {
        let len = strip.len;
        let mut common = 0;
        let open = self.strips[line.strips..].last_mut();
        let gap = open
            .as_ref()
            .map(|open| strip.first.place(layout) - open.first.place(layout));
        match (open, gap) {
            (Some(open), Some(gap)) if gap <= open.len => {
                common = len.min(open.len - gap);
                let start = self.nodes.len() - (open.len - gap) as usize;
                for (into, node) in self.nodes[start..].iter_mut().zip(&mut nodes) {
                    rules.merge(into, node);
                }
                open.len = open.len.max(gap + len);
            }
            _ => {
                make_room(&mut self.strips, 1);
                self.strips.push(strip.clone());
            }
        }
        make_room(&mut self.nodes, (len - common) as usize);
        self.nodes.extend(nodes);
    }

    /// Adds a cut after all others, and says whether it begins a strip.
    #[inline]
    pub(super) fn push(&mut self, cut: K, node: N, layout: &Layout) -> bool {
        make_room(&mut self.nodes, 1);
        self.nodes.push(node);
        if let Some(open) = self.strips.last_mut()
            && open.first.on_line_of(&cut, layout)
            && cut.place(layout) - open.first.place(layout) == open.len
        {
            open.len += 1;
            return false;
        }
        make_room(&mut self.strips, 1);
        self.strips.push(Strip { first: cut, len: 1 });
        true
    }

    /// An empty level with room for this many strips and cuts.
    pub(super) fn with_room(strips: usize, cuts: usize) -> Self {
        Level {
            strips: Vec::with_capacity(strips),
            nodes: Vec::with_capacity(cuts),
        }
    }

    /// Appends a level whose lines all come after those of this one.
    pub(super) fn extend(&mut self, other: Level<K, N>) {
        make_room(&mut self.strips, other.strips.len());
        make_room(&mut self.nodes, other.nodes.len());
        self.strips.extend(other.strips);
        self.nodes.extend(other.nodes);
    }

    /// Ends a line: drops the cuts at which no state is left, and returns their number.
    #[inline]
    pub(super) fn settle<R: NodeRules<Node = N>>(
        &mut self,
        line: LineStart,
        layout: &Layout,
        rules: &R,
    ) -> u64 {
        let mut keep = Vec::new();
        let mut place = 0;
        for strip in &self.strips[line.strips..] {
            for along in 0..strip.len {
                let node = &mut self.nodes[line.nodes + place];
                place += 1;
                if !rules.settle(node, strip.cut(along, layout)) {
                    keep.resize(place - 1, true);
                    keep.push(false);
                }
            }
        }
        if keep.is_empty() {
            return 0;
        }
        keep.resize(place, true);
        self.retain(line, &keep, layout);
        keep.iter().filter(|keep| !**keep).count() as u64
    }

    /// Of the cuts added since `begun`, keeps those for which `keep` returns true, in their order.
    pub(super) fn retain(&mut self, begun: LineStart, keep: &[bool], layout: &Layout) {
        let mut kept = begun.nodes;
        for (place, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
            self.nodes.swap(kept, begun.nodes + place);
            kept += 1;
        }
        self.nodes.truncate(kept);
        let mut keep = keep.iter();
        for strip in self.strips.split_off(begun.strips) {
            let mut open = false;
            for along in 0..strip.len {
                let wanted = keep.next().is_some_and(|keep| *keep);
                match self.strips.last_mut() {
                    Some(last) if wanted && open => last.len += 1,
                    _ if wanted => self.strips.push(Strip {
                        first: strip.first.moved(along, layout),
                        len: 1,
                    }),
                    _ => {}
                }
                open = wanted;
            }
        }
    }
}

/// A new level has room for this many cuts.
const ROOM: usize = 1024;

/// Grows by an eighth instead of doubling: levels grow slowly, and the frontier is the memory.
#[inline]
fn make_room<T>(all: &mut Vec<T>, more: usize) {
    if all.capacity() - all.len() < more {
        all.reserve_exact((all.len() / 8).max(ROOM).max(more));
    }
}
