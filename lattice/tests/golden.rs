//! Cases whose answers are known.

use portent_lattice::{Checker, Options, Report, report::PropertyReport};
use portent_monitor_dsl::{Property, Verdict};
use portent_trace::{Options as TraceOptions, TraceReader};

const RESERVOIR: &str = "property reservoir {
    var w: int = 20   var v: int = 40
    let p = w > 26    let q = w > 30    let r = v > 55
    ltl: always (q -> ((r && p) since start(p)))
}";

fn report(spec: &str, trace: &str, options: Options) -> Report {
    let properties = if spec.trim_start().starts_with("property") {
        Property::parse_file("spec", spec).unwrap()
    } else {
        vec![Property::parse(spec).unwrap()]
    };
    let monitors = properties.iter().map(|p| p.monitor().unwrap());
    let mut reader = TraceReader::new("trace", trace.as_bytes(), &TraceOptions::default()).unwrap();
    let initial = |name: &str| reader.header().initial(name);
    let mut checker = Checker::new(monitors, initial, options).unwrap();
    while let Some(event) = reader.next_event(checker.symbols_mut()).unwrap() {
        checker.take(&event).unwrap();
    }
    checker.finish("trace").unwrap()
}

fn only(spec: &str, trace: &str) -> PropertyReport {
    let mut report = report(spec, trace, Options::default());
    assert_eq!(report.properties.len(), 1);
    report.properties.remove(0)
}

fn write(thread: &str, var: &str, value: i64) -> String {
    format!("{{\"t\":\"{thread}\",\"op\":\"write\",\"var\":\"{var}\",\"val\":{value}}}\n")
}

fn event(thread: &str, name: &str, args: &str) -> String {
    format!("{{\"t\":\"{thread}\",\"op\":\"event\",\"name\":\"{name}\",\"args\":[{args}]}}\n")
}

fn runs(report: &PropertyReport) -> (String, String, String) {
    let runs = report.runs.clone().unwrap();
    (runs.total, runs.violated, runs.ok)
}

fn strings(a: &str, b: &str, c: &str) -> (String, String, String) {
    (a.to_owned(), b.to_owned(), c.to_owned())
}

#[test]
fn reservoir() {
    let writes = [
        ("T2", "w", 24),
        ("T1", "v", 50),
        ("T2", "w", 27),
        ("T1", "v", 60),
        ("T2", "w", 31),
        ("T1", "v", 70),
    ];
    let trace: String = writes.iter().map(|(t, x, n)| write(t, x, *n)).collect();
    let report = only(RESERVOIR, &trace);
    assert_eq!((report.states, report.relevant), (4, 6));
    assert_eq!(report.observed.verdict, Verdict::Ok);
    assert_eq!(report.observed.step, None);
    assert_eq!(runs(&report), strings("20", "6", "14"));
    assert_eq!(report.lattice.cuts, Some(16));
    assert_eq!(report.lattice.widest, Some(4));
    assert_eq!(report.lattice.levels, 7);
    // Already w = 24, 27, 31 with v as it was in the beginning.
    assert_eq!(report.predicted.violated_at, Some(3));
    assert_eq!(report.predicted.swaps, [[1, 2], [1, 4], [3, 4]]);
    let witness = report.predicted.witness.unwrap();
    assert_eq!(witness.len(), 6);
    assert_eq!(
        (
            witness[2].event,
            &*witness[2].t,
            witness[2].line.map(u64::from)
        ),
        (4, "T2", Some(5))
    );
    assert_eq!(witness[2].verdict, Verdict::Violated);
}

#[test]
fn reservoir_with_reads() {
    let mut trace = String::new();
    for (w, v) in [(24, 50), (27, 60), (31, 70)] {
        trace += &write("T2", "w", w);
        trace += "{\"t\":\"T1\",\"op\":\"read\",\"var\":\"w\"}\n";
        trace += &write("T1", "v", v);
    }
    let report = only(RESERVOIR, &trace);
    let counts = runs(&report);
    assert_eq!((counts.0.as_str(), counts.1.as_str()), ("4", "3"));
    assert_eq!(report.lattice.cuts, Some(9));
}

#[test]
fn x_and_y() {
    let trace = write("T1", "x", 5) + &write("T2", "y", 2);
    let header = "{\"portent\":1,\"init\":{\"x\":0,\"y\":0}}\n";
    let report = only("always (x >= y)", &(header.to_owned() + &trace));
    assert_eq!(runs(&report), strings("2", "1", "1"));
    assert_eq!(report.observed.verdict, Verdict::Ok);
    assert_eq!(report.predicted.violated_at, Some(1));
}

#[test]
fn grids() {
    for (threads, each) in [(1u64, 5u64), (2, 7), (3, 5), (4, 4)] {
        let mut trace = String::new();
        for _ in 0..each {
            for thread in 0..threads {
                trace += &event(&format!("T{thread}"), "a", "");
            }
        }
        let report = only("always (a -> once a)", &trace);
        assert_eq!(report.lattice.cuts, Some((each + 1).pow(threads as u32)));
        let factorial = |n: u64| (1..=u128::from(n)).product::<u128>();
        let total = factorial(threads * each) / factorial(each).pow(threads as u32);
        assert_eq!(report.runs.unwrap().total, total.to_string());
    }
}

#[test]
fn counts_beyond_128_bits_are_exact() {
    // (60)! / (30!)² of two threads is small; of three threads with 40 each it is not.
    let mut trace = String::new();
    for _ in 0..40 {
        for thread in ["T1", "T2", "T3"] {
            trace += &event(thread, "a", "");
        }
    }
    let report = only("always (a -> once a)", &trace);
    let factorial = |n: u32| {
        (1..=n)
            .map(num_bigint::BigUint::from)
            .product::<num_bigint::BigUint>()
    };
    let total = factorial(120) / factorial(40).pow(3);
    assert_eq!(report.runs.unwrap().total, total.to_string());
    assert_eq!(report.lattice.cuts, Some(41 * 41 * 41));
}

#[test]
fn files_are_sliced_by_their_parameter() {
    let spec = "property file(f) { event open(f), read(f), close(f)  ere: (open read* close)* }";
    let trace = [
        event("T1", "open", "\"a\""),
        event("T2", "open", "\"b\""),
        event("T1", "read", "\"a\""),
        event("T2", "close", "\"a\""),
        event("T2", "close", "\"b\""),
        event("T1", "open", "\"a\",\"rw\""),
    ]
    .concat();
    let report = report(spec, &trace, Options::default());
    let [a, b] = &report.properties[..] else {
        panic!("two files");
    };
    assert_eq!(serde_json::to_value(a).unwrap()["binding"]["f"], "a");
    // T2's close is unordered with what T1 does; `open` with two arguments is no step.
    assert_eq!(a.relevant, 3);
    assert_eq!(runs(a).0, "3");
    assert!(a.predicted.violated && a.observed.verdict == Verdict::Ok);
    assert_eq!((b.relevant, b.predicted.violated), (2, false));
}

#[test]
fn partial_bindings_go_to_every_compatible_instance() {
    let spec = "property p(u, f) {
        event login(u), open(u, f), stop
        ltl: always (open -> once login)
    }";
    let trace = [
        event("T1", "login", "1"),
        event("T2", "open", "1,\"a\""),
        event("T2", "open", "1,\"b\""),
        event("T2", "open", "2,\"b\""),
        event("T3", "stop", ""),
    ]
    .concat();
    let report = report(spec, &trace, Options::default());
    let relevant: Vec<u64> = report.properties.iter().map(|p| p.relevant).collect();
    // (1, a) and (1, b) see the login, and everybody sees the stop.
    assert_eq!(relevant, [3, 3, 2]);
    let binding = serde_json::to_string(&report.properties[0]).unwrap();
    assert!(
        binding.contains("\"binding\":{\"u\":1,\"f\":\"a\"}"),
        "{binding}"
    );
    assert_eq!(report.properties[2].observed.verdict, Verdict::Violated);
}

#[test]
fn log_text_gives_events_and_values() {
    let spec = "property put_acked(k) {
        event put(k) matches \"Put '(?<k>[^']*)'\"
        event ack(k) matches \"Ack '(?<k>[^']*)'\"
        var load: int = 0 matches \"load is now (?<load>[0-9]+)\"
        ltl: always (put && load < 100 -> eventually ack)
    }";
    let line = |thread: &str, text: &str| {
        format!("{{\"t\":\"{thread}\",\"op\":\"event\",\"name\":\"log\",\"text\":\"{text}\"}}\n")
    };
    let trace = [
        line("A", "load is now 200"),
        line("A", "Put 'x'"),
        line("A", "load is now 5"),
        line("B", "Put 'y'"),
        line("C", "Ack 'y'"),
        line("C", "nothing of interest"),
    ]
    .concat();
    let report = report(spec, &trace, Options::default());
    let verdicts: Vec<Verdict> = report
        .properties
        .iter()
        .map(|p| p.observed.verdict)
        .collect();
    assert_eq!(verdicts, [Verdict::Ok, Verdict::Ok]);
    let relevant: Vec<u64> = report.properties.iter().map(|p| p.relevant).collect();
    assert_eq!(relevant, [3, 4]);
    assert_eq!(report.properties[0].runs.as_ref().unwrap().pending, "0");
    assert_ne!(report.properties[1].runs.as_ref().unwrap().pending, "0");
}

#[test]
fn the_std_spelling_is_the_text_of_an_operation() {
    let spec = "property p { event writes matches \"w[(]x[)]\"  ltl: always !writes }";
    let report = only(spec, "T1|r(x)|1\nT1|w(x)|2\n");
    assert_eq!(
        (report.relevant, report.observed.verdict),
        (1, Verdict::Violated)
    );
}

#[test]
fn properties_without_steps_are_vacuous() {
    let spec = "property a { event x  ltl: always !x }
                property b(f) { event y(f)  ltl: always !y }";
    let report = report(spec, &event("T1", "z", ""), Options::default());
    assert_eq!(report.vacuous, ["a", "b"]);
    assert_eq!(report.properties.len(), 1);
    assert_eq!(report.properties[0].relevant, 0);
    assert_eq!(report.properties[0].runs.as_ref().unwrap().total, "1");
}

#[test]
fn the_report_has_the_keys_of_the_contract() {
    let trace = write("T1", "x", 5) + &write("T2", "y", 2);
    let header = "{\"portent\":1,\"init\":{\"x\":0,\"y\":0}}\n";
    let report = report(
        "always (x >= y)",
        &(header.to_owned() + &trace),
        Options::default(),
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["portent"], 1);
    assert_eq!(
        json["trace"],
        serde_json::json!({"file": "trace", "events": 2, "threads": 2})
    );
    let property = &json["properties"][0];
    assert_eq!(property["kind"], "ltl");
    assert_eq!(
        property["observed"],
        serde_json::json!({"verdict": "ok", "step": null})
    );
    let row = &property["predicted"]["witness"][0];
    let expected = serde_json::json!({
        "event": 1, "t": "T2", "line": 3, "name": null, "args": [], "set": {"y": 2},
        "values": {"x": 0, "y": 2}, "state": row["state"], "verdict": "violated"
    });
    assert_eq!(*row, expected);
    let lattice = &property["lattice"];
    for (key, value) in [("levels", 3), ("cuts", 4), ("widest", 2), ("dropped", 0)] {
        assert_eq!(lattice[key], value, "{key}");
    }
    assert_eq!(lattice["engine"], "enumerate");
    assert!(lattice["limit"].is_null());
}

#[test]
fn errors_name_the_variable_and_the_place() {
    let check = |spec: &str, trace: &str| -> String {
        let monitor = Property::parse(spec).unwrap().monitor().unwrap();
        let mut reader =
            TraceReader::new("trace", trace.as_bytes(), &TraceOptions::default()).unwrap();
        let mut checker = match Checker::new([monitor], |_| None, Options::default()) {
            Ok(checker) => checker,
            Err(error) => return error.to_string(),
        };
        while let Some(event) = reader.next_event(checker.symbols_mut()).unwrap() {
            if let Err(error) = checker.take(&event) {
                return error.to_string();
            }
        }
        "no error".to_owned()
    };
    let missing = check("always (x >= 0)", "");
    assert!(missing.contains("`x` has no initial value; give one in its declaration"));
    let spec = "property p { var x: int = 0  ltl: always (x >= 0) }";
    let wrong = check(
        spec,
        "{\"t\":1,\"op\":\"write\",\"var\":\"x\",\"val\":\"high\"}\n",
    );
    assert!(
        wrong.contains("line 1 gives it the string \"high\""),
        "{wrong}"
    );
    let untold = check(spec, "T1|w(x)|2\n");
    assert!(
        untold.contains("line 1 writes variable `x` without"),
        "{untold}"
    );
}
