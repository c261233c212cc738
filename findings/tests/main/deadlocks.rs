//! Deadlocks against all runs of small random traces.

use std::collections::BTreeSet;

use portent_findings::{Hunt, Model, report::Label};
use portent_testing::Rng;

use crate::{
    brute::AllRuns,
    hunt::{cases, find, random},
};

const DEADLOCKS: Hunt = Hunt {
    races: false,
    deadlocks: true,
    atomicity: false,
};

fn check(seed: u64, model: Model) -> usize {
    let events = random(&mut Rng::new(seed), 44, 0);
    let expected = AllRuns::new(&events, model).deadlocks();
    let report = find(&events, model, DEADLOCKS);
    let certain = report
        .findings
        .iter()
        .filter(|one| one.label != Label::Possible);
    let found: BTreeSet<Vec<usize>> = certain
        .map(|finding| {
            let events = finding
                .participants
                .iter()
                .map(|one| one.row.event as usize);
            let mut events: Vec<usize> = events.collect();
            events.sort_unstable();
            events
        })
        .collect();
    assert_eq!(found, expected, "seed {seed}, {model:?}: {events:#?}");
    expected.len()
}

#[test]
fn strong_finds_exactly_the_deadlocks_of_runs_that_leave_out() {
    let found: usize = (0..cases()).map(|seed| check(seed, Model::Strong)).sum();
    assert!(found > 50, "{found}");
}

#[test]
fn happens_before_finds_exactly_the_deadlocks_in_which_the_trace_ends() {
    let found: usize = (0..cases())
        .map(|seed| check(seed, Model::HappensBefore))
        .sum();
    assert!(found > 5, "{found}");
}
