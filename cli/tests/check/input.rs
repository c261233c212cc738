//! What `portent check` does with its input: where it comes from, and what if it is bad.

use crate::common::{Done, RESERVOIR, command, portent, portent_with};
use std::{fs, process::Stdio};

const SPEC: &str = "examples/reservoir/reservoir.portent";

/// Checks a trace on standard input.
fn check(trace: &[u8], more: &[&str]) -> Done {
    portent_with(&[&["check", "--spec", SPEC, "-"], more].concat(), trace)
}

#[test]
fn standard_input_and_compression() {
    let trace = fs::read(format!(
        "{}/../{}",
        env!("CARGO_MANIFEST_DIR"),
        RESERVOIR[3]
    ))
    .unwrap();
    let done = check(&trace, &["--format", "json"]);
    assert_eq!(done.code, Some(1));
    assert_eq!(done.json()["trace"]["file"], "<stdin>");
    let folder = tempfile::tempdir().unwrap();
    for name in ["run.jsonl.gz", "run.jsonl.zst"] {
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        let converted = portent(&["convert", RESERVOIR[3], path]);
        assert_eq!((converted.code, converted.err.as_str()), (Some(0), ""));
        assert_ne!(fs::read(path).unwrap(), trace);
        let done = portent(&["check", "--spec", SPEC, "--format", "json", path]);
        assert_eq!(
            done.json()["properties"][0]["runs"]["violated"],
            "6",
            "{name}"
        );
        let whole = fs::read(path).unwrap();
        let done = check(&whole[..whole.len() / 2], &[]);
        assert_eq!(done.code, Some(2), "half of {name}");
    }
}

/// Bad traces, and what the error has to name.
const BAD: [(&str, &str, &str); 17] = [
    (
        "truncated",
        "{\"t\": \"T1\", \"op\": \"write\", \"var\": \"w\", \"va",
        "<stdin>:1:",
    ),
    (
        "garbage",
        "{\"t\": \"T1\", \"op\": \"write\", \"var\": \"w\", \"val\": 1}\n%%%\n",
        "<stdin>:2:1",
    ),
    (
        "unknown operation",
        "{\"t\": \"T1\", \"op\": \"jump\"}\n",
        "<stdin>:1:",
    ),
    (
        "unlock",
        "{\"t\": \"T1\", \"op\": \"unlock\", \"lock\": \"m\"}\n",
        "<stdin>:1:",
    ),
    (
        "join",
        "{\"t\": \"T1\", \"op\": \"join\", \"child\": \"T9\"}\n",
        "<stdin>:1:",
    ),
    (
        "recv",
        "{\"t\": \"T1\", \"op\": \"recv\", \"chan\": \"c\", \"msg\": 7}\n",
        "<stdin>:1:",
    ),
    (
        "clocks",
        "{\"t\": \"A\", \"vc\": {\"A\": 2}}\n{\"t\": \"A\", \"vc\": {\"A\": 1}}\n",
        "<stdin>:",
    ),
    (
        "cyclic fork",
        "{\"t\": \"A\", \"op\": \"fork\", \"child\": \"B\"}\n{\"t\": \"B\", \"op\": \"fork\", \"child\": \"A\"}\n",
        "<stdin>:2:",
    ),
    (
        "wrong type",
        "{\"t\": \"A\", \"op\": \"write\", \"var\": \"w\", \"val\": \"high\"}\n",
        "<stdin>:1:46: property `reservoir`: variable `w` is of type int",
    ),
    (
        "wrong type in a set",
        "{\"t\": \"é\", \"op\": \"event\", \"name\": \"e\", \"set\": {\"w\": true}}\n",
        "<stdin>:1:47: property `reservoir`: variable `w` is of type int",
    ),
    (
        "no value",
        "\nT1|w(w)|3\n",
        "<stdin>:2:4: property `reservoir`: line 2 writes variable `w` without telling the value",
    ),
    (
        "wrong type in the header",
        "{\"portent\": 1, \"init\": {\"w\": \"low\"}}\n",
        "<stdin>:1:24: property `reservoir`: variable `w` is of type int",
    ),
    (
        "a thread that is true",
        "{\"t\": true, \"op\": \"read\", \"var\": \"w\"}\n",
        "<stdin>:1:7: expected a name",
    ),
    (
        "a message that is an object",
        "{\"t\": 1, \"op\": \"send\", \"chan\": 1, \"msg\": {}}\n",
        "<stdin>:1:42: expected a name",
    ),
    (
        "fork of itself",
        "{\"t\": 1, \"op\": \"fork\", \"child\": 1}\n",
        "<stdin>:1:16: thread 1 forks 1, which has already been started",
    ),
    (
        "join of itself",
        "{\"t\": 1, \"op\": \"join\", \"child\": 1}\n",
        "<stdin>:1:16: thread 1 joins itself",
    ),
    (
        "acts after it was joined",
        "T1|w(a)|1\nT2|join(T1)|1\nT1|w(a)|2\n",
        "<stdin>:3:4: thread T1 acts after it was joined",
    ),
];

#[test]
fn bad_input_is_named() {
    for (what, trace, place) in BAD {
        let done = check(trace.as_bytes(), &[]);
        assert_eq!(done.code, Some(2), "{what}: {}", done.out);
        assert!(done.err.contains(place), "{what}: {}", done.err);
        assert_eq!(done.err.lines().count(), 1, "{what}: {}", done.err);
        assert_eq!(done.out, "", "{what}");
    }
}

#[test]
fn lenient_skips_and_says_so() {
    let trace = "{\"t\": \"T1\", \"op\": \"write\", \"var\": \"w\", \"val\": 1}\n%%%\n\
                 {\"t\": \"T1\", \"op\": \"unlock\", \"lock\": \"m\"}\n";
    let done = check(trace.as_bytes(), &["--lenient"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(
        done.out
            .contains("2 bad lines skipped, which may have kept others in order, so a predicted run may be impossible; the first: <stdin>:2:1"),
        "{}",
        done.out
    );
    let done = check(trace.as_bytes(), &["--lenient", "--format", "json"]);
    assert_eq!(done.json()["trace"]["skipped"], 2);
    assert_eq!(done.json()["trace"]["events"], 1);
}

#[test]
fn lenient_skips_what_a_property_cannot_read() {
    let trace = "{\"portent\": 1, \"init\": {\"w\": \"low\"}}\n\
                 {\"t\": 1, \"op\": \"write\", \"var\": \"w\", \"val\": \"high\"}\n\
                 {\"t\": 1, \"op\": \"write\", \"var\": \"w\", \"val\": 21}\n\
                 {\"t\": 1, \"op\": \"write\", \"var\": \"w\"}\n";
    let done = check(trace.as_bytes(), &["--lenient", "--format", "json"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let trace_of = &done.json()["trace"];
    assert_eq!(
        (&trace_of["skipped"], &trace_of["events"]),
        (&3.into(), &1.into())
    );
    assert_eq!(done.json()["properties"][0]["relevant"], 1);
    let done = check(trace.as_bytes(), &["--lenient"]);
    let said = "3 bad lines skipped, of which 2 may have kept others in order, so a predicted run may be impossible; the first: <stdin>:1:24: property `reservoir`";
    assert!(done.out.contains(said), "{}", done.out);
}

#[test]
fn a_line_is_skipped_for_all_properties_or_for_none() {
    let trace = "{\"t\": 1, \"op\": \"write\", \"var\": \"w\", \"val\": 7}\n\
                 {\"t\": 9, \"op\": \"write\", \"var\": \"w\", \"val\": true}\n\
                 {\"t\": 2, \"op\": \"write\", \"var\": \"w\", \"val\": 8}\n";
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("two.portent");
    let text = "property any { var w: bool = false ltl: always !w }\n\
                property number { var w: int = 0 ltl: always w < 9 }\n";
    fs::write(&spec, text).unwrap();
    for model in ["happens-before", "maximal"] {
        let spec = spec.to_str().unwrap();
        let arguments = [
            "check",
            "--spec",
            spec,
            "-",
            "--lenient",
            "--causality",
            model,
        ];
        let done = portent_with(
            &[&arguments[..], &["--format", "json"]].concat(),
            trace.as_bytes(),
        );
        assert_eq!(done.code, Some(0), "{model}: {}", done.err);
        let report = done.json();
        let count = |key: &str| report["trace"][key].as_u64();
        assert_eq!(
            (count("events"), count("skipped")),
            (Some(0), Some(3)),
            "{model}"
        );
        assert_eq!(count("threads"), Some(0), "{model}");
        for property in report["properties"].as_array().unwrap() {
            assert_eq!(property["relevant"], 0, "{model}");
        }
    }
}

#[test]
fn the_limit_of_a_line_can_be_moved() {
    let trace = b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"w\", \"val\": 1}\n";
    let done = check(trace, &["--max-line", "40"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err
            .contains("<stdin>:1:1: a line of more than 40 bytes")
    );
    assert!(
        done.err.contains("--max-line moves the limit"),
        "{}",
        done.err
    );
    assert_eq!(check(trace, &["--max-line", "60"]).code, Some(0));
}

#[test]
fn a_very_long_line() {
    let mut trace = b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"w\", \"val\": 1}\n".to_vec();
    trace.extend(b"{\"t\": \"T1\", \"text\": \"");
    trace.resize(20 << 20, b'x');
    let done = check(&trace, &[]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("<stdin>:2:1: a line of more than"),
        "{}",
        done.err
    );
    let done = check(&trace, &["--lenient"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
}

#[test]
fn bad_commands() {
    let cases: [(&[&str], &str); 7] = [
        (&["check", RESERVOIR[3]], "no property given"),
        (
            &["check", "--spec", "nowhere.portent", RESERVOIR[3]],
            "nowhere.portent",
        ),
        (&["check", "--spec", SPEC, "nowhere.jsonl"], "nowhere.jsonl"),
        (&["check", "--property", "always (", RESERVOIR[3]], "error"),
        (
            &["check", "--property", "always (z > 1)", RESERVOIR[3]],
            "`z` has no initial value",
        ),
        (
            &["check", "--spec", SPEC, "--spec", SPEC, RESERVOIR[3]],
            "two properties are named",
        ),
        (
            &["check", "--spec", SPEC, "--baseline", SPEC, RESERVOIR[3]],
            "not a report",
        ),
    ];
    for (arguments, message) in cases {
        let done = portent(arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}");
        assert!(done.err.contains(message), "{arguments:?}: {}", done.err);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for arguments in [
        &["demo"][..],
        &RESERVOIR[..],
        &["convert", "--to", "native", RESERVOIR[3], "-"][..],
    ] {
        let mut child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(
            !err.contains("panicked") && output.status.code() < Some(2),
            "{arguments:?}: {err}"
        );
    }
}

#[test]
fn a_report_does_not_overwrite_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.jsonl");
    fs::write(&trace, "{\"t\":1,\"op\":\"event\",\"name\":\"a\"}\n").unwrap();
    let name = trace.to_str().unwrap();
    let done = portent(&["check", "--property", "always a", "--output", name, name]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("--output would overwrite"),
        "{}",
        done.err
    );
    assert!(fs::read_to_string(&trace).unwrap().contains("\"a\""));
}

#[test]
fn standard_input_is_read_once() {
    let done = portent(&["check", "--property", "always a", "-", "-"]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("only once"), "{}", done.err);
}

#[test]
fn zeros_are_no_trace() {
    let zeros = [0; 100];
    let done = portent_with(&["check", "--property", "always a", "-"], &zeros);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("expected the end of the file"),
        "{}",
        done.err
    );
}

#[test]
fn the_traces_that_can_be_read_are_reported_beside_one_that_cannot() {
    let traces = [RESERVOIR[3], "nowhere.jsonl", RESERVOIR[3]];
    for format in ["json", "text", "html"] {
        let arguments = [&["check", "--spec", SPEC, "--format", format], &traces[..]].concat();
        let done = portent(&arguments);
        assert_eq!(done.code, Some(2), "{format}");
        assert!(done.err.contains("nowhere.jsonl: "), "{}", done.err);
        match format {
            "json" => {
                // One object a line, as for several traces that are all good.
                let reports: Vec<serde_json::Value> = done
                    .out
                    .lines()
                    .map(|line| serde_json::from_str(line).unwrap())
                    .collect();
                let files: Vec<_> = reports.iter().map(|r| &r["trace"]["file"]).collect();
                assert_eq!(files, [RESERVOIR[3]; 2]);
            }
            // A page tells its command as well.
            "html" => assert_eq!(done.out.matches("\"file\":\"examples/").count(), 2),
            _ => assert_eq!(done.out.matches(RESERVOIR[3]).count(), 2, "{format}"),
        }
    }
    let one_good = [
        "check", "--spec", SPEC, "--format", "json", traces[0], traces[1],
    ];
    assert_eq!(portent(&one_good).out.lines().count(), 1);
    assert_eq!(portent(&["check", "--spec", SPEC, traces[1]]).out, "");
}

#[test]
fn an_unknown_format_says_how_to_name_it() {
    let done = check(b"Dear diary,\n", &[]);
    assert_eq!(done.code, Some(2));
    for word in ["Dear diary,", "--from", "--parser", "rapid-binary", "poet"] {
        assert!(done.err.contains(word), "{word}: {}", done.err);
    }
}

#[test]
fn lines_of_a_log_that_belong_to_no_event_are_told() {
    let log = "alice {\"alice\":1}\nhello\nnoise\nalice {\"alice\":2}\nbye\n";
    let check = |more: &[&str]| {
        let property = "property p { event bye matches \"bye\"  ltl: always !bye }";
        portent_with(
            &[&["check", "--property", property, "-"], more].concat(),
            log.as_bytes(),
        )
    };
    let done = check(&[]);
    assert!(done.out.contains("1 line of the log belongs to no event"));
    let json = check(&["--format", "json"]).json();
    assert_eq!(
        (&json["trace"]["events"], &json["trace"]["unmatched"]),
        (&2.into(), &1.into())
    );
    // A clock that is cut off is no noise.
    let cut = log.replace("{\"alice\":2}", "{\"alice\":2");
    let property = ["check", "--property", "always !bye", "-"];
    let done = portent_with(&property, cut.as_bytes());
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("<stdin>:4:7"), "{}", done.err);
}

#[test]
fn what_flows_in_is_answered_with_the_event_that_completes_it() {
    let property =
        "property file(f) { event open(f), read(f), close(f)  ere: (open read* close)* }";
    let trace = b"{\"t\": \"T2\", \"op\": \"event\", \"name\": \"open\", \"args\": [\"a\"]}\n\
        {\"t\": \"T1\", \"op\": \"event\", \"name\": \"read\", \"args\": [\"a\"]}\n\
        {\"t\": \"T2\", \"op\": \"event\", \"name\": \"close\", \"args\": [\"a\"]}\n\
        {\"t\": \"T1\", \"op\": \"event\", \"name\": \"read\", \"args\": [\"b\"]}\n";
    let done = portent_with(&["check", "--property", property, "-"], trace);
    assert_eq!(done.code, Some(1), "{}", done.err);
    let mut lines = done.out.lines();
    // The read could have come first; the close need not have come before it.
    assert_eq!(lines.next(), Some("line 2: PREDICTED file, f = \"a\""));
    assert_eq!(lines.next(), Some("line 4: OBSERVED file, f = \"b\""));
    assert!(done.out.contains("4 events"), "and the report follows");
    // Reports for programs are one piece.
    let done = portent_with(
        &["check", "--property", property, "--format", "json", "-"],
        trace,
    );
    assert_eq!(done.json()["trace"]["events"], 4);
}

/// What is not followed while a trace flows in is known at the end, and that is said.
#[test]
fn news_that_take_too_much_memory_wait_for_the_end() {
    let mut trace: String = (0..200)
        .map(|file| format!("{{\"t\":1,\"op\":\"event\",\"name\":\"open\",\"args\":[{file}]}}\n"))
        .collect();
    trace.push_str("{\"t\":2,\"op\":\"event\",\"name\":\"read\",\"args\":[199]}\n");
    let property = "property p(f) { event open(f), read(f)  ltl: always (read -> once open) }";
    let check = |memory: &str| {
        let arguments = ["check", "-", "--memory", memory, "--property", property];
        let done = portent_with(&arguments, trace.as_bytes());
        assert_eq!(done.code, Some(1), "{}", done.err);
        done
    };
    let done = check("1GiB");
    assert_eq!(done.err, "");
    assert!(done.out.starts_with("line 201: PREDICTED p, f = 199\n"));
    let done = check("4MiB");
    let note = "from here on some violations are reported at the end only";
    assert_eq!(done.err.matches(note).count(), 1, "{}", done.err);
    assert!(!done.out.contains("line 201: PREDICTED"));
    assert!(done.out.contains("f = 199"), "{}", done.out);
}

/// The names of a trace are kept once more for what is told while it flows in, within the same share of the memory.
#[test]
fn news_about_very_many_names_wait_for_the_end() {
    let place = "x".repeat(100);
    let mut trace: String = (0..5000)
        .map(|line| {
            format!("{{\"t\":1,\"op\":\"read\",\"var\":\"x\",\"loc\":\"{place}{line}\"}}\n")
        })
        .collect();
    trace.push_str("{\"t\":2,\"op\":\"event\",\"name\":\"error\"}\n");
    let check = |memory: &str| {
        let property = "always !error";
        let arguments = ["check", "-", "--memory", memory, "--property", property];
        let done = portent_with(&arguments, trace.as_bytes());
        assert_eq!(done.code, Some(1), "{}", done.err);
        done
    };
    let done = check("1GiB");
    assert_eq!(done.err, "");
    assert!(done.out.starts_with("line 5001: OBSERVED"), "{}", done.out);
    let done = check("4MiB");
    let note = "from here on some violations are reported at the end only";
    assert_eq!(done.err.matches(note).count(), 1, "{}", done.err);
    assert!(!done.out.contains("line 5001: OBSERVED"), "{}", done.out);
}
