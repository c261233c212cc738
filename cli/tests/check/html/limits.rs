//! Long runs, many findings and strange names: the page stays small, right and harmless.

use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::{data, findings};
use crate::common::{Done, RESERVOIR, portent, portent_with};

#[test]
fn names_are_never_markup() {
    let hostile = "</script><b onclick=alert(1)>\u{2028}<!--";
    let mut trace = String::new();
    for (thread, name) in [(hostile, "login"), ("T2", "request"), (hostile, "logout")] {
        let event = json!({"t": thread, "op": "event", "name": name, "args": [hostile]});
        writeln!(trace, "{event}").unwrap();
    }
    let spec = "examples/sessions/sessions.portent";
    let done = portent_with(
        &["check", "--format", "html", "--spec", spec, "-"],
        trace.as_bytes(),
    );
    assert_eq!(done.code, Some(1));
    let harmless = portent(&[&RESERVOIR[..], &["--format", "html"]].concat());
    for mark in ["</script", "<b", "<!--", "\u{2028}"] {
        let count = |page: &Done| page.out.matches(mark).count();
        assert_eq!(count(&done), count(&harmless), "{mark:?}");
    }
    let finding = &findings(&data(&done))[0];
    assert!(
        finding["drawing"]["threads"]
            .as_array()
            .unwrap()
            .contains(&json!(hostile))
    );
    assert!(finding["title"].as_str().unwrap().contains("</script>"));
}

#[test]
fn long_names_and_values_are_clipped() {
    let long = "x".repeat(1 << 20);
    let event = json!({"t": long, "op": "event", "name": "bad", "args": [long]});
    let spec = "property p(u) { event bad(u)  ltl: always !bad }";
    let arguments = ["check", "--format", "html", "--property", spec, "-"];
    let done = portent_with(&arguments, event.to_string().as_bytes());
    assert_eq!(done.code, Some(1));
    assert!(done.out.len() < 200_000, "{} bytes", done.out.len());
}

/// Two threads that meet now and then; in the middle T1 closes what T2 has just used.
fn long_trace(events: usize) -> (String, Vec<usize>) {
    let (mut trace, mut ticks, mut tick) = (String::new(), Vec::new(), 0);
    for event in 0..events {
        let (thread, what) = match event {
            0 => (1, "\"name\":\"open\"".to_owned()),
            _ if event + 1 == events / 2 => (2, "\"name\":\"use\"".to_owned()),
            _ if event == events / 2 => (1, "\"name\":\"close\"".to_owned()),
            _ => {
                tick += 1;
                (1, format!("\"name\":\"tick\",\"set\":{{\"n\":{tick}}}"))
            }
        };
        ticks.push(tick);
        writeln!(trace, "{{\"t\":\"T{thread}\",\"op\":\"event\",{what}}}").unwrap();
    }
    (trace, ticks)
}

#[test]
fn a_million_events_make_a_small_page() {
    let (trace, ticks) = long_trace(1_000_000);
    let spec = "property closed {
        var n: int = 0
        event open, use, close, tick
        ltl: always (close -> always !use) && always (open -> n >= 0)
    }";
    let arguments = [
        "check",
        "--format",
        "html",
        "--count",
        "never",
        "--property",
        spec,
        "-",
    ];
    let done = portent_with(&arguments, trace.as_bytes());
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(done.out.len() < 1_000_000, "{} bytes", done.out.len());
    let finding = &findings(&data(&done))[0];
    assert_eq!(finding["status"], "predicted");
    assert_eq!(finding["relevant"], 1_000_000);
    let drawing = &finding["drawing"];
    let observed = drawing["observed"].as_array().unwrap();
    assert!(observed.len() <= 400);
    for row in observed {
        let step = row["step"].as_u64().unwrap() as usize;
        assert_eq!(row["event"], step - 1);
        assert_eq!(row["values"][0], ticks[step - 1].to_string());
    }
    // Around the violation, and where its events were observed.
    let at = finding["predicted"]["violated_at"].as_u64().unwrap();
    let witness = drawing["witness"].as_array().unwrap();
    for row in witness {
        let violated = row["verdict"] == "violated";
        assert_eq!(violated, row["step"].as_u64().unwrap() >= at);
    }
    let steps: BTreeSet<u64> = observed
        .iter()
        .map(|row| row["step"].as_u64().unwrap())
        .collect();
    for step in [at - 1, at, at + 1, 500_000, 500_001] {
        assert!(steps.contains(&step), "{step}");
    }
    assert_eq!(drawing["lattice"]["kind"], "uncounted");
}

#[test]
fn many_bindings_are_listed_and_counted() {
    let mut trace = String::new();
    for user in 0..3000 {
        writeln!(
            trace,
            "{{\"t\":1,\"op\":\"event\",\"name\":\"bad\",\"args\":[{user}]}}"
        )
        .unwrap();
    }
    let spec = "property p(u) { event bad(u)  ltl: always !bad }";
    let done = portent_with(
        &["check", "--format", "html", "--property", spec, "-"],
        trace.as_bytes(),
    );
    assert!(done.out.len() < 1_000_000, "{} bytes", done.out.len());
    let page = data(&done);
    let findings = findings(&page);
    let omitted = page["traces"][0]["omitted"].as_u64().unwrap();
    assert_eq!(findings.len() as u64 + omitted, 3000);
    assert_eq!(page["traces"][0]["omitted_violated"], omitted);
    let drawn = findings
        .iter()
        .filter(|finding| !finding["drawing"].is_null());
    assert_eq!(drawn.count(), 100);
    let ids: BTreeSet<&str> = findings
        .iter()
        .map(|finding| finding["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), findings.len());
}

/// Files on two threads: of seven each the last four could have been read after they were closed, and every fiftieth was.
fn files(count: usize) -> String {
    let mut trace = String::new();
    for file in 0..count {
        let (reader, is_bad) = match (file % 50, file % 7) {
            (49, _) => ("T1", true),
            (_, 0..3) => ("T1", false),
            _ => ("T2", false),
        };
        let name = |name, thread| json!({"t": thread, "op": "event", "name": name, "args": [file]});
        let sent = json!({"t": "T1", "op": "send", "chan": "c", "msg": file});
        let received = json!({"t": "T2", "op": "recv", "chan": "c", "msg": file});
        let (read, close) = (name("read", reader), name("close", "T1"));
        let last = if is_bad { [close, read] } else { [read, close] };
        let [first, second] = last;
        for event in [name("open", "T1"), sent, received, first, second] {
            writeln!(trace, "{event}").unwrap();
        }
    }
    trace
}

/// For each status how many findings there are, how many are described, and how many are drawn.
fn drawn_by_status(page: &Value) -> BTreeMap<String, [usize; 3]> {
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for finding in findings(page) {
        let status = finding["status"].as_str().unwrap().to_owned();
        let [all, described, drawn] = counts.entry(status).or_default();
        *all += 1;
        *described += usize::from(!finding["searched"].is_null());
        *drawn += usize::from(!finding["drawing"].is_null());
    }
    counts
}

const FILES: &str =
    "property file(f) { event open(f), read(f), close(f)  ere: (open read* close)* }";

#[test]
fn violations_are_drawn_before_what_holds() {
    let trace = files(700);
    let run = |all: &[&str], format| {
        let arguments = ["check", "--property", FILES, "--format", format, "-"];
        portent_with(&[&arguments[..], all].concat(), trace.as_bytes())
    };
    let usual = data(&run(&[], "html"));
    let counts = drawn_by_status(&usual);
    let [observed, predicted, holds] =
        ["observed", "predicted", "holds"].map(|status| counts[status]);
    assert_eq!(observed, [14, 14, 14]);
    assert_eq!(predicted[1..], [300 - 14, 100 - 14]);
    assert_eq!(holds[1..], [0, 0]);
    // Where the page says that the witness was left out, the JSON has none.
    let json = run(&[], "json").json();
    let left_out: BTreeSet<String> = { json["properties"].as_array().unwrap().iter() }
        .filter(|property| property["predicted"]["witness_omitted"] == true)
        .map(|property| format!("file [f = {}]", property["binding"]["f"]))
        .collect();
    let said: BTreeSet<String> = { findings(&usual).into_iter() }
        .filter(|finding| finding["omitted"] == true)
        .map(|finding| finding["title"].as_str().unwrap().to_owned())
        .collect();
    assert!(!said.is_empty());
    assert_eq!(said, left_out);

    let all = drawn_by_status(&data(&run(&["--all"], "html")));
    for status in ["observed", "predicted"] {
        let [count, described, drawn] = all[status];
        assert_eq!((described, drawn), (count, count), "{status}");
    }
}

#[test]
fn violations_of_a_later_trace_come_before_what_holds_in_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name, trace: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, trace).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mut harmless = String::new();
    for file in 0..400 {
        for name in ["open", "close"] {
            let event = json!({"t": 1, "op": "event", "name": name, "args": [file]});
            writeln!(harmless, "{event}").unwrap();
        }
    }
    let (first, second) = (write("a.jsonl", harmless), write("b.jsonl", files(50)));
    let arguments = [
        "check",
        "--format",
        "html",
        "--property",
        FILES,
        &first,
        &second,
    ];
    let page = data(&portent(&arguments));
    let violated: Vec<Value> = { page["traces"][1]["findings"].as_array().unwrap().iter() }
        .filter(|finding| finding["status"] != "holds")
        .cloned()
        .collect();
    assert!(violated.len() > 20);
    for finding in violated {
        assert!(!finding["drawing"].is_null(), "{}", finding["title"]);
    }
}

#[test]
fn what_a_baseline_has_takes_no_drawing_from_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("baseline.json");
    let baseline = baseline.to_str().unwrap();
    let arguments = [
        "check",
        "--property",
        FILES,
        "--format",
        "json",
        "--output",
        baseline,
        "-",
    ];
    portent_with(&arguments, files(400).as_bytes());
    let arguments = [
        "check",
        "--property",
        FILES,
        "--format",
        "html",
        "--baseline",
        baseline,
        "-",
    ];
    let page = data(&portent_with(&arguments, files(450).as_bytes()));
    let counts = drawn_by_status(&page);
    assert_eq!(counts["observed"], [1, 1, 1]);
    let [new, _, drawn] = counts["predicted"];
    assert!(new > 20);
    assert_eq!(drawn, new);
    assert!(counts["holds"][2] > 0);
}
