//! The verdict and the counts of every example.

use crate::common::portent;
use serde_json::{Value, json};

/// Checks an example and returns the entries of its report; there must be some violation.
fn entries(name: &str, trace: &str) -> Vec<Value> {
    let spec = format!("examples/{name}/{name}.portent");
    let trace = format!("examples/{name}/{trace}");
    let done = portent(&["check", "--format", "json", "--spec", &spec, &trace]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    let report = done.json();
    assert_eq!(report["vacuous"], json!([]));
    report["properties"].as_array().unwrap().clone()
}

/// Observed verdict, whether a violation is predicted, all runs, violated runs, cuts.
fn figures(entry: &Value) -> (&str, bool, &str, &str, u64) {
    let text = |value: &'static str| entry["runs"][value].as_str().unwrap();
    assert_eq!(entry["lattice"]["exhaustive"], true);
    (
        entry["observed"]["verdict"].as_str().unwrap(),
        entry["predicted"]["violated"].as_bool().unwrap(),
        text("total"),
        text("violated"),
        entry["lattice"]["cuts"].as_u64().unwrap(),
    )
}

#[test]
fn reservoir() {
    let entries = entries("reservoir", "reservoir.jsonl");
    assert_eq!(figures(&entries[0]), ("ok", true, "20", "6", 16));
    assert_eq!(entries[0]["states"], 4);
}

#[test]
fn landing() {
    let entries = entries("landing", "landing.jsonl");
    assert_eq!(figures(&entries[0]), ("ok", true, "3", "2", 6));
}

#[test]
fn bank() {
    let entries = entries("bank", "bank.jsonl");
    assert_eq!(figures(&entries[0]), ("ok", true, "6", "5", 9));
}

#[test]
fn sessions() {
    let entries = entries("sessions", "sessions.jsonl");
    let users: Vec<&Value> = entries.iter().map(|entry| &entry["binding"]["u"]).collect();
    assert_eq!(users, ["alice", "bob", "carol"]);
    assert_eq!(figures(&entries[0]), ("ok", false, "1", "0", 4));
    assert_eq!(figures(&entries[1]), ("ok", true, "2", "1", 5));
    assert_eq!(figures(&entries[2]), ("ok", true, "6", "4", 9));
}

#[test]
fn files() {
    let entries = entries("files", "files.jsonl");
    let names: Vec<&Value> = entries.iter().map(|entry| &entry["binding"]["f"]).collect();
    assert_eq!(names, ["shared.txt", "own.txt"]);
    assert_eq!(figures(&entries[0]), ("ok", true, "3", "2", 7));
    assert_eq!(figures(&entries[1]), ("ok", false, "1", "0", 5));
}

#[test]
fn kv() {
    let entries = entries("kv", "kv.log");
    let keys: Vec<&Value> = entries.iter().map(|entry| &entry["binding"]["k"]).collect();
    assert_eq!(keys, ["colour", "shape"]);
    assert_eq!(figures(&entries[0]), ("ok", true, "2", "1", 4));
    assert!(!figures(&entries[1]).1);
}

/// The lock keeps the order of the sections fixed, so that happens-before has one run.
#[test]
fn lift() {
    let check = |causality| {
        let spec = "examples/lift/lift.portent";
        let trace = "examples/lift/lift.jsonl";
        let done = portent(&[
            "check",
            "--format",
            "json",
            "--causality",
            causality,
            "--spec",
            spec,
            trace,
        ]);
        (done.code, done.json()["properties"][0].clone())
    };
    let (code, entry) = check("happens-before");
    assert_eq!(entry["lattice"]["ordered_by_locks"], 1);
    let locks = entry["locks"].as_str().expect("a sentence");
    assert!(
        locks.contains("under --causality strong it is violated"),
        "{locks}"
    );
    assert_eq!(entry["under_strong"]["violated"], true);
    assert_eq!((code, check("strong").0), (Some(0), Some(1)));
    for format in ["text", "html"] {
        let done = portent(&[
            "check",
            "--format",
            format,
            "--spec",
            "examples/lift/lift.portent",
            "examples/lift/lift.jsonl",
        ]);
        let words: Vec<&str> = done.out.split_whitespace().collect();
        assert!(words.join(" ").contains(locks), "{}", done.out);
    }
    assert_eq!(
        (code, figures(&entry)),
        (Some(0), ("ok", false, "1", "0", 4))
    );
    let (code, entry) = check("maximal");
    assert_eq!(
        (code, &entry["predicted"]["violated"]),
        (Some(1), &json!(true))
    );
    assert_eq!(entry["locks"], json!(null));
}

#[test]
fn the_demo_is_the_reservoir() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for name in ["reservoir.portent", "reservoir.jsonl"] {
        let example = std::fs::read(format!("{root}/examples/reservoir/{name}")).unwrap();
        let demo = std::fs::read(format!("{root}/cli/demo/{name}")).unwrap();
        assert_eq!(example, demo, "{name}");
    }
}

/// What `portent find` says of an example: the kinds, labels, and what they stand for; and the exit code.
fn found(name: &str, causality: &str) -> (Option<i32>, Vec<Value>) {
    let trace = format!("examples/{name}/{name}.jsonl");
    let done = portent(&["find", "--causality", causality, "--format", "json", &trace]);
    assert_eq!(done.err, "");
    let report = done.json();
    assert_eq!(report["warnings"], json!([]));
    let findings = report["findings"].as_array().unwrap().iter();
    let findings = findings.map(|one| json!([one["kind"], one["label"], one["stands_for"]]));
    (done.code, findings.collect())
}

#[test]
fn transfer() {
    let expected = |label| vec![json!(["deadlock", label, "1"])];
    assert_eq!(
        found("transfer", "happens-before"),
        (Some(0), expected("possible"))
    );
    assert_eq!(found("transfer", "strong"), (Some(1), expected("shown")));
}

#[test]
fn settings() {
    assert_eq!(found("settings", "happens-before"), (Some(0), vec![]));
    assert_eq!(
        found("settings", "strong"),
        (Some(1), vec![json!(["race", "shown", "1"])])
    );
}
