//! The heaviest closed set of a directed graph, by a minimum cut.
//!
//! A set of nodes is closed if it has everything that its members require. Picard (1976): give every node of positive weight
//! an edge from a source and every one of negative weight an edge to a sink, with its weight as capacity, and let requirements
//! have no capacity limit; then the source's side of a minimum cut is a heaviest closed set, and its weight is the sum of the
//! positive weights less the flow. So the flow so far bounds the weight from above at any time, which is often enough to stop.
//!
//! The flow is Dinic's: breadth first, then a blocking flow along shortest paths only.

use std::collections::VecDeque;

use crate::stop::Stop;

/// The result of asking whether a closed set has at least a given weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heaviest {
    /// A heaviest closed set, as its members.
    Closed(Vec<bool>),
    /// There is no such set.
    Lighter,
    /// A limit was reached first.
    GaveUp,
}

/// A graph whose nodes have weights and require others.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The first edge of each node; edges come in pairs, there and back.
    first: Vec<u32>,
    /// For each edge, the next edge of its node, its target, and its residual capacity.
    next: Vec<u32>,
    to: Vec<u32>,
    room: Vec<u64>,
    /// The sum of the positive weights, less the flow.
    bound: u64,
}

const NONE: u32 = u32::MAX;
const SOURCE: u32 = 0;
const SINK: u32 = 1;
const UNLIMITED: u64 = u64::MAX / 2;

impl Network {
    /// A graph of this many nodes, without weights or requirements.
    pub(super) fn new(nodes: usize) -> Network {
        Network {
            first: vec![NONE; nodes + 2],
            next: Vec::new(),
            to: Vec::new(),
            room: Vec::new(),
            bound: 0,
        }
    }

    /// Sets the weight of a node.
    pub(super) fn weigh(&mut self, node: usize, weight: i64) {
        let node = node as u32 + 2;
        let amount = weight.unsigned_abs();
        if weight > 0 {
            self.bound += amount;
            self.connect(SOURCE, node, amount);
        } else if weight < 0 {
            self.connect(node, SINK, amount);
        }
    }

    /// Every closed set with `node` contains `other`.
    pub(super) fn require(&mut self, node: usize, other: usize) {
        self.connect(node as u32 + 2, other as u32 + 2, UNLIMITED);
    }

    fn connect(&mut self, from: u32, to: u32, room: u64) {
        for (from, to, room) in [(from, to, room), (to, from, 0)] {
            self.next.push(self.first[from as usize]);
            self.first[from as usize] = self.to.len() as u32;
            self.to.push(to);
            self.room.push(room);
        }
    }

    /// Looks for a heaviest closed set, if one weighs at least `enough`; examines about `edges` edges at most.
    pub(super) fn heaviest(&mut self, enough: u64, edges: u64, stop: &Stop) -> Heaviest {
        let mut left = edges;
        let mut layers = vec![0; self.first.len()];
        loop {
            if self.bound < enough {
                return Heaviest::Lighter;
            }
            if left == 0 || stop.is_raised() {
                return Heaviest::GaveUp;
            }
            if !self.layer(&mut layers, &mut left) {
                let members = layers[2..].iter().map(|&layer| layer != 0).collect();
                return Heaviest::Closed(members);
            }
            self.block(&layers, enough, &mut left);
        }
    }

    /// Numbers the nodes by their distance from the source, starting at 1, with 0 for unreachable nodes; returns whether the
    /// sink is reachable.
    fn layer(&self, layers: &mut [u32], left: &mut u64) -> bool {
        layers.fill(0);
        layers[SOURCE as usize] = 1;
        let mut queue = VecDeque::from([SOURCE]);
        while let Some(node) = queue.pop_front() {
            for edge in self.edges(node) {
                *left = left.saturating_sub(1);
                let to = self.to[edge as usize];
                if self.room[edge as usize] > 0 && layers[to as usize] == 0 {
                    layers[to as usize] = layers[node as usize] + 1;
                    queue.push_back(to);
                }
            }
        }
        layers[SINK as usize] != 0
    }

    fn edges(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |edge: u32| (edge != NONE).then_some(edge);
        let first = some(self.first[node as usize]);
        std::iter::successors(first, move |&edge| some(self.next[edge as usize]))
    }

    /// Sends as much as possible along edges from layer to layer.
    fn block(&mut self, layers: &[u32], enough: u64, left: &mut u64) {
        // For each node, the first edge that may still lead on.
        let mut current = self.first.clone();
        let mut path: Vec<u32> = Vec::new();
        let mut node = SOURCE;
        loop {
            if node == SINK {
                let amount = path
                    .iter()
                    .map(|&edge| self.room[edge as usize])
                    .min()
                    .unwrap_or(0);
                self.bound -= amount;
                for &edge in &path {
                    self.room[edge as usize] -= amount;
                    self.room[edge as usize ^ 1] += amount;
                }
                if self.bound < enough || *left == 0 {
                    return;
                }
                // Continues before the first edge that is now full.
                let full = path
                    .iter()
                    .position(|&edge| self.room[edge as usize] == 0)
                    .unwrap_or(0);
                node = self.to[path[full] as usize ^ 1];
                path.truncate(full);
                continue;
            }
            let edge = current[node as usize];
            if edge == NONE {
                let Some(edge) = path.pop() else { return };
                node = self.to[edge as usize ^ 1];
                current[node as usize] = self.next[edge as usize];
                continue;
            }
            *left = left.saturating_sub(1);
            let to = self.to[edge as usize];
            if self.room[edge as usize] > 0 && layers[to as usize] == layers[node as usize] + 1 {
                path.push(edge);
                node = to;
            } else {
                current[node as usize] = self.next[edge as usize];
            }
        }
    }
}
