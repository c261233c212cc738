//! `portent check --format json`, to the letter.

use crate::common::{RESERVOIR, portent, portent_with};
use serde_json::{Value, json};

fn row(event: u32, t: &str, set: Value, values: (i64, i64), state: u32, verdict: &str) -> Value {
    json!({
        "event": event, "t": t, "line": event + 1, "name": null, "args": [], "set": set,
        "values": {"w": values.0, "v": values.1}, "state": state, "verdict": verdict
    })
}

#[test]
fn the_whole_object() {
    let done = portent(&[&RESERVOIR[..], &["--format", "json", "--jobs", "1"]].concat());
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
    let mut report = done.json();
    let lattice = &mut report["properties"][0]["lattice"];
    // What an engine visits and saves is its own affair.
    for key in ["engine", "nodes", "frontier", "saved"] {
        assert!(
            lattice.as_object_mut().unwrap().remove(key).is_some(),
            "{key}"
        );
    }
    let witness = [
        row(0, "T2", json!({"w": 24}), (24, 40), 0, "ok"),
        row(2, "T2", json!({"w": 27}), (27, 40), 1, "ok"),
        row(4, "T2", json!({"w": 31}), (31, 40), 3, "violated"),
        row(1, "T1", json!({"v": 50}), (31, 50), 3, "violated"),
        row(3, "T1", json!({"v": 60}), (31, 60), 3, "violated"),
        row(5, "T1", json!({"v": 70}), (31, 70), 3, "violated"),
    ];
    let expected = json!({
        "portent": 1,
        "trace": {"file": "examples/reservoir/reservoir.jsonl", "events": 6, "threads": 2,
            "format": "native", "skipped": 0},
        "vacuous": [],
        "warnings": [],
        "properties": [{
            "name": "reservoir", "binding": {}, "kind": "ltl", "states": 4, "relevant": 6,
            "observed": {"verdict": "ok", "step": null},
            "predicted": {"violated": true, "witness": witness, "violated_at": 3,
                "swaps": [[1, 2], [1, 4], [3, 4]], "swaps_omitted": 0, "shortest": true},
            "runs": {"total": "20", "violated": "6", "satisfied": "0", "pending": "0", "ok": "14"},
            "lattice": {"levels": 7, "cuts": 16, "widest": 4, "exhaustive": true, "dropped": 0,
                "limit": null, "ordered_by_locks": 0},
            "text": "property reservoir {
    var w: int = 20             // the water level
    var v: int = 40             // how far the valve is open
    let p = w > 26
    let q = w > 30
    let r = v > 55
    ltl: always (q -> ((r && p) since start(p)))
}",
            "definitions": {"p": "w > 26", "q": "w > 30", "r": "v > 55"},
            "story": {
                "swapped": [[3, 4]],
                "swap": "`T2: w = 31` (line 5) could have come before `T1: v = 60` (line 4); then it \
                    is violated after 3 steps.",
                "why": "violated at step 3: `q -> ((r && p) since start(p))` is false there (`q` is \
                    true, `(r && p) since start(p)` is false). There, `p` is `w > 26`, `q` is \
                    `w > 30` and `r` is `v > 55`.",
                "next": "nothing in the trace makes `T2: w = 31` (line 5) wait for `T1: v = 60` \
                    (line 4). If it should, a lock, a channel or a join does that; if it need not, \
                    the property asks for too much."
            }
        }]
    });
    assert_eq!(report, expected);
}

#[test]
fn keys_in_the_order_of_the_contract() {
    let report = portent(&[&RESERVOIR[..], &["--format", "json"]].concat()).json();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(
        keys(&report),
        ["portent", "trace", "vacuous", "warnings", "properties"]
    );
    let property = &report["properties"][0];
    let expected = [
        "name",
        "binding",
        "kind",
        "states",
        "relevant",
        "observed",
        "predicted",
        "runs",
        "lattice",
        "text",
        "definitions",
        "story",
    ];
    assert_eq!(keys(property), expected);
    let expected = [
        "engine",
        "levels",
        "cuts",
        "widest",
        "nodes",
        "exhaustive",
        "dropped",
        "limit",
    ];
    assert_eq!(keys(&property["lattice"])[..8], expected);
}

#[test]
fn several_traces_are_one_object_a_line() {
    let trace = RESERVOIR[3];
    let done = portent(&[&RESERVOIR[..], &[trace, "--format", "json"]].concat());
    let objects: Vec<Value> = done
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0], objects[1]);
}

#[test]
fn several_executions_of_a_log() {
    let log = "=== one ===\nA {\"A\":1}\nx\n=== two ===\nA {\"A\":1}\ny\nB {\"B\":1}\nx\n";
    let spec =
        "property p { event x matches \"^x$\" event y matches \"^y$\" ltl: always (y -> once x) }";
    let arguments = [
        "check",
        "--format",
        "json",
        "--parser",
        r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)",
        "--delimiter",
        "^=== (?<trace>.*) ===$",
        "--property",
        spec,
        "-",
    ];
    let done = portent_with(&arguments, log.as_bytes());
    let objects: Vec<Value> = done
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {}", done.err)))
        .collect();
    let names: Vec<&Value> = objects
        .iter()
        .map(|object| &object["trace"]["execution"])
        .collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(objects[0]["properties"][0]["predicted"]["violated"], false);
    assert_eq!(
        objects[1]["properties"][0]["observed"]["verdict"],
        "violated"
    );
}

#[test]
fn complete_and_count() {
    let trace = "{\"t\":1,\"op\":\"event\",\"name\":\"ask\"}\n{\"t\":2,\"op\":\"event\",\"name\":\"answer\"}\n";
    let check = |more: &[&str]| {
        let property = [
            "check",
            "--format",
            "json",
            "--property",
            "always (ask -> eventually answer)",
            "-",
        ];
        portent_with(&[&property[..], more].concat(), trace.as_bytes())
    };
    let open = check(&[]);
    assert_eq!(open.code, Some(0));
    assert_eq!(open.json()["properties"][0]["runs"]["pending"], "1");
    let complete = check(&["--complete"]);
    assert_eq!(complete.code, Some(1));
    let report = complete.json();
    let property = &report["properties"][0];
    assert_eq!(property["observed"]["verdict"], "ok");
    assert_eq!(property["predicted"]["violated"], true);
    assert_eq!(property["predicted"]["violated_at"], 2);
    assert_eq!(
        (&property["runs"]["violated"], &property["runs"]["pending"]),
        (&"1".into(), &"0".into())
    );
    assert_eq!(
        check(&["--count", "never"]).json()["properties"][0]["runs"],
        Value::Null
    );
}

#[test]
fn limits_are_told() {
    let mut trace = String::new();
    for _ in 0..6 {
        for thread in ["a", "b", "c"] {
            trace += &format!("{{\"t\":\"{thread}\",\"op\":\"event\",\"name\":\"{thread}\"}}\n");
        }
    }
    let check = |more: &[&str]| {
        // Violated only far from the observed run.
        let far = "property far { event a, b, c  never: .* c c c c c c }";
        let property = ["check", "--format", "json", "--property", far, "-"];
        let done = portent_with(&[&property[..], more].concat(), trace.as_bytes());
        done.json()["properties"][0].clone()
    };
    let whole = check(&[]);
    assert_eq!(whole["lattice"]["cuts"], 343);
    assert_eq!(whole["predicted"]["violated"], true);
    let windowed = check(&["--window", "2"]);
    assert_eq!(windowed["observed"]["verdict"], "ok");
    // An engine that enumerates nothing has no use for a window.
    if windowed["lattice"]["engine"] == "enumerate" {
        assert_eq!(windowed["lattice"]["limit"], "window");
        assert_eq!(windowed["lattice"]["exhaustive"], false);
        assert_eq!(windowed["runs"], Value::Null);
    }
}

#[test]
fn a_baseline_hides_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("before.json");
    let path = path.to_str().unwrap();
    let first = portent(&[&RESERVOIR[..], &["--format", "json", "--output", path]].concat());
    assert_eq!((first.code, first.out.as_str()), (Some(1), ""));
    let again = portent(&[&RESERVOIR[..], &["--format", "json", "--baseline", path]].concat());
    assert_eq!(again.code, Some(0));
    assert_eq!(again.json()["properties"], json!([]));
    assert_eq!(again.json()["known"][0]["name"], "reservoir");
    // So it can be the next baseline.
    std::fs::write(path, &again.out).unwrap();
    let later = portent(&[&RESERVOIR[..], &["--format", "json", "--baseline", path]].concat());
    assert_eq!((later.code, later.out), (Some(0), again.out));
    // Another property is new.
    let more = [
        "--property",
        "always (w < 30)",
        "--baseline",
        path,
        "--format",
        "json",
    ];
    let new = portent(&[&RESERVOIR[..], &more].concat());
    assert_eq!(new.code, Some(2), "w has no initial value: {}", new.out);
    let spec = "property low { var w: int = 0  ltl: always (w < 30) }";
    let more = ["--property", spec, "--baseline", path, "--format", "json"];
    let new = portent(&[&RESERVOIR[..], &more].concat());
    assert_eq!(new.code, Some(1));
    assert_eq!(new.json()["properties"][0]["name"], "low");
}

#[test]
fn a_baseline_does_not_hide_another_property_of_the_same_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("before.json");
    let path = path.to_str().unwrap();
    let trace = "{\"t\": 1, \"op\": \"event\", \"name\": \"a\"}\n";
    let check = |property: &str, more: &[&str]| {
        let arguments = [&["check", "--property", property, "-"], more].concat();
        portent_with(&arguments, trace.as_bytes())
    };
    let (old, new) = (
        "property p { event a ltl: always !a }",
        "property p { event a, b ltl: !a until b }",
    );
    let first = check(old, &["--format", "json"]);
    assert_eq!(first.json()["properties"][0]["text"], old);
    std::fs::write(path, &first.out).unwrap();
    let again = check(old, &["--baseline", path]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    let known = "1 known violation left out: the baseline has it already\n";
    assert!(again.out.contains(known), "{}", again.out);
    assert_eq!(check(new, &["--baseline", path]).code, Some(1));
    // Without texts, the name is all there is.
    let mut earlier = first.json();
    let property = earlier["properties"][0].as_object_mut().unwrap();
    property.remove("text");
    std::fs::write(path, earlier.to_string()).unwrap();
    assert_eq!(check(new, &["--baseline", path]).code, Some(0));
}

#[test]
fn a_property_that_sees_nothing_is_vacuous() {
    let arguments = [
        "check",
        "--format",
        "json",
        "--property",
        "always !boom",
        RESERVOIR[3],
    ];
    let done = portent(&arguments);
    assert_eq!(done.code, Some(0));
    assert_eq!(done.json()["vacuous"], json!(["always !boom"]));
}
