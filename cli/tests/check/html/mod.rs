//! `portent check --format html`: one file that needs nothing else, and says what the JSON says.
//!
//! What the page does in a browser is tested by `ci/browser.sh`.

mod agreement;
mod limits;

use crate::common::{Done, RESERVOIR, command as command_with, portent, portent_with};
use serde_json::{Value, json};

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
    // They differ in the command that made them.
    let page = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        page.replace(&format!(" --output {file_name}"), ""),
        printed.out
    );
    // The page took its place when it was complete; nothing else was left behind.
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

#[test]
fn the_page_tells_where_it_comes_from() {
    let arguments = [&RESERVOIR[..], &["--format", "html"]].concat();
    let page = data(&portent(&arguments));
    let command = format!("portent {}", arguments.join(" "));
    assert_eq!(
        page["origin"],
        json!({"version": env!("CARGO_PKG_VERSION"), "command": command, "date": 1_700_000_000})
    );
    assert_eq!(
        page["properties"]["reservoir"],
        json!({
            "formula": "ltl: always (q -> ((r && p) since start(p)))",
            "definitions": [["p", "w > 26"], ["q", "w > 30"], ["r", "v > 55"]],
            "spec": "examples/reservoir/reservoir.portent"
        })
    );
    let bad = command_with(&arguments)
        .env("SOURCE_DATE_EPOCH", "today")
        .output()
        .unwrap();
    assert_eq!(bad.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("SOURCE_DATE_EPOCH"));
}

#[cfg(unix)]
#[test]
fn a_link_to_the_output_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("old.html"), folder.path().join("link"));
    std::fs::write(&file, "an earlier page").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let name = link.to_str().unwrap();
    portent(&[&RESERVOIR[..], &["--format", "html", "--output", name]].concat());
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("<!doctype html>"));
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
        swap.contains("`T2: w = 31` (line 5) could have come before `T1: v = 60` (line 4)"),
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
    assert!(warning.contains("`session`: it saw no step"), "{warning}");
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
    // As in the text, that is no warning.
    assert_eq!(page["traces"][0]["warnings"], json!([]));
    let known = page["traces"][0]["known"].as_str().unwrap();
    assert!(known.contains("1 known violation left out"), "{known}");
}
