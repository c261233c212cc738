//! The automaton in the making: loops, lower entries and meets.

use rustc_hash::FxHashSet;

use super::{classes_of, is_live, nodes_of};
use crate::{
    scc::Components,
    shape::{
        bad_prefixes::{ActionClass, BadPrefixes, Node},
        inclusion::Inclusion,
        saturated::{Saturated, SaturatedEdge},
    },
};

/// This many lower entries are tried; more would make large automata dear to no avail.
const MAX_ADDED: usize = 1 << 13;
/// How much less a violation counts for each action that it is away.
const DISCOUNT: f64 = 0.75;
/// Violations farther away than this count nothing.
const HORIZON: usize = 100;

/// A move with where it comes from.
pub(super) type SourcedEdge = (Node, SaturatedEdge);

/// An automaton in the making.
pub(super) struct SaturationDraft<'a> {
    pub(super) bad_prefixes: &'a BadPrefixes,
    inclusion: &'a Inclusion,
    /// For each node, the nodes of the deterministic automaton whose languages it intersects.
    pub(super) meaning: Vec<Vec<Node>>,
    /// The component of each node; a meet is in the component that it is of.
    component: Vec<u32>,
    /// How near each node is to violations.
    nearness: Vec<f64>,
    pub(super) initial: Vec<Vec<Node>>,
    pub(super) loops: Vec<bool>,
    pub(super) edges: Vec<Vec<SaturatedEdge>>,
    /// Moves that close cycles.
    pub(super) backward: Vec<SourcedEdge>,
    /// Moves and beginnings that were added, and may be superfluous.
    pub(super) added: Vec<SourcedEdge>,
    pub(super) added_initial: Vec<(usize, Node)>,
}

impl<'a> SaturationDraft<'a> {
    /// The deterministic automaton with all loops.
    pub(super) fn plain(
        bad_prefixes: &'a BadPrefixes,
        inclusion: &'a Inclusion,
        components: &Components,
    ) -> Self {
        let mut draft = SaturationDraft {
            bad_prefixes,
            inclusion,
            meaning: nodes_of(bad_prefixes).map(|node| vec![node]).collect(),
            component: components.of.clone(),
            nearness: nearness(bad_prefixes),
            initial: bad_prefixes
                .initial()
                .iter()
                .map(|&node| vec![node])
                .collect(),
            loops: Vec::new(),
            edges: vec![Vec::new(); bad_prefixes.nodes()],
            backward: Vec::new(),
            added: Vec::new(),
            added_initial: Vec::new(),
        };
        for node in nodes_of(bad_prefixes).filter(|&node| is_live(node)) {
            for class in classes_of(bad_prefixes) {
                let to = bad_prefixes.step(node, class);
                if to != node && to != Node::DEAD {
                    draft.edges[node.index()].push(SaturatedEdge { class, to });
                }
            }
        }
        draft.add_loops();
        draft
    }

    /// Also with lower entries, and with meets if asked for.
    pub(super) fn new(
        bad_prefixes: &'a BadPrefixes,
        inclusion: &'a Inclusion,
        components: &Components,
        meets: bool,
    ) -> Self {
        let mut draft = SaturationDraft::plain(bad_prefixes, inclusion, components);
        draft.find_backward();
        if meets {
            draft.add_meets(components);
            draft.add_loops();
        }
        draft.add_entries();
        draft
    }

    /// Whether a move keeps the language: every word accepted after it, and for a meet that is a
    /// word of all that it stands for, was accepted after the action anyway.
    fn is_sound(&self, from: Node, class: ActionClass, to: Node) -> bool {
        self.meaning[from.index()].iter().all(|&node| {
            let target = self.bad_prefixes.step(node, class);
            self.is_below(to, target)
        })
    }

    /// Whether a node accepts no more than a node of the deterministic automaton.
    fn is_below(&self, node: Node, other: Node) -> bool {
        self.meaning[node.index()]
            .iter()
            .any(|&part| self.inclusion.included(part, other))
    }

    fn add_loops(&mut self) {
        let nodes = (0..self.meaning.len() as u32).map(Node);
        self.loops = nodes
            .flat_map(|node| classes_of(self.bad_prefixes).map(move |class| (node, class)))
            .map(|(node, class)| node != Node::DEAD && self.is_sound(node, class, node))
            .collect();
    }

    /// Whether a move within a component goes nearer to violations.
    fn is_ascent(&self, from: Node, to: Node) -> bool {
        self.nearness[from.index()] < self.nearness[to.index()]
    }

    fn find_backward(&mut self) {
        for node in nodes_of(self.bad_prefixes) {
            for &edge in &self.edges[node.index()] {
                let inside = self.component[node.index()] == self.component[edge.to.index()];
                if inside && !self.is_ascent(node, edge.to) {
                    self.backward.push((node, edge));
                }
            }
        }
        // Going down is superfluous more often than going sideways.
        let inclusion = self.inclusion;
        self.backward
            .sort_by_key(|&(from, edge)| !inclusion.included(edge.to, from));
    }

    fn add_meets(&mut self, components: &Components) {
        for members in components.members() {
            let members: Vec<Node> = members.into_iter().map(Node).collect();
            let is_least = |node: &Node| {
                members
                    .iter()
                    .all(|&other| self.inclusion.included(*node, other))
            };
            if members.iter().any(is_least) {
                continue;
            }
            let meet = Node(self.meaning.len() as u32);
            self.component.push(self.component[members[0].index()]);
            self.nearness.push(0.0);
            self.meaning.push(members);
            let mut edges = Vec::new();
            for class in classes_of(self.bad_prefixes) {
                let sound: Vec<Node> = nodes_of(self.bad_prefixes)
                    .filter(|&to| to != Node::DEAD && self.is_sound(meet, class, to))
                    .collect();
                let is_highest = |to: &Node| {
                    sound
                        .iter()
                        .all(|other| other == to || !self.inclusion.included(*to, *other))
                };
                let highest = sound.iter().copied().filter(is_highest);
                edges.extend(highest.map(|to| SaturatedEdge { class, to }));
            }
            self.edges.push(edges);
        }
    }

    /// The other nodes of a component that accept no more than this one.
    fn lower(&self, entry: Node) -> Vec<Node> {
        (0..self.meaning.len() as u32)
            .map(Node)
            .filter(|&node| {
                node != entry
                    && is_live(node)
                    && self.component[node.index()] == self.component[entry.index()]
                    && self.is_below(node, entry)
            })
            .collect()
    }

    /// Lets every move to a node also lead to lower ones, unless that closes a cycle.
    fn add_entries(&mut self) {
        let mut known: FxHashSet<SourcedEdge> = FxHashSet::default();
        for (from, edges) in self.edges.iter().enumerate() {
            known.extend(edges.iter().map(|&edge| (Node(from as u32), edge)));
        }
        let mut originals: Vec<SourcedEdge> = known.iter().copied().collect();
        originals.sort_unstable();
        for (from, SaturatedEdge { class, to }) in originals {
            let inside = self.component[from.index()] == self.component[to.index()];
            for to in self.lower(to) {
                let entry = (from, SaturatedEdge { class, to });
                if self.added.len() < MAX_ADDED
                    && (!inside || self.is_ascent(from, to))
                    && known.insert(entry)
                {
                    self.edges[from.index()].push(entry.1);
                    self.added.push(entry);
                }
            }
        }
        let mut added_initial = Vec::new();
        for (start, entries) in self.initial.iter().enumerate() {
            for &entry in entries {
                let lower = self.lower(entry).into_iter();
                added_initial.extend(lower.map(|node| (start, node)));
            }
        }
        for &(start, node) in &added_initial {
            self.initial[start].push(node);
        }
        // What stays longest is the most likely to be needed, so it is tried last.
        let staying = |node: Node| {
            let classes = self.bad_prefixes.classes();
            let row = &self.loops[node.index() * classes..][..classes];
            row.iter().filter(|&&stays| stays).count()
        };
        self.added.sort_by_key(|(_, edge)| staying(edge.to));
        self.added_initial = added_initial;
        self.added_initial.sort_by_key(|&(_, node)| staying(node));
    }

    pub(super) fn finish(self, chain: bool, simulates: Vec<bool>) -> Saturated {
        Saturated {
            initial: self.initial,
            class_of: self.bad_prefixes.classes_of_actions().to_vec(),
            classes: self.bad_prefixes.classes(),
            loops: self.loops,
            edges: self.edges,
            chain,
            simulates,
        }
    }
}

/// The discounted chance of each node that random actions lead to the bad one.
fn nearness(bad_prefixes: &BadPrefixes) -> Vec<f64> {
    let mut nearness = vec![0.0; bad_prefixes.nodes()];
    nearness[Node::BAD.index()] = 1.0;
    for _ in 0..HORIZON {
        nearness = nodes_of(bad_prefixes)
            .map(|node| {
                if !is_live(node) {
                    return nearness[node.index()];
                }
                let after = classes_of(bad_prefixes)
                    .map(|class| nearness[bad_prefixes.step(node, class).index()]);
                DISCOUNT * after.sum::<f64>() / bad_prefixes.classes() as f64
            })
            .collect();
    }
    nearness
}
