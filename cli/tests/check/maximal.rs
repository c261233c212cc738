//! `--causality strong` and `maximal`: runs that a lock or an unread write only seems to forbid.

use crate::common::{Done, portent_with};

/// Checks a trace of short lines, `T1 lock m`, `T2 a`, `T1 write x 3`, under a model.
fn check(property: &str, lines: &[&str], more: &[&str]) -> Done {
    let mut trace = String::from("{\"portent\": 1, \"init\": {\"x\": 0, \"y\": 0}}\n");
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let rest = match words[1..] {
            [op @ ("lock" | "unlock" | "rlock" | "runlock"), lock] => {
                format!("\"op\":\"{op}\",\"lock\":\"{lock}\"")
            }
            ["read", var] => format!("\"op\":\"read\",\"var\":\"{var}\""),
            ["write", var, value] => {
                format!("\"op\":\"write\",\"var\":\"{var}\",\"val\":{value}")
            }
            [op @ ("fork" | "join"), child] => format!("\"op\":\"{op}\",\"child\":\"{child}\""),
            [name] => format!("\"op\":\"event\",\"name\":\"{name}\""),
            _ => panic!("no such line: {line}"),
        };
        trace += &format!("{{\"t\":\"{}\",{rest}}}\n", words[0]);
    }
    let arguments = [&["check", "--property", property, "-"], more].concat();
    portent_with(&arguments, trace.as_bytes())
}

/// The answers under both models: whether a violation is predicted.
fn predicted(property: &str, lines: &[&str]) -> (bool, bool) {
    let answer = |model| {
        let done = check(property, lines, &["--causality", model, "--format", "json"]);
        let json = done.json();
        let violated = json["properties"][0]["predicted"]["violated"] == true;
        assert_eq!(done.code, Some(i32::from(violated)), "{}", done.err);
        assert_eq!(json["properties"][0]["lattice"]["exhaustive"], true);
        violated
    };
    (answer("happens-before"), answer("maximal"))
}

/// A step in each of two critical sections of one lock.
const SECTIONS: [&str; 6] = [
    "T1 lock m",
    "T1 a",
    "T1 unlock m",
    "T2 lock m",
    "T2 b",
    "T2 unlock m",
];

#[test]
fn critical_sections_can_be_swapped() {
    assert_eq!(predicted("always (b -> once a)", &SECTIONS), (false, true));
}

#[test]
fn a_critical_section_can_be_left_out_but_not_swapped() {
    let answer = |property, more: &[&str]| {
        let done = check(property, &SECTIONS, &[&["--format", "json"], more].concat());
        (done.code, done.json()["properties"][0].clone())
    };
    let strong = ["--causality", "strong"];
    let (code, found) = answer("always (b -> once a)", &strong);
    assert_eq!(code, Some(1));
    assert_eq!(found["lattice"]["engine"], "strong");
    assert_eq!(found["runs"], serde_json::Value::Null);
    let predicted = &found["predicted"];
    assert_eq!(predicted["witness"].as_array().unwrap().len(), 1);
    assert_eq!(predicted["left_out"][0]["name"], "a");
    let (code, found) = answer("never: {}* b {}* a", &strong);
    assert_eq!(
        (code, &found["lattice"]["exhaustive"]),
        (Some(0), &true.into())
    );
    // Happens-before says what it would find, and keeps to its verdict.
    let (code, found) = answer("always (b -> once a)", &[]);
    assert_eq!(
        (code, &found["predicted"]["violated"]),
        (Some(0), &false.into())
    );
    assert_eq!(found["under_strong"]["violated"], true);
    assert_eq!(found["under_strong"]["left_out"][0]["name"], "a");
    let (_, found) = answer("never: {}* b {}* a", &[]);
    assert_eq!(found["under_strong"]["violated"], false);
    assert_eq!(found["under_strong"]["exhaustive"], true);
    for format in ["text", "html"] {
        let done = check("always (b -> once a)", &SECTIONS, &["--format", format]);
        assert_eq!(done.code, Some(0));
        let words = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(
                "under --causality strong it is violated, with b (T2) and without a (T1)"
            )
        );
    }
}

#[test]
fn a_strong_search_that_is_cut_off_is_open() {
    // Each write shuts out those of the other thread that were observed before it.
    let mut lines = ["T1 write x 1", "T2 write x 2"].repeat(6);
    lines.extend(["T1 a", "T1 write x 3", "T2 write x 4", "T2 b"]);
    let answer = |nodes| {
        let more = [
            "--causality",
            "strong",
            "--max-nodes",
            nodes,
            "--format",
            "json",
        ];
        let done = check("never: {}* b {}* a", &lines, &more);
        (done.code, done.json()["properties"][0].clone())
    };
    let (code, found) = answer("3");
    assert_eq!(code, Some(0));
    assert_eq!(found["lattice"]["exhaustive"], false);
    assert_eq!(found["lattice"]["limit"], "nodes");
    let (code, found) = answer("1000");
    assert_eq!(code, Some(1));
    assert_eq!(found["predicted"]["violated_at"], 2);
}

#[test]
fn three_sections_can_be_rotated() {
    let trace = [&SECTIONS[..], &["T3 lock m", "T3 c", "T3 unlock m"]].concat();
    assert_eq!(predicted("never: {}* c {}* b {}* a", &trace), (false, true));
}

#[test]
fn a_section_stays_whole() {
    let trace = [
        "T1 lock m",
        "T1 a",
        "T1 c",
        "T1 unlock m",
        "T2 lock m",
        "T2 b",
        "T2 unlock m",
    ];
    // Between `a` and `c` nobody else has the lock.
    assert_eq!(predicted("never: {}* a b c", &trace), (false, false));
    assert_eq!(predicted("never: {}* b a c", &trace), (false, true));
}

#[test]
fn shared_sections_swap_with_exclusive_ones() {
    let trace = [
        "T1 lock m",
        "T1 a",
        "T1 unlock m",
        "T2 rlock m",
        "T2 b",
        "T2 runlock m",
    ];
    assert_eq!(predicted("always (b -> once a)", &trace), (false, true));
}

#[test]
fn unread_writes_can_be_swapped() {
    let trace = ["T1 write x 1", "T2 write x 2", "T2 write y 1"];
    assert_eq!(
        predicted("always (y == 1 -> x == 2)", &trace),
        (false, true)
    );
}

#[test]
fn a_read_keeps_the_write_that_it_saw() {
    let trace = ["T1 a", "T1 write x 1", "T2 read x", "T2 b"];
    assert_eq!(predicted("always (b -> once a)", &trace), (false, false));
    // The same value from another write is another write.
    let trace = ["T3 write x 1", "T1 a", "T1 write x 1", "T2 read x", "T2 b"];
    assert_eq!(predicted("always (b -> once a)", &trace), (false, false));
}

#[test]
fn a_read_before_a_write_stays_before_it() {
    let trace = ["T2 a", "T2 read x", "T1 write x 1", "T1 b"];
    assert_eq!(predicted("always (b -> once a)", &trace), (false, true));
    // Here the read must have happened before somebody can go on.
    let trace = [
        "T2 a",
        "T2 read x",
        "T2 lock m",
        "T2 unlock m",
        "T1 fork T3",
        "T3 write x 1",
        "T3 join T2",
        "T3 b",
    ];
    assert_eq!(predicted("always (b -> once a)", &trace), (false, false));
}

#[test]
fn forks_and_joins_are_kept() {
    let trace = ["T1 a", "T1 fork T2", "T2 b", "T1 join T2", "T1 c"];
    let (before, after) = predicted("never: {}* (b {}* a | c {}* b)", &trace);
    assert!(!before && !after);
}

#[test]
fn what_happens_before_finds_is_found_first() {
    let done = check(
        "always (b -> once a)",
        &["T1 a", "T2 b"],
        &["--causality", "maximal", "--format", "json"],
    );
    let property = &done.json()["properties"][0];
    assert_eq!(property["predicted"]["violated_at"], 1);
    assert_eq!(
        property["predicted"]["witness"].as_array().unwrap().len(),
        2
    );
    assert!(property["runs"].is_null());
    assert_ne!(property["lattice"]["engine"], "maximal");
}

#[test]
fn a_witness_is_completed_where_that_is_easy() {
    let arguments = ["--causality", "maximal", "--format", "json"];
    let json = check("always (b -> once a)", &SECTIONS, &arguments).json();
    let property = &json["properties"][0];
    assert_eq!(property["lattice"]["engine"], "maximal");
    assert_eq!(property["predicted"]["swaps"], serde_json::json!([[0, 1]]));
    assert_eq!(property["predicted"]["violated_at"], 1);
    let events: Vec<u64> = property["predicted"]["witness"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["event"].as_u64().unwrap())
        .collect();
    assert_eq!(events, [1, 0]);
    assert!(property["runs"].is_null() && property["lattice"]["cuts"].is_null());
}

/// T2's section comes first, and then T1 can never see what it saw.
const CUT_SHORT: [&str; 7] = [
    "T1 lock m",
    "T1 read x",
    "T1 a",
    "T1 unlock m",
    "T2 lock m",
    "T2 write x 1",
    "T2 b",
];

#[test]
fn a_witness_may_stop_where_it_is_violated() {
    let arguments = ["--causality", "maximal", "--format", "json"];
    let json = check("always (b -> once a)", &CUT_SHORT, &arguments).json();
    let predicted = &json["properties"][0]["predicted"];
    assert_eq!(predicted["violated_at"], 1);
    assert_eq!(predicted["witness"].as_array().unwrap().len(), 1);
    assert_eq!(predicted["left_out"][0]["name"], "a");
    assert_eq!(predicted["swaps"], serde_json::json!([[0, 1]]));
}

#[test]
fn the_text_says_what_was_swapped() {
    let done = check(
        "always (b -> once a)",
        &CUT_SHORT,
        &["--causality", "maximal"],
    );
    insta::assert_snapshot!(done.out);
    let done = check(
        "always (b -> once a)",
        &SECTIONS,
        &["--causality", "maximal"],
    );
    insta::assert_snapshot!(done.out);
}

/// Many sections that must not overlap, and do not.
fn check_exclusion(more: &[&str]) -> Done {
    let mut lines = Vec::new();
    for thread in ["T1", "T2", "T3", "T4", "T5"] {
        for _ in 0..6 {
            let section = ["lock m", "enter", "leave", "unlock m"];
            lines.extend(section.map(|what| format!("{thread} {what}")));
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let arguments = [&["--causality", "maximal"], more].concat();
    let property = "property p { event enter, leave  never: .* enter enter }";
    check(property, &lines, &arguments)
}

#[test]
fn a_search_that_is_cut_says_so() {
    for (limit, bound) in [("memory", "64KiB"), ("nodes", "100")] {
        let option = match limit {
            "nodes" => "--max-nodes",
            _ => "--memory",
        };
        let done = check_exclusion(&[option, bound, "--format", "json"]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        let lattice = &done.json()["properties"][0]["lattice"];
        assert_eq!(lattice["exhaustive"], false, "{lattice}");
        assert_eq!(lattice["limit"], limit);
        assert!(lattice["dropped"].as_u64().unwrap() > 0);
        for format in ["text", "html"] {
            let done = check_exclusion(&[option, bound, "--format", format]);
            assert!(done.out.contains("Not exhaustive"), "{}", done.out);
            assert!(done.out.contains(option), "{}", done.out);
        }
    }
    let done = check_exclusion(&["--format", "json"]);
    assert_eq!(done.json()["properties"][0]["lattice"]["exhaustive"], true);
}

#[test]
fn what_locks_do_not_matter_for_is_answered_without_them() {
    // Whatever the order, there are only thirty.
    let mut lines = Vec::new();
    for thread in ["T1", "T2", "T3", "T4", "T5"] {
        for _ in 0..6 {
            lines.extend(["lock m", "b", "unlock m"].map(|what| format!("{thread} {what}")));
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let arguments = ["--causality", "maximal", "--format", "json"];
    let json = check("never: {}* (b {}*){31}", &lines, &arguments).json();
    let lattice = &json["properties"][0]["lattice"];
    assert_eq!(lattice["exhaustive"], true);
    assert_eq!(lattice["engine"], "maximal");
}
