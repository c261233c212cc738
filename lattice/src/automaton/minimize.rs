//! Smaller automata: states that no word tells apart, and actions that do the same everywhere.
//!
//! Moore's refinement: begin with the classes of outputs and split until each class has one
//! successor class on every action. Quadratic in the worst case, which automata of a few hundred
//! states do not meet; a table that is too large for it was refused before.

use portent_monitor_dsl::Verdict;
use rustc_hash::FxHashMap;

use crate::automaton::{ActionId, Automaton, StateIndex};

impl Automaton {
    /// The smallest automaton that gives the same outputs, where `output` says which verdicts are
    /// told apart, and for each action its number in it. States keep a verdict of their class.
    pub(crate) fn minimal(&self, output: impl Fn(Verdict) -> u32) -> (Automaton, Vec<ActionId>) {
        let mut class_of = number(self.verdicts.iter().map(|verdict| output(*verdict)));
        loop {
            let rows = (0..self.verdicts.len()).map(|state| {
                let row = &self.next[state * self.actions..][..self.actions];
                let successors = row.iter().map(|to| class_of[to.0 as usize]);
                let mut key = vec![class_of[state]];
                key.extend(successors);
                key
            });
            let finer = number(rows);
            let done = count(&finer) == count(&class_of);
            class_of = finer;
            if done {
                break;
            }
        }
        // Classes are numbered by their first states, so that the initial state stays first.
        let mut representatives = vec![None; count(&class_of)];
        for (state, &class) in class_of.iter().enumerate() {
            representatives[class as usize].get_or_insert(state);
        }
        let representatives: Vec<usize> = representatives.into_iter().flatten().collect();
        let column = |action: usize| -> Vec<u32> {
            let to = |&state: &usize| self.next[state * self.actions + action];
            let targets = representatives.iter().map(to);
            targets.map(|to| class_of[to.0 as usize]).collect()
        };
        let columns: Vec<Vec<u32>> = (0..self.actions).map(column).collect();
        let merged = number(columns.iter().cloned());
        let mut kept = vec![None; count(&merged)];
        for (action, &to) in merged.iter().enumerate() {
            kept[to as usize].get_or_insert(action);
        }
        let kept: Vec<usize> = kept.into_iter().flatten().collect();
        let next = (0..representatives.len())
            .flat_map(|state| kept.iter().map(move |&action| (state, action)))
            .map(|(state, action)| StateIndex(columns[action][state]))
            .collect();
        let automaton = Automaton {
            initial: StateIndex(class_of[self.initial.0 as usize]),
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

/// Numbers things from 0, equal ones alike, in the order of first appearance.
fn number<T: std::hash::Hash + Eq>(things: impl Iterator<Item = T>) -> Vec<u32> {
    let mut ids: FxHashMap<T, u32> = FxHashMap::default();
    things
        .map(|thing| {
            let fresh = ids.len() as u32;
            *ids.entry(thing).or_insert(fresh)
        })
        .collect()
}

fn count(numbers: &[u32]) -> usize {
    numbers.iter().max().map_or(0, |&most| most as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_states_and_actions_are_merged() {
        // Two copies of "a, then b, then violated", and an action c that does what a does.
        let next = [[1, 0, 1], [1, 3, 1], [1, 2, 1], [3, 3, 3]];
        let automaton = Automaton {
            initial: StateIndex(2),
            actions: 3,
            next: next.iter().flatten().map(|&to| StateIndex(to)).collect(),
            verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Ok, Verdict::Violated],
        };
        let (small, actions) = automaton.minimal(|verdict| verdict as u32);
        assert_eq!((small.verdicts.len(), small.actions), (3, 2));
        assert_eq!(actions, [ActionId(0), ActionId(1), ActionId(0)]);
        let mut state = small.initial;
        for action in [1, 0, 1] {
            assert_ne!(small.verdict(state), Verdict::Violated);
            state = small.step(state, ActionId(action));
        }
        assert_eq!(small.verdict(state), Verdict::Violated);
    }
}
