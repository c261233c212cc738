//! Several threads of the operating system search together.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

use portent_explore::{
    Explorer, FailureKind, Report, Stopped,
    strategy::{Random, Source},
};

use crate::programs;

/// What several find together, and whether no class was seen twice.
fn search(workers: usize, program: impl Fn() + Sync) -> Report {
    let classes = Arc::new(Mutex::new((HashSet::new(), 0)));
    let seen = Arc::clone(&classes);
    let report = Explorer::new()
        .keep_going()
        .each(move |execution| {
            let mut class: Vec<(usize, Vec<u16>)> = execution
                .events()
                .map(|event| (event.thread(), event.clock().to_vec()))
                .collect();
            class.sort();
            let mut seen = seen.lock().unwrap();
            seen.0.insert(class);
            seen.1 += 1;
        })
        .check_in_parallel(workers, program);
    let classes = classes.lock().unwrap();
    assert_eq!(classes.0.len(), classes.1, "a class was seen twice");
    assert_eq!(report.executions, classes.1 as u64);
    assert_eq!(report.classes, Some(report.executions));
    assert_eq!(report.stopped, Stopped::Exhausted, "{report}");
    report
}

#[test]
fn the_same_classes_and_none_twice() {
    for workers in [2, 3, 5] {
        let report = search(workers, || programs::sections(4, 2));
        assert_eq!((report.executions, report.blocked), (2520, 0));
        let report = search(workers, || programs::loads_and_stores(2, 3));
        assert_eq!((report.executions, report.blocked), (328, 0));
        let report = search(workers, || programs::last_zero(7));
        assert_eq!((report.executions, report.blocked), (320, 294));
        let report = search(workers, || programs::philosophers(5));
        assert_eq!((report.executions, report.deadlocks), (31, 1));
        let report = search(workers, || programs::indexer(13));
        assert_eq!((report.executions, report.blocked), (64, 0));
    }
}

#[test]
fn a_failure_stops_all() {
    let report = Explorer::new().check_in_parallel(3, programs::crossed_locks);
    assert_eq!(report.failures[0].kind, FailureKind::Deadlock);
    let few = Explorer::new()
        .max_runs(100)
        .check_in_parallel(2, || programs::sections(4, 2));
    assert_eq!(few.stopped, Stopped::Runs);
    assert!((100..110).contains(&few.executions), "{few}");
}

#[test]
fn statics_are_searched_by_one() {
    use portent_hooks::{
        sync::atomic::{AtomicU32, Ordering::SeqCst},
        thread,
    };
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let report = Explorer::new().check_in_parallel(2, || {
        let thread = thread::spawn(|| NUMBER.fetch_add(1, SeqCst));
        NUMBER.fetch_add(1, SeqCst);
        thread.join().unwrap();
    });
    assert_eq!(report.executions, 2);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("searched alone")),
        "{report}"
    );
}

#[test]
fn what_cannot_be_shared_is_searched_by_one() {
    let report = Explorer::new()
        .strategy(|| Random::new(1, 20))
        .check_in_parallel(2, || programs::sections(3, 2));
    assert_eq!((report.stopped, report.executions), (Stopped::Runs, 20));
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("by source sets can be shared")),
        "{report}"
    );
    let report = Explorer::new()
        .strategy(Source::new)
        .check_in_parallel(2, || programs::sections(3, 2));
    assert!(report.notes.is_empty(), "{report}");
}

#[test]
fn tries_begin_anew() {
    use portent_hooks::{sync::Mutex, thread};
    let report = search(2, || {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        drop(lock.try_lock());
        thread.join().unwrap();
    });
    assert_eq!(report.executions, 3, "{report}");
    assert!(report.discarded > 0, "{report}");
}
