//! What is told while events come, against what is known when all have come.

use std::collections::BTreeSet;

use portent_findings::{
    Finder, Hunt, Model, Options,
    report::{Finding, Kind, Label},
};
use portent_monitor_core::{Event, Op};
use portent_testing::Rng;

use crate::hunt::{cases, named, random};

const BOTH: Hunt = Hunt {
    races: true,
    deadlocks: true,
    atomicity: false,
};

/// What is told, with the number of events until then; and what there is at the end.
fn watch(events: &[Event], model: Model) -> (Vec<(usize, Finding)>, Vec<Finding>) {
    let mut finder = Finder::new(Options::default().model(model).hunt(BOTH));
    named(finder.symbols_mut());
    let mut told = Vec::new();
    for (index, event) in events.iter().enumerate() {
        finder.take(event).unwrap();
        told.extend(
            finder
                .news()
                .unwrap()
                .into_iter()
                .map(|news| (index + 1, news)),
        );
        assert!(finder.news().unwrap().is_empty(), "nothing is told twice");
    }
    (told, finder.finish().unwrap().findings)
}

#[test]
fn all_that_the_end_knows_was_told_and_nothing_twice() {
    let (mut races, mut orders, mut surer) = (0, 0, 0);
    for seed in 0..cases() / 5 {
        let mut rng = Rng::new(seed);
        let locations = rng.pick(&[0, 4]);
        let events = random(&mut rng, 40, locations);
        for model in [Model::HappensBefore, Model::Strong] {
            let (told, end) = watch(&events, model);
            let keys = |kind: Kind, findings: &mut dyn Iterator<Item = &Finding>| {
                let of_kind = findings.filter(|finding| finding.kind == kind);
                of_kind
                    .map(|finding| finding.key.clone())
                    .collect::<Vec<_>>()
            };
            let mut so_far = told.iter().map(|(_, finding)| finding);
            let told_races = keys(Kind::Race, &mut so_far);
            let at_end: BTreeSet<_> = keys(Kind::Race, &mut end.iter()).into_iter().collect();
            let unique: BTreeSet<_> = told_races.iter().cloned().collect();
            assert_eq!(unique.len(), told_races.len(), "seed {seed}, {model:?}");
            assert_eq!(unique, at_end, "seed {seed}, {model:?}");
            races += unique.len();

            // A race is told with its second event, and a lock order with the acquire that completes it.
            for (events_so_far, finding) in &told {
                let last = finding
                    .participants
                    .iter()
                    .map(|one| one.row.event as usize);
                let last = last.max().expect("somebody takes part");
                assert_eq!(
                    last + 1,
                    *events_so_far,
                    "seed {seed}, {model:?}: {finding:?}"
                );
                if finding.kind == Kind::Deadlock {
                    assert!(finding.participants.iter().all(|one| !one.holds.is_empty()));
                    orders += 1;
                    surer += usize::from(finding.label == Label::Shown);
                } else {
                    assert_ne!(finding.label, Label::Possible, "seed {seed}, {model:?}");
                }
            }
            // Whoever only asks for a lock at the end of the trace is known to wait when it has ended.
            let is_over = |finding: &&Finding| {
                let mut wanted = finding
                    .participants
                    .iter()
                    .map(|one| one.row.event as usize);
                finding.kind == Kind::Deadlock
                    && wanted.all(|event| !matches!(events[event].op, Op::Request(_)))
            };
            if !end.iter().filter(is_over).collect::<Vec<_>>().is_empty() {
                let has_told = told
                    .iter()
                    .any(|(_, finding)| finding.kind == Kind::Deadlock);
                assert!(has_told, "seed {seed}, {model:?}");
            }
        }
    }
    assert!(
        races > 1000 && orders > 5 && surer > 0,
        "{races}, {orders}, {surer}"
    );
}

#[test]
fn only_so_many_events_are_looked_at_and_that_is_said() {
    let events = random(&mut Rng::new(1), 40, 0);
    let mut finder = Finder::new(Options::default().max_events(3));
    named(finder.symbols_mut());
    for event in &events {
        finder.take(event).unwrap();
    }
    let report = finder.finish().unwrap();
    assert_eq!(report.events, 3);
    let beyond = report
        .warnings
        .iter()
        .find(|warning| warning.kind == "beyond");
    let text = format!("{} came after them", events.len() - 3);
    assert!(beyond.is_some_and(|warning| warning.text.ends_with(&text)));
}
