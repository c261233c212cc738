//! Whether an automaton in the making still accepts every bad prefix.
//!
//! The deterministic automaton and the subset construction of the other one are walked together: a
//! word is missing iff it leads to the bad node of the first and not of the second. The subsets
//! may be many, so the walk has a budget; a question that it cannot pay for counts as a no.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{
    bad_prefixes::{ActionClass, BadPrefixes, Node},
    saturated::SaturatedEdge,
};

/// A set of nodes, as bits.
type Bits = SmallVec<[u64; 2]>;

/// How much may still be done, in words of subsets that are read or written.
pub(super) struct SubsetBudget(pub(super) usize);

impl SubsetBudget {
    /// Takes from what is left; false if that is not enough, and then nothing is left.
    fn spend(&mut self, amount: usize) -> bool {
        let rest = self.0.checked_sub(amount);
        self.0 = rest.unwrap_or(0);
        rest.is_some()
    }

    /// Whether every further question will be a no.
    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// Whether every bad prefix is accepted.
pub(super) fn is_complete(
    bad_prefixes: &BadPrefixes,
    initial: &[Vec<Node>],
    loops: &[bool],
    edges: &[Vec<SaturatedEdge>],
    budget: &mut SubsetBudget,
) -> bool {
    let (nodes, classes) = (edges.len(), bad_prefixes.classes());
    let words = nodes.div_ceil(64);
    if !budget.spend(nodes * classes * words + edges.iter().map(Vec::len).sum::<usize>()) {
        return false;
    }
    let mut moves: Vec<Bits> = vec![smallvec::smallvec![0; words]; nodes * classes];
    for (node, edges) in edges.iter().enumerate() {
        for class in (0..classes).filter(|class| loops[node * classes + class]) {
            insert(&mut moves[node * classes + class], node);
        }
        for edge in edges {
            insert(
                &mut moves[node * classes + edge.class.index()],
                edge.to.index(),
            );
        }
    }
    let mut seen: FxHashSet<(Node, Bits)> = FxHashSet::default();
    let mut stack = Vec::new();
    for (&node, starts) in bad_prefixes.initial().iter().zip(initial) {
        let mut subset: Bits = smallvec::smallvec![0; words];
        for start in starts {
            insert(&mut subset, start.index());
        }
        if !visit(node, subset, &mut seen, &mut stack) {
            return false;
        }
    }
    while let Some((node, subset)) = stack.pop() {
        for class in 0..classes {
            let mut next: Bits = smallvec::smallvec![0; words];
            let mut work = words;
            for member in members(&subset) {
                work += words;
                for (word, &more) in next.iter_mut().zip(&moves[member * classes + class]) {
                    *word |= more;
                }
            }
            let node = bad_prefixes.step(node, ActionClass(class as u32));
            if !budget.spend(work) || !visit(node, next, &mut seen, &mut stack) {
                return false;
            }
        }
    }
    true
}

/// Notes a pair to be walked on from, if it is new; false if it shows a missing word.
fn visit(
    node: Node,
    subset: Bits,
    seen: &mut FxHashSet<(Node, Bits)>,
    stack: &mut Vec<(Node, Bits)>,
) -> bool {
    if node == Node::DEAD || subset[0] >> Node::BAD.0 & 1 == 1 {
        return true;
    }
    // The node is bad or can become so; an empty subset cannot.
    if node == Node::BAD || subset.iter().all(|&word| word == 0) {
        return false;
    }
    if seen.insert((node, subset.clone())) {
        stack.push((node, subset));
    }
    true
}

fn insert(bits: &mut Bits, node: usize) {
    bits[node / 64] |= 1 << (node % 64);
}

fn members(bits: &Bits) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(index * 64 + bit)
        })
    })
}
