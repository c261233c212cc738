//! How `portent check` searches: engines, limits, and what it says about them.

use crate::common::{RESERVOIR, portent, portent_with};
use serde_json::Value;

/// Independent threads that each do `a` and `b` in turn.
pub(super) fn grid(threads: usize, each: usize) -> String {
    let mut trace = String::new();
    for place in 0..each {
        for thread in 0..threads {
            let name = ["a", "b"][(place + thread) % 2];
            trace += &format!("{{\"t\":{thread},\"op\":\"event\",\"name\":\"{name}\"}}\n");
        }
    }
    trace
}

pub(super) fn check(property: &str, trace: &str, more: &[&str]) -> Value {
    let arguments = [
        &["check", "--property", property, "--format", "json"],
        more,
        &["-"],
    ]
    .concat();
    let done = portent_with(&arguments, trace.as_bytes());
    assert_eq!(done.err, "");
    done.json()["properties"][0].clone()
}

/// What `b` is allowed to do depends on how many `a`s there were: no engine but enumeration.
pub(super) const TOGGLE: &str = "never: (b* a b* a)* b* a b b";

#[test]
fn every_engine_gives_the_same_answer() {
    let flags = "always !(x == 1 && y == 1)";
    let mut trace = String::from("{\"portent\":1,\"init\":{\"x\":0,\"y\":0}}\n");
    for value in [1, 0, 1, 0] {
        trace += &format!("{{\"t\":1,\"op\":\"write\",\"var\":\"x\",\"val\":{value}}}\n");
        trace += &format!("{{\"t\":2,\"op\":\"write\",\"var\":\"y\",\"val\":{value}}}\n");
    }
    let by = |engine| check(flags, &trace, &["--engine", engine]);
    let usual = by("auto");
    assert_eq!(usual["predicted"]["violated_at"], 2);
    for engine in ["conjunctive", "intervals", "enumerate"] {
        let property = by(engine);
        assert_eq!(property["lattice"]["engine"], engine);
        assert_eq!(property["predicted"]["violated_at"], 2, "{engine}");
        assert_eq!(property["runs"], usual["runs"], "{engine}");
    }
}

#[test]
fn an_engine_without_an_answer_is_replaced_and_that_is_said() {
    let arguments = [&RESERVOIR[..], &["--engine", "conjunctive"]].concat();
    let done = portent(&arguments);
    assert_eq!(done.code, Some(1));
    let expected = "Engine: enumerate (conjunctive has no answer here), ";
    assert!(done.out.contains(expected), "{}", done.out);
}

#[test]
fn the_class_of_a_property_chooses_the_engine_of_a_large_lattice() {
    let mut flags = String::from("{\"portent\":1,\"init\":{\"x\":0,\"y\":0,\"z\":0}}\n");
    for value in 0..100 {
        for var in ["x", "y", "z"] {
            flags += &format!(
                "{{\"t\":\"{var}\",\"op\":\"write\",\"var\":\"{var}\",\"val\":{}}}\n",
                value % 3
            );
        }
    }
    let events = grid(4, 40);
    let engine = |property: &str, trace: &str| {
        let property = check(property, trace, &["--count", "never"]);
        assert_eq!(property["lattice"]["exhaustive"], true);
        property["lattice"]["engine"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        engine("always !error && always (a -> true)", &events),
        "linear"
    );
    assert_eq!(
        engine("always !(x == 1 && y == 1 && z == 2)", &flags),
        "conjunctive"
    );
    assert_eq!(engine("always (b -> once a)", &events), "intervals");
}

#[test]
fn a_window_is_said_to_be_one() {
    let property = check(
        TOGGLE,
        &grid(4, 12),
        &["--window", "5", "--engine", "enumerate"],
    );
    let lattice = &property["lattice"];
    assert_eq!(
        (&lattice["exhaustive"], &lattice["limit"]),
        (&false.into(), &"window".into())
    );
    assert!(lattice["dropped"].as_u64().unwrap() > 0);
    assert!(property["runs"].is_null() && lattice["cuts"].is_null());
}

#[test]
fn a_lookahead_is_said_to_be_one() {
    let property = check(TOGGLE, &grid(3, 6), &["--lookahead", "0"]);
    let lattice = &property["lattice"];
    assert_eq!(
        (&lattice["exhaustive"], &lattice["limit"]),
        (&false.into(), &"lookahead".into())
    );
    let nodes = lattice["nodes"].as_u64().unwrap();
    assert!(nodes <= 19, "the observed run alone, not {nodes} nodes");
}

#[test]
fn the_memory_limit_is_said_to_be_one() {
    // At the end somebody asks for the number of `a`s since the last `b`.
    let mut trace = grid(5, 12);
    for thread in 0..5 {
        trace += &format!("{{\"t\":\"main\",\"op\":\"join\",\"child\":{thread}}}\n");
    }
    trace += "{\"t\":\"main\",\"op\":\"event\",\"name\":\"c\"}\n";
    let arguments = ["--memory", "4KiB", "--engine", "enumerate"];
    let property = check("never: ({}* b)? (a a)* c", &trace, &arguments);
    let lattice = &property["lattice"];
    assert_eq!(
        (&lattice["exhaustive"], &lattice["limit"]),
        (&false.into(), &"memory".into())
    );
    assert!(property["runs"].is_null());
}

#[test]
fn what_the_reductions_saved() {
    let trace = grid(3, 6);
    let arguments = |engine| {
        let property = "never: {}* b a a a a a a a a a";
        [
            "check",
            "--property",
            property,
            "--stats",
            "--engine",
            engine,
            "-",
        ]
    };
    let stats = |engine| {
        let out = portent_with(&arguments(engine), trace.as_bytes()).out;
        out[out.find("  Searched:").unwrap()..].to_owned()
    };
    insta::assert_snapshot!(["enumerate", "intervals", "linear"].map(stats).join("\n"));
}

/// Threads that nothing orders, with an event each.
fn threads(number: usize) -> String {
    grid(number, 1)
}

#[test]
fn a_thousand_threads_that_nothing_orders_are_no_problem() {
    let property = check("always (b -> once a)", &threads(1000), &[]);
    assert_eq!(property["predicted"]["violated_at"], 1);
    assert_eq!(property["lattice"]["engine"], "intervals");
    assert!(property["runs"].is_null(), "2^1000 cuts are not counted");
}

#[test]
fn a_window_for_many_threads_is_said_to_be_one() {
    let arguments = ["--engine", "enumerate"];
    let property = check("never: {}* b a b a", &threads(260), &arguments);
    assert_eq!(property["predicted"]["violated"], true);
    let lattice = &property["lattice"];
    assert_eq!(
        (&lattice["exhaustive"], &lattice["limit"]),
        (&false.into(), &"chains".into())
    );
}

#[test]
fn an_order_that_does_not_fit_in_memory_leaves_the_observed_run() {
    let trace = threads(500);
    let run = |memory| {
        let property = "always (b -> once a)";
        let arguments = ["check", "--property", property, "--memory", memory, "-"];
        portent_with(&arguments, trace.as_bytes())
    };
    let done = run("8KiB");
    assert_eq!(done.code, Some(0));
    assert!(
        done.out.contains("no violation found, but not every"),
        "{}",
        done.out
    );
    let said = "Not exhaustive: some events were assumed to come in the observed order";
    assert!(done.out.contains(said), "{}", done.out);

    // The order of the first threads is enough to see it.
    let done = run("1MiB");
    assert_eq!(done.code, Some(1));
    assert!(done.out.contains("Not exhaustive: "), "{}", done.out);
}

#[test]
fn a_search_that_gives_up_still_reports_what_was_observed() {
    let trace = "{\"t\":1,\"op\":\"event\",\"name\":\"a\"}\n";
    for engine in ["auto", "linear", "conjunctive", "intervals", "enumerate"] {
        for limit in ["--memory=1", "--window=1", "--lookahead=0"] {
            let arguments = ["check", "--property", "always !a", limit, "--engine"];
            let arguments = [&arguments[..], &[engine, "-"]].concat();
            let done = portent_with(&arguments, trace.as_bytes());
            assert_eq!(done.code, Some(1), "{engine} {limit}: {}", done.out);
        }
    }
}
