//! From the decision trees of a machine to conditions.
//!
//! For an edge, the tree of its state becomes a diagram that says which letters lead there, and the
//! diagram is read from the root on: some cells of a place decide the question at once, the others
//! each with what is left to be asked. Where one half of the cells leaves the opposite of what the
//! other does, that is an exclusive or, which keeps a parity as short as it is. Where the same
//! propositions come up again and again in this way, a [sum or a product](super::cover) may be shorter.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Condition,
    cover::{Cover, NormalForm},
};
use crate::{
    alphabet::Alphabet,
    diagram::{Budget, Diagram, Diagrams, Variable, View},
    machine::{DecisionNode, DecisionTrees},
    monitor::{Monitor, StateId},
};

/// Where a condition should lead.
struct Goal<'a> {
    /// Whether a state is where it should lead.
    wanted: &'a dyn Fn(u32) -> bool,
    /// Whether such a state may be below a node; only where it surely is not, the node is skipped.
    possible: &'a dyn Fn(u32) -> bool,
}

pub(super) struct ConditionWriter<'a> {
    alphabet: &'a Alphabet,
    trees: &'a DecisionTrees,
    /// Sets of letters, with a variable for each place.
    pub(super) diagrams: Diagrams,
    /// What was read off diagrams.
    written: FxHashMap<Diagram, Condition>,
}

impl<'a> ConditionWriter<'a> {
    pub(super) fn new(monitor: &'a Monitor) -> Self {
        let mut diagrams = Diagrams::new(Budget::UNLIMITED);
        monitor.alphabet().declare(&mut diagrams);
        ConditionWriter {
            alphabet: monitor.alphabet(),
            trees: monitor.trees(),
            diagrams,
            written: FxHashMap::default(),
        }
    }

    pub(super) fn edges(&mut self, state: StateId) -> Vec<(StateId, Condition)> {
        let root = self.trees.root(state.0);
        let mut below = FxHashMap::default();
        self.targets_below(root, &mut below);
        let mut edges = Vec::new();
        for target in self.trees.successors(state.0) {
            let goal = Goal {
                wanted: &|to| to == target,
                possible: &|node| below[&node].binary_search(&target).is_ok(),
            };
            let set = self.letters(root, &goal, &mut FxHashMap::default());
            edges.push((StateId(target), self.condition(set)));
        }
        edges
    }

    pub(super) fn condition_for(
        &mut self,
        state: StateId,
        wanted: &dyn Fn(StateId) -> bool,
    ) -> Condition {
        let root = self.trees.root(state.0);
        let goal = Goal {
            wanted: &|to| wanted(StateId(to)),
            possible: &|_| true,
        };
        let set = self.letters(root, &goal, &mut FxHashMap::default());
        self.condition(set)
    }

    /// For every node from `node` on the states below it, in order.
    fn targets_below(&self, node: u32, below: &mut FxHashMap<u32, Vec<u32>>) {
        if below.contains_key(&node) {
            return;
        }
        let mut targets = Vec::new();
        match self.trees.node(node) {
            DecisionNode::State(state) => targets.push(*state),
            DecisionNode::Test(_, branches) => {
                for branch in branches {
                    self.targets_below(*branch, below);
                    targets.extend_from_slice(&below[branch]);
                }
                targets.sort_unstable();
                targets.dedup();
            }
        }
        below.insert(node, targets);
    }

    /// The letters that lead from a node to the goal.
    fn letters(&mut self, node: u32, goal: &Goal, known: &mut FxHashMap<u32, Diagram>) -> Diagram {
        if !(goal.possible)(node) {
            return Diagram::FALSE;
        }
        if let Some(&set) = known.get(&node) {
            return set;
        }
        let trees = self.trees;
        let set = match trees.node(node) {
            DecisionNode::State(state) if (goal.wanted)(*state) => Diagram::TRUE,
            DecisionNode::State(_) => Diagram::FALSE,
            DecisionNode::Test(place, branches) => {
                let branches: Vec<Diagram> = branches
                    .iter()
                    .map(|&branch| self.letters(branch, goal, known))
                    .collect();
                self.diagrams.test(Variable(*place), &branches)
            }
        };
        known.insert(node, set);
        set
    }

    /// The shortest condition for a set of letters that is found.
    fn condition(&mut self, set: Diagram) -> Condition {
        let mut best = self.split(set);
        let mut places = FxHashSet::default();
        self.diagrams.for_each_test(set, |place| {
            places.insert(place.0);
        });
        if best.literals() <= places.len() {
            return best;
        }
        for form in [NormalForm::Sum, NormalForm::Product] {
            if let Some(other) = Cover::new(self, form).condition(set)
                && other.literals() < best.literals()
            {
                best = other;
            }
        }
        best
    }

    /// A condition for a set of letters, place by place.
    fn split(&mut self, set: Diagram) -> Condition {
        let variable = match self.diagrams.view(set) {
            View::Leaf(0) => return Condition::False,
            View::Leaf(_) => return Condition::True,
            View::Test(variable) => variable,
        };
        if let Some(known) = self.written.get(&set) {
            return known.clone();
        }
        let place = variable.0 as usize;
        // Cells that continue in the same way share one condition.
        let branches = self.diagrams.branches(set).to_vec();
        let mut groups: Vec<(Diagram, Vec<bool>)> = Vec::new();
        for (cell, &branch) in branches.iter().enumerate() {
            let position = groups.iter().position(|(known, _)| *known == branch);
            let group = position.unwrap_or_else(|| {
                groups.push((branch, vec![false; branches.len()]));
                groups.len() - 1
            });
            groups[group].1[cell] = true;
        }
        let condition = match groups.as_slice() {
            [(rest, _), (opposite, cells)]
                if !rest.is_constant() && self.diagrams.not(*rest) == *opposite =>
            {
                let rest = self.split(*rest);
                self.cells(place, cells).xor(rest)
            }
            _ => {
                // What is decided at once comes first.
                groups.sort_by_key(|(rest, _)| *rest != Diagram::TRUE);
                // If only one other case is left then, it need not be said that it is the other.
                let either = groups.len() == 2 && groups[0].0 == Diagram::TRUE;
                groups.retain(|(rest, _)| *rest != Diagram::FALSE);
                let parts = groups.iter().enumerate().map(|(index, (rest, cells))| {
                    let rest = self.split(*rest);
                    if either && index == 1 {
                        rest
                    } else {
                        self.cells(place, cells).and(rest)
                    }
                });
                Condition::any(parts.collect())
            }
        };
        self.written.insert(set, condition.clone());
        condition
    }

    /// A condition on the propositions of a place that tells `wanted` cells from the others.
    pub(super) fn cells(&self, place: usize, wanted: &[bool]) -> Condition {
        let propositions = self.alphabet.propositions_at(place);
        let mut covered: Vec<bool> = wanted.iter().map(|cell| !cell).collect();
        let mut cubes = Vec::new();
        while let Some(cell) = covered.iter().position(|covered| !covered) {
            let cube = widest_cube(&propositions, wanted, &covered, cell);
            for (other, covered) in covered.iter_mut().enumerate() {
                *covered |= matches(&propositions, &cube, other);
            }
            cubes.push(cube);
        }
        let literal = |(position, value): &(usize, bool)| match (value, propositions[*position].0) {
            (true, proposition) => Condition::Proposition(proposition),
            (false, proposition) => Condition::Not(proposition),
        };
        let cube = |cube: &Vec<(usize, bool)>| {
            cube.iter()
                .map(literal)
                .fold(Condition::True, Condition::and)
        };
        Condition::any(cubes.iter().map(cube).collect())
    }
}

/// Literals that hold in `cell` and in no cell that is not wanted: of the cells not yet covered, all
/// take part that can.
fn widest_cube(
    propositions: &[(usize, Vec<bool>)],
    wanted: &[bool],
    covered: &[bool],
    cell: usize,
) -> Vec<(usize, bool)> {
    // Beginning with positive or with negative literals gives different cubes; the wider wins.
    let candidates = [true, false].map(|positive_first| {
        let mut cube: Vec<(usize, bool)> = propositions
            .iter()
            .enumerate()
            .map(|(position, (_, cells))| (position, cells[cell]))
            .collect();
        cube.sort_by_key(|&(position, value)| (value == positive_first, position));
        let mut index = 0;
        while index < cube.len() {
            let mut shorter = cube.clone();
            shorter.remove(index);
            let exact = (0..wanted.len())
                .all(|other| wanted[other] || !matches(propositions, &shorter, other));
            if exact {
                cube = shorter;
            } else {
                index += 1;
            }
        }
        cube.sort_unstable();
        let gain = (0..wanted.len())
            .filter(|&other| !covered[other] && matches(propositions, &cube, other))
            .count();
        (gain, cube)
    });
    let [first, second] = candidates;
    let better = first.0 > second.0 || (first.0 == second.0 && first.1.len() <= second.1.len());
    if better { first.1 } else { second.1 }
}

fn matches(propositions: &[(usize, Vec<bool>)], cube: &[(usize, bool)], cell: usize) -> bool {
    cube.iter()
        .all(|&(position, value)| propositions[position].1[cell] == value)
}
