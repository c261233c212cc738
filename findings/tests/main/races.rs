//! Races against all runs of small random traces.

use std::collections::BTreeMap;

use portent_findings::{
    Hunt, Model,
    report::{Kind, Label},
};
use portent_testing::Rng;

use crate::{
    brute::AllRuns,
    hunt::{cases, find, random},
};

/// Compares, and returns how many there are.
fn check(seed: u64, model: Model) -> usize {
    let mut rng = Rng::new(seed);
    let locations = rng.pick(&[0, 2, 5]);
    let events = random(&mut rng, 34, locations);
    let expected = AllRuns::new(&events, model).races();
    let report = find(&events, model, Hunt::RACES);
    let counts = report.races.expect("races were looked for");
    let note = || format!("seed {seed}, {model:?}: {events:#?}");
    assert!(counts.exhaustive, "{}", note());
    assert_eq!(counts.event_pairs, expected.len() as u64, "{}", note());
    let mut seconds: Vec<usize> = expected.iter().map(|pair| pair[1]).collect();
    seconds.sort_unstable();
    seconds.dedup();
    assert_eq!(counts.events, seconds.len() as u64, "{}", note());

    let mut pairs: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
    for pair in &expected {
        let locs = pair.map(|index| events[index].loc.expect("all have one").index());
        let mut locs = locs.to_vec();
        locs.sort_unstable();
        *pairs.entry(locs).or_default() += 1;
    }
    let mut found: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
    for finding in &report.findings {
        assert_eq!(finding.kind, Kind::Race);
        assert_ne!(finding.label, Label::Possible, "{finding:#?} {}", note());
        let events: Vec<usize> = { finding.participants.iter() }
            .map(|participant| participant.row.event as usize)
            .collect();
        assert!(expected.contains(&[events[0], events[1]]), "{}", note());
        let locs = finding.participants.iter().map(|one| one.row.loc.clone());
        let mut locs: Vec<usize> = locs.map(|loc| loc.unwrap().parse().unwrap()).collect();
        locs.sort_unstable();
        found.insert(locs, finding.stands_for.parse().unwrap());
    }
    assert_eq!(found, pairs, "{}", note());
    expected.len()
}

#[test]
fn happens_before_finds_exactly_the_races_of_equivalent_runs() {
    let found: usize = (0..cases())
        .map(|seed| check(seed, Model::HappensBefore))
        .sum();
    assert!(found > 1000, "{found}");
}

#[test]
fn strong_finds_exactly_the_races_of_runs_that_leave_out() {
    let found: usize = (0..cases()).map(|seed| check(seed, Model::Strong)).sum();
    assert!(found > 1000, "{found}");
}

#[test]
fn strong_finds_what_happens_before_finds_and_more() {
    let (mut more, mut same) = (0, 0);
    for seed in 0..500 {
        let events = random(&mut Rng::new(seed), 40, 0);
        let [less, all] = [Model::HappensBefore, Model::Strong].map(|model| {
            let report = find(&events, model, Hunt::RACES);
            let keys = report.findings.iter().map(|finding| finding.key.clone());
            keys.collect::<std::collections::BTreeSet<_>>()
        });
        assert!(less.is_subset(&all), "seed {seed}");
        *if less == all { &mut same } else { &mut more } += 1;
    }
    assert!(more > 20 && same > 20, "{more}, {same}");
}
