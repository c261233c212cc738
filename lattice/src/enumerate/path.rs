//! The way to a violation, found again after the levels that led there are gone.
//!
//! Search keeps one level, so it knows the cut and the state of the first violation but not how a
//! run gets there. The lattice below that cut is walked once more, now with labels: at checkpoints
//! every node is given a number, and the nodes that follow carry the number of the checkpoint node
//! that they come from. At the end the numbers lead back from checkpoint to checkpoint, and the same is
//! done between them, until checkpoints are one level apart. The pieces are small lattices, so the
//! whole costs little more than the one walk, and memory is a chosen number of levels.
//!
//! Of all ways to the cut in that state, the one that swaps the fewest pairs of events is found:
//! adding an event to a cut swaps it with the events there that were observed later, whatever the
//! order in which they came, so the number of swaps adds up along a way.

use smallvec::SmallVec;

use super::{
    frontier::{Bounds, Rules},
    ground::Ground,
    key::{Cut, Key},
    levels::Levels,
    observed::Observed,
    window::Window,
};
use crate::{EventIndex, StateIndex, product::Machine};

/// A state, how few swaps lead to it, and from which node of the last checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Trail {
    state: StateIndex,
    swaps: u64,
    label: u32,
}

struct Trailing<'a, M> {
    ground: Ground<'a>,
    machine: &'a M,
}

impl<M: Machine> Rules for Trailing<'_, M> {
    type Node = SmallVec<[Trail; 1]>;

    fn step<K: Key>(&self, event: EventIndex) -> impl Fn(&Self::Node, Cut<'_, K>) -> Self::Node {
        let action = self.ground.action(event);
        move |node, cut| {
            let swapped = self.ground.overtaken(|chain| cut.count(chain), event);
            let mut after = Self::Node::new();
            for trail in node {
                let state = self.machine.step(trail.state, action);
                let swaps = trail.swaps + swapped;
                put(
                    &mut after,
                    Trail {
                        state,
                        swaps,
                        ..*trail
                    },
                );
            }
            after
        }
    }

    fn merge(&self, into: &mut Self::Node, other: Self::Node) {
        for trail in other {
            put(into, trail);
        }
    }
}

fn put(node: &mut SmallVec<[Trail; 1]>, trail: Trail) {
    match node.binary_search_by_key(&trail.state, |other| other.state) {
        Ok(place) => node[place] = node[place].min(trail),
        Err(place) => node.insert(place, trail),
    }
}

/// A cut and a state in it.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) cut: Vec<u32>,
    pub(crate) state: StateIndex,
}

/// Finds ways between spots.
pub(crate) struct Paths<'a, M> {
    pub(crate) ground: Ground<'a>,
    pub(crate) machine: &'a M,
    pub(crate) observed: &'a Observed,
    /// As in the search that found the violation: what it reached, this reaches.
    pub(crate) window: Option<usize>,
    pub(crate) lookahead: Option<u32>,
    /// How many checkpoints a walk may keep; at least 2.
    pub(crate) checkpoints: usize,
    pub(crate) parallel: bool,
}

impl<M: Machine> Paths<'_, M> {
    /// The events of a way from one spot to a later one; `None` if there is none.
    pub(crate) fn find(&self, from: &Spot, to: &Spot) -> Option<Vec<EventIndex>> {
        let mut events = Vec::new();
        self.extend(from, to, &mut events).then_some(events)
    }

    fn extend(&self, from: &Spot, to: &Spot, events: &mut Vec<EventIndex>) -> bool {
        let count = |cut: &[u32]| cut.iter().map(|&n| n as usize).sum::<usize>();
        let (start, end) = (count(&from.cut), count(&to.cut));
        let length = end - start;
        if length == 0 {
            return from.state == to.state;
        }
        let stride = length.div_ceil(self.checkpoints);
        let rules = Trailing {
            ground: self.ground,
            machine: self.machine,
        };
        let first = Trail {
            state: from.state,
            swaps: 0,
            label: 0,
        };
        let mut levels = Levels::new(&from.cut, SmallVec::from_slice(&[first]), &to.cut);
        // For each checkpoint its nodes, each with its label of the checkpoint before.
        let mut kept: Vec<Vec<(Spot, u32)>> = Vec::new();
        let mut observed = self.observed.cut(self.ground.poset, start);
        for made in 1..=length {
            self.observed
                .advance(self.ground.poset, start + made - 1, &mut observed);
            let window = self.window.map(|width| Window {
                observed: &observed,
                width,
            });
            let bounds = Bounds {
                upper: &to.cut,
                ceiling: &to.cut,
                lookahead: self.lookahead,
                window,
                persistent: None,
                parallel: self.parallel,
            };
            levels.advance(self.ground, bounds, &rules);
            if made % stride == 0 && made < length {
                kept.push(checkpoint(&mut levels));
            }
        }
        let Some(node) = levels.nodes().first() else {
            return false;
        };
        let Some(last) = node.iter().find(|trail| trail.state == to.state) else {
            return false;
        };
        let mut spots = vec![to.clone()];
        let mut label = last.label;
        for nodes in kept.into_iter().rev() {
            let (spot, before) = nodes[label as usize].clone();
            spots.push(spot);
            label = before;
        }
        spots.push(from.clone());
        spots.reverse();
        for pair in spots.windows(2) {
            let [a, b] = pair else { continue };
            if stride > 1 {
                if !self.extend(a, b, events) {
                    return false;
                }
                continue;
            }
            let chains = a.cut.iter().zip(&b.cut).enumerate();
            for (chain, (&before, _)) in chains.filter(|(_, (before, after))| before < after) {
                events.push(self.ground.poset.chain(chain)[before as usize]);
            }
        }
        true
    }
}

/// Numbers the nodes of a level, and lets them carry these numbers on.
fn checkpoint(levels: &mut Levels<SmallVec<[Trail; 1]>>) -> Vec<(Spot, u32)> {
    let mut cuts = Vec::with_capacity(levels.len());
    levels.each(|_, cut| cuts.push(cut()));
    let mut kept = Vec::new();
    for (cut, node) in cuts.iter().zip(levels.nodes_mut()) {
        for trail in node {
            let spot = Spot {
                cut: cut.clone(),
                state: trail.state,
            };
            kept.push((spot, trail.label));
            trail.label = kept.len() as u32 - 1;
        }
    }
    kept
}
