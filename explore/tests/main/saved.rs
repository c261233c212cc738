//! A search is stopped, saved and resumed.

use std::time::Duration;

use portent_explore::{Error, Explorer, Stopped};

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
    let mut failed = 0;
    loop {
        let explorer = Explorer::new().resumable(&file).unwrap();
        let report = explorer.check(|| {
            programs::philosophers(3);
        });
        failed += report.failures.len();
        if report.stopped == Stopped::Exhausted {
            assert_eq!((report.executions, report.deadlocks), (7, 1));
            break;
        }
    }
    assert_eq!(failed, 1);
}

#[test]
fn time_is_over() {
    let report = Explorer::new()
        .max_time(Duration::ZERO)
        .check(|| programs::sections(4, 2));
    assert_eq!((report.stopped, report.executions), (Stopped::Time, 64));
}

#[test]
fn what_is_no_saved_search_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("search");
    let head = "portent search 1\nexecutions 1 blocked 0 deadlocks 0 failed 0 tries 0\n";
    for (text, line) in [
        (String::from("something else"), 1),
        (String::from("portent search 1\nexecutions"), 2),
        (format!("{head}1 0 3 3 1"), 3),
        (format!("{head}1 0 3 3 1 0\n1 0 3 3 x 0"), 4),
    ] {
        std::fs::write(&file, text).unwrap();
        match Explorer::new().resumable(&file) {
            Err(Error::Saved { line: found, .. }) => assert_eq!(found, line),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("it was read"),
        }
    }
    // Of another program.
    std::fs::write(&file, format!("{head}7 0 ff ff 0 0\n")).unwrap();
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
