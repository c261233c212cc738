//! Smaller automata: states that no word tells apart, and actions that do the same everywhere.
//!
//! Moore's refinement: begin with the classes of outputs and split until each class has one
//! successor class on every action. Quadratic in the worst case, which automata of a few hundred
//! states do not meet; a table that is too large for it was refused before.

use rustc_hash::FxHashMap;

use super::{ActionId, Automaton, StateIndex};
use crate::verdict::Verdict;

impl Automaton {
    /// The smallest automaton that gives the same outputs, where `output` says which verdicts are
    /// distinguished, and for each action its number in it. States keep a verdict of their class.
    pub fn minimal(&self, output: impl Fn(Verdict) -> u32) -> (Automaton, Vec<ActionId>) {
        let outputs = self.verdicts.iter().map(|verdict| output(*verdict));
        let class_of = refine(outputs.collect(), |state| self.row(state));
        // Classes are numbered by their first states, so that the initial state stays first.
        let representatives = first_of_each(&class_of);
        let column = |action: usize| -> Vec<u32> {
            let to = |&state: &usize| self.next[state * self.actions + action];
            let targets = representatives.iter().map(to);
            targets.map(|to| class_of[to.index()]).collect()
        };
        let columns: Vec<Vec<u32>> = (0..self.actions).map(column).collect();
        let merged = number(columns.iter().cloned());
        let kept = first_of_each(&merged);
        let next = (0..representatives.len())
            .flat_map(|state| kept.iter().map(move |&action| (state, action)))
            .map(|(state, action)| StateIndex(columns[action][state]))
            .collect();
        let automaton = Automaton {
            initial: StateIndex(class_of[self.initial.index()]),
            actions: kept.len(),
            next,
            verdicts: representatives
                .iter()
                .map(|&state| self.verdicts[state])
                .collect(),
        };
        (automaton, merged.into_iter().map(ActionId).collect())
    }
}

/// Splits classes of states until the states of each have their successors in the same classes. Classes
/// are numbered by their first states.
pub(crate) fn refine<'a>(
    classes: Vec<u32>,
    successors: impl Fn(usize) -> &'a [StateIndex],
) -> Vec<u32> {
    let mut class_of = number(classes.into_iter());
    loop {
        let rows = (0..class_of.len()).map(|state| {
            let mut key = vec![class_of[state]];
            key.extend(successors(state).iter().map(|to| class_of[to.index()]));
            key
        });
        let finer = number(rows);
        let done = count(&finer) == count(&class_of);
        class_of = finer;
        if done {
            return class_of;
        }
    }
}

/// Numbers things from 0, equal ones alike, in the order of first appearance.
pub(crate) fn number<T: std::hash::Hash + Eq>(things: impl Iterator<Item = T>) -> Vec<u32> {
    let mut ids: FxHashMap<T, u32> = FxHashMap::default();
    things
        .map(|thing| {
            let fresh = ids.len() as u32;
            *ids.entry(thing).or_insert(fresh)
        })
        .collect()
}

/// For each number, where it appears first.
pub(crate) fn first_of_each(numbers: &[u32]) -> Vec<usize> {
    let mut first = Vec::new();
    for (place, &number) in numbers.iter().enumerate() {
        if number as usize == first.len() {
            first.push(place);
        }
    }
    first
}

fn count(numbers: &[u32]) -> usize {
    numbers.iter().max().map_or(0, |&most| most as usize + 1)
}
