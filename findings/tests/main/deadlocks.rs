//! Deadlocks against all runs of small random traces.

use std::collections::BTreeSet;

use portent_findings::{Hunt, Model, report::Label};
use portent_monitor_core::Event;
use portent_testing::{Rng, RunModel, synchronising};

use crate::{
    brute::{AllRuns, runs_of},
    hunt::{cases, dress, find, random},
};

const DEADLOCKS: Hunt = Hunt {
    races: false,
    deadlocks: true,
    atomicity: false,
};

/// Compares, and returns how many there are.
fn check(note: &str, events: &[Event], model: Model) -> usize {
    let expected = AllRuns::new(events, runs_of(model)).deadlocks();
    let report = find(events, model, DEADLOCKS);
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
    assert_eq!(found, expected, "{note}, {model:?}: {events:#?}");
    expected.len()
}

/// Compares on random traces, and returns how many there are.
fn check_all(model: Model, of: fn(&mut Rng) -> Vec<Event>) -> usize {
    let check = |seed| check(&format!("seed {seed}"), &of(&mut Rng::new(seed)), model);
    (0..cases()).map(check).sum()
}

fn of_sections(rng: &mut Rng) -> Vec<Event> {
    random(rng, 44, 0)
}

fn of_everything(rng: &mut Rng) -> Vec<Event> {
    let length = rng.between(8, 24);
    let events = synchronising(rng, length);
    dress(rng, events, 0)
}

#[test]
fn strong_finds_exactly_the_deadlocks_of_runs_that_leave_out() {
    let found = check_all(Model::Strong, of_sections);
    assert!(found > 50, "{found}");
}

#[test]
fn strong_finds_exactly_the_deadlocks_among_messages_and_waits() {
    let found = check_all(Model::Strong, of_everything);
    assert!(found > 2, "{found}");
}

#[test]
fn happens_before_finds_exactly_the_deadlocks_in_which_the_trace_ends() {
    let found = check_all(Model::HappensBefore, of_sections)
        + check_all(Model::HappensBefore, of_everything);
    assert!(found > 5, "{found}");
}

#[test]
fn the_models_include_each_other() {
    let mut widened = 0;
    for seed in 0..cases() / 2 {
        let mut rng = Rng::new(seed);
        let events = match seed % 2 {
            0 => random(&mut rng, 34, 0),
            _ => of_everything(&mut rng),
        };
        let [less, strong, all] =
            RunModel::ALL.map(|model| AllRuns::new(&events, model).deadlocks());
        let note = format!("seed {seed}: {events:#?}");
        assert!(less.is_subset(&strong) && strong.is_subset(&all), "{note}");
        widened += usize::from(less != strong);
    }
    assert!(widened > 5, "{widened}");
}
