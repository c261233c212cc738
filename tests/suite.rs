//! The catalogue: every case of `tests/data`, answered by every engine, with every reduction on and
//! off, and online; by the explorer in [`performed`].
//!
//! A case is a property, a trace and what is true of it. The answers were worked out by hand, or by
//! counting; whatever searches must give them. To add a case, write it down in one of the files.

mod annotated;
mod checkout;
mod explored;
mod facade;
mod hidden_by_locks;
mod hunts;
mod performed;
mod programs;
mod tracing;

use std::{collections::BTreeMap, fs, path::Path};

use portent::{
    Checker, Monitor, Options, Property, Report, Symbols, Watch,
    lattice::{Counting, Engine, Model, Reductions, report::PropertyReport},
    trace::{Options as TraceOptions, TraceReader},
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// A property file, or a bare formula.
    spec: String,
    /// Lines of the native format.
    trace: String,
    /// Whether the trace has ended for good.
    #[serde(default)]
    complete: bool,
    #[serde(default)]
    vacuous: Vec<String>,
    /// One entry for each property and binding, in the order of the report.
    #[serde(default)]
    expect: Vec<Expect>,
    /// Of a trace that no run can have: the error that it ends in, from its line on.
    refused: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    #[serde(default)]
    binding: BTreeMap<String, toml::Value>,
    relevant: u64,
    /// The verdict on the observed run, and after how many steps it was final.
    observed: String,
    step: Option<u64>,
    /// After how many steps some equivalent run is violated, and none sooner; absent if none is.
    violated_at: Option<u64>,
    cuts: Option<u64>,
    runs: Option<BTreeMap<String, u64>>,
    /// Whether some run is violated under the model `strong`, and the maximal one, where happens-before has none.
    strong: Option<bool>,
    maximal: Option<bool>,
}

/// How a case is answered.
struct Way {
    name: String,
    options: Options,
    online: bool,
}

/// All ways of looking that must not change an answer under happens-before.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    let mut add = |name: &str, options: Options, online| {
        ways.push(Way {
            name: name.to_owned(),
            options,
            online,
        });
    };
    let all = Options::default();
    add("by default", all.clone(), false);
    for engine in [
        Engine::Linear,
        Engine::Conjunctive,
        Engine::Flow,
        Engine::Intervals,
        Engine::Enumerate,
    ] {
        let options = Options::default().engine(engine);
        add(engine.as_str(), options, false);
    }
    for bits in 0..16u8 {
        let reductions = Reductions {
            commutation: bits & 1 != 0,
            subsumption: bits & 2 != 0,
            absorption: bits & 4 != 0,
            dead_ends: bits & 8 != 0,
        };
        let options = Options::default()
            .engine(Engine::Enumerate)
            .counting(Counting::Never)
            .reductions(reductions);
        add(&format!("with {reductions:?}"), options, false);
    }
    let parallel = Options::default().parallel(true);
    add("on all cores", parallel, false);
    let wide = Options::default().window(1_000).lookahead(1_000);
    add("with a window that is wide enough", wide.clone(), false);
    add("online", all, true);
    add("online, with a lookahead that is long enough", wide, true);
    ways
}

fn monitors(spec: &str) -> Vec<Monitor> {
    let properties = if spec.trim_start().starts_with("property") {
        Property::parse_file("spec", spec).expect("properties")
    } else {
        vec![Property::parse(spec).expect("a formula")]
    };
    let monitors = properties.iter().map(|property| property.monitor());
    monitors.collect::<Result<_, _>>().expect("small")
}

/// What one way of looking says of a case.
fn answer(case: &Case, options: &Options, online: bool) -> Report {
    let options = options.clone().complete(case.complete);
    let text = case.trace.trim_start().as_bytes();
    let mut reader = TraceReader::new("trace", text, &TraceOptions::default()).expect("a trace");
    let initial = |name: &str| reader.header().initial(name);
    let monitors = monitors(&case.spec);
    if online {
        let mut watch = Watch::new(monitors, initial, options).expect("initial values");
        while let Some(event) = reader.next_event(watch.symbols_mut()).expect("an event") {
            watch.take(&event).expect("fits");
        }
        return watch.finish("trace").expect("a report");
    }
    let mut checker = Checker::new(monitors, initial, options).expect("initial values");
    while let Some(event) = reader.next_event(checker.symbols_mut()).expect("an event") {
        checker.take(&event).expect("fits");
    }
    checker.finish("trace").expect("a report")
}

impl Expect {
    fn compare(&self, found: &PropertyReport, context: &str) {
        let binding: BTreeMap<String, String> = found
            .binding
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect();
        let expected: BTreeMap<String, String> = self
            .binding
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect();
        assert_eq!(binding, expected, "binding {context}");
        assert_eq!(found.relevant, self.relevant, "relevant events {context}");
        let observed = (found.observed.verdict.as_str(), found.observed.step);
        assert_eq!(observed, (self.observed.as_str(), self.step), "{context}");
        let predicted = &found.predicted;
        assert_eq!(
            predicted.violated,
            self.violated_at.is_some(),
            "violated {context}"
        );
        if predicted.shortest {
            assert_eq!(predicted.violated_at, self.violated_at, "{context}");
        }
        assert!(found.lattice.exhaustive, "exhaustive {context}");
        if let (Some(cuts), Some(expected)) = (found.lattice.cuts, self.cuts) {
            assert_eq!(cuts, expected, "cuts {context}");
        }
        if let (Some(runs), Some(expected)) = (&found.runs, &self.runs) {
            let counted = serde_json::to_value(runs).expect("JSON");
            for (verdict, count) in counted.as_object().expect("an object") {
                let expected = expected.get(verdict).copied().unwrap_or(0).to_string();
                assert_eq!(*count, expected, "runs {verdict} {context}");
            }
        }
    }
}

/// Reads a trace that no run can have, until it is refused.
fn refuse(case: &Case, message: &str) {
    let text = case.trace.trim_start().as_bytes();
    let mut reader = TraceReader::new("trace", text, &TraceOptions::default()).expect("a trace");
    let mut symbols = Symbols::default();
    let error = loop {
        match reader.next_event(&mut symbols) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("`{}` is read to its end", case.name),
            Err(error) => break error.to_string(),
        }
    };
    let found = error.strip_prefix("trace:").unwrap_or(&error);
    assert!(found.starts_with(message), "`{}`: {error}", case.name);
}

fn examine(case: &Case) {
    if let Some(message) = &case.refused {
        return refuse(case, message);
    }
    assert!(
        !case.expect.is_empty() || !case.vacuous.is_empty(),
        "{}",
        case.name
    );
    for way in ways() {
        let report = answer(case, &way.options, way.online);
        let context = format!("of `{}`, {}", case.name, way.name);
        assert_eq!(report.vacuous, case.vacuous, "vacuous {context}");
        assert_eq!(report.properties.len(), case.expect.len(), "{context}");
        for (found, expected) in report.properties.iter().zip(&case.expect) {
            expected.compare(found, &context);
        }
    }
    // Somebody counts: what is written down is compared with something.
    let counted = answer(case, &Options::default(), false);
    for (found, expected) in counted.properties.iter().zip(&case.expect) {
        assert!(expected.runs.is_none() || found.runs.is_some());
        assert!(expected.cuts.is_none() || found.lattice.cuts.is_some());
    }
    let answers = [Model::Strong, Model::Maximal].map(|model| {
        let options = Options::default().causality(model);
        answer(case, &options, false).properties
    });
    for (place, expected) in case.expect.iter().enumerate() {
        let [strong, maximal] = answers
            .each_ref()
            .map(|found| found[place].predicted.violated);
        let happens_before = expected.violated_at.is_some();
        let name = &case.name;
        assert!(
            happens_before <= strong && strong <= maximal,
            "models of `{name}`"
        );
        for (found, expected, model) in [
            (strong, expected.strong, "strong"),
            (maximal, expected.maximal, "maximal"),
        ] {
            assert!(
                expected.is_none_or(|it| it == found),
                "of `{name}`, {model}"
            );
        }
        assert!(answers[0][place].runs.is_none(), "runs of `{name}`, strong");
    }
}

/// Every case of a folder.
fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(folder);
    let mut cases = Vec::new();
    for entry in fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("text");
        let file: File =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        cases.extend(file.case);
    }
    cases
}

/// Examines every case of a folder; how many there are.
fn run(folder: &str) -> usize {
    let cases = cases(folder);
    cases.iter().for_each(examine);
    cases.len()
}

#[test]
fn lattices() {
    assert!(run("lattice") >= 8);
}

#[test]
fn causality() {
    assert!(run("causality") >= 20);
}

#[test]
fn language() {
    assert!(run("language") >= 7);
}
