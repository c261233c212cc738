//! `portent check --format html`: one file that needs nothing else, and says what the JSON says.
//!
//! What the page does in a browser is tested by `ci/browser.sh`.

mod common;

use common::{Done, RESERVOIR, portent, portent_with};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write};

const BEGIN: &str = "<script type=\"application/json\" id=\"data\">";

/// The data of a page.
fn data(done: &Done) -> Value {
    let (_, rest) = done.out.split_once(BEGIN).expect("the page has data");
    let (data, _) = rest.split_once("</script>").expect("they end");
    serde_json::from_str(data).unwrap()
}

fn findings(page: &Value) -> Vec<Value> {
    page["traces"][0]["findings"].as_array().unwrap().clone()
}

/// Checks under both formats: the data of the page, and the JSON.
fn both(arguments: &[&str], input: &[u8]) -> (Value, Value) {
    let run = |format| {
        let arguments = [&["check", "--format", format], arguments].concat();
        portent_with(&arguments, input)
    };
    let (page, json) = (run("html"), run("json"));
    assert_eq!(page.code, json.code);
    (data(&page), json.json())
}

/// The page says of every property what the JSON says.
fn agree(page: &Value, json: &Value) {
    let findings = findings(page);
    let properties = json["properties"].as_array().unwrap();
    assert_eq!(findings.len(), properties.len());
    for property in properties {
        let mut title = property["name"].as_str().unwrap().to_owned();
        if let Some((name, value)) = property["binding"].as_object().unwrap().iter().next() {
            write!(title, " [{name} = {value}]").unwrap();
        }
        let finding = findings.iter().find(|finding| finding["title"] == title);
        let finding = finding.unwrap_or_else(|| panic!("{title} is not on the page"));
        for key in ["relevant", "states", "observed", "runs", "lattice"] {
            assert_eq!(finding[key], property[key], "{title}: {key}");
        }
        let (drawing, predicted) = (&finding["drawing"], &property["predicted"]);
        for key in ["violated", "violated_at", "shortest"] {
            assert_eq!(finding["predicted"][key], predicted[key], "{title}: {key}");
        }
        if drawing["lattice"]["kind"] == "graph" && !property["lattice"]["cuts"].is_null() {
            let cuts = drawing["lattice"]["cuts"].as_array().unwrap();
            assert_eq!(cuts.len() as u64, property["lattice"]["cuts"]);
        }
        agree_on_witness(drawing, predicted);
    }
}

fn agree_on_witness(drawing: &Value, predicted: &Value) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (shown, rows) = (list(&drawing["witness"]), list(&predicted["witness"]));
    assert_eq!(shown.len(), rows.len());
    let events = list(&drawing["events"]);
    for (step, (shown, row)) in (1..).zip(shown.iter().zip(&rows)) {
        assert_eq!(shown["step"], step);
        for key in ["event", "state", "verdict"] {
            assert_eq!(shown[key], row[key]);
        }
        let event = events.iter().find(|event| event["event"] == row["event"]);
        let event = event.expect("every event that occurs is told");
        assert_eq!(event["line"], row["line"]);
        let thread = event["thread"].as_u64().unwrap() as usize;
        assert_eq!(drawing["threads"][thread], row["t"]);
        for (index, name) in list(&drawing["variables"]).iter().enumerate() {
            let value = &row["values"][name.as_str().unwrap()];
            assert_eq!(shown["values"][index], value.to_string());
        }
    }
    let swapped = |place: usize| -> BTreeSet<u64> {
        let swaps = list(&predicted["swaps"]);
        swaps
            .iter()
            .map(|swap| swap[place].as_u64().unwrap())
            .collect()
    };
    let marked = |key: &str| -> BTreeSet<u64> {
        let marked = events.iter().filter(|event| event[key] == true);
        marked
            .map(|event| event["event"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(marked("later"), swapped(0));
    assert_eq!(marked("earlier"), swapped(1));
}

#[test]
fn the_page_needs_nothing_else() {
    let done = portent(&[&RESERVOIR[..], &["--format", "html"]].concat());
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    assert!(done.out.starts_with("<!doctype html>"));
    for resource in [
        "http:", "https:", "src=", "@import", "url(", "import(", "fetch(",
    ] {
        assert!(!done.out.contains(resource), "{resource}");
    }
    assert!(done.out.contains("default-src 'none'"));
    for mark in ["/*style*/", "/*data*/", "/*script*/"] {
        assert!(!done.out.contains(mark), "{mark}");
    }
    assert!(done.out.len() < 100_000, "{} bytes", done.out.len());
}

#[test]
fn the_page_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let printed = portent(&[&RESERVOIR[..], &["--format", "html"]].concat());
    let file_name = file.to_str().unwrap();
    let written = portent(&[&RESERVOIR[..], &["--format", "html", "--output", file_name]].concat());
    assert_eq!((written.code, written.out.as_str()), (Some(1), ""));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed.out);
}

#[test]
fn the_page_agrees_with_the_json() {
    let examples = [
        ("reservoir", "reservoir.jsonl"),
        ("landing", "landing.jsonl"),
        ("bank", "bank.jsonl"),
        ("sessions", "sessions.jsonl"),
        ("files", "files.jsonl"),
        ("kv", "kv.log"),
    ];
    for (name, trace) in examples {
        let spec = format!("examples/{name}/{name}.portent");
        let trace = format!("examples/{name}/{trace}");
        let (page, json) = both(&["--spec", &spec, &trace], b"");
        agree(&page, &json);
    }
}

#[test]
fn the_reservoir_is_drawn() {
    let done = portent(&[&RESERVOIR[..], &["--format", "html"]].concat());
    let finding = &findings(&data(&done))[0];
    assert_eq!(finding["status"], "predicted");
    let drawing = &finding["drawing"];
    assert_eq!(drawing["threads"], json!(["T1", "T2"]));
    assert_eq!(drawing["variables"], json!(["w", "v"]));
    assert_eq!(
        drawing["start"],
        json!({"values": ["20", "40"], "state": 0, "verdict": "ok"})
    );
    assert_eq!(drawing["arrows"], json!([]));
    assert_eq!(drawing["lattice"]["edges"].as_array().unwrap().len(), 24);
    assert_eq!(drawing["automaton"]["states"].as_array().unwrap().len(), 4);
    assert_eq!(drawing["automaton"]["omitted"], 0);
    let observed = drawing["observed"].as_array().unwrap();
    let events: Vec<&Value> = observed.iter().map(|row| &row["event"]).collect();
    assert_eq!(events, [0, 1, 2, 3, 4, 5]);
    let swap = finding["swap"].as_str().unwrap();
    assert!(
        swap.contains("`T2: w = 31` (line 5) before `T1: v = 60` (line 4)"),
        "{swap}"
    );
}

#[test]
fn violated_properties_come_first_and_all_traces_are_there() {
    let done = portent(&[
        "check",
        "--format",
        "html",
        "--spec",
        "examples/sessions/sessions.portent",
        "examples/sessions/sessions.jsonl",
        "examples/reservoir/reservoir.jsonl",
    ]);
    let page = data(&done);
    let findings = findings(&page);
    let statuses: Vec<&Value> = findings.iter().map(|finding| &finding["status"]).collect();
    assert_eq!(statuses, ["predicted", "predicted", "holds"]);
    assert_eq!(page["traces"].as_array().unwrap().len(), 2);
    let warning = page["traces"][1]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("`session` saw no step"), "{warning}");
}

#[test]
fn a_safe_property_has_no_witness() {
    let trace =
        b"{\"portent\":1,\"init\":{\"x\":0}}\n{\"t\":1,\"op\":\"write\",\"var\":\"x\",\"val\":1}\n";
    let (page, json) = both(&["--property", "always (x >= 0)", "-"], trace);
    agree(&page, &json);
    let finding = &findings(&page)[0];
    assert_eq!(finding["status"], "holds");
    assert_eq!(finding["drawing"]["witness"], json!([]));
    assert_eq!(finding["drawing"]["observed"].as_array().unwrap().len(), 1);
}

#[test]
fn causes_are_arrows_between_threads() {
    let trace = [
        "{\"t\":\"A\",\"op\":\"event\",\"name\":\"a\"}",
        "{\"t\":\"A\",\"op\":\"send\",\"chan\":\"c\",\"msg\":1}",
        "{\"t\":\"B\",\"op\":\"recv\",\"chan\":\"c\",\"msg\":1}",
        "{\"t\":\"B\",\"op\":\"event\",\"name\":\"b\"}",
        "{\"t\":\"B\",\"op\":\"event\",\"name\":\"b\"}",
        "{\"t\":\"C\",\"op\":\"event\",\"name\":\"a\"}",
    ];
    let trace = trace.join("\n");
    let (page, json) = both(
        &["--property", "always (b -> once a)", "-"],
        trace.as_bytes(),
    );
    agree(&page, &json);
    assert_eq!(findings(&page)[0]["drawing"]["arrows"], json!([[0, 1]]));
}

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
fn large_lattices_are_plotted_by_their_widths() {
    let mut trace = String::new();
    for step in 0..24 {
        let thread = step % 4;
        writeln!(trace, "{{\"t\":{thread},\"op\":\"event\",\"name\":\"a\"}}").unwrap();
    }
    let (page, json) = both(
        &["--property", "always !b && eventually a", "-"],
        trace.as_bytes(),
    );
    let lattice = &findings(&page)[0]["drawing"]["lattice"];
    assert_eq!(lattice["kind"], "widths");
    let bars = lattice["bars"].as_array().unwrap();
    let sum: u64 = bars.iter().map(|bar| bar.as_u64().unwrap()).sum();
    // One bar a level, so that the bars are the cuts.
    assert_eq!((lattice["each"].as_u64(), sum), (Some(1), 7u64.pow(4)));
    assert_eq!(json["properties"][0]["lattice"]["cuts"], sum);
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
    assert_eq!(drawn.count(), 24);
    let ids: BTreeSet<&str> = findings
        .iter()
        .map(|finding| finding["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), findings.len());
}

#[test]
fn a_witness_may_be_a_prefix() {
    let trace = [
        "{\"portent\":1,\"init\":{\"x\":0}}",
        "{\"t\":\"T1\",\"op\":\"lock\",\"lock\":\"m\"}",
        "{\"t\":\"T1\",\"op\":\"read\",\"var\":\"x\"}",
        "{\"t\":\"T1\",\"op\":\"event\",\"name\":\"a\"}",
        "{\"t\":\"T1\",\"op\":\"unlock\",\"lock\":\"m\"}",
        "{\"t\":\"T2\",\"op\":\"lock\",\"lock\":\"m\"}",
        "{\"t\":\"T2\",\"op\":\"write\",\"var\":\"x\",\"val\":1}",
        "{\"t\":\"T2\",\"op\":\"event\",\"name\":\"b\"}",
    ];
    let trace = trace.join("\n");
    let arguments = [
        "--causality",
        "maximal",
        "--property",
        "always (b -> once a)",
        "-",
    ];
    let (page, json) = both(&arguments, trace.as_bytes());
    agree(&page, &json);
    assert_eq!(page["maximal"], true);
    let finding = &findings(&page)[0];
    assert_eq!(finding["drawing"]["witness_steps"], 1);
    assert_eq!(finding["drawing"]["observed"].as_array().unwrap().len(), 2);
    assert!(
        finding["stops"]
            .as_str()
            .unwrap()
            .contains("1 step is not in it")
    );
}

#[test]
fn what_the_baseline_has_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("baseline.json");
    let baseline = baseline.to_str().unwrap();
    portent(&[&RESERVOIR[..], &["--format", "json", "--output", baseline]].concat());
    let done = portent(
        &[
            &RESERVOIR[..],
            &["--format", "html", "--baseline", baseline],
        ]
        .concat(),
    );
    assert_eq!(done.code, Some(0), "{}", done.err);
    let page = data(&done);
    assert_eq!(findings(&page), Vec::<Value>::new());
    let warning = page["traces"][0]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("1 known violation left out"), "{warning}");
}
