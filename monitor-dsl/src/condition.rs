//! When a monitor goes where: conditions on propositions for the edges of a machine.
//!
//! Machines branch on cells of gauges; people, DOT and generated code read propositions. The
//! conditions of one state are disjoint and cover every letter that can occur; letters that cannot
//! occur are used to make them shorter (`b` instead of `!a && b` where `a` and `b` are events).

use rustc_hash::FxHashMap;

use crate::{
    alphabet::Alphabet,
    machine::{Tree, Trees},
    monitor::{Monitor, StateId},
};

/// A Boolean combination of the propositions of an alphabet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    True,
    /// Never.
    False,
    /// A proposition, by its place in [`Alphabet::propositions`].
    Proposition(usize),
    /// Not a proposition.
    Not(usize),
    /// All of these.
    And(Vec<Condition>),
    /// At least one of these.
    Or(Vec<Condition>),
}

impl Monitor {
    /// The edges that leave a state: where to, and when. The conditions are disjoint and cover all
    /// letters that can occur.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always (p -> next q)")?.monitor()?;
    /// let edges: Vec<String> = monitor
    ///     .edges(monitor.initial())
    ///     .iter()
    ///     .map(|(to, when)| format!("{} to {}", monitor.spell(when), to.index()))
    ///     .collect();
    /// assert_eq!(edges, ["!p to 0", "p to 1"]);
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn edges(&self, state: StateId) -> Vec<(StateId, Condition)> {
        let writer = Writer {
            alphabet: self.alphabet(),
            trees: self.trees(),
        };
        let root = self.trees().root(state.0);
        let mut below = FxHashMap::default();
        writer.targets_below(root, &mut below);
        let edge = |target: u32| {
            let goal = Goal {
                wanted: &|to| to == target,
                possible: &|node| below[&node].binary_search(&target).is_ok(),
            };
            (StateId(target), writer.condition(root, &goal))
        };
        self.trees()
            .successors(state.0)
            .into_iter()
            .map(edge)
            .collect()
    }

    /// The letters of one step from `state` that lead to a state that is `wanted`.
    pub(crate) fn condition_for(
        &self,
        state: StateId,
        wanted: impl Fn(StateId) -> bool,
    ) -> Condition {
        let writer = Writer {
            alphabet: self.alphabet(),
            trees: self.trees(),
        };
        let goal = Goal {
            wanted: &|to| wanted(StateId(to)),
            possible: &|_| true,
        };
        writer.condition(self.trees().root(state.0), &goal)
    }

    /// A condition as text, with propositions as [`Alphabet::propositions`] spells them.
    pub fn spell(&self, condition: &Condition) -> String {
        let propositions = self.alphabet().propositions();
        condition.spell(&|index| {
            let text = propositions[index].to_string();
            let atom = propositions[index].event().is_some() || !text.contains(' ');
            (text, atom)
        })
    }
}

impl Condition {
    /// The condition as text; `name` gives the text of a proposition, and whether it can be negated
    /// without parentheses.
    pub(crate) fn spell(&self, name: &dyn Fn(usize) -> (String, bool)) -> String {
        match self {
            Condition::True => "true".to_owned(),
            Condition::False => "false".to_owned(),
            Condition::Proposition(index) => name(*index).0,
            Condition::Not(index) => match name(*index) {
                (text, true) => format!("!{text}"),
                (text, false) => format!("!({text})"),
            },
            Condition::And(parts) => {
                let spell = |part: &Condition| match part {
                    Condition::Or(_) => format!("({})", part.spell(name)),
                    _ => part.spell(name),
                };
                parts.iter().map(spell).collect::<Vec<_>>().join(" && ")
            }
            Condition::Or(parts) => {
                let spell = |part: &Condition| match part {
                    Condition::And(_) => format!("({})", part.spell(name)),
                    _ => part.spell(name),
                };
                parts.iter().map(spell).collect::<Vec<_>>().join(" || ")
            }
        }
    }

    fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::True, other) | (other, Condition::True) => other,
            (Condition::False, _) | (_, Condition::False) => Condition::False,
            (first, second) => {
                let mut parts = Vec::new();
                for condition in [first, second] {
                    match condition {
                        Condition::And(inner) => parts.extend(inner),
                        other => parts.push(other),
                    }
                }
                Condition::And(parts)
            }
        }
    }

    fn any(conditions: Vec<Condition>) -> Condition {
        let mut parts = Vec::new();
        for condition in conditions {
            match condition {
                Condition::True => return Condition::True,
                Condition::False => {}
                Condition::Or(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Condition::False,
            1 => parts.swap_remove(0),
            _ => Condition::Or(parts),
        }
    }
}

/// Where a condition should lead.
struct Goal<'a> {
    /// Whether a state is where it should lead.
    wanted: &'a dyn Fn(u32) -> bool,
    /// Whether such a state may be below a node; only where it surely is not, the node is skipped.
    possible: &'a dyn Fn(u32) -> bool,
}

struct Writer<'a> {
    alphabet: &'a Alphabet,
    trees: &'a Trees,
}

/// Whether a tree leads to wanted states always, never, or sometimes.
enum Outcome {
    Always,
    Never,
    Depends(Condition),
}

impl Writer<'_> {
    /// For every node from `node` on the states below it, in order.
    fn targets_below(&self, node: u32, below: &mut FxHashMap<u32, Vec<u32>>) {
        if below.contains_key(&node) {
            return;
        }
        let mut targets = Vec::new();
        match self.trees.node(node) {
            Tree::State(state) => targets.push(*state),
            Tree::Test(_, branches) => {
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

    fn condition(&self, node: u32, goal: &Goal) -> Condition {
        match self.outcome(node, goal) {
            Outcome::Always => Condition::True,
            Outcome::Never => Condition::False,
            Outcome::Depends(condition) => condition,
        }
    }

    fn outcome(&self, node: u32, goal: &Goal) -> Outcome {
        let (place, branches) = match self.trees.node(node) {
            _ if !(goal.possible)(node) => return Outcome::Never,
            Tree::State(state) if (goal.wanted)(*state) => return Outcome::Always,
            Tree::State(_) => return Outcome::Never,
            Tree::Test(place, branches) => (*place as usize, branches),
        };
        // Cells that go on in the same way share one condition.
        let mut groups: Vec<(u32, Vec<bool>)> = Vec::new();
        for (cell, &branch) in branches.iter().enumerate() {
            let position = groups.iter().position(|(known, _)| *known == branch);
            let group = position.unwrap_or_else(|| {
                groups.push((branch, vec![false; branches.len()]));
                groups.len() - 1
            });
            groups[group].1[cell] = true;
        }
        let mut always = vec![false; branches.len()];
        let mut depends: Vec<(Condition, Vec<bool>)> = Vec::new();
        for (branch, cells) in groups {
            let known = match self.outcome(branch, goal) {
                Outcome::Never => continue,
                Outcome::Always => &mut always,
                Outcome::Depends(rest) => {
                    let position = depends.iter().position(|(known, _)| *known == rest);
                    let position = position.unwrap_or_else(|| {
                        depends.push((rest, vec![false; branches.len()]));
                        depends.len() - 1
                    });
                    &mut depends[position].1
                }
            };
            for (cell, member) in known.iter_mut().zip(cells) {
                *cell |= member;
            }
        }
        if always.iter().all(|&cell| cell) {
            return Outcome::Always;
        }
        let mut parts = Vec::new();
        if always.contains(&true) {
            parts.push(self.cells(place, &always));
        }
        for (rest, cells) in depends {
            parts.push(self.cells(place, &cells).and(rest));
        }
        if parts.is_empty() {
            Outcome::Never
        } else {
            Outcome::Depends(Condition::any(parts))
        }
    }

    /// A condition on the propositions of a place that tells `wanted` cells from the others.
    fn cells(&self, place: usize, wanted: &[bool]) -> Condition {
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
