//! Removes unnecessary swaps from a violated run.
//!
//! Each engine finds a run in its own way, and may swap events for no reason. Here neighbours are swapped
//! back, and events are replaced by others that were observed earlier, as long as the run is still violated
//! after the same number of steps. If the observed run itself is violated as soon, it is used instead.
//!
//! Every remaining swap is locally necessary: before the violation no two neighbours can be put back, and no
//! event can be replaced by one that was observed earlier. That is not always the fewest swaps of
//! all shortest violated runs, because a quite different set of events may be violated as soon.

use std::ops::Range;

use crate::{
    automaton::{ActionId, TransitionSystem},
    engine::Violation,
    goal::Goal,
    order::{EventIndex, Poset},
};

/// After this many steps the run is good enough; it is a violated run at all times.
const MOST_STEPS: usize = 10_000_000;

/// Removes unnecessary swaps from a run of all events of a poset.
pub(crate) fn minimize_swaps<M: TransitionSystem>(
    violation: &mut Violation,
    poset: &Poset,
    actions: &[ActionId],
    machine: &M,
    goal: Goal,
) {
    let observed: Vec<EventIndex> = (0..poset.len() as u32).map(EventIndex).collect();
    let mut unswapping = Minimizer {
        poset,
        actions,
        machine,
        goal,
        left: MOST_STEPS,
    };
    let length = violation.violated_at;
    let states = unswapping.follow(&observed[..length]);
    if unswapping.violated_after(&states) == Some(length) {
        violation.run = observed;
        return;
    }
    let mut prefix = violation.run[..length].to_vec();
    let mut states = unswapping.follow(&prefix);
    while unswapping.put_back(&mut prefix, &mut states)
        || unswapping.replace(&mut prefix, &mut states)
    {}
    let mut rest = observed;
    let mut is_done = vec![false; rest.len()];
    for event in &prefix {
        is_done[event.index()] = true;
    }
    rest.retain(|event| !is_done[event.index()]);
    violation.run = prefix;
    violation.run.extend(rest);
}

struct Minimizer<'a, M> {
    poset: &'a Poset,
    actions: &'a [ActionId],
    machine: &'a M,
    goal: Goal,
    /// The number of steps left.
    left: usize,
}

impl<M: TransitionSystem> Minimizer<'_, M> {
    fn step(&self, state: &M::State, event: EventIndex) -> M::State {
        self.machine.step(state, self.actions[event.index()])
    }

    /// The states along a run, including the initial one.
    fn follow(&self, run: &[EventIndex]) -> Vec<M::State> {
        let mut states = vec![self.machine.initial()];
        for &event in run {
            states.push(self.step(&states[states.len() - 1], event));
        }
        states
    }

    /// Whether a run that is in a state after this many steps is violated.
    fn is_violated(&self, state: &M::State, steps: usize) -> bool {
        let at_end = steps == self.actions.len();
        self.goal.is_bad(self.machine.verdict(state), at_end)
    }

    fn violated_after(&self, states: &[M::State]) -> Option<usize> {
        (0..states.len()).find(|&steps| self.is_violated(&states[steps], steps))
    }

    /// Moves each event towards the front past those that were observed later, which never breaks
    /// causality; returns whether any moved.
    fn put_back(&mut self, run: &mut [EventIndex], states: &mut [M::State]) -> bool {
        let mut moved = false;
        self.left = self.left.saturating_sub(run.len());
        for from in 1..run.len() {
            let mut place = from;
            while place > 0 && run[place - 1] > run[place] {
                run.swap(place - 1, place);
                if !self.stays_violated(run, states, place - 1..place + 1) {
                    run.swap(place - 1, place);
                    break;
                }
                place -= 1;
                moved = true;
            }
        }
        moved
    }

    /// Replaces one event by another that was observed earlier and is not in the run so far;
    /// returns whether that was possible.
    fn replace(&mut self, run: &mut [EventIndex], states: &mut [M::State]) -> bool {
        let poset = self.poset;
        let mut all = vec![0u32; poset.width()];
        for event in run.iter() {
            all[poset.chain_of(*event).index()] += 1;
        }
        // Backwards: how many of each chain come before the index, and are needed after it.
        let (mut before, mut needed) = (all.clone(), vec![0u32; poset.width()]);
        for place in (0..run.len()).rev() {
            self.left = self.left.saturating_sub(poset.width());
            let event = run[place];
            let own = poset.chain_of(event).index();
            before[own] -= 1;
            let is_needed = needed[own] > before[own];
            for chain in poset.chains().filter(|_| !is_needed) {
                let next = poset.chain(chain).get(before[chain.index()] as usize);
                let Some(&other) = next.filter(|other| **other < event) else {
                    continue;
                };
                let clock = poset.chains().zip(poset.clock(other).iter().zip(&before));
                let mut past = clock.filter(|(of, _)| *of != chain);
                let is_new = before[chain.index()] == all[chain.index()];
                if !is_new || !past.all(|(_, (needs, has))| needs <= has) {
                    continue;
                }
                run[place] = other;
                if self.stays_violated(run, states, place..place + 1) {
                    return true;
                }
                run[place] = event;
            }
            for (needed, &count) in needed.iter_mut().zip(poset.clock(event)) {
                *needed = count.max(*needed);
            }
        }
        false
    }

    /// Whether a run that was changed at some indices is violated at its end and not before; if so,
    /// the states are updated.
    fn stays_violated(
        &mut self,
        run: &[EventIndex],
        states: &mut [M::State],
        changed: Range<usize>,
    ) -> bool {
        let mut new = vec![states[changed.start].clone()];
        for steps in changed.start + 1..=run.len() {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            let state = self.step(&new[new.len() - 1], run[steps - 1]);
            let is_violated = self.is_violated(&state, steps);
            // From where the run rejoins the old states, the rest is unchanged.
            let is_as_before = steps >= changed.end && state == states[steps];
            new.push(state);
            if is_as_before || (is_violated && steps == run.len()) {
                states[changed.start..=steps].clone_from_slice(&new);
                return true;
            }
            if is_violated {
                return false;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::{Automaton, StateIndex};
    use portent_monitor_dsl::Verdict;

    /// Violated by action 2 once action 1 has come; action 0 does nothing.
    fn machine() -> Automaton {
        Automaton {
            initial: StateIndex(0),
            actions: 3,
            next: [0, 1, 0, 1, 1, 2, 2, 2, 2].map(StateIndex).to_vec(),
            verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
        }
    }

    /// Every event is on a separate thread.
    fn unswapped(actions: &[u32], run: &[u32], violated_at: usize) -> Vec<u32> {
        let mut poset = Poset::new(actions.len());
        for chain in poset.chains() {
            let mut clock = vec![0; actions.len()];
            clock[chain.index()] = 1;
            poset.push(chain, &clock);
        }
        let actions: Vec<ActionId> = actions.iter().copied().map(ActionId).collect();
        let mut violation = Violation {
            run: run.iter().copied().map(EventIndex).collect(),
            violated_at,
            is_shortest: true,
        };
        minimize_swaps(
            &mut violation,
            &poset,
            &actions,
            &machine(),
            Goal::default(),
        );
        violation.run.iter().map(|event| event.0).collect()
    }

    #[test]
    fn swaps_that_nobody_needs_are_taken_back() {
        // Observed: nothing, 2, nothing, 1. The 1 has to come before the 2.
        assert_eq!(unswapped(&[0, 2, 0, 1], &[2, 3, 0, 1], 4), [0, 2, 3, 1]);
        assert_eq!(unswapped(&[0, 2, 0, 1], &[3, 1, 0, 2], 2), [3, 1, 0, 2]);
        // The first 2 suffices.
        assert_eq!(unswapped(&[2, 2, 1], &[2, 1, 0], 2), [2, 0, 1]);
        // The observed run is violated as soon.
        assert_eq!(unswapped(&[1, 2, 1, 2], &[2, 3, 0, 1], 2), [0, 1, 2, 3]);
    }
}
