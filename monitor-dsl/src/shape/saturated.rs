//! A nondeterministic automaton for the bad prefixes, with as many self-loops as it can bear.

use super::{
    bad_prefixes::{ActionClass, BadPrefixes, Node},
    saturate,
};
use crate::{
    automaton::ActionId,
    scc::{self, Components},
};

/// A move of a [`Saturated`] automaton to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SaturatedEdge {
    /// On which actions.
    pub class: ActionClass,
    /// Where to.
    pub to: Node,
}

/// A nondeterministic automaton that accepts the bad prefixes: a word is one iff some path leads
/// to [`Node::BAD`].
///
/// What it does on an action is to stay, where the node [loops](Saturated::loops) on it, or to take
/// an [edge](Saturated::edges). If [`is_chain`](Saturated::is_chain), every path is a chain: no node
/// that was left is met again.
#[derive(Clone, Debug)]
pub struct Saturated {
    pub(super) initial: Vec<Vec<Node>>,
    pub(super) class_of: Vec<ActionClass>,
    pub(super) classes: usize,
    /// Whether node `n` loops on class `c`, at `n * classes + c`.
    pub(super) loops: Vec<bool>,
    pub(super) edges: Vec<Vec<SaturatedEdge>>,
    pub(super) chain: bool,
    /// Whether node `n` can do all that node `m` can, at `n * nodes + m`.
    pub(super) simulates: Vec<bool>,
}

impl Saturated {
    /// Saturates the automaton of the bad prefixes; `None` if it is too large for that to pay
    /// (over a thousand nodes).
    pub fn new(bad_prefixes: &BadPrefixes) -> Option<Self> {
        saturate::saturate(bad_prefixes)
    }

    /// Whether self-loops are the only cycles.
    pub fn is_chain(&self) -> bool {
        self.chain
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.edges.len()
    }

    /// The nodes where runs from the n-th initial state of the table begin.
    pub fn initial(&self, start: usize) -> &[Node] {
        &self.initial[start]
    }

    /// The number of classes of actions.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class of an action of the table.
    pub fn class_of(&self, action: ActionId) -> ActionClass {
        self.class_of[action.0 as usize]
    }

    /// Whether a node may stay on an action.
    pub fn loops(&self, node: Node, class: ActionClass) -> bool {
        self.loops[node.index() * self.classes + class.index()]
    }

    /// The moves from a node to others.
    pub fn edges(&self, node: Node) -> &[SaturatedEdge] {
        &self.edges[node.index()]
    }

    /// Whether `larger` can follow every path of `smaller`: what is searched from the one need not
    /// be searched from the other.
    pub fn simulates(&self, larger: Node, smaller: Node) -> bool {
        self.simulates[larger.index() * self.nodes() + smaller.index()]
    }

    /// The nodes after a word of actions, sorted: the subset construction, one word at a time.
    ///
    /// ```
    /// use portent_monitor_dsl::{Verdict, automaton::*, shape::*};
    ///
    /// // Violated by a second `a`, whatever happens in between.
    /// let automaton = Automaton {
    ///     initial: StateIndex(0),
    ///     actions: 2,
    ///     next: [1, 0, 2, 1, 2, 2].map(StateIndex).to_vec(),
    ///     verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
    /// };
    /// let saturated = Saturated::new(&BadPrefixes::new(&automaton)?).expect("small");
    ///
    /// let (a, b) = (ActionId(0), ActionId(1));
    /// assert!(saturated.after(0, &[b, a, b, a]).contains(&Node::BAD));
    /// assert!(!saturated.after(0, &[b, a, b]).contains(&Node::BAD));
    /// # Ok::<(), MalformedTable>(())
    /// ```
    pub fn after(&self, start: usize, word: &[ActionId]) -> Vec<Node> {
        let mut nodes = self.initial[start].clone();
        for &action in word {
            let class = self.class_of(action);
            let mut next: Vec<Node> = nodes
                .iter()
                .flat_map(|&node| {
                    let stays = self.loops(node, class).then_some(node);
                    let moves = self.edges(node).iter();
                    let moves = moves.filter(move |edge| edge.class == class);
                    stays.into_iter().chain(moves.map(|edge| edge.to))
                })
                .collect();
            next.sort_unstable();
            next.dedup();
            nodes = next;
        }
        nodes
    }

    /// Whether self-loops are the only cycles of these edges.
    pub(super) fn has_only_loops(edges: &[Vec<SaturatedEdge>]) -> bool {
        Saturated::components(edges).count == edges.len()
    }

    /// The strongly connected components that edges make.
    pub(super) fn components(edges: &[Vec<SaturatedEdge>]) -> Components {
        let targets: Vec<Vec<u32>> = edges
            .iter()
            .map(|edges| edges.iter().map(|edge| edge.to.0).collect())
            .collect();
        scc::components(targets.len(), |node| &targets[node])
    }
}
