//! Nodes made superfluous by others, whatever events follow.
//!
//! One node covers another if its stage can do everything that the other's can, its lowest cut contains no more (as far as that
//! matters), its chains end no earlier, and everything that will be inside the other will be inside it. The last condition is
//! not a question of what is inside now: of two nodes with the same interval, the one reached by the later event will have the
//! larger one. Every move of the covered node is then answered, and the answer covers again.

use super::{
    Bounds, Moves, Role, Scratch, Streaming,
    history::{EventPosition, NEVER},
    nodes::NodeId,
};

/// The number of generations of parents that are compared.
const DEEPEST: usize = 8;

impl Streaming {
    /// Whether a new node is covered by one that was reached in a similar way. If not, these nodes are compared in the other
    /// direction too, and those that it covers are dropped.
    pub(super) fn is_superfluous(&mut self, moves: &Moves, id: NodeId) -> bool {
        let stage = self.nodes.get(id).stage;
        let key = self.nodes.key(id);
        // Nodes that end on no chain are few, and all are compared.
        let ends_nowhere = moves.loops_on_all(stage);
        let lists = match (ends_nowhere, self.nodes.list(stage, key)) {
            (true, _) => self.nodes.lists(stage),
            (false, list) => list..list + 1,
        };
        let mut covered = false;
        for list in lists {
            let mut others = std::mem::take(self.nodes.listed(list));
            others.retain(|&(other_key, other)| {
                if covered || (!ends_nowhere && other_key != key) {
                    return true;
                }
                if self.nodes.get(other).role != Role::Searched {
                    return false;
                }
                if self.covers(moves, other, id) {
                    covered = true;
                } else if self.covers(moves, id, other) {
                    self.nodes.drop(other);
                    return false;
                }
                true
            });
            *self.nodes.listed(list) = others;
        }
        covered
    }

    /// Compares this many pairs of nodes, continuing where it stopped last time, and drops covered nodes.
    pub(super) fn drop_covered(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        pairs: usize,
    ) {
        if !bounds.pruning.cover {
            return;
        }
        let is_searched =
            |search: &Streaming, id: NodeId| search.nodes.get(id).role == Role::Searched;
        // A node open on a chain is not covered by one that is not: this settles most pairs.
        let open = |id: NodeId| {
            let ends = self.nodes.ends(id).iter().enumerate();
            let open = ends.filter(|(_, end)| **end == NEVER);
            open.fold(0, |all, (chain, _)| all | 1u64 << (chain % 64))
        };
        let nodes = &mut scratch.compared;
        nodes.clear();
        nodes.extend(
            { self.nodes.ids() }
                .filter(|&id| is_searched(self, id))
                .map(|id| (id, self.nodes.get(id).stage, open(id))),
        );
        let width = self.history.width();
        let all = nodes.len() * nodes.len();
        if all == 0 {
            return;
        }
        let begin = self.compared as usize % all;
        let (mut row, mut place) = (begin / nodes.len(), begin % nodes.len());
        for _ in 0..pairs.min(all) {
            let ((larger, a, open), (smaller, b, other)) = (nodes[row], nodes[place]);
            let may_cover = other & !open == 0 || width > 64;
            if may_cover
                && moves.simulates(a, b)
                && larger != smaller
                && is_searched(self, larger)
                && is_searched(self, smaller)
                && self.covers(moves, larger, smaller)
            {
                self.nodes.drop(smaller);
            }
            place += 1;
            if place == nodes.len() {
                (row, place) = ((row + 1) % nodes.len(), 0);
            }
        }
        self.compared = (row * nodes.len() + place) as u32;
    }

    /// Whether one node can do everything that another can, for ever.
    pub(super) fn covers(&self, moves: &Moves, larger: NodeId, smaller: NodeId) -> bool {
        let (a, b) = (self.nodes.get(larger), self.nodes.get(smaller));
        if !moves.simulates(a.stage, b.stage) {
            return false;
        }
        // A node to be expanded still needs the events of its own moves; and another stage may move on events that this one no
        // longer asks for.
        let lowest = if b.expanded && a.stage == b.stage {
            self.nodes.coarse(larger)
        } else {
            self.nodes.lowest(larger)
        };
        is_below(lowest, self.nodes.lowest(smaller))
            && is_below(self.nodes.ends(smaller), self.nodes.ends(larger))
            && self.keeps_up(moves, larger, smaller, DEEPEST)
    }

    /// Whether everything that will be inside `smaller` because it is inside its parent will be inside `larger`, too.
    fn keeps_up(&self, moves: &Moves, larger: NodeId, smaller: NodeId, depth: usize) -> bool {
        let (a, b) = (self.nodes.get(larger), self.nodes.get(smaller));
        if self.stays_on_all_that_enters(moves, larger, smaller) {
            return true;
        }
        let (Some(of_a), Some(of_b), Some(by_a), Some(by_b)) = (a.parent, b.parent, a.by, b.by)
        else {
            return false;
        };
        depth > 0
            && self.comes_after(by_a, by_b)
            && (of_a == of_b
                || (is_below(self.nodes.ends(of_b), self.nodes.ends(of_a))
                    && moves
                        .loops(self.nodes.get(of_b).stage)
                        .is_within(moves.loops(self.nodes.get(of_a).stage))
                    && self.keeps_up(moves, of_a, of_b, depth - 1)))
    }

    fn stays_on_all_that_enters(&self, moves: &Moves, larger: NodeId, smaller: NodeId) -> bool {
        let loops = moves.loops(self.nodes.get(larger).stage);
        let mut next = self.nodes.get(smaller).parent;
        while let Some(parent) = next {
            let node = self.nodes.get(parent);
            if !moves.loops(node.stage).is_within(loops) {
                return false;
            }
            next = node.parent;
        }
        true
    }

    /// Whether an event equals another, or comes after it; `false` if that is no longer known.
    fn comes_after(&self, later: EventPosition, earlier: EventPosition) -> bool {
        if later.chain == earlier.chain {
            return earlier.place <= later.place;
        }
        self.history.is_kept(later)
            && self.history.clock(later)[earlier.chain.index()] >= earlier.place
    }
}

fn is_below(smaller: &[u32], larger: &[u32]) -> bool {
    smaller.iter().zip(larger).all(|(a, b)| a <= b)
}
