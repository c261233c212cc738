//! What `--suppress` leaves out, and what it does not.

use std::fs;

use super::{find, labels, pairs};
use crate::common::portent_with;

#[test]
fn a_suppression_hides_no_more_than_it_names() {
    let races = r#"{"t":"A","op":"write","var":"x","loc":"f:1"}
{"t":"B","op":"write","var":"x","loc":"f:2"}
{"t":"A","op":"write","var":"y","loc":"f:1"}
{"t":"B","op":"write","var":"y","loc":"f:2"}
"#;
    let mut orders = String::new();
    for (thread, locks, file) in [
        ("A", "ab", "f"),
        ("B", "cd", "f"),
        ("C", "ba", "g"),
        ("D", "dc", "g"),
    ] {
        for (line, lock) in locks.chars().enumerate() {
            orders +=
                &format!(r#"{{"t":"{thread}","op":"lock","lock":"{lock}","loc":"{file}:{line}"}}"#);
            orders += "\n";
        }
        for lock in locks.chars() {
            orders += &format!(r#"{{"t":"{thread}","op":"unlock","lock":"{lock}"}}"#);
            orders += "\n";
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known.txt");
    let file = path.to_str().unwrap();
    let look = |command: &[&str], trace: &str, rule: &str| {
        fs::write(&path, rule).unwrap();
        let more = [
            "--causality",
            "strong",
            "--suppress",
            file,
            "--format",
            "json",
            "-",
        ];
        portent_with(&[command, &more].concat(), trace.as_bytes()).json()
    };
    for command in [&["find"][..], &["check", "--find", "races,deadlocks"]] {
        let look = |trace: &str, rule: &str| {
            let report = look(command, trace, rule);
            report.get("find").unwrap_or(&report).clone()
        };
        let report = look(races, "variable x\n");
        assert_eq!(report["findings"].as_array().unwrap().len(), 1);
        assert_eq!(report["findings"][0]["variables"], serde_json::json!(["y"]));
        assert_eq!(report["findings"][0]["stands_for"], "1");
        assert_eq!(
            (&report["suppressed"], &report["races"]["event_pairs"]),
            (&1.into(), &2.into())
        );
        let report = look(&orders, "lock a\n");
        assert_eq!(report["findings"].as_array().unwrap().len(), 1);
        assert_eq!(
            report["findings"][0]["locks"],
            serde_json::json!(["d", "c"])
        );
        assert_eq!(report["findings"][0]["stands_for"], "1");
        assert_eq!(
            (&report["suppressed"], &report["deadlocks"]["deadlocks"]),
            (&1.into(), &2.into())
        );
        assert_eq!(
            look(&orders, "lock a\nlock d\n")["findings"],
            serde_json::json!([])
        );
        assert_eq!(
            look(&orders, "location f:0\n")["findings"],
            serde_json::json!([])
        );
    }
}

#[test]
fn a_location_where_a_lock_was_taken_that_is_merely_held_suppresses_nothing() {
    let trace = r#"{"t":"A","op":"lock","lock":"m","loc":"f:1"}
{"t":"A","op":"write","var":"x","loc":"f:2"}
{"t":"A","op":"unlock","lock":"m"}
{"t":"B","op":"write","var":"x","loc":"g:2"}
"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known.txt");
    let code = |rule: &str| {
        fs::write(&path, rule).unwrap();
        let file = path.to_str().unwrap();
        let arguments = ["find", "--suppress", file, "-"];
        portent_with(&arguments, trace.as_bytes()).code
    };
    assert_eq!(code("location f:1\n"), Some(1));
    assert_eq!(code("location f:2\n"), Some(0));
}

#[test]
fn a_file_suppresses_by_location_variable_and_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known.txt");
    let file = path.to_str().unwrap();
    for (rules, left, code) in [
        (
            "variable hits # a statistic\n",
            vec![("deadlock", "shown")],
            1,
        ),
        ("lock b\n", vec![("race", "shown")], 1),
        ("location src/bank.rs:5\nlock a*\n", vec![], 0),
        ("location src/bank.rs:20\n", vec![("race", "shown")], 1),
    ] {
        fs::write(&path, rules).unwrap();
        let done = find(&[
            "--causality",
            "strong",
            "--suppress",
            file,
            "--format",
            "json",
        ]);
        let report = done.json();
        assert_eq!(
            (done.code, labels(&report)),
            (Some(code), pairs(&left)),
            "{rules}"
        );
        assert_eq!(report["suppressed"], 2 - left.len());
    }
    fs::write(&path, "\n  varable hits\n").unwrap();
    let done = find(&["--suppress", file]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    assert!(
        done.err.contains("known.txt:2:3: `varable`"),
        "{}",
        done.err
    );
}
