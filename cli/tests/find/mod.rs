//! `portent find`, and `check --find`.

mod suppressed;

use std::fs;

use serde_json::Value;

use crate::common::{Done, portent, portent_with};

/// Two accounts, locked in two orders; a counter that is written without a lock.
const TRACE: &str = r#"{"t": "T1", "op": "write", "var": "hits", "loc": "src/bank.rs:5:9"}
{"t": "T1", "op": "lock", "lock": "a", "loc": "src/bank.rs:10:5"}
{"t": "T1", "op": "lock", "lock": "b", "loc": "src/bank.rs:11:5"}
{"t": "T1", "op": "unlock", "lock": "b"}
{"t": "T1", "op": "unlock", "lock": "a"}
{"t": "T2", "op": "lock", "lock": "b", "loc": "src/bank.rs:20:5"}
{"t": "T2", "op": "lock", "lock": "a", "loc": "src/bank.rs:21:5"}
{"t": "T2", "op": "unlock", "lock": "a"}
{"t": "T2", "op": "unlock", "lock": "b"}
{"t": "T2", "op": "write", "var": "hits", "loc": "src/bank.rs:25:9"}
"#;

fn find(arguments: &[&str]) -> Done {
    portent_with(&[&["find"], arguments, &["-"]].concat(), TRACE.as_bytes())
}

fn labels(report: &Value) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().expect("findings").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    findings
        .map(|one| (text(&one["kind"]), text(&one["label"])))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
    expected.iter().map(owned).collect()
}

#[test]
fn text_names_all_participants_and_where_locks_were_taken() {
    let done = find(&["--causality", "strong"]);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    let expected = "\
<stdin>: 10 events, 2 threads

SHOWN race on hits
  T1: write hits at src/bank.rs:5:9 (line 1)
  T2: write hits at src/bank.rs:25:9 (line 10)
  stands for 1 pair of events
  A run that comes there:
    line  T1          T2
       6              lock b
       7              lock a
       8              unlock a
       9              unlock b
       1  write hits
      10              write hits

SHOWN deadlock of 2 threads on b, a
  T1 wants b at src/bank.rs:11:5 (line 3); holds a, taken at src/bank.rs:10:5 (line 2)
  T2 wants a at src/bank.rs:21:5 (line 7); holds b, taken at src/bank.rs:20:5 (line 6)
  stands for 1 choice of acquires
  A run that comes there:
    line  T1          T2
       1  write hits
       2  lock a
       6              lock b
       3  lock b
       7              lock a

races: 1 location pair, 1 pair of events
deadlocks: 1, 1 cycle of lock orders
atomicity: no block is marked in this trace
";
    assert_eq!(done.out, expected);
}

#[test]
fn what_is_only_possible_does_not_fail() {
    let done = find(&["--format", "json"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    assert_eq!(labels(&done.json()), pairs(&[("deadlock", "possible")]));
    let text = find(&[]).out;
    assert!(text.contains("POSSIBLE deadlock"), "{text}");
    assert!(text.contains("--causality strong may show"), "{text}");
}

#[test]
fn only_what_is_asked_for() {
    let done = find(&[
        "--causality",
        "strong",
        "--only",
        "races",
        "--format",
        "json",
    ]);
    let report = done.json();
    assert_eq!(labels(&report), pairs(&[("race", "shown")]));
    assert_eq!(report["races"]["event_pairs"], 1);
    assert!(report.get("deadlocks").is_none());
    let done = find(&["--only", "rases"]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("Did you mean `races`?"), "{}", done.err);
}

#[test]
fn a_trace_without_anything_to_look_at_says_so() {
    let warning = |input: &str, arguments: &[&str]| {
        let command = [&["find", "-", "--format", "json"], arguments].concat();
        let done = portent_with(&command, input.as_bytes());
        assert_eq!(done.code, Some(0), "{}", done.err);
        done.json()["warnings"][0]["text"].clone()
    };
    let lock = "{\"t\": \"T\", \"op\": \"lock\", \"lock\": \"m\"}\n";
    assert_eq!(
        warning("", &["--from", "native"]),
        "the trace has no events"
    );
    let no_access = "the trace has no access of a variable";
    assert_eq!(warning(lock, &["--only", "races"]), no_access);
    assert_eq!(warning(lock, &[]), Value::Null);
    let neither = "the trace has no access of a variable, and no marked block";
    assert_eq!(warning(lock, &["--only", "races,atomicity"]), neither);
    let text = portent_with(&["find", "-"], lock.as_bytes()).out;
    for line in [
        "races: no variable is read or written in this trace\n",
        "deadlocks: 0\n",
        "atomicity: no block is marked in this trace\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let strict = portent_with(
        &["find", "-", "--only", "races", "--strict"],
        lock.as_bytes(),
    );
    assert_eq!(strict.code, Some(2));
}

#[test]
fn a_baseline_leaves_known_findings_out_unless_they_are_surer_now() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("earlier.json");
    let file = path.to_str().unwrap();
    // The deadlock is only possible there, and there is no race.
    fs::write(&path, find(&["--format", "json"]).out).unwrap();
    let done = find(&[
        "--causality",
        "strong",
        "--baseline",
        file,
        "--format",
        "json",
    ]);
    let report = done.json();
    assert_eq!(
        labels(&report),
        pairs(&[("race", "shown"), ("deadlock", "shown")])
    );
    fs::write(&path, done.out).unwrap();
    let done = find(&["--causality", "strong", "--baseline", file]);
    assert_eq!(done.code, Some(0));
    assert!(
        done.out.contains("2 known findings left out"),
        "{}",
        done.out
    );
    fs::write(&path, "{}").unwrap();
    let done = find(&["--baseline", file]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("not a report of `portent find"),
        "{}",
        done.err
    );
    assert!(!done.err.contains(" at line "), "twice: {}", done.err);
}

#[test]
fn the_page_has_the_findings_as_inert_data() {
    let hostile = TRACE.replace("hits", "</script><b>");
    let done = portent_with(
        &["find", "--causality", "strong", "--format", "html", "-"],
        hostile.as_bytes(),
    );
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    assert!(!done.out.contains("</script><b>"));
    let (_, data) = done.out.split_once(r#"id="data">"#).unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let findings = data["traces"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2);
    assert_eq!(findings[0]["title"], "race on </script><b>");
    assert_eq!(findings[0]["witness"]["rows"].as_array().unwrap().len(), 6);
}

#[test]
fn bad_input_is_told_with_its_place() {
    let done = portent_with(
        &["find", "-"],
        b"{\"t\": 1, \"op\": \"unlock\", \"lock\": \"m\"}\n",
    );
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    assert!(done.err.contains("<stdin>:1:"), "{}", done.err);
    let done = portent(&["find", "no-such-trace"]);
    assert_eq!(done.code, Some(2));
}

#[test]
fn a_check_finds_too_with_properties_or_without() {
    let arguments = [
        "check",
        "--find",
        "races,deadlocks",
        "--causality",
        "maximal",
        "--format",
        "json",
    ];
    let done = portent_with(&[&arguments[..], &["-"]].concat(), TRACE.as_bytes());
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    let expected = pairs(&[("race", "shown"), ("deadlock", "shown")]);
    assert_eq!(labels(&done.json()["find"]), expected);
    let property = ["--property", "always true", "-"];
    let done = portent_with(&[&arguments[..], &property].concat(), TRACE.as_bytes());
    assert_eq!(done.code, Some(1));
    assert_eq!(done.json()["properties"].as_array().unwrap().len(), 1);
}

fn check(arguments: &[&str]) -> Done {
    portent_with(&[&["check"], arguments, &["-"]].concat(), TRACE.as_bytes())
}

#[test]
fn a_check_says_in_words_what_it_finds() {
    let find = ["--find", "races,deadlocks"];
    let done = check(&find);
    // A lock order that is only possible is not enough.
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    assert!(
        done.out.contains("POSSIBLE deadlock of 2 threads on b, a"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("races: 0 location pairs\n"),
        "{}",
        done.out
    );
    let done = check(
        &[
            &find[..],
            &["--causality", "strong", "--property", "always true"],
        ]
        .concat(),
    );
    assert_eq!(done.code, Some(1));
    for words in ["always true  open", "SHOWN race on hits", "SHOWN deadlock"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    let lock = "{\"t\": \"T\", \"op\": \"lock\", \"lock\": \"m\"}\n";
    for (strict, code) in [(&[][..], 0), (&["--strict"], 2)] {
        let arguments = [&["check", "--find", "races"], strict, &["-"]].concat();
        let done = portent_with(&arguments, lock.as_bytes());
        assert_eq!(done.code, Some(code), "{}", done.err);
        assert!(
            done.out.contains("the trace has no access of a variable"),
            "{}",
            done.out
        );
    }
}

#[test]
fn each_execution_is_looked_at_by_itself() {
    let log = "\
A {\"A\":1}\nw\nB {\"B\":1}\nw\n=== second ===\nA {\"A\":1}\nw\nB {\"B\":1, \"A\":1}\nw\n";
    let parsed = [
        "--find",
        "races",
        "--parser",
        r"(?<host>\S+) (?<clock>\{.*\})\n(?<event>.*)",
        "--delimiter",
        "^=== (?<trace>.*) ===$",
        "--format",
        "json",
        "-",
    ];
    let done = portent_with(&[&["check"], &parsed[..]].concat(), log.as_bytes());
    assert_eq!(done.code, Some(0), "{}", done.err);
    let reports: Vec<Value> = { serde_json::Deserializer::from_str(&done.out).into_iter() }
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(reports.len(), 2, "{}", done.out);
    for report in &reports {
        assert_eq!(report["trace"]["events"], 2);
        assert_eq!(report["find"]["races"]["accesses"], 0);
    }
}

#[test]
fn a_check_leaves_out_what_a_baseline_has_and_what_is_suppressed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let file = path.to_str().unwrap();
    let strong = ["--find", "races,deadlocks", "--causality", "strong"];
    let json = |more: &[&str]| check(&[&strong[..], &["--format", "json"], more].concat());
    fs::write(
        &path,
        check(&["--find", "races,deadlocks", "--format", "json"]).out,
    )
    .unwrap();
    // The deadlock was only possible then.
    let done = json(&["--baseline", file]);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    assert_eq!(labels(&done.json()["find"]).len(), 2);
    fs::write(&path, &done.out).unwrap();
    let done = json(&["--baseline", file]);
    assert_eq!(done.code, Some(0));
    assert_eq!(labels(&done.json()["find"]), []);
    assert_eq!(done.json()["find"]["known"].as_array().unwrap().len(), 2);
    // That report can be the next baseline.
    fs::write(&path, done.out).unwrap();
    let done = check(&[&strong[..], &["--baseline", file]].concat());
    assert_eq!(done.code, Some(0));
    assert!(
        done.out.contains("2 known findings left out"),
        "{}",
        done.out
    );

    fs::write(&path, "variable hits\n").unwrap();
    let done = json(&["--suppress", file]);
    assert_eq!(
        labels(&done.json()["find"]),
        pairs(&[("deadlock", "shown")])
    );
    assert_eq!(done.json()["find"]["suppressed"], 1);
    fs::write(&path, "varable hits\n").unwrap();
    let done = json(&["--suppress", file]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    assert!(done.err.contains("file:1:1: `varable`"), "{}", done.err);
    let done = check(&["--property", "always true", "--suppress", file]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("there is no --find"), "{}", done.err);
}

#[test]
fn files_of_several_processes_are_looked_at_as_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, line: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("{line}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let one = file(
        "one.jsonl",
        r#"{"t": "A", "vc": {"A": 1}, "name": "a", "set": {"x": 1}}"#,
    );
    let apart = file(
        "apart.jsonl",
        r#"{"t": "B", "vc": {"B": 1}, "name": "b", "set": {"x": 2}}"#,
    );
    let after = file(
        "after.jsonl",
        r#"{"t": "B", "vc": {"A": 1, "B": 1}, "name": "b", "set": {"x": 2}}"#,
    );
    let look = |other: &str| {
        let arguments = ["check", "--together", "--find", "races", "--format", "json"];
        portent(&[&arguments[..], &[&one, other]].concat())
    };
    let done = look(&apart);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    assert_eq!(labels(&done.json()["find"]), pairs(&[("race", "observed")]));
    let done = look(&after);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    assert_eq!(done.json()["find"]["races"]["accesses"], 2);
}

#[test]
fn a_recording_that_is_not_complete_is_warned_of_once_by_each_command() {
    let trace = "\
{\"t\": 1, \"op\": \"fork\", \"child\": 2}
{\"t\": 1, \"op\": \"event\", \"name\": \"a\"}
{\"t\": 3, \"op\": \"write\", \"var\": \"x\"}
";
    for causality in ["happens-before", "strong", "maximal"] {
        let arguments = [
            "check",
            "--property",
            "once a",
            "--find",
            "races",
            "--causality",
            causality,
        ];
        let done = portent_with(
            &[&arguments[..], &["--format", "json", "-"]].concat(),
            trace.as_bytes(),
        );
        let report = done.json();
        let warnings = report["warnings"].as_array().unwrap().iter();
        let forks: Vec<&Value> = warnings.filter(|one| one["kind"] == "forks").collect();
        assert_eq!(forks.len(), 1, "{causality}: {report}");
        let text = forks[0]["text"].as_str().unwrap();
        assert!(
            text.contains("thread 2 is forked and does nothing, thread 3"),
            "{text}"
        );
    }
    let fine = trace.replace("3", "2");
    let done = portent_with(
        &["check", "--property", "once a", "--strict", "-"],
        fine.as_bytes(),
    );
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
}

#[test]
fn a_limit_on_lock_orders_is_told() {
    let done = find(&["--max-patterns", "0"]);
    let line = "deadlocks: at least 0; `portent find --max-patterns` allows more\n";
    assert!(done.out.contains(line), "{}", done.out);
    let report = find(&["--max-patterns", "0", "--format", "json"]).json();
    assert_eq!(report["deadlocks"]["limit"], "patterns");
    assert_eq!(report["deadlocks"]["exhaustive"], false);
    assert_eq!(
        find(&["--format", "json"]).json()["deadlocks"].get("limit"),
        None
    );
}

#[test]
fn a_search_that_was_cut_off_is_not_strictly_fine() {
    let cut = ["--only", "deadlocks", "--max-patterns", "0"];
    let done = find(&cut);
    assert_eq!(done.code, Some(0));
    assert!(
        done.out
            .contains("warning: the search for cycles of lock orders was cut off"),
        "{}",
        done.out
    );
    assert_eq!(find(&[&cut[..], &["--strict"]].concat()).code, Some(2));
    let whole = find(&["--only", "deadlocks", "--strict"]);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
}

#[test]
fn findings_under_maximal_are_said_to_be_those_of_strong() {
    let line = "under maximal, findings are those of strong";
    let says = |causality: &str| {
        let done = check(&["--find", "races", "--causality", causality]);
        done.out.contains(line)
    };
    assert_eq!(["strong", "maximal"].map(says), [false, true]);
}

#[test]
fn a_block_that_nothing_interrupts_is_named_with_the_one_that_it_interrupts() {
    let trace = r#"{"t":"T1","op":"begin","block":"audit"}
{"t":"T1","op":"read","var":"x"}
{"t":"T2","op":"begin","block":"deposit"}
{"t":"T2","op":"write","var":"x"}
{"t":"T2","op":"end","block":"deposit"}
{"t":"T1","op":"read","var":"x"}
{"t":"T1","op":"end","block":"audit"}
"#;
    let look = |more: &[&str]| {
        let arguments = ["find", "--only", "atomicity", "-"];
        portent_with(&[&arguments[..], more].concat(), trace.as_bytes())
    };
    let text = look(&[]).out;
    let both = "OBSERVED blocks deposit, audit cannot all be atomic together\n";
    assert!(text.contains(both), "{text}");
    assert!(!text.contains("is not atomic"), "{text}");
    let report = look(&["--format", "json"]).json();
    assert_eq!(report["findings"][0]["with_blocks"][0], "deposit");
}

#[test]
fn what_comes_before_an_unread_write_is_not_said_to_be_kept_apart_by_a_lock() {
    let trace = r#"{"t":1,"op":"event","name":"a"}
{"t":1,"op":"write","var":"x"}
{"t":2,"op":"write","var":"x"}
{"t":2,"op":"event","name":"b"}
"#;
    let property = "always (b -> once a)";
    let arguments = [
        "check",
        "--causality",
        "strong",
        "--property",
        property,
        "-",
    ];
    let done = portent_with(&arguments, trace.as_bytes());
    assert!(
        done.out.contains("a write that nobody reads"),
        "{}",
        done.out
    );
    assert!(!done.out.contains("keeps"), "{}", done.out);
}
