//! The engine to beat: a hash map from cut vectors to state sets, no reduction.

use std::collections::HashMap;

use portent_lattice::laboratory::Problem;

/// Visits at most about `most` cuts and tells how many, and the bytes of the widest two levels.
pub(crate) fn cuts(problem: &Problem, most: u64) -> (u64, f64) {
    let poset = &problem.poset;
    let mut level: HashMap<Vec<u32>, u64> = HashMap::new();
    level.insert(vec![0; poset.width()], 1 << problem.automaton.initial.0);
    let mut visited = 1;
    while !level.is_empty() && visited < most {
        let mut next: HashMap<Vec<u32>, u64> = HashMap::new();
        for (cut, states) in &level {
            for chain in poset.chains() {
                let Some(&event) = poset.chain(chain).get(cut[chain.index()] as usize) else {
                    continue;
                };
                let mut more = cut.clone();
                more[chain.index()] += 1;
                let clock = poset.clock(event);
                if clock.iter().zip(&more).any(|(need, has)| need > has) {
                    continue;
                }
                let action = problem.actions[event.index()];
                let mut after = 0;
                for state in (0..64).filter(|state| states >> state & 1 == 1) {
                    let state = portent_lattice::laboratory::StateIndex(state);
                    after |= 1 << problem.automaton.step(state, action).0;
                }
                *next.entry(more).or_default() |= after;
            }
        }
        visited += next.len() as u64;
        level = next;
    }
    // A table entry (vector header, states, control byte, a quarter of the slots empty), and a
    // separate allocation for the counts with its header.
    let entry = (24.0 + 8.0 + 1.0) * 8.0 / 7.0 * 1.5;
    let heap = (poset.width() * 4).next_multiple_of(16) as f64 + 16.0;
    (visited, entry + heap)
}
