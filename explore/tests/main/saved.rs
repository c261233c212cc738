//! A search is stopped, saved and resumed.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use portent_explore::{
    Error, Explorer, Report, Stopped,
    strategy::{Optimal, Source},
};
use portent_hooks::{
    event,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    thread,
};
use portent_monitor_dsl::{Monitor, Property};

use crate::programs;

#[test]
fn a_search_goes_on_where_it_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    let mut parts = 0;
    let report = loop {
        parts += 1;
        let explorer = Explorer::new()
            .max_runs(parts * 500)
            .resumable(&file)
            .unwrap();
        let report = explorer.check(|| programs::sections(4, 2));
        if report.stopped != Stopped::Runs {
            break report;
        }
        assert_eq!(report.executions, parts * 500);
        assert!(file.exists());
    };
    assert_eq!((parts, report.executions, report.blocked), (6, 2520, 0));
    assert_eq!(report.stopped, Stopped::Exhausted);
    assert!(!file.exists(), "there is nothing left to be resumed");
}

#[test]
fn a_search_goes_on_after_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    loop {
        let explorer = Explorer::new().resumable(&file).unwrap();
        let report = explorer.check(|| {
            programs::philosophers(3);
        });
        if report.stopped == Stopped::Exhausted {
            assert_eq!((report.executions, report.deadlocks), (7, 1));
            assert_eq!((report.failed, report.failures.len()), (1, 1), "{report}");
            assert!(
                report.failures[0].message.starts_with("deadlock:\n"),
                "{report}"
            );
            let repeated = Explorer::new()
                .replay(&report.failures[0].token)
                .unwrap()
                .check(|| {
                    programs::philosophers(3);
                });
            assert_eq!(repeated.failures[0].message, report.failures[0].message);
            break;
        }
    }
}

#[test]
fn time_is_over() {
    let report = Explorer::new()
        .max_time(Duration::ZERO)
        .check(|| programs::sections(4, 2));
    assert_eq!((report.stopped, report.executions), (Stopped::Time, 1));
}

#[test]
fn what_is_no_saved_search_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    let asked = "portent search 2\nasked 0 tries 0 used 0\n";
    let head = format!(
        "{asked}executions 1 blocked 0 deadlocks 0 failed 0 unchecked 0 unknown 0 gave-up 0 too-long 0 discarded 0 kept-waiting 0\n"
    );
    for (text, line) in [
        (String::from("something else"), 1),
        (String::from("portent search 1\n"), 1),
        (String::from("portent search 2\nexecutions"), 2),
        (format!("{asked}executions 1"), 3),
        (format!("{head}1 0 3 3 1 0"), 4),
        (format!("{head}point 1 0 3 3 1"), 4),
        (format!("{head}point 1 0 3 3 1 0\npoint 1 0 3 3 x 0"), 5),
        (format!("{head}failure nothing p1-IUMh-x3Kd0Q text"), 4),
    ] {
        std::fs::write(&file, text).unwrap();
        match Explorer::new().resumable(&file) {
            Err(Error::Saved { line: found, .. }) => assert_eq!(found, line),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("it was read"),
        }
    }
    // Of another program.
    std::fs::write(&file, format!("{head}point 7 0 ff ff 0 0\n")).unwrap();
    let report = Explorer::new()
        .resumable(&file)
        .unwrap()
        .check(|| programs::updates(2, 1));
    assert!(
        report.failures[0]
            .message
            .contains("did not do the same again"),
        "{report}"
    );
}

fn monitor(text: &str) -> Monitor {
    Property::parse(text).unwrap().monitor().unwrap()
}

/// Run by run, each in a search of its own; the report of the last one.
fn one_by_one(explorer: impl Fn() -> Explorer, program: impl Fn()) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    for runs in 1.. {
        let report = { explorer().max_runs(runs).resumable(&file).unwrap() }.check(&program);
        if !file.exists() {
            return report;
        }
    }
    unreachable!()
}

#[test]
fn a_search_that_is_resumed_knows_what_was_left_out() {
    let report = one_by_one(
        || Explorer::new().max_steps(20),
        || {
            let number = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&number);
            let thread = thread::spawn(move || other.store(1, SeqCst));
            // It does not end in the first run, whatever comes later.
            while number.load(SeqCst) == 0 {}
            thread.join().unwrap();
        },
    );
    assert!(report.too_long > 0, "{report}");
    assert_eq!(report.stopped, Stopped::Steps);
    assert!(!report.is_proof());
    assert!(report.unmodelled[0].contains("sequentially consistent"));
}

#[test]
fn a_search_that_is_resumed_counts_what_its_parts_have_found() {
    let program = || {
        let number = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&number);
        let thread = thread::spawn(move || {
            event!(a);
            other.fetch_add(1, SeqCst);
        });
        if number.fetch_add(1, SeqCst) == 0 {
            event!(b);
        }
        thread.join().unwrap();
    };
    let explorer = || { Explorer::new().keep_going() }.property(monitor("always (b -> !once a)"));
    let whole = explorer().check(program);
    assert_eq!((whole.executions, whole.failed), (2, 1), "{whole}");
    let parts = one_by_one(explorer, program);
    assert_eq!((parts.executions, parts.failed), (2, 1), "{parts}");
    assert_eq!(parts.failures.len(), 1);
    assert_eq!(parts.failures[0].token, whole.failures[0].token);
}

#[test]
fn what_was_searched_for_another_property_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    let begun = Explorer::new().max_runs(10).resumable(&file).unwrap();
    begun.check(|| programs::sections(3, 2)).assert_passed();
    let other = Explorer::new()
        .resumable(&file)
        .unwrap()
        .property(monitor("always !a"));
    let report = other.check(|| programs::sections(3, 2));
    assert_eq!((report.executions, report.failed), (0, 1));
    assert!(
        report.failures[0].message.contains("of other properties"),
        "{report}"
    );
    assert!(file.exists());
}

#[test]
fn what_cannot_be_saved_is_refused_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    let begin = || Explorer::new().max_runs(10).resumable(&file).unwrap();
    begin().check(|| programs::sections(3, 2)).assert_passed();
    let before = std::fs::read_to_string(&file).unwrap();
    let report = begin()
        .strategy(Optimal::new)
        .check(|| programs::sections(3, 2));
    assert_eq!(report.failed, 1);
    assert!(
        report.failures[0]
            .message
            .contains("only a search by source sets"),
        "{report}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let shared = begin()
        .strategy(Source::new)
        .max_runs(1000)
        .check_in_parallel(2, || programs::sections(3, 2));
    assert_eq!(shared.executions, 90, "{shared}");
    assert!(
        shared
            .notes
            .iter()
            .any(|note| note.contains("cannot be shared")),
        "{shared}"
    );
}

#[test]
fn a_search_whose_process_ends_goes_on_where_it_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    let runs = AtomicU64::new(0);
    let explorer = { Explorer::new().resumable(&file).unwrap() }
        .save_every(Duration::ZERO)
        .each(move |_| assert!(runs.fetch_add(1, Relaxed) < 60, "somebody ends the process"));
    let ended = panic::catch_unwind(AssertUnwindSafe(|| {
        explorer.check(|| programs::sections(3, 2))
    }));
    assert!(ended.is_err() && file.exists());
    let seen = Arc::new(AtomicU64::new(0));
    let more = Arc::clone(&seen);
    let report = { Explorer::new().resumable(&file).unwrap() }
        .each(move |_| {
            more.fetch_add(1, Relaxed);
        })
        .check(|| programs::sections(3, 2));
    assert_eq!((report.executions, report.blocked), (90, 0), "{report}");
    assert!(
        (30..90).contains(&seen.load(Relaxed)),
        "not all of it was lost"
    );
}
