//! Minimisation by partition refinement with Hopcroft's trick.
//!
//! States start out in blocks of equal verdict. The *signature* of a state is its transition
//! diagram with successors replaced by their blocks; states of one block whose signatures differ are
//! split. The largest part keeps the number of the block, so that only predecessors of the smaller
//! parts have to be examined again: every state is examined O(log n) times for each of its
//! transitions, however long the chains in the machine are.
//!
//! Before that come a few rounds in which all states are examined (Moore's algorithm). A round costs
//! as much as the shared diagrams, however many transitions they represent, and machines without long
//! chains are finished then: the states of `((a U b) U c) U ..` have thousands of successors each.

use rustc_hash::FxHashMap;
use std::hash::Hash;

use super::Machine;
use crate::diagram::{Budget, Diagram, Diagrams, Variable, View};

/// The minimal machine with the same verdict after every run, its states numbered in the order in
/// which a breadth-first search meets them. With `begins_silent`, the first letter carries no
/// event.
pub(crate) fn minimize(machine: &Machine, begins_silent: bool) -> Machine {
    let blocks = refine(machine);
    let initial = merge_initial(machine, &blocks, begins_silent);
    rebuild(machine, &blocks, initial)
}

/// The coarsest partition of the states that verdicts and transitions respect.
struct Blocks {
    of: Vec<u32>,
    members: Vec<Vec<u32>>,
}

/// This many rounds look at all states.
const ROUNDS: usize = 32;

fn refine(machine: &Machine) -> Blocks {
    let mut blocks = Blocks::by_verdict(machine);
    for _ in 0..ROUNDS {
        if !blocks.split_all(machine) {
            return blocks;
        }
    }
    refine_incrementally(machine, blocks)
}

impl Blocks {
    fn new(of: Vec<u32>) -> Blocks {
        let count = of.iter().max().map_or(0, |&most| most as usize + 1);
        let mut members = vec![Vec::new(); count];
        for (state, &block) in of.iter().enumerate() {
            members[block as usize].push(state as u32);
        }
        Blocks { of, members }
    }

    fn by_verdict(machine: &Machine) -> Blocks {
        let verdicts = machine.verdicts.iter();
        Blocks::new(numbered(verdicts))
    }

    /// Splits all blocks by the signatures of their states; whether that made a difference.
    fn split_all(&mut self, machine: &Machine) -> bool {
        let mut signatures = Signatures::new(machine);
        let states = 0..self.of.len() as u32;
        let keys = states.map(|state| {
            let signature = signatures.of(machine, self, state);
            (self.of[state as usize], signature)
        });
        let refined = Blocks::new(numbered(keys));
        let split = refined.members.len() > self.members.len();
        *self = refined;
        split
    }
}

/// Equal keys get equal numbers, in the order in which they are met.
fn numbered<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut known = FxHashMap::default();
    keys.map(|key| {
        let next = known.len() as u32;
        *known.entry(key).or_insert(next)
    })
    .collect()
}

/// Hopcroft's algorithm, from blocks that are too coarse.
fn refine_incrementally(machine: &Machine, mut blocks: Blocks) -> Blocks {
    let states = machine.transitions.len();
    let mut predecessors = vec![Vec::new(); states];
    for state in 0..states {
        for target in machine.successors(state) {
            predecessors[target as usize].push(state as u32);
        }
    }
    let mut signatures = Signatures::new(machine);
    let mut dirty: Vec<u32> = (0..states as u32).collect();
    let mut is_dirty = vec![true; states];
    while !dirty.is_empty() {
        signatures.forget();
        let mut touched: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &state in &dirty {
            touched
                .entry(blocks.of[state as usize])
                .or_default()
                .push(state);
        }
        let mut touched: Vec<(u32, Vec<u32>)> = touched.into_iter().collect();
        touched.sort_unstable();
        // All signatures of a round are taken before any block changes.
        let splits: Vec<(u32, Vec<Vec<u32>>)> = touched
            .into_iter()
            .map(|(block, states)| {
                (
                    block,
                    signatures.parts(machine, &blocks, block, &states, &is_dirty),
                )
            })
            .collect();
        for &state in &dirty {
            is_dirty[state as usize] = false;
        }
        dirty.clear();
        for (block, parts) in splits {
            for part in parts {
                let new = blocks.members.len() as u32;
                for &state in &part {
                    blocks.of[state as usize] = new;
                }
                for &state in &part {
                    for &before in &predecessors[state as usize] {
                        if !std::mem::replace(&mut is_dirty[before as usize], true) {
                            dirty.push(before);
                        }
                    }
                }
                blocks.members.push(part);
            }
            let of = &blocks.of;
            blocks.members[block as usize].retain(|&state| of[state as usize] == block);
        }
    }
    blocks
}

/// Transition diagrams with blocks for leaves, in a store of their own.
struct Signatures {
    diagrams: Diagrams,
    memo: FxHashMap<Diagram, Diagram>,
}

impl Signatures {
    fn new(machine: &Machine) -> Self {
        Signatures {
            diagrams: machine.diagrams.empty_copy(),
            memo: FxHashMap::default(),
        }
    }

    /// Blocks have changed.
    fn forget(&mut self) {
        self.memo.clear();
    }

    fn of(&mut self, machine: &Machine, blocks: &Blocks, state: u32) -> Diagram {
        let transition = machine.transitions[state as usize];
        let mut block = |target: u32| blocks.of[target as usize];
        machine
            .diagrams
            .relabel(&mut self.diagrams, transition, &mut block, &mut self.memo)
    }

    /// The parts of a block that must leave it: all but the largest. `dirty` are the members whose
    /// signatures may have changed; the others still agree with each other.
    fn parts(
        &mut self,
        machine: &Machine,
        blocks: &Blocks,
        block: u32,
        dirty: &[u32],
        is_dirty: &[bool],
    ) -> Vec<Vec<u32>> {
        let members = &blocks.members[block as usize];
        if members.len() == 1 {
            return Vec::new();
        }
        let mut order: Vec<Diagram> = Vec::new();
        let mut parts: FxHashMap<Diagram, Vec<u32>> = FxHashMap::default();
        for &state in dirty {
            let signature = self.of(machine, blocks, state);
            parts
                .entry(signature)
                .or_insert_with(|| {
                    order.push(signature);
                    Vec::new()
                })
                .push(state);
        }
        let clean = members.len() - dirty.len();
        let mut largest = None;
        if clean > 0 {
            let one = *members
                .iter()
                .find(|&&state| !is_dirty[state as usize])
                .expect("not all members are dirty");
            let signature = self.of(machine, blocks, one);
            let together = clean + parts.get(&signature).map_or(0, Vec::len);
            if order
                .iter()
                .all(|other| *other == signature || parts[other].len() <= together)
            {
                largest = Some(signature);
            } else {
                let is_clean = |state: &&u32| !is_dirty[**state as usize];
                if !parts.contains_key(&signature) {
                    order.push(signature);
                }
                parts
                    .entry(signature)
                    .or_default()
                    .extend(members.iter().filter(is_clean).copied());
            }
        }
        let largest = largest.or_else(|| {
            order
                .iter()
                .copied()
                .max_by_key(|signature| parts[signature].len())
        });
        order
            .into_iter()
            .filter(|signature| Some(*signature) != largest)
            .map(|signature| parts.remove(&signature).expect("listed once"))
            .collect()
    }
}

/// The block of the initial state. If its first letter cannot carry an event, it may behave like
/// another block as far as it can tell; then it is that block.
fn merge_initial(machine: &Machine, blocks: &Blocks, begins_silent: bool) -> u32 {
    let own = blocks.of[0];
    if !begins_silent || blocks.members[own as usize].len() > 1 {
        return own;
    }
    let mut signatures = Signatures::new(machine);
    let initial = signatures.of(machine, blocks, 0);
    let twin = (0..blocks.members.len() as u32).find(|&block| {
        let Some(&member) = blocks.members[block as usize].first() else {
            return false;
        };
        if block == own || machine.verdicts[member as usize] != machine.verdicts[0] {
            return false;
        }
        let signature = signatures.of(machine, blocks, member);
        signatures.diagrams.branch(signature, Variable(0), 0) == initial
    });
    twin.unwrap_or(own)
}

/// The quotient machine, reachable states only.
fn rebuild(machine: &Machine, blocks: &Blocks, initial: u32) -> Machine {
    let mut number: FxHashMap<u32, u32> = FxHashMap::from_iter([(initial, 0)]);
    let mut order = vec![initial];
    let mut diagrams = machine.diagrams.empty_copy();
    let mut verdicts = Vec::new();
    let mut transitions = Vec::new();
    let mut memo = FxHashMap::default();
    while transitions.len() < order.len() {
        let member = blocks.members[order[transitions.len()] as usize][0] as usize;
        let mut renumber = |target: u32| {
            let block = blocks.of[target as usize];
            *number.entry(block).or_insert_with(|| {
                order.push(block);
                order.len() as u32 - 1
            })
        };
        let transition = machine.transitions[member];
        transitions.push(machine.diagrams.relabel(
            &mut diagrams,
            transition,
            &mut renumber,
            &mut memo,
        ));
        verdicts.push(machine.verdicts[member]);
    }
    Machine {
        diagrams,
        verdicts,
        transitions,
    }
}

impl Diagrams {
    /// A store with the same variables and no diagrams.
    fn empty_copy(&self) -> Diagrams {
        let mut copy = Diagrams::new(Budget::UNLIMITED);
        let mut place = 0;
        while let Some(arity) = self.arity_at(place) {
            copy.variable(arity);
            place += 1;
        }
        copy
    }

    /// Copies a diagram to another store, with every leaf renamed.
    fn relabel(
        &self,
        to: &mut Diagrams,
        diagram: Diagram,
        rename: &mut impl FnMut(u32) -> u32,
        memo: &mut FxHashMap<Diagram, Diagram>,
    ) -> Diagram {
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        let copy = match self.view(diagram) {
            View::Leaf(result) => to.leaf(rename(result)),
            View::Test(variable) => {
                let branches: smallvec::SmallVec<[Diagram; 8]> = self
                    .branches(diagram)
                    .iter()
                    .map(|&branch| self.relabel(to, branch, rename, memo))
                    .collect();
                to.test(variable, &branches)
            }
        };
        memo.insert(diagram, copy);
        copy
    }
}
