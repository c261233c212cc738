//! Races against all runs of small random traces.

use std::collections::{BTreeMap, BTreeSet};

use portent_findings::{
    Hunt, Model,
    report::{Kind, Label},
};
use portent_monitor_core::Event;
use portent_testing::{Rng, RunModel, stamped, synchronising};

use crate::{
    brute::{AllRuns, runs_of},
    hunt::{cases, dress, find, random},
};

/// Threads that share variables and locks.
fn of_sections(rng: &mut Rng) -> Vec<Event> {
    let locations = rng.pick(&[0, 2, 5]);
    random(rng, 34, locations)
}

/// Threads that synchronise in every way.
fn of_everything(rng: &mut Rng) -> Vec<Event> {
    let (locations, length) = (rng.pick(&[0, 2, 5]), rng.between(6, 22));
    let events = synchronising(rng, length);
    dress(rng, events, locations)
}

/// Processes whose events bring their own clocks.
fn of_clocks(rng: &mut Rng) -> Vec<Event> {
    let (locations, length) = (rng.pick(&[0, 2, 5]), rng.between(6, 24));
    let events = stamped(rng, length);
    dress(rng, events, locations)
}

/// Compares on random traces, and returns how many there are.
fn check_all(model: Model, of: fn(&mut Rng) -> Vec<Event>) -> usize {
    let check = |seed| check(seed, &of(&mut Rng::new(seed)), model);
    (0..cases()).map(check).sum()
}

/// Compares, and returns how many there are.
fn check(seed: u64, events: &[Event], model: Model) -> usize {
    let runs = AllRuns::new(events, runs_of(model));
    let expected = runs.races();
    let report = find(events, model, Hunt::RACES);
    let counts = report.races.expect("races were looked for");
    let note = || format!("seed {seed}, {model:?}, {expected:?}: {events:#?}");
    assert!(counts.exhaustive, "{}", note());
    assert_eq!(
        counts.event_pairs,
        expected.values().sum::<u64>(),
        "{}",
        note()
    );
    let mut seconds: Vec<usize> = expected.keys().map(|pair| pair[1]).collect();
    seconds.sort_unstable();
    seconds.dedup();
    assert_eq!(counts.events, seconds.len() as u64, "{}", note());

    // By locations, how many there are, and whether one of them was observed.
    let mut pairs: BTreeMap<Vec<usize>, (u64, bool)> = BTreeMap::new();
    for (pair, vars) in &expected {
        let locs = pair.map(|index| events[index].loc.expect("all have one").index());
        let mut locs = locs.to_vec();
        locs.sort_unstable();
        let (count, observed) = pairs.entry(locs).or_default();
        *count += vars;
        *observed |= runs.is_observed(*pair);
    }
    let mut found: BTreeMap<Vec<usize>, (u64, bool)> = BTreeMap::new();
    for finding in &report.findings {
        assert_eq!(finding.kind, Kind::Race);
        assert_ne!(finding.label, Label::Possible, "{finding:#?} {}", note());
        let events: Vec<usize> = { finding.participants.iter() }
            .map(|participant| participant.row.event as usize)
            .collect();
        let pair = [events[0], events[1]];
        assert!(expected.contains_key(&pair), "{}", note());
        let locs = finding.participants.iter().map(|one| one.row.loc.clone());
        let mut locs: Vec<usize> = locs.map(|loc| loc.unwrap().parse().unwrap()).collect();
        locs.sort_unstable();
        let is_observed = finding.label == Label::Observed;
        assert!(
            !is_observed || runs.is_observed(pair),
            "{pair:?} {}",
            note()
        );
        found.insert(locs, (finding.stands_for.parse().unwrap(), is_observed));
    }
    assert_eq!(found, pairs, "{}", note());
    expected.len()
}

#[test]
fn happens_before_finds_exactly_the_races_of_equivalent_runs() {
    let found = check_all(Model::HappensBefore, of_sections);
    assert!(found > 1000, "{found}");
}

#[test]
fn strong_finds_exactly_the_races_of_runs_that_leave_out() {
    let found = check_all(Model::Strong, of_sections);
    assert!(found > 1000, "{found}");
}

#[test]
fn happens_before_finds_exactly_the_races_among_messages_and_waits() {
    let found = check_all(Model::HappensBefore, of_everything);
    assert!(found > 1000, "{found}");
}

#[test]
fn strong_finds_exactly_the_races_among_messages_and_waits() {
    let found = check_all(Model::Strong, of_everything);
    assert!(found > 1000, "{found}");
}

#[test]
fn both_models_find_exactly_the_races_that_clocks_leave_open() {
    for model in [Model::HappensBefore, Model::Strong] {
        let found = check_all(model, of_clocks);
        assert!(found > 1000, "{model:?}: {found}");
    }
}

#[test]
fn the_models_include_each_other() {
    let (mut widened, mut missed) = (0, 0);
    for seed in 0..cases() / 2 {
        let mut rng = Rng::new(seed);
        let events = match seed % 3 {
            0 => random(&mut rng, 24, 0),
            1 => of_everything(&mut rng),
            _ => of_clocks(&mut rng),
        };
        let [less, strong, all] = RunModel::ALL.map(|model| {
            let races = AllRuns::new(&events, model).races();
            races.into_keys().collect::<BTreeSet<_>>()
        });
        let note = format!("seed {seed}: {events:#?}");
        assert!(less.is_subset(&strong) && strong.is_subset(&all), "{note}");
        widened += usize::from(less != strong);
        missed += usize::from(strong != all);
    }
    assert!(widened > 20 && missed > 5, "{widened}, {missed}");
}
