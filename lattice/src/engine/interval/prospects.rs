//! The distance to the bad node, given the events still to come: dead ends and search order.
//!
//! An edge can only be taken by an event of its class that is not in the lowest cut yet. If no
//! path to the bad node is left, the node is dropped; otherwise the fewest edges to it are a lower
//! bound on the number of events that a violation still needs. There are few different sets of classes that
//! can still occur, so distances are cached for each.

use portent_monitor_dsl::shape::{ActionClass, Node, Saturated};
use std::collections::{HashMap, VecDeque};

use super::index::Index;

pub(super) struct Prospects {
    width: usize,
    /// For each class and chain, the last position of its events, 0 if there is none.
    last: Vec<u32>,
    classes: usize,
    /// For each set of classes, the distance of every node.
    known: HashMap<Vec<u64>, Vec<Option<u64>>>,
}

impl Prospects {
    pub(super) fn new(index: &Index<'_>, saturated: &Saturated) -> Self {
        let (width, classes) = (index.poset.width(), saturated.classes());
        let chains = index.poset.chains();
        let pairs = (0..classes).flat_map(|class| chains.clone().map(move |chain| (class, chain)));
        let last = pairs
            .map(|(class, chain)| {
                let positions = index.of_class(ActionClass(class as u32), chain);
                positions.last().copied().unwrap_or(0)
            })
            .collect();
        Prospects {
            width,
            last,
            classes,
            known: HashMap::new(),
        }
    }

    /// The fewest edges from a node to the bad one, by events that are not in a cut; `None` if
    /// there is no path.
    pub(super) fn distance(
        &mut self,
        saturated: &Saturated,
        node: Node,
        cut: &[u32],
    ) -> Option<u64> {
        let mut coming = vec![0u64; self.classes.div_ceil(64)];
        for class in 0..self.classes {
            let last = &self.last[class * self.width..][..self.width];
            if last.iter().zip(cut).any(|(last, count)| last > count) {
                coming[class / 64] |= 1 << (class % 64);
            }
        }
        if let Some(distances) = self.known.get(&coming) {
            return distances[node.index()];
        }
        let distances = distances(saturated, |class| {
            coming[class.index() / 64] >> (class.index() % 64) & 1 == 1
        });
        let distance = distances[node.index()];
        self.known.insert(coming, distances);
        distance
    }
}

/// Breadth-first from the bad node, against the edges that can be taken.
fn distances(saturated: &Saturated, can_come: impl Fn(ActionClass) -> bool) -> Vec<Option<u64>> {
    let mut before = vec![Vec::new(); saturated.nodes()];
    for node in (0..saturated.nodes() as u32).map(Node) {
        for edge in saturated.edges(node) {
            if can_come(edge.class) {
                before[edge.to.index()].push(node);
            }
        }
    }
    let mut distance = vec![None; saturated.nodes()];
    distance[Node::BAD.index()] = Some(0);
    let mut queue = VecDeque::from([(Node::BAD, 0)]);
    while let Some((node, steps)) = queue.pop_front() {
        for &node in &before[node.index()] {
            if distance[node.index()].is_none() {
                distance[node.index()] = Some(steps + 1);
                queue.push_back((node, steps + 1));
            }
        }
    }
    distance
}
