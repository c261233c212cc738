//! Limits of `portent check`: what is left out is said, and what was found is there.

use super::search::{TOGGLE, check, grid};
use crate::common::portent_with;

/// Every value of the parameter is closed without having been opened.
fn closed(values: usize) -> String {
    let line =
        |value| format!("{{\"t\":1,\"op\":\"event\",\"name\":\"close\",\"args\":[{value}]}}\n");
    (0..values).map(line).collect()
}

const FILE: &str = "property file(f) { event open(f), close(f) ltl: always (close -> once open) }";

/// Violated if `c` comes after an even number of `a`s since the last `b`; it comes at the very end.
const EVEN: &str = "never: ({}* b)? (a a)* c";

fn joined(threads: usize, each: usize) -> String {
    let mut trace = grid(threads, each);
    for thread in 0..threads {
        trace += &format!("{{\"t\":\"main\",\"op\":\"join\",\"child\":{thread}}}\n");
    }
    trace + "{\"t\":\"main\",\"op\":\"event\",\"name\":\"c\"}\n"
}

#[test]
fn a_search_whose_time_is_up_says_so() {
    // 6^12 cuts: nothing gets through that in a millisecond.
    let trace = joined(12, 5);
    let arguments = ["--time", "1ms", "--engine", "enumerate"];
    let property = check(EVEN, &trace, &arguments);
    let lattice = &property["lattice"];
    assert_eq!(
        (&lattice["exhaustive"], &lattice["limit"]),
        (&false.into(), &"time".into())
    );
    assert!(property["runs"].is_null() && lattice["cuts"].is_null());

    let arguments = [&["check", "--property", EVEN], &arguments[..], &["-"]].concat();
    let done = portent_with(&arguments, trace.as_bytes());
    let said = "the time was up before everything was looked at; a larger --time looks";
    assert!(done.out.contains(said), "{}", done.out);
}

#[test]
fn what_was_observed_is_known_whatever_the_time() {
    let mut trace = grid(12, 5);
    trace += "{\"t\":\"main\",\"op\":\"event\",\"name\":\"c\"}\n";
    let arguments = ["--time", "1ms", "--engine", "enumerate"];
    let property = check("never: {}* c", &trace, &arguments);
    assert_eq!(property["predicted"]["violated"], true);
    assert_eq!(property["observed"]["verdict"], "violated");
}

#[test]
fn a_span_of_time_is_one() {
    let arguments = ["check", "--time", "soon", "--property", "always !a", "-"];
    let done = portent_with(&arguments, b"");
    assert_eq!(done.code, Some(2));
    let said = "expected a span of time, as in 30s, 2min or 500ms";
    assert!(done.err.contains(said), "{}", done.err);
}

#[test]
fn runs_are_counted_by_default_only_while_that_does_not_take_long() {
    // 10 chains of 4: 9,765,625 cuts, and numbers of 111 bits.
    let trace = grid(10, 4);
    let property = check("always (b -> once a)", &trace, &[]);
    assert!(property["runs"].is_null());
    assert_eq!(property["lattice"]["cuts"], 9_765_625);
    assert_eq!(property["lattice"]["exhaustive"], true);
    let few = check("always (b -> once a)", &grid(4, 4), &[]);
    assert_eq!(few["runs"]["total"], "63063000");
}

#[test]
fn of_many_witnesses_the_first_are_shown_in_full() {
    let trace = closed(150);
    let run = |more: &[&str]| {
        let arguments = [&["check", "--property", FILE], more, &["-"]].concat();
        portent_with(&arguments, trace.as_bytes())
    };
    let with_witness = |more: &[&str]| {
        let report = run(&[&["--format", "json"], more].concat()).json();
        let entries = report["properties"].as_array().unwrap().clone();
        assert_eq!(entries.len(), 150);
        for entry in &entries {
            let predicted = &entry["predicted"];
            assert_eq!(
                (&predicted["violated"], &predicted["violated_at"]),
                (&true.into(), &1.into())
            );
            assert_eq!(
                predicted["witness"].is_null(),
                predicted["witness_omitted"] == true
            );
        }
        entries
            .iter()
            .filter(|entry| !entry["predicted"]["witness"].is_null())
            .count()
    };
    assert_eq!(with_witness(&[]), 100);
    assert_eq!(with_witness(&["--all"]), 150);

    let json = run(&["--format", "json"]).out;
    let lines = json
        .lines()
        .filter(|line| line.contains("\"witness_omitted\":true"));
    assert_eq!(lines.count(), 50, "each has a line of its own");

    let text = run(&[]).out;
    assert_eq!(text.matches("The run, as observed").count(), 3);
    assert!(
        text.contains("... and 137 more; --all shows every one in full"),
        "{text}"
    );
    assert_eq!(
        run(&["--all"]).out.matches("The run, as observed").count(),
        150
    );
}

#[test]
fn long_witnesses_are_fewer() {
    // Two values whose runs have 15,000 steps each: 20,000 rows are enough for one of them.
    let mut trace = String::new();
    for step in 0..30_000 {
        let value = step % 2;
        trace += &format!("{{\"t\":1,\"op\":\"event\",\"name\":\"close\",\"args\":[{value}]}}\n");
    }
    let arguments = ["check", "--property", FILE, "--format", "json", "-"];
    let report = portent_with(&arguments, trace.as_bytes()).json();
    let rows = |entry: usize| {
        report["properties"][entry]["predicted"]["witness"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!((rows(0), rows(1)), (Some(15_000), None));
}

#[test]
fn of_more_bindings_than_the_limit_the_first_are_checked() {
    let run = |limit: &str, more: &[&str]| {
        let arguments = [
            "check",
            "--property",
            FILE,
            "--max-bindings",
            limit,
            "--format",
            "json",
        ];
        portent_with(
            &[&arguments[..], more, &["-"]].concat(),
            closed(20).as_bytes(),
        )
    };
    let some = run("10", &[]);
    assert_eq!(some.code, Some(1), "by what was found");
    assert_eq!(some.json()["properties"].as_array().unwrap().len(), 10);
    let warning = &some.json()["warnings"][0];
    assert_eq!(warning["kind"], "too_many_bindings");
    assert_eq!(
        warning["text"],
        "its parameters have more than 10 bindings; the others were not checked; --max-bindings allows more"
    );
    assert_eq!(run("10", &["--strict"]).code, Some(2));
    let all = run("20", &[]).json();
    assert_eq!(all["properties"].as_array().unwrap().len(), 20);
    // That `open` never occurs is all there is to say.
    assert_eq!(all["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn no_violation_among_some_bindings_is_no_all_clear() {
    let spec = "property p(k) { event a(k) ltl: always a }";
    let trace = closed(20).replace("close", "a");
    let arguments = ["check", "--property", spec, "--max-bindings", "10", "-"];
    let done = portent_with(&arguments, trace.as_bytes());
    assert_eq!(done.code, Some(0));
    let said = "p(k): 10 bindings, none of these violated, but not all were checked";
    assert!(done.out.contains(said), "{}", done.out);
}

#[test]
fn a_toggle_is_still_searched_in_full() {
    let property = check(TOGGLE, &grid(3, 4), &["--time", "10min"]);
    assert_eq!(property["lattice"]["exhaustive"], true);
}

/// Leaving sections out is tried for short runs only; of others the answer says that it was not.
#[test]
fn what_was_not_tried_for_the_length_of_the_run_is_said() {
    let section = |thread: u32, name: &str| {
        let lock = |op: &str| format!("{{\"t\":{thread},\"op\":\"{op}\",\"lock\":\"m\"}}\n");
        let event = format!("{{\"t\":{thread},\"op\":\"event\",\"name\":\"{name}\"}}\n");
        lock("lock") + &event + &lock("unlock")
    };
    let sections = section(1, "open") + &section(2, "close");
    let filler = "{\"t\":1,\"op\":\"read\",\"var\":\"x\"}\n";
    let look = |events: usize, format: &str| {
        let trace = sections.clone() + &filler.repeat(events - 6);
        let property = "always (close -> once open)";
        let arguments = ["check", "--property", property, "--format", format, "-"];
        portent_with(&arguments, trace.as_bytes())
    };
    let report = look(50_000, "json").json();
    let tried = &report["properties"][0]["under_strong"];
    assert_eq!(
        (&tried["violated"], tried.get("untried")),
        (&true.into(), None)
    );
    let report = look(50_001, "json").json();
    let tried = &report["properties"][0]["under_strong"];
    assert_eq!(tried["untried"], serde_json::json!({"events": 50_000}));
    let text = look(50_001, "text").out;
    let words: Vec<&str> = text.split_whitespace().collect();
    let expected = "--causality strong, which was not tried as the run has more than 50,000 events, also looks at";
    assert!(words.join(" ").contains(expected), "{text}");
}
