//! The intervals that are searched while events arrive, and the order in which an event meets them.
//!
//! A node stands for all cuts that are reached by one sequence of moves: those that contain `lowest` and nothing from `ends` on.
//! `ends` also concerns the future: a chain on which it is [`NEVER`] is *open*, and the next event there may be
//! inside or not. An event need only examine the nodes that are open on its chain.

use portent_monitor_core::ChainId;
use smallvec::SmallVec;

use super::{
    history::{EventPosition, NEVER},
    moves::{Moves, Stage},
    story::StoryId,
};

portent_monitor_core::ids! {
    /// A node, by its slot.
    pub(super) struct NodeId(pub(super) u32);
}

/// The approximate number of nodes in a list.
const IN_A_LIST: usize = 8;

/// The nodes of a rank that are open on a chain: usually few, and there may be very many such lists.
pub(super) type Open = SmallVec<[NodeId; 4]>;

/// Why a node is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Its interval is searched.
    Searched,
    /// Another node can do everything that it could, but what is inside its children depends on what is inside it.
    Followed,
    /// It is no longer needed.
    Gone,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) stage: Stage,
    pub(super) role: Role,
    /// Whether its moves by events that arrived before it was made were examined.
    pub(super) expanded: bool,
    /// The event that led here; only for a node that has, or had, a parent.
    pub(super) by: Option<EventPosition>,
    /// Its predecessor, as long as future events inside that one can be inside this one for that reason alone.
    pub(super) parent: Option<NodeId>,
    /// The number of nodes with this one as parent.
    pub(super) children: u32,
    pub(super) story: StoryId,
    /// The number of events after which it was made.
    pub(super) born: u32,
}

/// All nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    pub(super) width: usize,
    pub(super) all: Vec<Node>,
    /// For each node `ends`, `lowest`, and a coarser `lowest`, for comparing nodes that are expanded.
    pub(super) bounds: Vec<u32>,
    pub(super) free: Vec<NodeId>,
    /// The number of nodes searched.
    pub(super) searched: usize,
    /// For each chain and rank, the nodes open there, oldest first, so that parents come before their children.
    pub(super) open: Vec<Open>,
    /// For each stage the nodes that are searched, with a sketch that identifies likely candidates for comparison, in `spread`
    /// lists: those with equal keys are in the same list.
    pub(super) by_stage: Vec<Vec<(u64, NodeId)>>,
    pub(super) spread: usize,
    pub(super) stages: usize,
    /// The nodes dropped by the current event.
    pub(super) dropped: Vec<NodeId>,
}

impl Nodes {
    pub(super) fn new(moves: &Moves) -> Nodes {
        Nodes {
            stages: moves.stages(),
            by_stage: vec![Vec::new(); moves.stages()],
            spread: 1,
            ..Nodes::default()
        }
    }

    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.all[id.index()]
    }

    pub(super) fn get_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.all[id.index()]
    }

    /// All nodes still kept, in no particular order.
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        let all = self.all.iter().zip(0..);
        all.filter(|(node, _)| node.role != Role::Gone)
            .map(|(_, id)| NodeId(id))
    }

    pub(super) fn ends(&self, id: NodeId) -> &[u32] {
        &self.bounds[id.index() * 3 * self.width..][..self.width]
    }

    pub(super) fn ends_mut(&mut self, id: NodeId) -> &mut [u32] {
        &mut self.bounds[id.index() * 3 * self.width..][..self.width]
    }

    pub(super) fn lowest(&self, id: NodeId) -> &[u32] {
        &self.bounds[(id.index() * 3 + 1) * self.width..][..self.width]
    }

    pub(super) fn coarse(&self, id: NodeId) -> &[u32] {
        &self.bounds[(id.index() * 3 + 2) * self.width..][..self.width]
    }

    /// Both forms of `lowest`.
    pub(super) fn lowest_mut(&mut self, id: NodeId) -> &mut [u32] {
        &mut self.bounds[(id.index() * 3 + 1) * self.width..][..2 * self.width]
    }

    /// A slot for a node that may turn out to be unnecessary.
    pub(super) fn make(&mut self, node: Node) -> NodeId {
        match self.free.pop() {
            Some(id) => {
                self.all[id.index()] = node;
                id
            }
            None => {
                self.all.push(node);
                self.bounds.resize(self.all.len() * 3 * self.width, 0);
                NodeId(self.all.len() as u32 - 1)
            }
        }
    }

    /// Removes the last node made, which has not been used yet.
    pub(super) fn unmake(&mut self, id: NodeId) {
        self.all[id.index()].role = Role::Gone;
        self.free.push(id);
    }

    /// The node just made is searched from now on.
    pub(super) fn add(&mut self, id: NodeId, moves: &Moves) {
        let (stage, parent) = (self.get(id).stage, self.get(id).parent);
        if let Some(parent) = parent {
            self.get_mut(parent).children += 1;
        }
        let rank = moves.rank(stage);
        for chain in 0..self.width {
            if self.ends(id)[chain] == NEVER {
                self.open[chain * moves.ranks() + rank].push(id);
            }
        }
        let key = self.key(id);
        let list = self.list(stage, key);
        self.by_stage[list].push((key, id));
        self.searched += 1;
    }

    /// What nodes worth comparing first have in common: the chains of the last two moves.
    pub(super) fn key(&self, id: NodeId) -> u64 {
        let chain = |node: &Node| node.by.map_or(0, |by| by.chain.index() as u64 + 1);
        let node = self.get(id);
        let before = node
            .parent
            .map_or(u64::from(u32::MAX), |p| chain(self.get(p)));
        chain(node) << 32 | before
    }

    /// The list for nodes of a stage with this key.
    pub(super) fn list(&self, stage: Stage, key: u64) -> usize {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        stage.index() * self.spread + hash as usize % self.spread
    }

    /// All lists of the nodes of a stage.
    pub(super) fn lists(&self, stage: Stage) -> std::ops::Range<usize> {
        stage.index() * self.spread..(stage.index() + 1) * self.spread
    }

    /// A list of the searched nodes of one stage; it may also contain some that were dropped recently.
    pub(super) fn listed(&mut self, list: usize) -> &mut Vec<(u64, NodeId)> {
        &mut self.by_stage[list]
    }

    /// The searched nodes of a stage; these may include some that were dropped recently.
    pub(super) fn at_stage(&self, stage: Stage) -> impl Iterator<Item = NodeId> + '_ {
        let lists = self.by_stage[self.lists(stage)].iter();
        lists.flatten().map(|&(_, id)| id)
    }

    /// The nodes of one rank that are open on a chain, taken out to be put back.
    pub(super) fn take_open(&mut self, chain: ChainId, rank: usize, moves: &Moves) -> Open {
        std::mem::take(&mut self.open[chain.index() * moves.ranks() + rank])
    }

    pub(super) fn put_open(&mut self, chain: ChainId, rank: usize, moves: &Moves, open: Open) {
        self.open[chain.index() * moves.ranks() + rank] = open;
    }

    pub(super) fn is_open_empty(&self, chain: ChainId, rank: usize, moves: &Moves) -> bool {
        self.open[chain.index() * moves.ranks() + rank].is_empty()
    }

    /// Stops searching a node. The current event may still be about to move it, so the node is kept until
    /// [all is done](Nodes::let_go_dropped), and then as long as children depend on it.
    pub(super) fn drop(&mut self, id: NodeId) {
        if self.get(id).role == Role::Searched {
            self.searched -= 1;
            self.get_mut(id).role = Role::Followed;
            self.dropped.push(id);
        }
    }

    /// Releases dropped nodes that are no longer needed.
    pub(super) fn let_go_dropped(&mut self) {
        while let Some(id) = self.dropped.pop() {
            self.let_go(id);
        }
    }

    /// Declares that nothing can be inside a node only because its parent has it.
    pub(super) fn cut_link(&mut self, id: NodeId) {
        if let Some(parent) = self.get_mut(id).parent.take() {
            self.get_mut(parent).children -= 1;
            self.let_go(parent);
        }
    }

    fn let_go(&mut self, mut id: NodeId) {
        // From child to parent, as far as nothing else keeps them alive.
        while self.get(id).role == Role::Followed && self.get(id).children == 0 {
            self.get_mut(id).role = Role::Gone;
            let Some(parent) = self.get_mut(id).parent.take() else {
                return;
            };
            self.get_mut(parent).children -= 1;
            id = parent;
        }
    }

    /// Adds chains; every kept node is open there.
    pub(super) fn widen(&mut self, width: usize, moves: &Moves) {
        let old = self.width;
        if width <= old {
            return;
        }
        let mut bounds = vec![0; self.all.len() * 3 * width];
        for bound in 0..self.all.len() * 3 {
            let wider = &mut bounds[bound * width..][..width];
            wider[..old].copy_from_slice(&self.bounds[bound * old..][..old]);
            if bound % 3 == 0 {
                wider[old..].fill(NEVER);
            }
        }
        self.bounds = bounds;
        self.width = width;
        self.open.resize_with(width * moves.ranks(), Open::new);
        let mut ids: Vec<NodeId> = self.ids().collect();
        // Slots are reused, so their order is not that of age; parents come first.
        let depth = |mut id: NodeId| {
            let mut depth = 0;
            while let Some(parent) = self.get(id).parent {
                (depth, id) = (depth + 1, parent);
            }
            depth
        };
        ids.sort_by_cached_key(|&id| depth(id));
        for chain in old..width {
            for &id in &ids {
                let rank = moves.rank(self.get(id).stage);
                self.open[chain * moves.ranks() + rank].push(id);
            }
        }
    }

    /// Gives the nodes their stories, in the order of their ids, and returns the number of nodes.
    pub(super) fn put_stories(&mut self, stories: &[StoryId]) -> usize {
        let there = self.all.iter_mut().filter(|node| node.role != Role::Gone);
        let mut count = 0;
        for (node, &story) in there.zip(stories) {
            node.story = story;
            count += 1;
        }
        count
    }

    /// Frees the slots of all released nodes.
    pub(super) fn sweep(&mut self) {
        let all = &self.all;
        for open in &mut self.open {
            open.retain(|id| all[id.index()].role != Role::Gone);
        }
        self.free.clear();
        let gone = (0..).map(NodeId).zip(all);
        let gone = gone.filter(|(_, node)| node.role == Role::Gone);
        self.free.extend(gone.map(|(id, _)| id));
        let searched = all.iter().filter(|node| node.role == Role::Searched);
        self.searched = searched.count();
        self.spread = (self.searched / IN_A_LIST).next_power_of_two();
        self.list_by_stage();
    }

    /// Rebuilds the lists of searched nodes.
    pub(super) fn list_by_stage(&mut self) {
        for list in &mut self.by_stage {
            list.clear();
        }
        // Lists that are empty now will be needed again.
        let lists = self.by_stage.len().max(self.stages * self.spread);
        self.by_stage.resize_with(lists, Vec::new);
        for id in (0..self.all.len() as u32).map(NodeId) {
            if self.get(id).role != Role::Searched {
                continue;
            }
            let key = self.key(id);
            let list = self.list(self.get(id).stage, key);
            self.by_stage[list].push((key, id));
        }
    }
}
