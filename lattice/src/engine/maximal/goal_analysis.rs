//! What can become of the states of a property, whatever the trace: which can no longer be violated, which actions can violate
//! the others, which states cover others, and which actions may be done before others instead of after them.

use rustc_hash::FxHashMap;

use crate::{
    automaton::{ActionId, Automaton, StateIndex},
    goal::Goal,
};

/// Larger tables are not analysed.
const MAX_STATES: usize = 256;
const MAX_ACTIONS: usize = 64;

/// The analysis of a table.
#[derive(Debug)]
pub(in crate::engine) struct GoalAnalysis<'a> {
    automaton: &'a Automaton,
    goal: Goal,
    /// Whether the goal can be reached from each state.
    hopeful: Vec<bool>,
    /// More details, if the table is small.
    small: Option<Small>,
}

#[derive(Debug)]
struct Small {
    /// For states `q` and `p`, at `q * states + p`: whether every word that violates `q` violates `p` as soon.
    covers: Vec<bool>,
    /// For a state and an action `a` that can occur in it, as bits: the actions `b` such that `b`, then `a` may violate
    /// sooner than `a`, then `b`, now or later.
    clashes: Vec<u64>,
    /// For sets of actions, whether they lead each state to the goal, or to a violation.
    to_goal: FxHashMap<u64, Vec<bool>>,
    to_violation: FxHashMap<u64, Vec<bool>>,
    landmarks: FxHashMap<(StateIndex, u64), Vec<u64>>,
}

impl<'a> GoalAnalysis<'a> {
    pub(in crate::engine) fn new(automaton: &'a Automaton, goal: Goal) -> GoalAnalysis<'a> {
        let is_small = automaton.verdicts.len() <= MAX_STATES && automaton.actions <= MAX_ACTIONS;
        GoalAnalysis {
            automaton,
            goal,
            hopeful: automaton.may_become(|verdict| goal.is_bad(verdict, true)),
            small: is_small.then(|| {
                let covers = covers(automaton, goal);
                Small {
                    clashes: clashes(automaton, &covers),
                    covers,
                    to_goal: FxHashMap::default(),
                    to_violation: FxHashMap::default(),
                    landmarks: FxHashMap::default(),
                }
            }),
        }
    }

    /// Whether no sequence of actions leads a state to the goal.
    pub(in crate::engine) fn is_hopeless(&self, state: StateIndex) -> bool {
        !self.hopeful[state.index()]
    }

    /// Whether some of these actions, given as bits, lead a state to the goal. If there are too many actions for bits, any
    /// might.
    pub(in crate::engine) fn may_fall(&mut self, state: StateIndex, actions: u64) -> bool {
        let (automaton, goal) = (self.automaton, self.goal);
        self.small.as_mut().is_none_or(|small| {
            let known = small.to_goal.entry(actions);
            known.or_insert_with(|| leading(automaton, goal, true, actions))[state.index()]
        })
    }

    /// Whether another state is violated by every word that violates a state.
    pub(in crate::engine) fn covers(&self, state: StateIndex, other: StateIndex) -> bool {
        let states = self.automaton.verdicts.len();
        let small = self.small.as_ref();
        state == other
            || small.is_some_and(|small| small.covers[state.index() * states + other.index()])
    }

    /// As bits, the actions that an action must not overtake, in this state or later.
    pub(super) fn clashes(&self, state: StateIndex, action: ActionId) -> u64 {
        let small = self.small.as_ref();
        small.map_or(u64::MAX, |small| {
            small.clashes[state.index() * self.automaton.actions + action.index()]
        })
    }

    /// Sets of actions such that every word over `actions` that violates a state contains an action of each set. Empty if no
    /// word violates it.
    pub(super) fn landmarks(&mut self, state: StateIndex, actions: u64) -> &[u64] {
        let (automaton, goal) = (self.automaton, self.goal);
        let Some(small) = &mut self.small else {
            return &[u64::MAX];
        };
        let Small {
            covers,
            to_violation,
            landmarks,
            ..
        } = small;
        landmarks.entry((state, actions)).or_insert_with(|| {
            let mut falls = |actions: u64| {
                let known = to_violation.entry(actions);
                known.or_insert_with(|| leading(automaton, goal, false, actions))[state.index()]
            };
            if !falls(actions) {
                return Vec::new();
            }
            let states = automaton.verdicts.len();
            // As long as every step leads to a state covered by this one, this one also covers the targets.
            let upwards = (0..automaton.actions as u32).filter(|&action| {
                let next = automaton.step(state, ActionId(action));
                actions >> action & 1 == 1 && !covers[next.index() * states + state.index()]
            });
            let mut found = vec![upwards.fold(0, |bits, action| bits | 1 << action)];
            for action in (0..automaton.actions).filter(|action| actions >> action & 1 == 1) {
                if found[0] != 1 << action && !falls(actions & !(1 << action)) {
                    found.push(1 << action);
                }
            }
            found
        })
    }
}

/// The states from which some words over `actions` lead to the goal.
fn leading(automaton: &Automaton, goal: Goal, at_end: bool, actions: u64) -> Vec<bool> {
    let verdicts = automaton.verdicts.iter();
    let mut found: Vec<bool> = verdicts
        .map(|&verdict| goal.is_bad(verdict, at_end))
        .collect();
    loop {
        let mut changed = false;
        for state in 0..found.len() {
            let row = automaton.row(state).iter().enumerate();
            if !found[state] && { row }
                .any(|(action, to)| actions >> action & 1 == 1 && found[to.index()])
            {
                found[state] = true;
                changed = true;
            }
        }
        if !changed {
            return found;
        }
    }
}

fn covers(automaton: &Automaton, goal: Goal) -> Vec<bool> {
    let states = automaton.verdicts.len();
    let bad = |state: usize, at_end| goal.is_bad(automaton.verdicts[state], at_end);
    let mut covers: Vec<bool> = (0..states * states)
        .map(|pair| {
            let (q, p) = (pair / states, pair % states);
            (!bad(q, false) || bad(p, false)) && (!bad(q, true) || bad(p, true))
        })
        .collect();
    loop {
        let mut changed = false;
        for q in 0..states {
            for p in 0..states {
                let mut rows = automaton.row(q).iter().zip(automaton.row(p));
                if covers[q * states + p]
                    && !rows.all(|(to_q, to_p)| covers[to_q.index() * states + to_p.index()])
                {
                    covers[q * states + p] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return covers;
        }
    }
}

fn clashes(automaton: &Automaton, covers: &[bool]) -> Vec<u64> {
    let (states, actions) = (automaton.verdicts.len(), automaton.actions);
    let step = |state: usize, action: usize| automaton.next[state * actions + action].index();
    let mut clashes = vec![0; states * actions];
    for state in 0..states {
        for a in 0..actions {
            let above = (0..actions).filter(|&b| {
                let (late, early) = (step(step(state, b), a), step(step(state, a), b));
                !covers[late * states + early]
            });
            clashes[state * actions + a] = above.fold(0, |bits, b| bits | 1 << b);
        }
    }
    // What clashes later clashes now.
    loop {
        let mut changed = false;
        for state in 0..states {
            for by in 0..actions {
                let to = step(state, by);
                for a in 0..actions {
                    let later = clashes[to * actions + a] | clashes[state * actions + a];
                    changed |= later != clashes[state * actions + a];
                    clashes[state * actions + a] = later;
                }
            }
        }
        if !changed {
            return clashes;
        }
    }
}
