//! Naive partition refinement: reads a whole machine through the public interface and asks whether two of its states
//! could be one.
//!
//! The state before any letter is special when not every letter may come first: it must be compared with the others on
//! the first letters only. It could then be merged with any state that agrees with it there.

use std::collections::HashMap;
use std::hash::Hash;

use portent_monitor_dsl::{Monitor, StateId, Verdict};

use super::Oracle;
use super::case::Letter;

/// A machine as a table. State 0 is the one before any letter.
pub(crate) struct Moore<O> {
    outputs: Vec<O>,
    /// `next[state][letter]`; nothing only for state 0 and letters that cannot come first.
    next: Vec<Vec<Option<usize>>>,
}

impl<O: Copy + Eq + Hash> Moore<O> {
    /// Explores a machine; `letters` says for each letter whether it may come first. Gives up at `most` states.
    pub(crate) fn explore<S: Clone + Eq + Hash>(
        start: S,
        letters: &[bool],
        most: usize,
        step: impl Fn(&S, usize) -> S,
        output: impl Fn(&S) -> O,
    ) -> Option<Moore<O>> {
        let mut ids = HashMap::from([(start.clone(), 0)]);
        let mut states = vec![start];
        let mut next: Vec<Vec<Option<usize>>> = Vec::new();
        let mut returned = false;
        let mut row_of = |states: &mut Vec<S>, s: usize, all: bool| -> Vec<Option<usize>> {
            let state = states[s].clone();
            let row = letters.iter().enumerate().map(|(letter, &initial)| {
                (all || initial).then(|| {
                    let to = step(&state, letter);
                    *ids.entry(to.clone()).or_insert_with(|| {
                        states.push(to);
                        states.len() - 1
                    })
                })
            });
            row.collect()
        };
        while next.len() < states.len() {
            let row = row_of(&mut states, next.len(), !next.is_empty());
            next.push(row);
            if !returned && next.last().is_some_and(|row| row.contains(&Some(0))) {
                // The first state is met again, so all letters may follow there.
                returned = true;
                next[0] = row_of(&mut states, 0, true);
            }
            if states.len() > most {
                return None;
            }
        }
        Some(Moore {
            outputs: states.iter().map(output).collect(),
            next,
        })
    }

    /// The table of an oracle.
    pub(crate) fn of_oracle<T: Oracle>(
        oracle: &T,
        letters: &[Letter],
        most: usize,
        output: impl Fn(super::Truth) -> O,
    ) -> Option<Moore<O>> {
        let initial: Vec<bool> = letters.iter().map(|l| l.initial).collect();
        Moore::explore(
            oracle.start(),
            &initial,
            most,
            |state, letter| oracle.step(state, letter),
            |state| output(oracle.verdict(state)),
        )
    }

    /// The number of states in the table.
    pub(crate) fn states(&self) -> usize {
        self.next.len()
    }

    /// The outputs of all states.
    pub(crate) fn outputs(&self) -> &[O] {
        &self.outputs
    }

    /// Whether state 0 cannot take every letter.
    fn start_is_partial(&self) -> bool {
        self.next[0].contains(&None)
    }

    /// The class of every state, equivalent states having the same; a partial state 0 is in a class of its own.
    fn classes(&self) -> Vec<usize> {
        let partial = self.start_is_partial();
        let mut classes: Vec<usize> = vec![0; self.states()];
        let mut count = 0;
        loop {
            let mut ids = HashMap::new();
            let refined = (0..self.states()).map(|s| {
                let row: Vec<Option<usize>> = self.next[s]
                    .iter()
                    .map(|to| to.map(|to| classes[to]))
                    .collect();
                let fresh = ids.len();
                *ids.entry((partial && s == 0, self.outputs[s], classes[s], row))
                    .or_insert(fresh)
            });
            classes = refined.collect();
            if ids.len() == count {
                return classes;
            }
            count = ids.len();
        }
    }

    /// A state that a partial state 0 could be merged with: same output, equivalent successors on the first letters.
    fn twin_of_start(&self, classes: &[usize]) -> Option<usize> {
        let twin = |&s: &usize| {
            self.outputs[s] == self.outputs[0]
                && self.next[0]
                    .iter()
                    .zip(&self.next[s])
                    .all(|(start, other)| {
                        start.is_none_or(|to| Some(classes[to]) == other.map(|o| classes[o]))
                    })
        };
        (1..self.states()).find(twin)
    }

    /// The number of states of the minimal machine.
    pub(crate) fn minimal_states(&self) -> usize {
        let classes = self.classes();
        let count = classes.iter().max().map_or(0, |most| most + 1);
        count - usize::from(self.start_is_partial() && self.twin_of_start(&classes).is_some())
    }

    /// Two states that could be one.
    pub(crate) fn equivalent_pair(&self) -> Option<(usize, usize)> {
        let classes = self.classes();
        let mut first = HashMap::new();
        for (s, class) in classes.iter().enumerate() {
            if let Some(&other) = first.get(class) {
                return Some((other, s));
            }
            first.insert(class, s);
        }
        if self.start_is_partial() {
            self.twin_of_start(&classes).map(|twin| (0, twin))
        } else {
            None
        }
    }
}

/// The table of all states that a monitor can reach.
pub(crate) fn table(monitor: &Monitor) -> Moore<Verdict> {
    let letters: Vec<_> = monitor.alphabet().letters().collect();
    let first: Vec<_> = monitor.alphabet().initial_letters().collect();
    let initial: Vec<bool> = letters
        .iter()
        .map(|letter| first.contains(letter))
        .collect();
    Moore::explore(
        monitor.initial(),
        &initial,
        usize::MAX,
        |&state: &StateId, letter| monitor.next(state, letters[letter]),
        |&state| monitor.verdict(state),
    )
    .expect("no limit")
}

/// Says what keeps a monitor from being minimal, if anything does.
pub(crate) fn check_minimal(monitor: &Monitor) -> Result<(), String> {
    let table = table(monitor);
    if table.states() != monitor.states() {
        return Err(format!(
            "it says {} states, but {} can be reached",
            monitor.states(),
            table.states()
        ));
    }
    match table.equivalent_pair() {
        None => Ok(()),
        Some((a, b)) => {
            let verdict = table.outputs()[a];
            Err(format!(
                "not minimal: of {} states, {a} and {b} ({verdict:?}) are equivalent",
                table.states()
            ))
        }
    }
}
