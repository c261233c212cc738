//! Saturation: turning alternations into chains.
//!
//! The minimal automaton of most safety properties is cyclic (`[a, b)` opens and closes), although
//! a violation is a chain of a few events among others that do not matter. Four changes keep the
//! language, and together often leave no cycle but self-loops:
//!
//! 1. *Loops.* Where L(n) ⊆ L(δ(n, a)), n may also stay on a: what is accepted after having stayed
//!    is accepted after having moved. (By induction on the length of the word, all at once.)
//! 2. *Lower entries.* A move to n may lead to any m with L(m) ⊆ L(n) instead; a run may also begin
//!    there.
//! 3. *Meets.* For a strongly connected component without a least node, a new node may stand for
//!    "wherever we are in it", with the intersection of the languages; it has the moves that all
//!    of them allow. It loops on all that does not leave the component. So `(open close)*` is
//!    violated by *anything, then open, then open*.
//! 4. *Dropping.* Moves that lead away from violations are what closes cycles. They go where the rest
//!    still accepts every bad prefix, which is [checked](super::completeness) and not argued. Near
//!    is measured by the chance that random actions violate soon, which respects inclusion.
//!
//! [`draft`] holds the first three, [`thin`] the last.
//!
//! The first three cannot accept too much and the fourth cannot accept too little, so the result
//! is exact. Not every language of the form ∪ A₀\* a₁ A₁\* … is recognised as such: the weak point
//! are components that need several meets.

mod draft;
mod simulate;
mod thin;

use self::draft::SaturationDraft;
use super::{
    bad_prefixes::{ActionClass, BadPrefixes, Node},
    completeness::SubsetBudget,
    inclusion::Inclusion,
    saturated::Saturated,
};
use crate::scc::{self, Components};

/// Inclusion is computed for all pairs of nodes, so their number is bounded.
const MAX_NODES: usize = 1024;
/// The most entries of all pairs times all classes.
const MAX_EFFORT: usize = 1 << 27;
/// Work for all checks of completeness together: well below a second.
const CHECKS: usize = 1 << 25;

/// See [`Saturated::new`].
pub(super) fn saturate(bad_prefixes: &BadPrefixes) -> Option<Saturated> {
    let nodes = bad_prefixes.nodes();
    let effort = nodes * nodes * bad_prefixes.classes().max(1);
    if nodes > MAX_NODES || effort > MAX_EFFORT {
        return None;
    }
    let inclusion = Inclusion::new(bad_prefixes);
    let components = components(bad_prefixes);
    let mut budget = SubsetBudget(CHECKS);
    let chain = [false, true].into_iter().find_map(|meets| {
        let mut draft = SaturationDraft::new(bad_prefixes, &inclusion, &components, meets);
        draft.thin(&mut budget).then_some(draft)
    });
    Some(match chain {
        Some(draft) => {
            let simulates = draft.simulation();
            draft.finish(true, simulates)
        }
        None => {
            // Nothing was dropped, so every node accepts its language and inclusion will do.
            let draft = SaturationDraft::plain(bad_prefixes, &inclusion, &components);
            let pairs = pairs(nodes).map(|(larger, smaller)| inclusion.included(smaller, larger));
            draft.finish(false, pairs.collect())
        }
    })
}

/// The strongly connected components of the nodes from which bad can be reached.
fn components(bad_prefixes: &BadPrefixes) -> Components {
    let targets: Vec<Vec<u32>> = nodes_of(bad_prefixes)
        .map(|node| {
            let mut targets: Vec<u32> = classes_of(bad_prefixes)
                .map(|class| bad_prefixes.step(node, class).0)
                .collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        })
        .collect();
    scc::components(targets.len(), |node| &targets[node])
}

fn nodes_of(bad_prefixes: &BadPrefixes) -> impl Iterator<Item = Node> + use<> {
    (0..bad_prefixes.nodes() as u32).map(Node)
}

fn classes_of(bad_prefixes: &BadPrefixes) -> impl Iterator<Item = ActionClass> + use<> {
    (0..bad_prefixes.classes() as u32).map(ActionClass)
}

/// All pairs of nodes, in the order of a matrix.
fn pairs(nodes: usize) -> impl Iterator<Item = (Node, Node)> {
    let row = move |larger| (0..nodes as u32).map(move |smaller| (Node(larger), Node(smaller)));
    (0..nodes as u32).flat_map(row)
}

/// Whether a node is neither bad nor dead.
fn is_live(node: Node) -> bool {
    node != Node::BAD && node != Node::DEAD
}
