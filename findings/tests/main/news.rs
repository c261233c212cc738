//! What is told while events come, against what is known when all have come.

use std::collections::BTreeSet;

use portent_findings::{
    Finder, Hunt, Model, Options,
    report::{Finding, Kind, Label},
};
use portent_monitor_core::{Event, LockId, Mark, Op, ThreadId};
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

/// An acquire that holds something: its thread, its lock and whether exclusively, and the same of what it holds.
type Acquire = (usize, (usize, bool), BTreeSet<(usize, bool)>);

/// After how many events each set of acquires was there that wait for each other in a cycle, found without any cleverness.
fn completed(events: &[Event]) -> Vec<usize> {
    let mut held: Vec<(usize, (usize, bool))> = Vec::new();
    let mut acquires: Vec<Acquire> = Vec::new();
    let mut completed = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let thread = event.thread.index();
        let (lock, gives_back) = match event.op {
            Op::Lock(lock) => ((lock.index(), true), false),
            Op::ReadLock(lock) => ((lock.index(), false), false),
            Op::Unlock(lock) => ((lock.index(), true), true),
            Op::ReadUnlock(lock) => ((lock.index(), false), true),
            _ => continue,
        };
        if gives_back {
            let at = held.iter().position(|one| *one == (thread, lock)).unwrap();
            held.remove(at);
            continue;
        }
        let own: BTreeSet<(usize, bool)> = { held.iter() }
            .filter(|(holder, _)| *holder == thread)
            .map(|(_, lock)| *lock)
            .collect();
        held.push((thread, lock));
        let has_it = own.iter().any(|(other, _)| *other == lock.0);
        let acquire = (thread, lock, own);
        if event.mark == Some(Mark::Try) || acquire.2.is_empty() || has_it {
            continue;
        }
        if acquires.contains(&acquire) {
            continue;
        }
        acquires.push(acquire);
        let mut cycles = BTreeSet::new();
        around(&acquires, &mut vec![acquires.len() - 1], &mut cycles);
        completed.extend(cycles.iter().map(|_| index + 1));
    }
    completed
}

/// The sets of acquires of cycles that go on like this.
fn around(acquires: &[Acquire], path: &mut Vec<usize>, cycles: &mut BTreeSet<Vec<usize>>) {
    let excludes = |one: bool, other: bool| one || other;
    let waits = |one: &Acquire, other: &Acquire| {
        let mut held = other.2.iter();
        held.any(|&(lock, exclusive)| lock == one.1.0 && excludes(exclusive, one.1.1))
    };
    let last = &acquires[path[path.len() - 1]];
    if path.len() > 1 && waits(last, &acquires[path[0]]) {
        let mut cycle = path.clone();
        cycle.sort_unstable();
        cycles.insert(cycle);
    }
    for (index, next) in acquires.iter().enumerate() {
        let fits = |&other: &usize| {
            let (thread, lock, held) = &acquires[other];
            let mut both = held
                .iter()
                .flat_map(|one| next.2.iter().map(move |two| (one, two)));
            *thread != next.0
                && lock.0 != next.1.0
                && !both.any(|(one, two)| one.0 == two.0 && excludes(one.1, two.1))
        };
        if path.iter().all(fits) && waits(last, next) {
            path.push(index);
            around(acquires, path, cycles);
            path.pop();
        }
    }
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
            // Where every event has a place of its own, each cycle is told, and with the acquire that completes it.
            if locations == 0 {
                let orders = told.iter().filter(|(_, one)| one.kind == Kind::Deadlock);
                let orders: Vec<usize> = orders.map(|(events, _)| *events).collect();
                assert_eq!(
                    orders,
                    completed(&events),
                    "seed {seed}, {model:?}: {events:#?}"
                );
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

#[test]
fn a_short_search_for_lock_orders_says_so() {
    // Each of twelve threads takes each of twelve locks inside each other: far more cycles than are told.
    let mut finder = Finder::new(Options::default().hunt(BOTH).max_patterns(10));
    named(finder.symbols_mut());
    let take = |finder: &mut Finder, thread: u32, op: Op| {
        finder
            .take(&Event::new(ThreadId::from(thread), op))
            .unwrap();
    };
    for thread in 0..12 {
        for (held, lock) in (0..12).flat_map(|held| (0..12).map(move |lock| (held, lock))) {
            let [held, lock] = [held, lock].map(LockId::from);
            if held != lock {
                for op in [
                    Op::Lock(held),
                    Op::Lock(lock),
                    Op::Unlock(lock),
                    Op::Unlock(held),
                ] {
                    take(&mut finder, thread, op);
                }
            }
        }
        // Not after every acquire: each search takes as long as it may.
        assert!(!finder.news_are_cut(), "thread {thread}");
        finder.news().unwrap();
        if finder.news_are_cut() {
            let report = finder.finish().unwrap();
            let kinds = report.warnings.iter().map(|warning| warning.kind);
            assert!(kinds.collect::<Vec<_>>().contains(&"news_cut"));
            return;
        }
    }
    panic!("the search was never cut");
}
