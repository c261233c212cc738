//! The symbolic nodes found so far, and which of them make others superfluous.

use portent_monitor_dsl::shape::{Node, Saturated};
use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash},
};

use crate::order::EventIndex;

portent_monitor_core::ids! {
    /// A node of the search: its index among all nodes found.
    pub(super) struct Found(pub(super) u32);
}

/// How a node was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derivation {
    pub(super) node: Node,
    /// Its predecessor and the event that led here; `None` at a start.
    pub(super) parent: Option<(Found, EventIndex)>,
}

/// All nodes found.
pub(super) struct Nodes {
    width: usize,
    origins: Vec<Derivation>,
    /// The lowest and highest cut of each node, one after the other.
    bounds: Vec<u32>,
    /// A sketch of the lowest cut of each node: most nodes can be distinguished without comparing chains.
    sketches: Vec<Sketch>,
    /// For each node of the automaton, the nodes found, by the size of the highest cut.
    by_height: Vec<BTreeMap<u64, Vec<Found>>>,
    /// The nodes already found, as hashes of node and bounds.
    exact: HashMap<u64, Vec<Found>>,
}

/// The number of events in a cut, and a hash of it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sketch {
    size: u64,
    hash: u64,
}

impl Sketch {
    fn new(cut: &[u32]) -> Sketch {
        Sketch {
            size: size(cut),
            hash: hash(cut),
        }
    }

    /// Whether this may belong to a smaller cut, or to the same one.
    fn may_be_below(self, other: Sketch) -> bool {
        self.size < other.size || self == other
    }
}

/// At most this many others are examined to see whether a new node is inside one of them. Dropping is only a
/// matter of speed, and comparing with all would be quadratic.
const COMPARISONS: usize = 2_000;

impl Nodes {
    pub(super) fn new(width: usize, automaton_nodes: usize) -> Self {
        Nodes {
            width,
            origins: Vec::new(),
            bounds: Vec::new(),
            sketches: Vec::new(),
            by_height: vec![BTreeMap::new(); automaton_nodes],
            exact: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.origins.len()
    }

    pub(super) fn origin(&self, found: Found) -> Derivation {
        self.origins[found.0 as usize]
    }

    pub(super) fn lowest(&self, found: Found) -> &[u32] {
        &self.bounds[found.0 as usize * 2 * self.width..][..self.width]
    }

    pub(super) fn highest(&self, found: Found) -> &[u32] {
        &self.bounds[(found.0 as usize * 2 + 1) * self.width..][..self.width]
    }

    /// Adds a node, unless it is inside one that is at least as capable.
    pub(super) fn add(
        &mut self,
        saturated: &Saturated,
        origin: Derivation,
        lowest: &[u32],
        highest: &[u32],
    ) -> Option<Found> {
        let hash = hash((origin.node, lowest, highest));
        let is_same = |&found: &Found| {
            self.origin(found).node == origin.node
                && self.lowest(found) == lowest
                && self.highest(found) == highest
        };
        let known = self.exact.get(&hash);
        if known.is_some_and(|known| known.iter().any(is_same))
            || self.is_inside(saturated, origin.node, lowest, highest)
        {
            return None;
        }
        let found = Found(self.origins.len() as u32);
        self.exact.entry(hash).or_default().push(found);
        self.origins.push(origin);
        self.sketches.push(Sketch::new(lowest));
        self.bounds.extend_from_slice(lowest);
        self.bounds.extend_from_slice(highest);
        let height = size(highest);
        let equally_high = self.by_height[origin.node.index()].entry(height);
        equally_high.or_default().push(found);
        Some(found)
    }

    fn is_inside(
        &self,
        saturated: &Saturated,
        node: Node,
        lowest: &[u32],
        highest: &[u32],
    ) -> bool {
        let (sketch, height) = (Sketch::new(lowest), size(highest));
        let larger = (0..self.by_height.len() as u32)
            .map(Node)
            .filter(|&larger| saturated.simulates(larger, node));
        larger
            .flat_map(|larger| self.by_height[larger.index()].range(height..).rev())
            .flat_map(|(_, found)| found)
            .take(COMPARISONS)
            .any(|&found| {
                self.sketches[found.0 as usize].may_be_below(sketch)
                    && is_below(self.lowest(found), lowest)
                    && is_below(highest, self.highest(found))
            })
    }
}

fn hash(what: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(what)
}

/// The number of events in a cut.
pub(super) fn size(cut: &[u32]) -> u64 {
    cut.iter().map(|&count| u64::from(count)).sum()
}

fn is_below(smaller: &[u32], larger: &[u32]) -> bool {
    smaller.iter().zip(larger).all(|(a, b)| a <= b)
}
