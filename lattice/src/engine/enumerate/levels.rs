//! A frontier whose keys become wider when necessary.

use portent_monitor_core::ChainId;

use super::{
    frontier::{Frontier, Full, LeftOut, LevelBounds, NodeRules, Workspace},
    key::{Key, Layout},
    labelled::LabelledPoset,
};

/// A level with keys as wide as it needs.
#[derive(Clone, Debug)]
pub(crate) enum Levels<N> {
    Narrow(Frontier<u64, N>),
    Middle(Frontier<u128, N>),
    Wide(Frontier<Box<[u32]>, N>),
}

/// Expands the same expression for each kind of frontier.
macro_rules! each {
    ($levels:expr, $frontier:ident => $body:expr) => {
        match $levels {
            Levels::Narrow($frontier) => $body,
            Levels::Middle($frontier) => $body,
            Levels::Wide($frontier) => $body,
        }
    };
}

impl<N: Clone + Send + Sync> Levels<N> {
    /// The level with one cut.
    pub(crate) fn new(cut: &[u32], node: N, ceiling: &[u32]) -> Self {
        Levels::of(&[cut.to_vec()], vec![node], ceiling)
    }

    /// The level with these sorted cuts, of which there is at least one.
    pub(crate) fn of(cuts: &[Vec<u32>], nodes: Vec<N>, ceiling: &[u32]) -> Self {
        let (mut least, mut most) = (ceiling.to_vec(), vec![0; ceiling.len()]);
        for cut in cuts {
            for (chain, &count) in cut.iter().enumerate() {
                least[chain] = least[chain].min(count);
                most[chain] = most[chain].max(count);
            }
        }
        let layout = |bits| Layout::fit(&least, &most, ceiling, bits);
        if let Some(layout) = layout(u64::BITS) {
            return Levels::Narrow(Frontier::new(cuts, nodes, layout));
        }
        if let Some(layout) = layout(u128::BITS) {
            return Levels::Middle(Frontier::new(cuts, nodes, layout));
        }
        match layout(<Box<[u32]>>::BITS) {
            Some(layout) => Levels::Wide(Frontier::new(cuts, nodes, layout)),
            None => unreachable!("keys that are lists have no limit"),
        }
    }

    /// Makes the next level.
    pub(crate) fn advance<R: NodeRules<Node = N>>(
        &mut self,
        labelled: LabelledPoset<'_>,
        bounds: LevelBounds<'_>,
        rules: &R,
    ) -> LeftOut {
        loop {
            match each!(self, frontier => frontier.advance(labelled, bounds, rules)) {
                Ok(left_out) => return left_out,
                Err(Full) => self.widen(bounds.ceiling),
            }
        }
    }

    fn widen(&mut self, ceiling: &[u32]) {
        if let Levels::Narrow(frontier) = self
            && let Ok(middle) = frontier.repacked(ceiling)
        {
            *self = Levels::Middle(middle);
            return;
        }
        let wide = each!(self, frontier => frontier.repacked(ceiling));
        if let Ok(wide) = wide {
            *self = Levels::Wide(wide);
        }
    }

    /// The number of cuts.
    pub(crate) fn len(&self) -> usize {
        each!(self, frontier => frontier.level.nodes.len())
    }

    /// The data kept at each cut, in the order of the cuts.
    pub(crate) fn nodes(&self) -> &[N] {
        each!(self, frontier => &frontier.level.nodes)
    }

    pub(crate) fn nodes_mut(&mut self) -> &mut [N] {
        each!(self, frontier => &mut frontier.level.nodes)
    }

    /// Visits every node, together with a way to find its cut.
    pub(crate) fn each(&self, mut see: impl FnMut(&N, &dyn Fn() -> Vec<u32>)) {
        each!(self, frontier => {
            let cuts = frontier.level.cuts(&frontier.layout);
            for (cut, node) in cuts.zip(&frontier.level.nodes) {
                see(node, &|| cut.counts());
            }
        });
    }

    /// The bytes that the level holds, without what nodes point to, and those of its marks.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        each!(self, frontier => frontier.bytes())
    }

    /// The bytes that the nodes point to.
    pub(crate) fn heap_bytes<R: NodeRules<Node = N>>(&self, rules: &R) -> u64 {
        let nodes = self.nodes().iter();
        nodes.map(|node| rules.heap_bytes(node) as u64).sum()
    }

    /// The bytes that a strip of one cut takes.
    pub(crate) fn strip_bytes(&self) -> u64 {
        each!(self, frontier => frontier.strip_bytes() as u64)
    }

    /// The bytes that a walk takes for each cut of a level while the next one is made; up to twice as many cuts may accumulate
    /// before they are dropped. A node takes `node` bytes including everything that it points to.
    pub(crate) fn walk_bytes(&self, node: u64) -> u64 {
        let (strip, chains) = (self.strip_bytes(), self.width() as u64);
        // Vectors grow by an eighth.
        let cut = (strip + node) * 9 / 8;
        let marks = 8 * chains.div_ceil(64);
        // A key, and a bit for each chain.
        let successors = strip + chains.div_ceil(8);
        // Which of the accumulated cuts are kept, and their strips.
        let narrowing = 2 + strip;
        3 * cut + marks + successors + narrowing
    }

    /// The cuts without their data.
    pub(crate) fn cuts_alone(&self) -> Levels<()> {
        match self {
            Levels::Narrow(frontier) => Levels::Narrow(frontier.cuts_alone()),
            Levels::Middle(frontier) => Levels::Middle(frontier.cuts_alone()),
            Levels::Wide(frontier) => Levels::Wide(frontier.cuts_alone()),
        }
    }

    /// The cut at an index; `None` beyond the last.
    pub(crate) fn cut(&self, place: usize) -> Option<Vec<u32>> {
        each!(self, frontier => {
            let mut before = 0;
            let strip = frontier.level.strips.iter().find(|strip| {
                before += strip.len as usize;
                place < before
            })?;
            let along = place + strip.len as usize - before;
            Some(strip.cut(along as u32, &frontier.layout).counts())
        })
    }

    /// The least number of events of a chain in any cut; `None` if there are no cuts.
    pub(crate) fn least(&self, chain: ChainId) -> Option<u32> {
        each!(self, frontier => frontier.least(chain))
    }

    /// Copies another level, reusing its own memory if keys are narrow.
    pub(crate) fn assign(&mut self, other: &Self) {
        match (self, other) {
            (Levels::Narrow(one), Levels::Narrow(other)) => one.assign(other),
            (one, other) => *one = other.clone(),
        }
    }

    /// Exchanges the memory for later levels, if keys are narrow.
    pub(crate) fn swap_workspace(&mut self, workspace: &mut Workspace<u64, N>) {
        if let Levels::Narrow(frontier) = self {
            std::mem::swap(&mut frontier.workspace, workspace);
        }
    }

    /// The number of chains of the cuts.
    pub(crate) fn width(&self) -> usize {
        each!(self, frontier => frontier.layout.width())
    }
}
