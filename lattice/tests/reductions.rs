//! What the reductions save, and that limits are kept.

use crate::nesting;
use portent_lattice::{
    Counting, Engine, Options, Reductions,
    laboratory::{ActionId, Automaton, Poset, Problem, StateIndex, solve},
};
use portent_monitor_dsl::Verdict;

/// Threads with the same independent events each.
fn grid(threads: usize, actions: &[u32]) -> (Poset, Vec<ActionId>) {
    let mut poset = Poset::new(threads);
    let mut does = Vec::new();
    for (place, action) in actions.iter().enumerate() {
        for chain in poset.chains() {
            let mut clock = vec![0; threads];
            clock[chain.index()] = place as u32 + 1;
            poset.push(chain, &clock);
            does.push(ActionId(*action));
        }
    }
    (poset, does)
}

fn options(reductions: Reductions) -> Options {
    Options::default()
        .reductions(reductions)
        .counting(Counting::Never)
        .engine(Engine::Enumerate)
}

#[test]
fn commuting_events_are_not_interleaved() {
    let problem = nesting::commuting();
    let commuting = Reductions {
        commutation: true,
        ..Reductions::NONE
    };
    let plain = solve(&problem, &options(Reductions::NONE));
    let reduced = solve(&problem, &options(commuting));
    assert_eq!(plain.nodes, 9u64.pow(6));
    assert!(plain.violation.is_none() && reduced.violation.is_none());
    assert!(reduced.saved.commutation + reduced.saved.invisible > 0);
    assert!(
        reduced.nodes * 100 <= plain.nodes,
        "{} of {}",
        reduced.nodes,
        plain.nodes
    );
    println!("{} nodes instead of {}", reduced.nodes, plain.nodes);
    // The same if every thread does some of both.
    let (poset, actions) = grid(6, &[2, 0, 3, 2, 1, 3]);
    let problem = Problem {
        poset,
        actions,
        automaton: nesting::automaton(6),
    };
    let plain = solve(&problem, &options(Reductions::NONE));
    let reduced = solve(&problem, &options(commuting));
    assert!(plain.violation.is_none() && reduced.violation.is_none());
    assert!(reduced.saved.invisible > 0);
    assert!(
        reduced.nodes * 100 <= plain.nodes,
        "{} of {}",
        reduced.nodes,
        plain.nodes
    );
    println!("{} nodes instead of {}", reduced.nodes, plain.nodes);
}

#[test]
fn a_violation_is_found_as_soon_with_and_without() {
    let (poset, actions) = grid(4, &[2, 0, 3, 2, 1, 3]);
    let problem = Problem {
        poset,
        actions,
        automaton: nesting::automaton(3),
    };
    let plain = solve(&problem, &options(Reductions::NONE))
        .violation
        .unwrap();
    let reduced = solve(&problem, &options(Reductions::ALL))
        .violation
        .unwrap();
    assert_eq!(plain.violated_at, reduced.violated_at);
    assert!(plain.is_shortest && reduced.is_shortest);
}

#[test]
fn what_cannot_be_violated_is_not_followed() {
    // After the last `open` nothing can go wrong.
    let (poset, actions) = grid(3, &[0, 1, 1, 1, 1, 1, 1, 1]);
    let problem = Problem {
        poset,
        actions,
        automaton: nesting::automaton(3),
    };
    let plain = solve(&problem, &options(Reductions::NONE));
    let dead_ends = Reductions {
        dead_ends: true,
        ..Reductions::NONE
    };
    let reduced = solve(&problem, &options(dead_ends));
    assert!(plain.violation.is_none() && reduced.violation.is_none());
    assert!(reduced.saved.dead_ends > 0 && reduced.nodes < plain.nodes);
    let subsuming = Reductions {
        subsumption: true,
        ..Reductions::NONE
    };
    let reduced = solve(&problem, &options(subsuming));
    assert!(reduced.violation.is_none() && reduced.saved.subsumption > 0);
}

#[test]
fn memory_is_kept_within_its_limit() {
    let (poset, actions) = grid(6, &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let problem = Problem {
        poset,
        actions,
        automaton: nesting::automaton(6),
    };
    let memory = 256 * 1024;
    let solution = solve(&problem, &options(Reductions::NONE).memory(memory));
    assert!(solution.limit.is_some() && solution.dropped > 0);
    assert!(
        solution.peak.bytes <= memory * 5 / 4,
        "{} bytes",
        solution.peak.bytes
    );
    assert!(solution.runs.is_none() && solution.shape.is_none());
}

#[test]
fn several_threads_see_what_one_sees() {
    let (poset, actions) = grid(
        4,
        &[0, 1, 2, 0, 1, 0, 3, 1, 0, 1, 0, 1, 2, 2, 0, 1, 2, 3, 0, 1],
    );
    let problem = Problem {
        poset,
        actions,
        automaton: nesting::automaton(4),
    };
    let one = solve(&problem, &Options::default());
    let many = Options::default()
        .parallel(true)
        .engine(Engine::Enumerate)
        .reductions(Reductions::NONE);
    let many = solve(&problem, &many);
    assert_eq!(many.nodes, 21u64.pow(4));
    assert_eq!(
        one.shape.map(|s| (s.cuts, s.widest)),
        many.shape.map(|s| (s.cuts, s.widest))
    );
    assert_eq!(one.runs, many.runs);
}

#[test]
fn counting_keeps_within_memory_too() {
    // The state is which of two kinds the last five events were, so that a cut may be in any of
    // the states, each with its number of runs.
    let (poset, actions) = grid(4, &[0, 0, 1, 0, 0, 1, 0, 0, 1, 0]);
    let next = (0..32).flat_map(|state| [2 * state % 32, (2 * state + 1) % 32]);
    let automaton = Automaton {
        initial: StateIndex(0),
        actions: 2,
        next: next.map(StateIndex).collect(),
        verdicts: vec![Verdict::Ok; 32],
    };
    let problem = Problem {
        poset,
        actions,
        automaton,
    };
    let count = |memory| {
        let options = options(Reductions::NONE)
            .counting(Counting::Always)
            .memory(memory);
        solve(&problem, &options)
    };
    let enough = count(1 << 30);
    let runs = enough.runs.expect("room enough");
    assert_eq!(runs.total, runs.ok);
    // More than room enough for the cuts alone.
    let cuts = 1 << 19;
    assert!(enough.peak.bytes * 5 < cuts, "{} bytes", enough.peak.bytes);
    assert_eq!(count(cuts).runs, None);
}
