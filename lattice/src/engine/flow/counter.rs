//! Automata that count: they count up by one and down, between 0 and a bound, and reaching the bound is the violation.
//!
//! "At most four threads inside at once" is one, and so is `never: {}* a{5}`, where every other step resets the counter.

use portent_monitor_dsl::Verdict;

use crate::automaton::{ActionId, Automaton, StateIndex};

/// What an action does to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Adds a number, but does not go below 0.
    Add(i64),
    /// Resets it to 0.
    Reset,
}

/// An automaton that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) initial: u32,
    /// Reaching this value is the violation.
    pub(super) bound: u32,
    /// The effect of each action.
    pub(super) effects: Vec<Effect>,
}

impl Counter {
    /// The counter that an automaton implements, if it is one. Its equivalent states must have been merged.
    pub(super) fn new(automaton: &Automaton) -> Option<Counter> {
        let heights = heights(automaton)?;
        let bound = *heights.iter().max()?;
        let effects = (0..automaton.actions)
            .map(|action| effect(automaton, ActionId(action as u32), &heights, bound))
            .collect::<Option<_>>()?;
        Some(Counter {
            initial: heights[automaton.initial.0 as usize],
            bound,
            effects,
        })
    }
}

/// The count that each state stands for: how much nearer it is to the violation than the state furthest from it. `None` if two
/// states are equally near, or if no violation can be reached.
fn heights(automaton: &Automaton) -> Option<Vec<u32>> {
    let states = automaton.verdicts.len();
    let mut distances = vec![None; states];
    let violated = |state: usize| automaton.verdicts[state] == Verdict::Violated;
    let mut level: Vec<usize> = (0..states).filter(|&state| violated(state)).collect();
    let mut distance = 0;
    while let [only] = level[..] {
        distances[only] = Some(distance);
        distance += 1;
        let leads_there = |state: &usize| {
            let row = &automaton.next[state * automaton.actions..][..automaton.actions];
            distances[*state].is_none() && row.contains(&StateIndex(only as u32))
        };
        level = (0..states).filter(leads_there).collect();
    }
    let distances: Vec<u32> = distances.into_iter().collect::<Option<_>>()?;
    let furthest = *distances.iter().max()?;
    Some(
        distances
            .iter()
            .map(|distance| furthest - distance)
            .collect(),
    )
}

/// The effect of an action at all counts, if it is uniform.
fn effect(automaton: &Automaton, action: ActionId, heights: &[u32], bound: u32) -> Option<Effect> {
    let step = |state: usize| {
        let after = automaton.step(StateIndex(state as u32), action);
        heights[after.0 as usize]
    };
    let open: Vec<(i64, i64)> = (0..heights.len())
        .filter(|&state| heights[state] < bound)
        .map(|state| (i64::from(heights[state]), i64::from(step(state))))
        .collect();
    let does = |effect: &Effect| {
        open.iter().all(|&(before, after)| match *effect {
            Effect::Add(number) => (before + number).clamp(0, i64::from(bound)) == after,
            Effect::Reset => after == 0,
        })
    };
    // Up from the lowest and down from the highest, no bound cuts the effect off.
    let (lowest, highest) = (open.iter().min()?, open.iter().max()?);
    let up = Effect::Add(lowest.1 - lowest.0);
    let down = Effect::Add(highest.1 - highest.0);
    [Effect::Add(0), Effect::Reset, up, down]
        .into_iter()
        .find(does)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn automaton(rows: &[&[u32]]) -> Automaton {
        let mut verdicts = vec![Verdict::Ok; rows.len()];
        verdicts[rows.len() - 1] = Verdict::Violated;
        Automaton {
            initial: StateIndex(0),
            actions: rows[0].len(),
            next: rows.concat().into_iter().map(StateIndex).collect(),
            verdicts,
        }
    }

    #[test]
    fn what_counts_is_recognised() {
        let rows: &[&[u32]] = &[&[1, 0, 0, 0], &[2, 0, 0, 1], &[3, 1, 0, 2], &[3, 3, 3, 3]];
        let counter = Counter::new(&automaton(rows)).unwrap();
        let expected = [
            Effect::Add(1),
            Effect::Add(-1),
            Effect::Reset,
            Effect::Add(0),
        ];
        assert_eq!(counter.effects, expected);
        assert_eq!((counter.initial, counter.bound), (0, 3));
    }

    #[test]
    fn what_does_not_count_is_not() {
        // The second action doubles; there are two ways to be one step away; nothing is violated.
        for rows in [
            &[&[1, 0][..], &[2, 2], &[3, 3], &[3, 3]][..],
            &[&[1, 2], &[3, 0], &[3, 3], &[3, 3]],
        ] {
            let found = Counter::new(&automaton(rows));
            assert_eq!(found, None, "{rows:?}");
        }
        let mut safe = automaton(&[&[0], &[1]]);
        safe.verdicts[1] = Verdict::Ok;
        assert_eq!(Counter::new(&safe), None);
    }
}
