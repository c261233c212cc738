//! How many choices of acquires a deadlock stands for, against all runs of small random traces; and what is said where that is cut.

use std::{collections::BTreeMap, fmt::Write as _};

use portent_findings::{
    Finder, Hunt, Model, Options, Report, Suppressions,
    report::{Label, PatternLimit},
};
use portent_monitor_core::{Event, LocId, LockId, Op, ThreadId};
use portent_testing::Rng;
use portent_trace::TraceReader;

use crate::{
    brute::{AllRuns, runs_of},
    hunt::{cases, find, random},
};

const DEADLOCKS: Hunt = Hunt {
    races: false,
    deadlocks: true,
    atomicity: false,
};

/// What is found in native lines, looking at this many patterns.
fn find_in(trace: &str, model: Model, patterns: usize) -> Report {
    let options = portent_trace::Options::default();
    let mut reader = TraceReader::new("choices", trace.as_bytes(), &options).unwrap();
    let options = Options::default().model(model).hunt(DEADLOCKS);
    let mut finder = Finder::new(options.max_patterns(patterns));
    while let Some(event) = reader.next_event(finder.symbols_mut()).unwrap() {
        finder.take(&event).unwrap();
    }
    finder.finish().unwrap()
}

/// Takes the locks in order and gives them back; every acquire is at a place.
fn nest(trace: &mut String, thread: &str, locks: [&str; 2], places: [&str; 2]) {
    for (lock, place) in locks.iter().zip(places) {
        writeln!(
            trace,
            r#"{{"t":"{thread}","op":"lock","lock":"{lock}","loc":"{place}"}}"#
        )
        .unwrap();
    }
    for lock in locks.iter().rev() {
        writeln!(trace, r#"{{"t":"{thread}","op":"unlock","lock":"{lock}"}}"#).unwrap();
    }
}

/// Threads that take two of three locks in any order, again and again, at few places.
fn nested(rng: &mut Rng) -> Vec<Event> {
    let mut programs: Vec<Vec<Op>> = Vec::new();
    for _ in 0..rng.between(2, 3) {
        let mut program = Vec::new();
        for _ in 0..rng.between(1, 3) {
            let first = rng.below(3);
            let locks =
                [first, (first + rng.between(1, 2)) % 3].map(|lock| LockId::from(lock as u32));
            program.extend(locks.map(Op::Lock));
            program.extend(locks.map(Op::Unlock));
        }
        program.reverse();
        programs.push(program);
    }
    let mut events: Vec<Event> = Vec::new();
    let mut holders: [Option<usize>; 3] = [None; 3];
    loop {
        let can_go_on = |thread: &usize| match programs[*thread].last() {
            Some(Op::Lock(lock)) => holders[lock.index()].is_none(),
            other => other.is_some(),
        };
        let ready: Vec<usize> = (0..programs.len()).filter(can_go_on).collect();
        if ready.is_empty() {
            return events;
        }
        let thread = rng.pick(&ready);
        let op = programs[thread].pop().expect("it can go on");
        match op {
            Op::Lock(lock) => holders[lock.index()] = Some(thread),
            Op::Unlock(lock) => holders[lock.index()] = None,
            _ => {}
        }
        let mut event = Event::new(ThreadId::from(thread as u32), op);
        event.loc = LocId::from_index(rng.below(2));
        events.push(event);
    }
}

#[test]
fn a_deadlock_stands_for_the_choices_that_runs_come_to() {
    let mut several = 0;
    for seed in 0..cases() / 5 {
        let mut rng = Rng::new(seed);
        let events = if rng.one_in(3) {
            let locations = rng.between(1, 3);
            random(&mut rng, 44, locations)
        } else {
            nested(&mut rng)
        };
        for model in [Model::HappensBefore, Model::Strong] {
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for choice in AllRuns::new(&events, runs_of(model)).deadlocks() {
                let locs = choice.iter().map(|&index| events[index].loc.unwrap());
                let mut locs: Vec<String> = locs.map(|loc| loc.index().to_string()).collect();
                locs.sort_unstable();
                *expected.entry(locs.join(", ")).or_default() += 1;
            }
            let report = find(&events, model, DEADLOCKS);
            let certain = { report.findings.iter() }.filter(|one| one.label != Label::Possible);
            let found: BTreeMap<String, u64> = certain
                .map(|finding| {
                    assert!(!finding.at_least, "seed {seed}, {model:?}");
                    (finding.key.clone(), finding.stands_for.parse().unwrap())
                })
                .collect();
            assert_eq!(found, expected, "seed {seed}, {model:?}: {events:#?}");
            let counts = report.deadlocks.unwrap();
            assert!(counts.exhaustive && counts.locations_exhaustive);
            assert_eq!(counts.location_tuples, expected.len() as u64);
            several += expected.values().filter(|&&number| number > 1).count();
        }
    }
    assert!(several > 20, "{several}");
}

#[test]
fn choices_of_several_patterns_at_the_same_places_are_added() {
    let mut trace = String::new();
    for _ in 0..3 {
        nest(&mut trace, "T1", ["a", "b"], ["here:1", "here:2"]);
    }
    for thread in ["T2", "T3"] {
        for _ in 0..2 {
            nest(&mut trace, thread, ["b", "a"], ["there:1", "there:2"]);
        }
    }
    let report = find_in(&trace, Model::Strong, 100);
    assert_eq!(report.findings.len(), 1);
    let finding = &report.findings[0];
    assert_eq!(
        (finding.label, finding.key.as_str()),
        (Label::Shown, "here:2, there:2")
    );
    // Any of T1 with the first of T2 or of T3: their second ones come after what T1 would still be in.
    assert_eq!(
        (finding.stands_for.as_str(), finding.at_least),
        ("6", false)
    );
    let counts = report.deadlocks.unwrap();
    assert_eq!((counts.patterns, counts.deadlocks), (2, 2));
    assert_eq!((counts.choices.as_str(), counts.location_tuples), ("12", 1));
}

#[test]
fn what_only_looks_like_a_deadlock_has_each_of_its_places() {
    let mut trace = String::new();
    nest(&mut trace, "T1", ["a", "b"], ["here:1", "here:2"]);
    nest(&mut trace, "T1", ["a", "b"], ["here:1", "else:2"]);
    nest(&mut trace, "T2", ["b", "a"], ["there:1", "there:2"]);
    let report = find_in(&trace, Model::HappensBefore, 100);
    let mut keys: Vec<(&str, &str)> = { report.findings.iter() }
        .map(|finding| (finding.key.as_str(), finding.stands_for.as_str()))
        .collect();
    keys.sort_unstable();
    assert_eq!(keys, [("else:2, there:2", "1"), ("here:2, there:2", "1")]);
}

#[test]
fn the_shortest_cycles_come_first_and_a_limit_is_told() {
    let mut trace = String::new();
    // One of three threads, which is there first, and one of two.
    nest(&mut trace, "T1", ["a", "b"], ["long:1", "long:2"]);
    nest(&mut trace, "T2", ["b", "c"], ["long:3", "long:4"]);
    nest(&mut trace, "T3", ["c", "a"], ["long:5", "long:6"]);
    nest(&mut trace, "T4", ["y", "z"], ["short:1", "short:2"]);
    nest(&mut trace, "T5", ["z", "y"], ["short:3", "short:4"]);
    let all = find_in(&trace, Model::Strong, 2);
    let counts = all.deadlocks.unwrap();
    assert_eq!(
        (counts.patterns, counts.exhaustive, counts.limit),
        (2, true, None)
    );
    let cut = find_in(&trace, Model::Strong, 1);
    let counts = cut.deadlocks.unwrap();
    assert_eq!((counts.patterns, counts.exhaustive), (1, false));
    assert_eq!(counts.limit, Some(PatternLimit::Patterns));
    assert!(!counts.locations_exhaustive);
    assert_eq!(cut.findings.len(), 1);
    assert_eq!(cut.findings[0].key, "short:2, short:4");
    assert!(cut.findings[0].at_least);
}

#[test]
fn more_places_than_are_told_apart_make_a_bound() {
    let mut trace = String::new();
    let place = |thread: &str, number: usize| format!("{thread}:{number}");
    for thread in ["T1", "T2"] {
        let locks = if thread == "T1" {
            ["a", "b"]
        } else {
            ["b", "a"]
        };
        for number in 0..9 {
            nest(&mut trace, thread, locks, ["outer", &place(thread, number)]);
        }
    }
    // 81 tuples of places, of which 64 would be told apart.
    let report = find_in(&trace, Model::Strong, 100);
    let counts = report.deadlocks.unwrap();
    assert_eq!(counts.choices, "81");
    assert!(counts.exhaustive && !counts.locations_exhaustive);
    assert!(counts.location_tuples > 0 && counts.location_tuples < 81);
    assert!(report.findings.iter().all(|finding| finding.at_least));
    let stands_for = |finding: &portent_findings::report::Finding| -> u64 {
        finding.stands_for.parse().unwrap()
    };
    assert!(
        report
            .findings
            .iter()
            .all(|finding| stands_for(finding) == 1)
    );
}

#[test]
fn a_request_may_be_that_of_a_reader() {
    let line = |op: &str, thread: u32, lock: &str| {
        format!("{{\"t\":{thread},\"op\":\"{op}\",\"lock\":\"{lock}\"}}\n")
    };
    let end = |first: &str| {
        let trace = [
            line(first, 1, "a"),
            line("lock", 2, "b"),
            line("req", 1, "b"),
            line("req", 2, "a"),
        ];
        let labels = [Model::HappensBefore, Model::Strong].map(|model| {
            let report = find_in(&trace.concat(), model, 100);
            report
                .findings
                .iter()
                .map(|one| one.label)
                .collect::<Vec<_>>()
        });
        labels.concat()
    };
    assert_eq!(end("lock"), [Label::Observed, Label::Observed]);
    // T2 may want to read what T1 reads, and need not wait for that.
    assert_eq!(end("rlock"), [Label::Possible, Label::Possible]);
}

#[test]
fn a_thread_that_wakes_up_waits_for_the_lock_and_not_for_the_condition() {
    let trace = r#"{"t":"A","op":"lock","lock":"m"}
{"t":"A","op":"lock","lock":"n"}
{"t":"A","op":"waiting","cond":"c","lock":"m"}
{"t":"B","op":"lock","lock":"m"}
{"t":"B","op":"notify","cond":"c"}
{"t":"B","op":"unlock","lock":"m"}
{"t":"A","op":"wait","cond":"c","lock":"m"}
{"t":"A","op":"unlock","lock":"n"}
{"t":"A","op":"unlock","lock":"m"}
{"t":"D","op":"lock","lock":"m"}
{"t":"D","op":"lock","lock":"n"}
"#;
    let report = find_in(trace, Model::Strong, 100);
    let [finding] = &report.findings[..] else {
        panic!("{report:#?}");
    };
    assert_eq!(finding.locks, ["m", "n"]);
    assert_eq!(finding.key, "lock n, wait m");
    let objects: Vec<_> = { finding.participants.iter() }
        .map(|one| one.row.object.as_deref())
        .collect();
    assert_eq!(objects, [Some("m"), Some("n")]);
    assert_eq!(
        finding.to_string(),
        "deadlock: A holds n and wants m; D holds m and wants n"
    );
    let known = Suppressions::parse("lock m", "known.txt").unwrap();
    assert!(known.suppresses(finding));
}

#[test]
fn a_deadlock_names_the_locks_of_all_choices_it_stands_for() {
    let mut trace = String::new();
    nest(&mut trace, "A", ["a", "b"], ["f:1", "f:2"]);
    nest(&mut trace, "B", ["c", "d"], ["f:1", "f:2"]);
    nest(&mut trace, "C", ["b", "a"], ["g:1", "g:2"]);
    nest(&mut trace, "D", ["d", "c"], ["g:1", "g:2"]);
    let report = find_in(&trace, Model::Strong, 100);
    let [finding] = &report.findings[..] else {
        panic!("{report:#?}");
    };
    assert_eq!(finding.stands_for, "2");
    assert_eq!(finding.locks, ["b", "a", "d", "c"]);
}
