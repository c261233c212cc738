//! Which nodes to keep when there are too many.
//!
//! Some nodes of every stage are kept, because a lost stage is not soon reached again; of the others, those open on the most
//! chains, then those with the largest intervals. Among equals the oldest stay: everything else starts from the initial node,
//! which would be lost first if the newest were preferred.
//!
//! A search is exact for as long as possible. Once a node was dropped it is no longer exact, and many nodes are no better than
//! a few: from then on there is a beam, which may overfill before it is pruned, because pruning costs more than an event.

use std::cmp::Reverse;

use portent_monitor_core::ChainId;

use super::{Bounds, Moves, Role, Streaming, history::NEVER, nodes::NodeId};

impl Streaming {
    /// Drops nodes if there are more than the bound allows.
    pub(crate) fn narrow(&mut self, moves: &Moves, bounds: &Bounds) {
        let most = match self.omissions.nodes {
            0 => bounds.nodes,
            _ => bounds
                .beam
                .saturating_add(bounds.beam / 4)
                .min(bounds.nodes),
        };
        if self.nodes.searched <= most {
            return;
        }
        let mut ids: Vec<NodeId> = { self.nodes.ids() }
            .filter(|&id| self.nodes.get(id).role == Role::Searched)
            .collect();
        ids.sort_by_cached_key(|&id| self.promise(id));
        let share = (bounds.beam / (2 * moves.stages())).max(1);
        let mut of_stage = vec![0; moves.stages()];
        let (first, rest): (Vec<NodeId>, Vec<NodeId>) = ids.into_iter().partition(|&id| {
            let count = &mut of_stage[self.nodes.get(id).stage.index()];
            *count += 1;
            *count <= share
        });
        let room = bounds.beam.saturating_sub(first.len());
        for &id in rest.iter().skip(room) {
            self.nodes.drop(id);
            self.omissions.nodes += 1;
        }
        self.nodes.let_go_dropped();
        self.nodes.sweep();
    }

    /// The number of nodes that one event may make.
    pub(super) fn most_new(&self, bounds: &Bounds) -> usize {
        match self.omissions.nodes {
            0 => bounds.new_nodes,
            _ => bounds.new_nodes.min((bounds.beam / 4).max(1)),
        }
    }

    /// Smaller keys are better.
    pub(super) fn promise(&self, id: NodeId) -> (Reverse<usize>, Reverse<u64>, u32) {
        let (ends, lowest) = (self.nodes.ends(id), self.nodes.lowest(id));
        let open = ends.iter().filter(|&&end| end == NEVER).count();
        let size = |chain: ChainId| {
            let end = ends[chain.index()].min(self.history.last(chain) + 1);
            u64::from(end.saturating_sub(lowest[chain.index()]))
        };
        let size = self.history.chains().map(size).sum();
        (Reverse(open), Reverse(size), self.nodes.get(id).born)
    }
}
