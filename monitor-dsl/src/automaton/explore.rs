//! From states of whatever kind to a table: a search from the initial ones, as far as actions lead.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::{ActionId, Automaton, StateIndex};
use crate::verdict::Verdict;

/// An automaton that was explored.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Its initial state is the first of those that were given.
    pub automaton: Automaton,
    /// The states that were given, by number.
    pub initial: Vec<StateIndex>,
}

/// The automaton of all states that some actions lead to, numbered as they are met. `None` if no initial
/// state is given, or if it would have more than `max_states` states or `max_entries` entries.
///
/// ```
/// use portent_monitor_dsl::{Verdict, automaton::{ActionId, explore}};
///
/// // Two actions, up and down, on a counter that must not fall below zero.
/// let step = |&count: &i32, action: ActionId| match (count, action) {
///     (-1, _) => -1,
///     (_, ActionId(0)) => (count + 1).min(2),
///     _ => count - 1,
/// };
/// let verdict = |&count: &i32| if count < 0 { Verdict::Violated } else { Verdict::Ok };
/// let counter = explore([0], 2, (10, 100), step, verdict).expect("small").automaton;
/// assert_eq!(counter.verdicts.len(), 4);
/// let after = counter.step(counter.initial, ActionId(1));
/// assert_eq!(counter.verdict(after), Verdict::Violated);
/// assert!(explore([0], 2, (3, 100), step, verdict).is_none());
/// ```
pub fn explore<S: Clone + Eq + Hash>(
    initial: impl IntoIterator<Item = S>,
    actions: usize,
    (max_states, max_entries): (usize, usize),
    mut step: impl FnMut(&S, ActionId) -> S,
    verdict: impl Fn(&S) -> Verdict,
) -> Option<Explored> {
    let mut numbers: FxHashMap<S, StateIndex> = FxHashMap::default();
    let mut states: Vec<S> = Vec::new();
    let mut number = |state: S, states: &mut Vec<S>| {
        *numbers.entry(state).or_insert_with_key(|state| {
            states.push(state.clone());
            StateIndex(states.len() as u32 - 1)
        })
    };
    let initial: Vec<StateIndex> = { initial.into_iter() }
        .map(|state| number(state, &mut states))
        .collect();
    let mut next = Vec::new();
    let mut done = 0;
    while let Some(state) = states.get(done).cloned() {
        if states.len() > max_states || next.len() + actions > max_entries {
            return None;
        }
        for action in (0..actions as u32).map(ActionId) {
            next.push(number(step(&state, action), &mut states));
        }
        done += 1;
    }
    Some(Explored {
        automaton: Automaton {
            initial: *initial.first()?,
            actions,
            next,
            verdicts: states.iter().map(verdict).collect(),
        },
        initial,
    })
}
