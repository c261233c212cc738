//! Random small problems, and what brute force says of them.

use portent_lattice::laboratory::{ActionId, Automaton, EventIndex, Poset, Problem, StateIndex};
use portent_monitor_core::ChainId;
use portent_monitor_dsl::Verdict;
use portent_testing::Rng;
use std::collections::HashSet;

/// A poset in the making, to which events with any earlier ones in their past are added.
pub(crate) struct Growing {
    pub(crate) poset: Poset,
}

impl Growing {
    pub(crate) fn new(width: usize) -> Self {
        Growing {
            poset: Poset::new(width),
        }
    }

    pub(crate) fn push(&mut self, chain: ChainId, after: &[EventIndex]) -> EventIndex {
        let mut clock = vec![0; self.poset.width()];
        let last = self.poset.chain(chain).last();
        for &event in after.iter().chain(last) {
            for (count, &past) in clock.iter_mut().zip(self.poset.clock(event)) {
                *count = (*count).max(past);
            }
        }
        clock[chain.index()] = self.poset.chain(chain).len() as u32 + 1;
        self.poset.push(chain, &clock)
    }
}

pub(crate) fn random_poset(rng: &mut Rng, most_chains: usize, most_events: usize) -> Poset {
    let width = 1 + rng.below(most_chains);
    let events = rng.below(most_events + 1);
    let density = rng.below(4);
    let mut growing = Growing::new(width);
    for event in 0..events {
        let chain = ChainId::from(rng.below(width) as u32);
        let mut after = Vec::new();
        if event > 0 && rng.below(4) < density {
            after.push(EventIndex(rng.below(event) as u32));
        }
        growing.push(chain, &after);
    }
    growing.poset
}

pub(crate) fn random_automaton(rng: &mut Rng) -> Automaton {
    let states = 2 + rng.below(5);
    let actions = 1 + rng.below(4);
    let mut verdicts = vec![Verdict::Ok; states];
    verdicts[states - 1] = Verdict::Violated;
    if states > 3 && rng.below(3) == 0 {
        verdicts[states - 2] = Verdict::Satisfied;
    }
    // Monitors mostly stay where they are.
    let staying = rng.below(4);
    let mut next = Vec::new();
    for (state, verdict) in verdicts.iter().enumerate() {
        for _ in 0..actions {
            let stays = verdict.is_final() || rng.below(5) < staying;
            let any = rng.below(states);
            next.push(StateIndex(if stays { state } else { any } as u32));
        }
    }
    Automaton {
        initial: StateIndex(0),
        actions,
        next,
        verdicts,
    }
}

pub(crate) fn random_problem(rng: &mut Rng, most_chains: usize, most_events: usize) -> Problem {
    let poset = random_poset(rng, most_chains, most_events);
    let automaton = random_automaton(rng);
    let actions = (0..poset.len())
        .map(|_| ActionId(rng.below(automaton.actions) as u32))
        .collect();
    Problem {
        poset,
        actions,
        automaton,
    }
}

/// All consistent cuts, level by level.
pub(crate) fn levels(poset: &Poset) -> Vec<Vec<Vec<u32>>> {
    let mut levels = vec![vec![vec![0; poset.width()]]];
    for size in 0..poset.len() {
        let level = &levels[size];
        let next: HashSet<Vec<u32>> = level
            .iter()
            .flat_map(|cut| successors(poset, cut))
            .map(|(_, larger)| larger)
            .collect();
        levels.push(next.into_iter().collect());
    }
    levels
}

/// The events that can come next, and the cuts that they lead to.
fn successors(poset: &Poset, cut: &[u32]) -> Vec<(EventIndex, Vec<u32>)> {
    let mut successors = Vec::new();
    for chain in poset.chains() {
        let Some(&event) = poset.chain(chain).get(cut[chain.index()] as usize) else {
            continue;
        };
        let mut larger = cut.to_vec();
        larger[chain.index()] += 1;
        let clock = poset.clock(event);
        if clock.iter().zip(&larger).all(|(past, count)| past <= count) {
            successors.push((event, larger));
        }
    }
    successors
}

/// After how many events the soonest violated run is, by all reachable pairs of cut and state.
pub(crate) fn shortest_violation(problem: &Problem) -> Option<usize> {
    let automaton = &problem.automaton;
    let mut level = HashSet::from([(vec![0; problem.poset.width()], automaton.initial)]);
    for steps in 0..=problem.poset.len() {
        let mut states = level.iter().map(|(_, state)| *state);
        if states.any(|state| automaton.verdict(state) == Verdict::Violated) {
            return Some(steps);
        }
        let mut next = HashSet::new();
        for (cut, state) in &level {
            for (event, larger) in successors(&problem.poset, cut) {
                let action = problem.actions[event.index()];
                next.insert((larger, automaton.step(*state, action)));
            }
        }
        level = next;
    }
    None
}
