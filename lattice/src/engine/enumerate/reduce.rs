//! Which states of a set need not be kept, if the only question is whether the run can be violated.
//!
//! - *Absorption*: a state from which no action leads to a violation is satisfied in all but name.
//! - *Dead ends*: a state also cannot be violated if the events still to come at this cut
//!   contain no actions that lead it there.
//! - *Subsumption*: a state may be dropped if another one of the set is violated by every continuation that
//!   violates it.
//!
//! A cut without states is not visited. None of this changes the number of events after which the first
//! violation is found.

use std::sync::{
    RwLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use rustc_hash::FxHashMap;

use super::{
    key::{Key, PackedCut},
    labelled::LabelledPoset,
};
use crate::{automaton::Automaton, goal::Goal, options::Reductions};

/// The reductions for an automaton of at most 64 states.
#[derive(Debug, Default)]
pub(crate) struct Reducer {
    /// The states that are never violated.
    safe: u64,
    /// For each state, the states that subsume it; of equal ones only the first.
    above: Option<Vec<u64>>,
    dead_ends: Option<DeadEnds>,
    saved: [AtomicU64; 3],
}

/// How many states each reduction removed from sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    pub(crate) absorbed: u64,
    pub(crate) dead_ends: u64,
    pub(crate) subsumed: u64,
}

#[derive(Debug)]
struct DeadEnds {
    automaton: Automaton,
    bad: u64,
    /// The actions of the events from each index of each chain on, as bits.
    rest: Vec<Vec<u64>>,
    /// All actions.
    all: u64,
    /// For a set of actions, the states that they can lead to a violation.
    alive: RwLock<FxHashMap<u64, u64>>,
}

impl Reducer {
    pub(crate) fn new(
        labelled: LabelledPoset<'_>,
        automaton: &Automaton,
        goal: Goal,
        on: Reductions,
    ) -> Reducer {
        if automaton.verdicts.len() > 64 {
            return Reducer::default();
        }
        let verdicts = automaton.verdicts.iter().enumerate();
        let bad = verdicts
            .filter(|(_, verdict)| goal.is_bad(**verdict, true))
            .fold(0u64, |bits, (state, _)| bits | 1 << state);
        let all = match automaton.actions {
            64.. => u64::MAX,
            few => (1 << few) - 1,
        };
        let every = 0..automaton.actions;
        let states = match automaton.verdicts.len() {
            64 => u64::MAX,
            few => (1 << few) - 1,
        };
        let safe = if on.absorption {
            states & !leading_to(automaton, bad, every)
        } else {
            0
        };
        let dead_ends = (on.dead_ends && automaton.actions <= 64).then(|| DeadEnds {
            automaton: automaton.clone(),
            bad,
            rest: rest(labelled),
            all,
            alive: RwLock::default(),
        });
        Reducer {
            safe,
            above: on.subsumption.then(|| above(automaton, goal)),
            dead_ends,
            saved: Default::default(),
        }
    }

    pub(crate) fn saved(&self) -> Saved {
        let [absorbed, dead_ends, subsumed] = [0, 1, 2].map(|i| self.saved[i].load(Relaxed));
        Saved {
            absorbed,
            dead_ends,
            subsumed,
        }
    }

    fn drop_states(&self, node: &mut u64, kept: u64, reduction: usize) {
        let dropped = (*node & !kept).count_ones();
        if dropped > 0 {
            self.saved[reduction].fetch_add(u64::from(dropped), Relaxed);
            *node &= kept;
        }
    }

    #[inline]
    pub(crate) fn reduce<K: Key>(
        &self,
        node: u64,
        labelled: LabelledPoset<'_>,
        cut: PackedCut<'_, K>,
    ) -> u64 {
        let mut node = node;
        self.drop_states(&mut node, !self.safe, 0);
        if let Some(dead_ends) = &self.dead_ends {
            self.drop_states(&mut node, dead_ends.alive(labelled, cut), 1);
        }
        if let Some(above) = &self.above
            && node & (node.wrapping_sub(1)) != 0
        {
            let mut kept = node;
            let mut rest = node;
            while rest != 0 {
                let state = rest.trailing_zeros() as usize;
                if node & above[state] != 0 {
                    kept &= !(1 << state);
                }
                rest &= rest - 1;
            }
            self.drop_states(&mut node, kept, 2);
        }
        node
    }
}

impl DeadEnds {
    /// The states that the events outside the cut can lead to a violation.
    fn alive<K: Key>(&self, labelled: LabelledPoset<'_>, cut: PackedCut<'_, K>) -> u64 {
        let mut to_come = 0;
        for chain in labelled.poset.chains() {
            to_come |= self.rest[chain.index()][cut.count(chain) as usize];
            if to_come == self.all {
                // States that absorption keeps are alive under all actions; without absorption
                // they are merely kept.
                return u64::MAX;
            }
        }
        if let Ok(known) = self.alive.read()
            && let Some(&alive) = known.get(&to_come)
        {
            return alive;
        }
        let actions = (0..self.automaton.actions).filter(|action| to_come >> action & 1 == 1);
        let alive = leading_to(&self.automaton, self.bad, actions);
        if let Ok(mut known) = self.alive.write() {
            known.insert(to_come, alive);
        }
        alive
    }
}

fn rest(labelled: LabelledPoset<'_>) -> Vec<Vec<u64>> {
    let chains = labelled.poset.chains();
    chains
        .map(|chain| {
            let events = labelled.poset.chain(chain);
            let mut rest = vec![0; events.len() + 1];
            for place in (0..events.len()).rev() {
                rest[place] = rest[place + 1] | 1 << labelled.action(events[place]).0;
            }
            rest
        })
        .collect()
}

/// The states from which words over `actions` lead into `bad`.
fn leading_to(automaton: &Automaton, bad: u64, actions: impl Iterator<Item = usize>) -> u64 {
    let actions: Vec<usize> = actions.collect();
    let mut alive = bad;
    loop {
        let before = alive;
        for state in 0..automaton.verdicts.len() {
            let row = &automaton.next[state * automaton.actions..];
            if actions
                .iter()
                .any(|&action| alive >> row[action].0 & 1 == 1)
            {
                alive |= 1 << state;
            }
        }
        if alive == before {
            return alive;
        }
    }
}

/// For each state, the other states that are violated by every word that violates it.
fn above(automaton: &Automaton, goal: Goal) -> Vec<u64> {
    let states = automaton.verdicts.len();
    let bad = |state: usize, at_end| goal.is_bad(automaton.verdicts[state], at_end);
    let mut covers = vec![vec![false; states]; states];
    for (q, row) in covers.iter_mut().enumerate() {
        for (p, covered) in row.iter_mut().enumerate() {
            *covered = (!bad(q, false) || bad(p, false)) && (!bad(q, true) || bad(p, true));
        }
    }
    loop {
        let mut changed = false;
        for q in 0..states {
            for p in 0..states {
                let holds = (0..automaton.actions).all(|action| {
                    let to = |state: usize| {
                        automaton.next[state * automaton.actions + action].0 as usize
                    };
                    covers[to(q)][to(p)]
                });
                if covers[q][p] && !holds {
                    covers[q][p] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    (0..states)
        .map(|q| {
            (0..states)
                .filter(|&p| p != q && covers[q][p] && (p < q || !covers[p][q]))
                .fold(0, |bits, p| bits | 1 << p)
        })
        .collect()
}
