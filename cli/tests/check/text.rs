//! `portent check` and `portent demo` for people.

use crate::common::{Done, RESERVOIR, portent, portent_with};

/// Which engine answers, and how, is its own affair.
fn without_engine(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("  Engine: "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn reservoir() {
    let done = portent(&[&RESERVOIR[..], &["--jobs", "1"]].concat());
    assert_eq!(done.code, Some(1));
    insta::assert_snapshot!(without_engine(&done.out));
}

#[test]
fn sessions_are_grouped() {
    let spec = "examples/sessions/sessions.portent";
    let done = portent(&["check", "--spec", spec, "examples/sessions/sessions.jsonl"]);
    assert_eq!(done.code, Some(1));
    insta::assert_snapshot!(without_engine(&done.out));
}

#[test]
fn demo() {
    let done = portent(&["demo"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(without_engine(&done.out));
}

#[test]
fn long_lists_are_shortened() {
    let mut trace = String::new();
    for user in 0..1030 {
        trace += &format!("{{\"t\":1,\"op\":\"event\",\"name\":\"bad\",\"args\":[{user}]}}\n");
    }
    let spec = "property p(u) { event bad(u)  ltl: always !bad }";
    let done = portent_with(&["check", "--property", spec, "-"], trace.as_bytes());
    assert_eq!(done.code, Some(1));
    assert!(
        done.out
            .contains("1,030 bindings, 1,030 violated (1,030 in the observed run)"),
        "{}",
        done.out
    );
    assert!(done.out.contains("... and 1,017 more;"), "{}", done.out);
}

#[test]
fn a_run_that_ends_pending_counts_as_observed() {
    let trace = "{\"t\":1,\"op\":\"event\",\"name\":\"take\",\"args\":[7]}\n";
    let spec = "property p(b) { event take(b), give(b)  ere: (take give)* }";
    let done = portent_with(
        &["check", "--complete", "--property", spec, "-"],
        trace.as_bytes(),
    );
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(
        done.out
            .contains("1 binding, 1 violated (1 in the observed run)"),
        "{}",
        done.out
    );
}

#[test]
fn long_runs_are_shortened() {
    let mut trace = String::new();
    for thread in 0..100 {
        trace += "{\"t\":1,\"op\":\"event\",\"name\":\"a\"}\n";
        trace += &format!("{{\"t\":1,\"op\":\"fork\",\"child\":\"c{thread}\"}}\n");
    }
    trace += "{\"t\":1,\"op\":\"event\",\"name\":\"b\"}\n";
    trace += &"{\"t\":1,\"op\":\"event\",\"name\":\"a\"}\n".repeat(100);
    let done = portent_with(
        &["check", "--property", "always (b -> !once a)", "-"],
        trace.as_bytes(),
    );
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(done.out.contains("... after 81 steps:"), "{}", done.out);
    assert!(done.out.contains("... and 97 more steps"), "{}", done.out);
}

#[test]
fn vacuous_properties_are_warned_of() {
    let done = portent(&["check", "--property", "always !boom", RESERVOIR[3]]);
    assert_eq!(done.code, Some(0));
    assert!(
        done.out
            .contains("warning: property `always !boom`: it saw no step"),
        "{}",
        done.out
    );
}

#[test]
fn colour_only_if_wanted() {
    let plain = portent(&RESERVOIR);
    assert!(!plain.out.contains('\u{1b}'));
    let coloured = portent(&[&RESERVOIR[..], &["--color", "always"]].concat());
    assert!(coloured.out.contains("\u{1b}[1;31mPREDICTED"));
}

#[test]
fn progress_on_request() {
    let done = portent(&[&RESERVOIR[..], &["--progress", "always"]].concat());
    assert!(done.err.contains("6 events"), "{}", done.err);
}

#[test]
fn what_else_a_line_tells_is_shown() {
    let trace = r#"{"t":"T1","op":"event","name":"a","loc":"src/a.rs:10:5","req":7,"text":"hi"}
{"t":"T2","op":"event","name":"b","user":{"id":3},"time":12}
"#;
    let arguments = ["check", "--property", "always (b -> once a)", "-"];
    let done = portent_with(&arguments, trace.as_bytes());
    insta::assert_snapshot!(without_engine(&done.out));
    let json = portent_with(
        &[&arguments[..], &["--format", "json"]].concat(),
        trace.as_bytes(),
    );
    let witness = &json.json()["properties"][0]["predicted"]["witness"];
    assert_eq!(witness[0]["extra"]["user"]["id"], 3);
    assert_eq!(
        (&witness[0]["time"], &witness[1]["text"]),
        (&12.into(), &"hi".into())
    );
    assert_eq!(witness[1]["loc"], "src/a.rs:10:5");
}

#[test]
fn names_cannot_play_with_the_terminal() {
    let trace = "{\"t\":\"T\\u001b[2J\\n1\",\"op\":\"event\",\"name\":\"a\"}\n\
                 {\"t\":\"T2\",\"op\":\"event\",\"name\":\"b\"}\n\
                 {\"t\":\"T2\",\"op\":\"unlock\",\"lock\":\"m\\u001b[2J\"}\n";
    let arguments = [
        "check",
        "--property",
        "always (b -> once a)",
        "--lenient",
        "-",
    ];
    let done = portent_with(&arguments, trace.as_bytes());
    assert!(!done.out.contains('\u{1b}'), "{}", done.out);
    assert!(done.out.contains("T\\u{1b}[2J\\n1"), "{}", done.out);
    let done = portent_with(
        &arguments[..3]
            .iter()
            .copied()
            .chain(["-"])
            .collect::<Vec<_>>(),
        trace.as_bytes(),
    );
    assert!(
        done.code == Some(2) && !done.err.contains('\u{1b}'),
        "{}",
        done.err
    );
}

#[test]
fn a_property_without_steps_does_not_hold() {
    let trace = "{\"t\":1,\"op\":\"event\",\"name\":\"a\"}\n";
    let done = portent_with(&["check", "--property", "always !b", "-"], trace.as_bytes());
    assert!(done.out.contains("nothing was checked"), "{}", done.out);
    assert!(!done.out.contains("holds"), "{}", done.out);
}

/// Events `a` of thread T1 and `b` of T2 in turn.
fn in_turn(times: usize) -> String {
    let line = |t: &str, name: &str| {
        format!("{{\"t\": \"{t}\", \"op\": \"event\", \"name\": \"{name}\"}}\n")
    };
    (line("T1", "a") + &line("T2", "b")).repeat(times)
}

fn check(property: &str, trace: &str, more: &[&str]) -> Done {
    let arguments = [&["check", "--property", property, "-"], more].concat();
    portent_with(&arguments, trace.as_bytes())
}

#[test]
fn a_broken_pattern_is_told_in_its_own_words() {
    let done = check(
        "property p { event a, b pattern: a precedes b }",
        &in_turn(2),
        &[],
    );
    assert_eq!(done.code, Some(1), "{}", done.err);
    let why = "Why: violated at step 1: `a precedes b` is broken, as `b` occurred before any `a`.";
    assert!(done.out.contains(why), "{}", done.out);
}

#[test]
fn a_lookahead_says_what_it_left_out() {
    let property = "property p { event a, b never: a* b b b b . }";
    let done = check(property, &in_turn(4), &["--lookahead", "2"]);
    let left_out = "Not exhaustive: the runs were left out in which an event overtakes one that was \
                    observed more than\n                  2 places before it; a larger --lookahead";
    assert!(done.out.contains(left_out), "{}", done.out);
    assert!(!done.out.contains("0 cuts dropped"), "{}", done.out);
}

#[test]
fn the_observed_run_is_explained_beside_one_that_is_violated_sooner() {
    let trace = in_turn(4) + "{\"t\": \"T2\", \"op\": \"event\", \"name\": \"b\"}\n";
    let done = check("property p { event a, b never: (a | b)* b b }", &trace, &[]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(done.out.contains("then it is violated after 2 steps"));
    assert!(
        done.out.contains("Why: violated at step 2: "),
        "{}",
        done.out
    );
    let observed = "Observed: the run as it was is violated, too: violated at step 9: ";
    assert!(done.out.contains(observed), "{}", done.out);
    // If there is no other run there is nothing to compare it with.
    let alone = "{\"t\": \"T1\", \"op\": \"event\", \"name\": \"a\"}\n";
    let done = check("property p { event a ltl: always !a }", alone, &[]);
    let claim = "the run violates it after 1 step; no other run is equivalent to it\n";
    assert!(done.out.contains(claim), "{}", done.out);
    assert!(!done.out.contains("Observed: "), "{}", done.out);
}

#[test]
fn steps_are_written_in_groups_of_three() {
    let trace = "{\"t\": \"T1\", \"op\": \"event\", \"name\": \"a\"}\n".repeat(1500)
        + "{\"t\": \"T1\", \"op\": \"event\", \"name\": \"b\"}\n";
    let done = check("property p { event a, b ltl: always !b }", &trace, &[]);
    for words in [
        "... after 1,481 steps:",
        "\n    1,501  1501  b ",
        "Why: violated at step 1,501: ",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
}

#[test]
fn pending_runs_are_told() {
    let property = "property p { event a, b ltl: always (a -> eventually b) }";
    let done = check(property, &in_turn(1), &[]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let pending = "  Pending: 1 of 2 equivalent runs at the end of the trace; if it has ended for";
    assert!(done.out.contains(pending), "{}", done.out);
    let done = check(property, &in_turn(1), &["--count", "never"]);
    assert!(!done.out.contains("Pending: "), "{}", done.out);
    let alone = "{\"t\": \"T1\", \"op\": \"event\", \"name\": \"a\"}\n";
    let done = check(property, alone, &[]);
    let pending = "  Pending: the observed run at the end of the trace;";
    assert!(done.out.contains(pending), "{}", done.out);
    let done = check(property, alone, &["--complete"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(!done.out.contains("Pending: "), "{}", done.out);
    // Of many bindings there is one sentence.
    let property = "property p(u) { event a(u), b(u) ltl: always (a -> eventually b) }";
    let line =
        |u: u32| format!("{{\"t\": 1, \"op\": \"event\", \"name\": \"a\", \"args\": [{u}]}}\n");
    let done = check(property, &(line(1) + &line(2)), &[]);
    let pending =
        "2 bindings, none violated\n  Pending: runs of 2 bindings at the end of the trace;";
    assert!(done.out.contains(pending), "{}", done.out);
}

#[test]
fn counting_that_does_not_fit_is_told() {
    let mut trace = String::new();
    for thread in 0..20 {
        trace += &format!("{{\"t\": {thread}, \"op\": \"event\", \"name\": \"a\"}}\n");
    }
    let property = "property p { event a, b ltl: always !b }";
    let few = ["--memory", "1MiB", "--count"];
    let done = check(property, &trace, &[&few[..], &["always"]].concat());
    let why = "not counted, as that does not fit in the memory limit; a larger";
    assert!(done.out.contains(why), "{}", done.out);
    let done = check(property, &trace, &[&few[..], &["never"]].concat());
    let how = "The equivalent runs were not counted; --count always does that.";
    assert!(done.out.contains(how), "{}", done.out);
}

#[test]
fn all_runs_are_said_to_be_all() {
    let done = check("property p { event a, b ltl: always !b }", &in_turn(1), &[]);
    let all = "; each of 2 equivalent runs violates it, itself included\n";
    assert!(done.out.contains(all), "{}", done.out);
}

#[test]
fn a_recording_of_a_test_says_how_to_make_happen_what_it_predicts() {
    let file = "tests/data/told_too_early.jsonl";
    let property = [
        "check",
        "--property",
        "always (ready > 0 -> result > 0)",
        file,
    ];
    let text = portent(&property).out;
    let command = text.lines().last().unwrap();
    assert!(
        command.starts_with("To make it happen: PORTENT_CONFIRM=/") && command.contains(file),
        "{text}"
    );
    assert!(
        command.ends_with(" cargo test explored::what_was_predicted_is_made_to_happen"),
        "{text}"
    );
    let json = portent(&[&property[..], &["--format", "json"]].concat()).json();
    assert!(
        command.ends_with(json["confirm"].as_str().unwrap()),
        "{json}"
    );
    // Where nothing is predicted there is nothing to make happen.
    let safe = ["check", "--property", "always (result >= 0)", file];
    assert!(!portent(&safe).out.contains("PORTENT_CONFIRM"));
}

/// What lock order alone keeps is said of bindings, too.
#[test]
fn bindings_that_only_locks_keep_in_order() {
    let mut trace = String::new();
    for user in 0..3 {
        for (thread, name) in [("A", "a"), ("B", "b")] {
            trace += &format!(
                "{{\"t\":\"{thread}\",\"op\":\"lock\",\"lock\":\"m\"}}\n\
                 {{\"t\":\"{thread}\",\"op\":\"event\",\"name\":\"{name}\",\"args\":[{user}]}}\n\
                 {{\"t\":\"{thread}\",\"op\":\"unlock\",\"lock\":\"m\"}}\n"
            );
        }
    }
    let spec = "property p(u) { event a(u), b(u) ltl: always (b -> once a) }";
    let done = portent_with(&["check", "--property", spec, "-"], trace.as_bytes());
    assert_eq!(done.code, Some(0), "{}", done.err);
    let words = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Locks: in 3 bindings some steps come after others only because of the order in which threads took locks; \
                under --causality strong 3 of these are violated, such as p [u = 0].";
    assert!(words.contains(said), "{}", done.out);
}
