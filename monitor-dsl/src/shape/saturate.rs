//! Saturation: turning alternations into chains.
//!
//! The minimal automaton of most safety properties is cyclic (`[a, b)` opens and closes), although
//! a violation is a chain of a few events among others that do not matter. Four changes keep the
//! language, and together often leave no cycle but self-loops:
//!
//! 1. *Loops.* Where L(n) ⊆ L(δ(n, a)), n may also stay on a: what is accepted after having stayed
//!    is accepted after having moved. (By induction on the length of the word, all at once.)
//! 2. *Lower entries.* Who may enter n may enter any m with L(m) ⊆ L(n) instead; so may a run begin
//!    there.
//! 3. *Meets.* For a strongly connected component without a least node, a new node may stand for
//!    "wherever we are in it", with the intersection of the languages; it has the moves that all
//!    of them allow. It loops on all that does not leave the component. So `(open close)*` is
//!    violated by *anything, then open, then open*.
//! 4. *Dropping.* Moves that lead away from violations are what closes cycles. They go where the rest
//!    still accepts every bad prefix, which is [checked](super::completeness) and not argued. Near
//!    is measured by the chance that random actions violate soon, which respects inclusion.
//!
//! The first three cannot accept too much and the fourth cannot accept too little, so the result
//! is exact. Not every language of the form ∪ A₀\* a₁ A₁\* … is recognised as such: the weak point
//! are components that need several meets.

use super::{
    bad_prefixes::{ActionClass, BadPrefixes, Node},
    completeness::{Budget, is_complete},
    inclusion::Inclusion,
    saturated::{Edge, Saturated},
};
use crate::scc::{self, Components};
use rustc_hash::FxHashSet;

/// Inclusion is computed for all pairs of nodes, so their number is bounded.
const MAX_NODES: usize = 1024;
/// The most entries of all pairs times all classes.
const MAX_EFFORT: usize = 1 << 27;
/// Work for all checks of completeness together: well below a second.
const CHECKS: usize = 1 << 25;
/// So many lower entries are tried; more would make large automata dear to no avail.
const MAX_ADDED: usize = 1 << 13;
/// A chain with more nodes than this is searched without comparing different nodes.
const MAX_SIMULATED: usize = 128;
/// How much less a violation counts for each action that it is away.
const DISCOUNT: f64 = 0.75;
/// Violations farther away than this count nothing.
const HORIZON: usize = 100;

/// See [`Saturated::new`].
pub(super) fn saturate(bad_prefixes: &BadPrefixes) -> Option<Saturated> {
    let nodes = bad_prefixes.nodes();
    let effort = nodes * nodes * bad_prefixes.classes().max(1);
    if nodes > MAX_NODES || effort > MAX_EFFORT {
        return None;
    }
    let inclusion = Inclusion::new(bad_prefixes);
    let components = components(bad_prefixes);
    let mut budget = Budget(CHECKS);
    let chain = [false, true].into_iter().find_map(|meets| {
        let mut draft = Draft::new(bad_prefixes, &inclusion, &components, meets);
        draft.thin(&mut budget).then_some(draft)
    });
    Some(match chain {
        Some(draft) => {
            let simulates = draft.simulation();
            draft.finish(true, simulates)
        }
        None => {
            // Nothing was dropped, so every node accepts its language and inclusion will do.
            let draft = Draft::plain(bad_prefixes, &inclusion, &components);
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

/// A move with where it comes from.
type Move = (Node, Edge);

/// An automaton in the making.
struct Draft<'a> {
    bad_prefixes: &'a BadPrefixes,
    inclusion: &'a Inclusion,
    /// For each node, the nodes of the deterministic automaton whose languages it intersects.
    meaning: Vec<Vec<Node>>,
    /// The component of each node; a meet is in the component that it is of.
    component: Vec<u32>,
    /// How near each node is to violations.
    nearness: Vec<f64>,
    initial: Vec<Vec<Node>>,
    loops: Vec<bool>,
    edges: Vec<Vec<Edge>>,
    /// Moves that close cycles.
    backward: Vec<Move>,
    /// Moves and beginnings that were added, and may be superfluous.
    added: Vec<Move>,
    added_initial: Vec<(usize, Node)>,
}

impl<'a> Draft<'a> {
    /// The deterministic automaton with all loops.
    fn plain(
        bad_prefixes: &'a BadPrefixes,
        inclusion: &'a Inclusion,
        components: &Components,
    ) -> Self {
        let mut draft = Draft {
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
                    draft.edges[node.index()].push(Edge { class, to });
                }
            }
        }
        draft.add_loops();
        draft
    }

    /// Also with lower entries, and with meets if asked for.
    fn new(
        bad_prefixes: &'a BadPrefixes,
        inclusion: &'a Inclusion,
        components: &Components,
        meets: bool,
    ) -> Self {
        let mut draft = Draft::plain(bad_prefixes, inclusion, components);
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
                edges.extend(highest.map(|to| Edge { class, to }));
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

    /// Lets everybody who goes to a node go lower, unless that closes a cycle.
    fn add_entries(&mut self) {
        let mut known: FxHashSet<Move> = FxHashSet::default();
        for (from, edges) in self.edges.iter().enumerate() {
            known.extend(edges.iter().map(|&edge| (Node(from as u32), edge)));
        }
        let mut originals: Vec<Move> = known.iter().copied().collect();
        originals.sort_unstable();
        for (from, Edge { class, to }) in originals {
            let inside = self.component[from.index()] == self.component[to.index()];
            for to in self.lower(to) {
                let entry = (from, Edge { class, to });
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

    /// Drops moves that close cycles, and whether none is left; then what was added for nothing.
    fn thin(&mut self, budget: &mut Budget) -> bool {
        let all = self.edges.clone();
        let backward = std::mem::take(&mut self.backward);
        for &(from, edge) in &backward {
            self.edges[from.index()].retain(|&other| other != edge);
        }
        if !self.is_complete(budget) {
            self.edges = all;
            for &dropped in &backward {
                self.try_drop(dropped, budget);
            }
            self.break_cycles(budget);
        }
        if !Saturated::has_only_loops(&self.edges) {
            return false;
        }
        for added in std::mem::take(&mut self.added) {
            self.try_drop(added, budget);
        }
        for (start, node) in std::mem::take(&mut self.added_initial) {
            let before = self.initial[start].clone();
            self.initial[start].retain(|&other| other != node);
            if !self.is_complete(budget) {
                self.initial[start] = before;
            }
        }
        true
    }

    /// Where a move away from violations is needed, the way back may not be.
    fn break_cycles(&mut self, budget: &mut Budget) {
        let added: FxHashSet<Move> = self.added.iter().copied().collect();
        // A move that is needed stays needed when others go.
        let mut needed: FxHashSet<Move> = FxHashSet::default();
        let mut candidates = self.on_cycles();
        candidates.sort_by_key(|candidate| added.contains(candidate));
        while let Some(&closing) = candidates.iter().find(|closing| !needed.contains(closing)) {
            if budget.is_spent() {
                return;
            }
            if self.try_drop(closing, budget) {
                candidates = self.on_cycles();
                candidates.sort_by_key(|candidate| added.contains(candidate));
            } else {
                needed.insert(closing);
            }
        }
    }

    /// The moves that are on a cycle.
    fn on_cycles(&self) -> Vec<Move> {
        let components = Saturated::components(&self.edges).of;
        let mut moves: Vec<Move> = Vec::new();
        for (from, edges) in self.edges.iter().enumerate() {
            let inside = |edge: &&Edge| components[from] == components[edge.to.index()];
            let edges = edges.iter().filter(inside);
            moves.extend(edges.map(|&edge| (Node(from as u32), edge)));
        }
        moves
    }

    /// Drops a move if nothing is lost.
    fn try_drop(&mut self, (from, edge): Move, budget: &mut Budget) -> bool {
        let before = self.edges[from.index()].clone();
        self.edges[from.index()].retain(|&other| other != edge);
        let complete = self.is_complete(budget);
        if !complete {
            self.edges[from.index()] = before;
        }
        complete
    }

    fn is_complete(&self, budget: &mut Budget) -> bool {
        is_complete(
            self.bad_prefixes,
            &self.initial,
            &self.loops,
            &self.edges,
            budget,
        )
    }

    fn finish(self, chain: bool, simulates: Vec<bool>) -> Saturated {
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

    /// The greatest simulation, by taking out pairs until nothing changes: whether the first of
    /// each pair of nodes can follow every path of the second. (Inclusion would not do: after
    /// moves were dropped, a node may accept less than its language, as others make up for it.)
    fn simulation(&self) -> Vec<bool> {
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
                .map(move |class| Edge { class, to: node });
            stays.chain(self.edges[node.index()].iter().copied())
        };
        moves(smaller).all(|edge| {
            moves(larger).any(|answer| {
                answer.class == edge.class && simulates[answer.to.index() * nodes + edge.to.index()]
            })
        })
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

/// All pairs of nodes, in the order of a matrix.
fn pairs(nodes: usize) -> impl Iterator<Item = (Node, Node)> {
    let row = move |larger| (0..nodes as u32).map(move |smaller| (Node(larger), Node(smaller)));
    (0..nodes as u32).flat_map(row)
}

/// Whether a node is neither bad nor dead.
fn is_live(node: Node) -> bool {
    node != Node::BAD && node != Node::DEAD
}
