//! What `portent check` says when a property does not fit the trace: no false all-clear.

use crate::common::{Done, RESERVOIR, portent, portent_with};
use serde_json::{Value, json};

/// A trace of short lines: `T1 open a 1` is an event with two arguments, `T1 x = 3` a write.
fn trace(lines: &[&str]) -> String {
    let line = |line: &&str| {
        let words: Vec<&str> = line.split(' ').collect();
        let rest = match words[1..] {
            [variable, "=", value] => {
                format!("\"op\":\"write\",\"var\":\"{variable}\",\"val\":{value}")
            }
            [name, ref args @ ..] => {
                format!("\"op\":\"event\",\"name\":\"{name}\",\"args\":{args:?}")
            }
            [] => panic!("nothing happens: {line}"),
        };
        format!("{{\"t\":\"{}\",{rest}}}\n", words[0])
    };
    lines.iter().map(line).collect()
}

fn check(property: &str, trace: &str, more: &[&str]) -> Done {
    let arguments = [&["check", "--property", property, "-"], more].concat();
    portent_with(&arguments, trace.as_bytes())
}

/// The warnings as pairs of kind and text, after making sure that each names its property.
fn warnings(property: &str, name: &str, lines: &[&str]) -> Vec<(String, String)> {
    let json = check(property, &trace(lines), &["--format", "json"]).json();
    let warnings = json["warnings"].as_array().expect("a list").iter();
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    warnings
        .map(|warning| {
            assert_eq!(warning["property"], name);
            (word(&warning["kind"]), word(&warning["text"]))
        })
        .collect()
}

/// The only warning.
fn warning(property: &str, name: &str, lines: &[&str]) -> (String, String) {
    let mut all = warnings(property, name, lines);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn pair(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

#[test]
fn events_of_a_log_that_has_only_texts() {
    let log = r#"{"t": "T1", "text": "opens"}"#;
    let warned = |name: &str| {
        let json = check(&format!("always !{name}"), log, &["--format", "json"]).json();
        json["warnings"].to_string()
    };
    assert!(warned("opens").contains(r#"declare it in a property, `event opens matches \"...\"`"#));
}

#[test]
fn operations_that_never_occur() {
    let never = |declared: &str, lines: &[&str]| {
        let text = format!("property p {{ event e{declared}  ltl: always !e }}");
        let all = warnings(&text, "p", lines).into_iter();
        let never = all.filter(|(kind, _)| kind == "event_never_occurs");
        never.map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(never(" on write", &["T total = 3"]), [""; 0]);
    assert_eq!(never(" on write(\"total\")", &["T total = 3"]), [""; 0]);
    assert_eq!(
        never(" on send", &["T total = 3"]),
        ["event `e` never occurs in this trace, as no line has the operation `send`"]
    );
    assert_eq!(
        never(" on write(\"totl\")", &["T total = 3"]),
        [
            "event `e` never occurs in this trace, as no `write` there is of `totl`; did you mean `total`?"
        ]
    );
    let text = "property p { event write  ltl: always !write }";
    assert_eq!(
        warnings(text, "p", &["T total = 3"]).pop(),
        Some(pair(
            "event_never_occurs",
            "event `write` never occurs in this trace; `write` is an operation there: declare the \
             event with `on write`"
        ))
    );
    // Nobody writes what is named after himself.
    let text = "property p(t) { event e(t) by t on write(t)  ltl: always !e }";
    assert_eq!(
        warnings(text, "p", &["T total = 3"]).pop(),
        Some(pair(
            "event_never_occurs",
            "event `e` never occurs in this trace as the property declares it: `e(t) by t on write(t)`"
        ))
    );
    // An instance needs two threads that differ.
    let text =
        "property p(t, u) where t != u { event a by t on write, b by u on write  never: .* a b }";
    let (kind, text) = warning(text, "p", &["T total = 3"]);
    assert_eq!(kind, "no_binding");
    assert_eq!(
        text,
        "its events never give values to `t` and `u` that belong together, so nothing was checked"
    );
}

#[test]
fn what_fits_is_not_warned_of() {
    let done = portent(&[&RESERVOIR[..], &["--format", "json", "--strict"]].concat());
    assert_eq!(done.json()["warnings"], json!([]));
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""));
}

#[test]
fn an_event_that_never_occurs() {
    let property = "property p { event login, logout ltl: always (logout -> once login) }";
    assert_eq!(
        warning(property, "p", &["T1 logon", "T2 logout"]),
        pair(
            "event_never_occurs",
            "event `login` never occurs in this trace; did you mean `logon`?"
        )
    );
    let property = "property p { event lgn, logout ltl: always (logout -> once lgn) }";
    assert_eq!(
        warning(property, "p", &["T1 login", "T2 logout"]),
        pair(
            "event_never_occurs",
            "event `lgn` never occurs in this trace; did you mean `login`?"
        )
    );
    // What nobody mentions but the declaration does not occur either.
    let property = "property p { event login, logout, admin ltl: always (logout -> once login) }";
    let found = warnings(property, "p", &["T1 login", "T2 logout"]);
    assert_eq!(
        found,
        [pair(
            "event_never_occurs",
            "event `admin` never occurs in this trace"
        )]
    );
}

#[test]
fn an_event_that_is_a_variable() {
    assert_eq!(
        warning(
            "always (a -> once flag)",
            "always (a -> once flag)",
            &["T1 flag = true", "T2 a"]
        ),
        pair(
            "event_never_occurs",
            "event `flag` never occurs in this trace; `flag` is a variable there, to be compared \
             with a value: `flag == ...`"
        )
    );
}

#[test]
fn events_with_other_arguments() {
    let property = "property file(f) { event open(f), close(f) ere: (open close)* }";
    assert_eq!(
        warning(
            property,
            "file",
            &["T1 open a r", "T1 close a", "T1 open b w"]
        ),
        pair(
            "other_arguments",
            "2 events `open` with 2 arguments were ignored, as the property declares it with 1, so \
             that it never occurs"
        )
    );
    assert_eq!(
        warning(property, "file", &["T1 open a", "T1 close a", "T1 close"]),
        pair(
            "other_arguments",
            "1 event `close` with 0 arguments was ignored, as the property declares it with 1"
        )
    );
    // Without a list of arguments, any will do.
    let property = "property p { event open, close ere: (open close)* }";
    let found = warnings(property, "p", &["T1 open a", "T1 close a b"]);
    assert_eq!(found, []);
}

#[test]
fn equal_arguments_that_never_occur() {
    let property = "property p(f) { event copy(f, f), done(f) ltl: always !copy }";
    assert_eq!(
        warning(property, "p", &["T1 copy a b", "T1 done a"]),
        pair(
            "event_never_occurs",
            "event `copy` never occurs in this trace as the property declares it"
        )
    );
}

#[test]
fn a_variable_that_is_never_written() {
    let property = "property p { var level: int = 3 event a ltl: always (a -> level < 5) }";
    assert_eq!(
        warning(property, "p", &["T1 levl = 7", "T2 a"]),
        pair(
            "variable_never_written",
            "variable `level` is never written in this trace, so it is 3 throughout; did you mean \
             `levl`?"
        )
    );
    assert_eq!(
        warning(property, "p", &["T1 level", "T2 a"]),
        pair(
            "variable_never_written",
            "variable `level` is never written in this trace, so it is 3 throughout; `level` is an \
             event there"
        )
    );
}

#[test]
fn a_pattern_that_matches_nothing() {
    let property = "property p { event put matches \"Put [0-9]+\" event ack matches \"ack\"
        var load: int = 0 matches \"load (?<load>[0-9]+)\"
        ltl: always (put && load < 9 -> eventually ack) }";
    let line =
        |text: &str| format!("{{\"t\":1,\"op\":\"event\",\"name\":\"put\",\"text\":\"{text}\"}}\n");
    let done = check(
        property,
        &(line("put 1") + &line("ack 1")),
        &["--format", "json"],
    );
    let report = done.json();
    let found: Vec<(&str, &str)> = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| {
            (
                warning["kind"].as_str().unwrap(),
                warning["text"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "pattern_never_matches",
                "no text in this trace matches `Put [0-9]+`, the pattern of event `put`; events are \
                 named `put`, but only texts are matched"
            ),
            (
                "pattern_never_matches",
                "no text in this trace matches `load (?<load>[0-9]+)`, the pattern of variable \
                 `load`, so it is 0 throughout"
            )
        ]
    );
}

#[test]
fn parameters_without_values() {
    let property =
        "property p(u, f) { event login(u), open(u, f) ltl: always (open -> once login) }";
    let found = warnings(property, "p", &["T1 login bob"]);
    assert_eq!(
        found[0],
        pair(
            "no_binding",
            "none of its events in this trace gives a value to `f`, so nothing was checked"
        )
    );
    let property = "property p(u, v, f) { event a(u, v), b(v, f), c(u, f) ltl: always !a }";
    let found = warnings(property, "p", &["T1 a 1 2", "T1 b 3 4", "T1 c 5 6"]);
    assert_eq!(
        found[0],
        pair(
            "no_binding",
            "its events never give values to `u`, `v` and `f` that belong together, so nothing was \
             checked"
        )
    );
}

#[test]
fn empty_traces() {
    for trace in ["", "\n", "{\"portent\": 1}\n"] {
        let done = check("always !a", trace, &["--format", "json"]);
        assert_eq!(done.code, Some(0), "{trace:?}: {}", done.err);
        let report = done.json();
        assert_eq!(report["vacuous"], json!(["always !a"]));
        assert_eq!(
            report["warnings"],
            json!([
                {"property": null, "kind": "empty_trace", "text": "the trace has no events"},
                {"property": "always !a", "kind": "no_step",
                    "text": "it saw no step in this trace, so nothing was checked"}
            ])
        );
        let done = check("always !a", trace, &[]);
        assert!(
            done.out.contains("\nwarning: the trace has no events\n"),
            "{}",
            done.out
        );
        assert_eq!(check("always !a", trace, &["--strict"]).code, Some(2));
    }
}

#[test]
fn strict_takes_warnings_for_errors() {
    let run = trace(&["T1 a", "T2 b"]);
    let strict =
        |property: &str, more: &[&str]| check(property, &run, &[&["--strict"], more].concat());
    assert_eq!(strict("always (b -> once (a || b))", &[]).code, Some(0));
    assert_eq!(strict("always (b -> once a)", &[]).code, Some(1));
    // The report is there all the same.
    let done = strict("always (b -> once c)", &[]);
    assert_eq!(done.code, Some(2));
    assert!(done.out.contains("OBSERVED"), "{}", done.out);
    assert!(
        done.err
            .contains("error: 1 warning, and --strict treats warnings as errors"),
        "{}",
        done.err
    );
    // A name that is declared and not used is a warning, too.
    let unused = "property p { event a, b var x: int = 0 ltl: always (b -> once (a || b)) }";
    let done = strict(unused, &["--format", "json"]);
    assert_eq!((done.code, &done.json()["warnings"]), (Some(2), &json!([])));
    assert_eq!(check(unused, &run, &[]).code, Some(0));
}

#[test]
fn lines_that_were_not_read_are_warned_of() {
    let run = trace(&["T1 a"]) + "%%%\n";
    let done = check("always (a || !a)", &run, &["--lenient", "--format", "json"]);
    let report = done.json();
    let warning = &report["warnings"][0];
    assert_eq!(
        (&warning["property"], &warning["kind"]),
        (&Value::Null, &json!("skipped_lines"))
    );
    let text = warning["text"].as_str().unwrap();
    assert!(
        text.starts_with("1 bad line skipped, which may have kept others in order, so"),
        "{text}"
    );
    assert_eq!(
        check("always (a || !a)", &run, &["--lenient", "--strict"]).code,
        Some(2)
    );
}

#[test]
fn what_was_not_checked_is_not_violated() {
    let run = trace(&["T1 a"]);
    for (property, claim, more) in [
        (
            "property p { var x: int = 0 ltl: always (x > 0) }",
            "p  OBSERVED: the initial values violate it; no other run is equivalent to it\n",
            &[][..],
        ),
        (
            "property p { event b ere: b & empty }",
            "p  OBSERVED: every run violates it; no other run is equivalent to it\n",
            &[],
        ),
        (
            "property p { event b ltl: eventually b }",
            "p  OBSERVED: the run violates it at its end, where it is still pending",
            &["--complete"],
        ),
    ] {
        let done = check(property, &run, more);
        assert_eq!(done.code, Some(1), "{}", done.err);
        assert!(done.out.contains(claim), "{}", done.out);
        assert!(
            done.out
                .contains("it saw no step in this trace; its verdict"),
            "{}",
            done.out
        );
        assert!(!done.out.contains("nothing was checked"), "{}", done.out);
        let report = check(property, &run, &[&["--format", "json"], more].concat()).json();
        assert_eq!(report["vacuous"], json!(["p"]));
        let said = report["warnings"][0]["text"].as_str().unwrap();
        assert!(said.contains("; its verdict is about"), "{said}");
        let page = check(property, &run, &[&["--format", "html"], more].concat()).out;
        assert!(page.contains("Property `p`: it saw no step in this trace; its verdict"));
        let (_, data) = page.split_once("id=\"data\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        assert!(data.contains("\"status\":\"observed\""), "{data}");
        assert!(!data.contains("nothing was checked"), "{data}");
    }
}

#[test]
fn what_was_not_checked_is_said_in_every_format() {
    let run = trace(&["T1 a"]);
    let property = "property p { event b ltl: always !b }";
    for format in ["text", "json", "html"] {
        for more in [&[][..], &["--complete"], &["--causality", "maximal"]] {
            let done = check(property, &run, &[&["--format", format], more].concat());
            let said = "it saw no step in this trace, so nothing was checked";
            assert!(done.out.contains(said), "{}", done.out);
            assert!(!done.out.contains("OBSERVED:"), "{}", done.out);
            assert_eq!(done.code, Some(0));
        }
    }
}

#[test]
fn the_text_says_what_does_not_fit() {
    let property = "property file(f) { event open(f), read(f), close(f) ere: (open read* close)* }";
    let run = trace(&["T1 open a", "T2 raed a", "T1 close a r"]);
    let done = check(property, &run, &[]);
    insta::assert_snapshot!(done.out);
}

#[test]
fn what_the_reader_noticed_is_warned_of() {
    let kinds = |trace: &str, more: &[&str]| -> Vec<String> {
        let more = [more, &["--format", "json"]].concat();
        let json = check("always (a || !a)", trace, &more).json();
        let warnings = json["warnings"].as_array().expect("a list").iter();
        let of_trace = warnings.filter(|warning| warning["property"].is_null());
        of_trace
            .map(|warning| warning["kind"].as_str().expect("a word").to_owned())
            .collect()
    };
    let misspelt = "{\"t\":1,\"op\":\"event\",\"name\":\"a\",\"arg\":[1]}\n";
    assert_eq!(kinds(misspelt, &[]), ["misspelt_key"]);
    assert_eq!(
        kinds(misspelt, &["--delimiter", "x"]),
        ["misspelt_key", "unused_delimiter"]
    );
    assert_eq!(
        kinds("hello\n", &["--parser", "(?<event>.*)"]),
        ["no_clocks"]
    );
    assert_eq!(
        kinds("{\"t\":1,\"vc\":{\"1\":1,\"2\":1}}\n", &[]),
        ["absent_threads"]
    );
    // What a thread counts of its own and nobody has read.
    let late = "{\"t\":\"B\",\"vc\":{\"B\":2},\"name\":\"a\"}\n";
    let counted = "{\"t\":\"C\",\"vc\":{\"C\":1,\"B\":1},\"name\":\"a\"}\n";
    assert_eq!(kinds(&[late, counted].concat(), &[]), ["skipped_lines"]);
    assert_eq!(kinds("B {\"B\":2}\na\n", &[]), ["skipped_lines"]);
    assert!(kinds("B {\"B\":1}\na\nB {\"B\":2}\na\n", &[]).is_empty());
    assert!(kinds("{\"t\":1,\"text\":\"hello\"}\n", &[]).is_empty());
}

#[test]
fn what_is_wrong_with_a_trace_comes_before_what_a_property_misses_in_it() {
    let misses = check("always (x > 0)", &trace(&["T1 y = 1"]), &[]);
    assert!(
        misses.err.contains("has no initial value"),
        "{}",
        misses.err
    );
    let misses = check("always (levle > 0)", &trace(&["T1 level = 1"]), &[]);
    let meant = "the trace has no such variable: did you mean `level`?";
    assert!(misses.err.contains(meant), "{}", misses.err);
    let misspelt = "{\"t\":\"T\",\"op\":\"wirte\",\"var\":\"x\",\"val\":1}\n";
    let done = check("always (x > 0)", misspelt, &[]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("perhaps `write`"), "{}", done.err);
}

/// The lock of a thread that waited without a `waiting`: what it did before may be predicted too late, and only then is there a warning.
#[test]
fn a_wait_whose_begin_was_not_logged() {
    let trace = "{\"t\":\"T1\",\"op\":\"lock\",\"lock\":\"m\"}\n\
                 {\"t\":\"T1\",\"op\":\"event\",\"name\":\"a\"}\n\
                 {\"t\":\"T2\",\"op\":\"lock\",\"lock\":\"m\"}\n\
                 {\"t\":\"T2\",\"op\":\"event\",\"name\":\"b\"}\n\
                 {\"t\":\"T2\",\"op\":\"notify\",\"cond\":\"c\"}\n\
                 {\"t\":\"T2\",\"op\":\"unlock\",\"lock\":\"m\"}\n\
                 {\"t\":\"T1\",\"op\":\"wait\",\"cond\":\"c\"}\n\
                 {\"t\":\"T1\",\"op\":\"unlock\",\"lock\":\"m\"}\n";
    let warning = "warning: thread T1 woke up on line 7 from a wait that gave lock m back, but no `waiting` says when it began";
    let predicted = check("always (b -> once a)", trace, &[]);
    assert_eq!(predicted.code, Some(1));
    assert!(predicted.out.contains(warning), "{}", predicted.out);
    let holds = check("always !(a && b)", trace, &[]);
    assert_eq!(holds.code, Some(0));
    assert!(!holds.out.contains("warning"), "{}", holds.out);
    // Logged, there is nothing to warn of, and the lock keeps the order.
    let logged = trace.replacen(
        "{\"t\":\"T2\"",
        "{\"t\":\"T1\",\"op\":\"waiting\",\"cond\":\"c\",\"lock\":\"m\"}\n{\"t\":\"T2\"",
        1,
    );
    let logged = logged.replace(
        "\"wait\",\"cond\":\"c\"",
        "\"wait\",\"cond\":\"c\",\"lock\":\"m\"",
    );
    let ordered = check("always (b -> once a)", &logged, &[]);
    assert_eq!(ordered.code, Some(0), "{}", ordered.out);
    assert!(!ordered.out.contains("warning"), "{}", ordered.out);
}
