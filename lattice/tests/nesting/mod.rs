//! Threads that open and close something, and a limit on how many may be open.

use portent_lattice::laboratory::{ActionId, Automaton, Poset, Problem, StateIndex};
use portent_monitor_dsl::Verdict;

/// Actions 0 and 1 open and close; more than `depth` open is violated. 2 and 3 commute with
/// everything.
pub(crate) fn automaton(depth: u32) -> Automaton {
    let bad = depth + 1;
    let mut next = Vec::new();
    for state in 0..=bad {
        let (open, close) = match state {
            state if state == bad => (bad, bad),
            state => ((state + 1).min(bad), state.saturating_sub(1)),
        };
        next.extend([open, close, state, state].map(StateIndex));
    }
    let mut verdicts = vec![Verdict::Ok; depth as usize + 1];
    verdicts.push(Verdict::Violated);
    Automaton {
        initial: StateIndex(0),
        actions: 4,
        next,
        verdicts,
    }
}

/// Six threads with eight events each, three of which only do what commutes with everything. Never
/// more than three are open, so that all must be searched.
pub(crate) fn commuting() -> Problem {
    let (mut poset, mut actions) = (Poset::new(6), Vec::new());
    for place in 0..8u32 {
        for chain in poset.chains() {
            let mut clock = vec![0; 6];
            clock[chain.index()] = place + 1;
            poset.push(chain, &clock);
            actions.push(ActionId(
                place % 2 + if chain.index() % 2 == 0 { 0 } else { 2 },
            ));
        }
    }
    Problem {
        poset,
        actions,
        automaton: automaton(3),
    }
}
