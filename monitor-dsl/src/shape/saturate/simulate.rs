//! Which nodes can do all that others can, so that a search need not look at both.

use super::{classes_of, draft::SaturationDraft, pairs};
use crate::shape::{bad_prefixes::Node, saturated::SaturatedEdge};

/// A chain with more nodes than this is searched without comparing different nodes.
const MAX_SIMULATED: usize = 128;

impl SaturationDraft<'_> {
    /// The greatest simulation, by taking out pairs until nothing changes: whether the first of
    /// each pair of nodes can follow every path of the second. (Inclusion would not do: after
    /// moves were dropped, a node may accept less than its language, as others make up for it.)
    pub(super) fn simulation(&self) -> Vec<bool> {
        let nodes = self.meaning.len();
        let mut simulates: Vec<bool> = pairs(nodes)
            .map(|(larger, smaller)| {
                larger == smaller || (smaller != Node::BAD && nodes <= MAX_SIMULATED)
            })
            .collect();
        loop {
            let mut changed = false;
            for (index, (larger, smaller)) in pairs(nodes).enumerate() {
                if simulates[index] && !self.follows(larger, smaller, &simulates) {
                    simulates[index] = false;
                    changed = true;
                }
            }
            if !changed {
                return simulates;
            }
        }
    }

    /// Whether every move of `smaller` has an answer.
    fn follows(&self, larger: Node, smaller: Node, simulates: &[bool]) -> bool {
        let nodes = self.meaning.len();
        let moves = |node: Node| {
            let classes = self.bad_prefixes.classes();
            let stays = classes_of(self.bad_prefixes)
                .filter(move |class| self.loops[node.index() * classes + class.index()])
                .map(move |class| SaturatedEdge { class, to: node });
            stays.chain(self.edges[node.index()].iter().copied())
        };
        moves(smaller).all(|edge| {
            moves(larger).any(|answer| {
                answer.class == edge.class && simulates[answer.to.index() * nodes + edge.to.index()]
            })
        })
    }
}
