//! The page against the JSON: every figure, every row, every mark.

use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write};

use super::{both, findings};

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
    assert_eq!(page["feasible"], true);
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
