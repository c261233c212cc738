//! Parametric properties against the definition of their instances.
//!
//! Every combination of values is tried: it is an instance if the bindings of the events that it
//! agrees with cover all parameters, and its run is the trace in which those events have lost their
//! arguments and all others their names; what an event writes, it writes in every run. That run is checked by the property without parameters,
//! which the other tests compare with all linear extensions.

use std::collections::{BTreeMap, BTreeSet};

use portent_lattice::{
    Checker, Counting, Options, Reductions, Watch,
    report::{PropertyReport, WarningKind},
};
use portent_monitor_core::{Action, Event, Op, Symbols, Value};
use portent_monitor_dsl::{Property, Verdict};
use portent_testing::Rng;

use crate::handed::Handed;

/// The events of the properties, with the parameters that they bind.
const EVENTS: [(&str, &[usize]); 6] = [
    ("login", &[0]),
    ("twin", &[0, 0]),
    ("open", &[0, 1]),
    ("close", &[1]),
    ("lend", &[1, 2]),
    ("tick", &[]),
];

const PARAMETERS: [&str; 3] = ["u", "f", "g"];

const BODIES: [&str; 10] = [
    "ltl: always (twin -> once login)",
    "ltl: always (open -> once login)",
    "ltl: always (close -> open)",
    "ltl: always (lend -> [login, close))",
    "ere: (login | open close | lend | tick)*",
    "never: {}* open {!close}* tick",
    "ltl: always (tick -> eventually close)",
    "ltl: always (open -> x < 2)",
    "ltl: always (x == 2 -> once close)",
    "never: {}* login {x == 1}+ tick",
];

/// The property with its first `arity` parameters, or with none.
fn property(body: &str, arity: usize, parametric: bool) -> Property {
    let parameters = if parametric {
        format!("({})", PARAMETERS[..arity].join(", "))
    } else {
        String::new()
    };
    let mut text = format!("property p{parameters} {{\n  var x: int = 0\n");
    for (name, binds) in EVENTS {
        let names: Vec<&str> = binds
            .iter()
            .map(|&parameter| PARAMETERS[parameter])
            .collect();
        let fits = binds.iter().all(|&parameter| parameter < arity);
        let arguments = if parametric && fits && !names.is_empty() {
            format!("({})", names.join(", "))
        } else {
            String::new()
        };
        text += &format!("  event {name}{arguments}\n");
    }
    Property::parse(format!("{text}  {body}\n}}")).expect("a property")
}

/// How the two values of a parameter are spelled, in a trace of each kind.
const SPELLINGS: [[&str; 2]; 4] = [
    ["0", "1"],
    ["false", "true"],
    ["0.0", "1.0"],
    ["-0.0", "1e300"],
];

/// One of the two values of a parameter, as text or as what the text stands for.
#[derive(Clone)]
struct Argument {
    which: usize,
    value: Value,
}

fn argument(rng: &mut Rng, kind: usize) -> Argument {
    let which = rng.below(2);
    let text = SPELLINGS[kind][which];
    let value = match (rng.one_in(2), kind) {
        (true, _) => Value::from(text),
        (_, 0) => Value::from(text.parse::<i64>().expect("a number")),
        (_, 1) => Value::from(text.parse::<bool>().expect("true or false")),
        _ => Value::from(text.parse::<f64>().expect("a number")),
    };
    Argument { which, value }
}

/// The value as a log spells it.
fn spelling(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        other => other.to_string(),
    }
}

/// An event with its name and arguments, or any other synchronisation.
struct Line {
    thread: usize,
    what: Result<(usize, Vec<Argument>), Op>,
    /// What it writes to `x`.
    writes: Option<i64>,
}

/// A trace in which values are spelled as `values` says.
fn trace(rng: &mut Rng, symbols: &mut Symbols, values: usize, most: usize) -> Vec<Line> {
    let lock = symbols.locks.intern("m").expect("few");
    let threads = 2 + rng.below(2);
    let mut lines = Vec::new();
    for _ in 0..4 + rng.below(most - 3) {
        let thread = rng.below(threads);
        if rng.below(5) == 0 {
            for op in [Op::Lock(lock), Op::Unlock(lock)] {
                lines.push(Line {
                    thread,
                    what: Err(op),
                    writes: None,
                });
            }
            continue;
        }
        let kind = rng.below(EVENTS.len());
        let arguments = EVENTS[kind].1.iter();
        let arguments = arguments.map(|_| argument(rng, values)).collect();
        lines.push(Line {
            thread,
            what: Ok((kind, arguments)),
            writes: (rng.below(3) == 0).then(|| rng.below(3) as i64),
        });
    }
    lines
}

/// The trace, with what `see` makes of the events: a name and arguments.
fn events(
    lines: &[Line],
    symbols: &mut Symbols,
    see: impl Fn(usize, &[Argument]) -> (&'static str, Vec<Argument>),
) -> Vec<Event> {
    let mut events = Vec::new();
    for line in lines {
        let thread = symbols.threads.intern(&format!("T{}", line.thread));
        let op = match &line.what {
            Err(op) => op.clone(),
            Ok((kind, arguments)) => {
                let (name, arguments) = see(*kind, arguments);
                let x = symbols.vars.intern("x").expect("few");
                let written = line.writes.map(|value| (x, Value::from(value)));
                let name = symbols.names.intern(name).expect("few");
                let args = arguments.into_iter().map(|a| a.value);
                Action::new(name).args(args).set(written).into()
            }
        };
        events.push(Event::new(thread.expect("few"), op));
    }
    events
}

fn check(
    property: &Property,
    events: &[Event],
    symbols: &Symbols,
    options: Options,
) -> Vec<PropertyReport> {
    let monitor = property.monitor().expect("small");
    let mut checker = Checker::new([monitor], |_| None, options)
        .expect("no variables")
        .handed(symbols);
    for event in events {
        checker.take(event).expect("fits");
    }
    checker.finish("random").expect("a report").properties
}

/// What must agree: all but the witness, of which there may be several, and the binding.
fn essence(report: &PropertyReport) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        report.relevant,
        report.observed,
        report.predicted.violated_at,
        report.runs,
        report.lattice.cuts,
        report.lattice.widest,
    )
}

/// The parameters, of the first `arity`, that an event of this kind binds; `None` if it is not one
/// of the property's, because it has arguments that the property knows nothing of.
fn binds(kind: usize, arity: usize) -> Option<&'static [usize]> {
    let binds = EVENTS[kind].1;
    binds
        .iter()
        .all(|&parameter| parameter < arity)
        .then_some(binds)
}

#[test]
fn instances_are_as_defined() {
    let mut rng = Rng::new(4);
    let (mut instances, mut violated, mut partial) = (0, 0, 0);
    for round in 0..3000 {
        let arity = 1 + round % 3;
        let body = rng.pick(&BODIES);
        let mut symbols = Symbols::default();
        let values = rng.below(SPELLINGS.len());
        let lines = trace(&mut rng, &mut symbols, values, 11);
        let whole = events(&lines, &mut symbols, |kind, arguments| {
            match binds(kind, arity) {
                Some(_) => (EVENTS[kind].0, arguments.to_vec()),
                None => ("other", Vec::new()),
            }
        });
        let found: BTreeMap<Vec<String>, String> = check(
            &property(body, arity, true),
            &whole,
            &symbols,
            Options::default(),
        )
        .iter()
        .map(|report| {
            let values = report.binding.iter().map(|(_, value)| spelling(value));
            (values.collect(), essence(report))
        })
        .collect();

        let mut expected = BTreeMap::new();
        for combination in 0..1usize << arity {
            let value = |parameter: usize| combination >> parameter & 1;
            let agrees = |kind: usize, arguments: &[Argument]| {
                let Some(bound) = binds(kind, arity) else {
                    return false;
                };
                bound
                    .iter()
                    .zip(arguments)
                    .all(|(&p, argument)| value(p) == argument.which)
            };
            let mut covered: BTreeSet<usize> = BTreeSet::new();
            for line in &lines {
                if let Ok((kind, arguments)) = &line.what
                    && agrees(*kind, arguments)
                {
                    covered.extend(EVENTS[*kind].1);
                }
            }
            if covered.len() < arity {
                partial += usize::from(!covered.is_empty());
                continue;
            }
            let slice = events(&lines, &mut symbols, |kind, arguments| {
                if agrees(kind, arguments) {
                    (EVENTS[kind].0, Vec::new())
                } else {
                    ("other", Vec::new())
                }
            });
            let reports = check(
                &property(body, arity, false),
                &slice,
                &symbols,
                Options::default(),
            );
            let spelled = |p| SPELLINGS[values][value(p)].to_owned();
            let values: Vec<String> = (0..arity).map(spelled).collect();
            violated += usize::from(reports[0].predicted.violated);
            expected.insert(values, essence(&reports[0]));
        }
        assert_eq!(
            found, expected,
            "round {round}: {body} with {arity} parameters"
        );
        instances += expected.len();
    }
    println!("{instances} instances, {violated} violated, {partial} bindings not full");
    assert!(instances > 2000 && violated > 300 && partial > 300);
}

/// Where there is room for a few bindings only, those that are checked have all their steps, whatever was refused.
#[test]
fn what_has_no_room_is_left_out_and_never_judged_by_some_of_its_steps() {
    let mut rng = Rng::new(6);
    let (mut kept, mut left_out) = (0, 0);
    for round in 0..3000 {
        let arity = 1 + round % 3;
        let body = rng.pick(&BODIES);
        let mut symbols = Symbols::default();
        let values = rng.below(SPELLINGS.len());
        let lines = trace(&mut rng, &mut symbols, values, 11);
        let whole = events(&lines, &mut symbols, |kind, arguments| {
            match binds(kind, arity) {
                Some(_) => (EVENTS[kind].0, arguments.to_vec()),
                None => ("other", Vec::new()),
            }
        });
        let property = property(body, arity, true);
        let judge = |memory: u64| {
            let monitor = property.monitor().expect("small");
            let options = Options::default().memory(memory);
            let mut checker = Checker::new([monitor], |_| None, options)
                .expect("no variables")
                .handed(&symbols);
            for event in &whole {
                checker.take(event).expect("fits");
            }
            let report = checker.finish("random").expect("a report");
            let is_cut = { report.warnings.iter() }
                .any(|warning| warning.kind == WarningKind::BindingsBeyondMemory);
            let found = report.properties.into_iter().map(|report| {
                let values = report.binding.iter().map(|(_, value)| spelling(value));
                (values.collect::<Vec<String>>(), report)
            });
            (found.collect::<BTreeMap<_, _>>(), is_cut)
        };
        let (all, is_cut) = judge(1 << 30);
        assert!(!is_cut);
        let (some, is_cut) = judge(4096 * (1 + rng.below(5) as u64));
        assert!(is_cut || some.len() == all.len());
        for (binding, report) in &some {
            let truth = &all[binding];
            assert_eq!(
                (report.relevant, &report.observed),
                (truth.relevant, &truth.observed),
                "round {round}: {body}, {binding:?}"
            );
            assert!(truth.predicted.violated || !report.predicted.violated);
            let violated = report.predicted.violated;
            assert!(!report.lattice.exhaustive || violated == truth.predicted.violated);
        }
        kept += if is_cut { some.len() } else { 0 };
        left_out += all.len() - some.len();
    }
    assert!(
        kept > 200 && left_out > 500,
        "{kept} kept, {left_out} left out"
    );
}

/// `a(7, "7")` bound nothing, while `a(7, 7)` and `c("7")` were of one instance.
#[test]
fn a_parameter_that_stands_twice_is_compared_by_spelling() {
    let text = "property p(u) { event a(u, u), c(u)  ltl: always (c -> once a) }";
    let property = Property::parse(text).expect("a property");
    for (first, second, same) in [
        (Value::from(7), Value::from("7"), true),
        (Value::from(7.5), Value::from("7.5"), true),
        (Value::from("true"), Value::from(true), true),
        (Value::from(7), Value::from(7.0), false),
        (Value::from(7), Value::from("07"), false),
    ] {
        let mut symbols = Symbols::default();
        let thread = symbols.threads.intern("T").expect("few");
        let mut event = |name: &str, args: &[&Value]| {
            let name = symbols.names.intern(name).expect("few");
            Event::new(
                thread,
                Action::new(name).args(args.iter().copied().cloned()),
            )
        };
        let text = Value::from(spelling(&first).as_str());
        let events = [event("a", &[&first, &second]), event("c", &[&text])];
        let reports = check(&property, &events, &symbols, Options::default());
        let [report] = reports.as_slice() else {
            panic!("one instance, not {}", reports.len());
        };
        assert_eq!(spelling(&report.binding[0].1), spelling(&first));
        assert_eq!(report.relevant, 1 + u64::from(same), "{first}, {second}");
        assert_eq!(report.predicted.violated, !same, "{first}, {second}");
    }
}

/// What must be the same whether a run has ended or is watched.
fn outcome(report: &PropertyReport) -> String {
    format!(
        "{:?} {} {:?} {:?} {} {} {}",
        report.binding,
        report.relevant,
        report.observed,
        report.predicted.violated_at,
        report.lattice.nodes,
        report.lattice.exhaustive,
        report.lattice.dropped,
    )
}

/// The same without a lookahead, where the first event that completes a violation is looked for and not the shortest run.
fn answer(report: &PropertyReport) -> String {
    format!(
        "{:?} {} {:?} {} {}",
        report.binding,
        report.relevant,
        report.observed,
        report.predicted.violated,
        report.lattice.exhaustive,
    )
}

#[test]
fn a_run_that_is_watched_has_the_same_instances() {
    let mut rng = Rng::new(5);
    let (mut instances, mut early, mut forgetful) = (0, 0, 0);
    for round in 0..5000 {
        let arity = 1 + round % 3;
        let body = rng.pick(&BODIES);
        let mut symbols = Symbols::default();
        let values = rng.below(SPELLINGS.len());
        let lines = trace(&mut rng, &mut symbols, values, 30);
        let whole = events(&lines, &mut symbols, |kind, arguments| {
            (EVENTS[kind].0, arguments.to_vec())
        });
        let property = property(body, arity, true);
        // Without a lookahead a window limits nothing.
        let streams = round % 4 == 0;
        let options = Options::default()
            .lookahead((!streams).then(|| rng.below(5) as u32))
            .window((!streams && round % 5 == 0).then(|| 1 + rng.below(3)))
            .history(rng.below(3))
            .counting(Counting::Never)
            .reductions(Reductions::NONE);
        let expected = check(&property, &whole, &symbols, options.clone());

        let monitor = property.monitor().expect("small");
        let mut watch = Watch::new([monitor], |_| None, options)
            .expect("no variables")
            .handed(&symbols);
        let mut told = BTreeMap::new();
        for event in &whole {
            for news in watch.take(event).expect("fits") {
                forgetful += usize::from(news.predicted.forgotten > 0);
                let key = format!("{:?}", news.binding);
                let before = told.insert(key, (news.observed.verdict, news.predicted.violated_at));
                assert_eq!(before, None, "told once");
            }
        }
        let found = watch.finish("random").expect("a report");
        let found = found.properties;
        let what = if streams { answer } else { outcome };
        let outcomes = |all: &[PropertyReport]| all.iter().map(what).collect::<Vec<_>>();
        assert_eq!(
            outcomes(&found),
            outcomes(&expected),
            "round {round}: {body} with {arity} parameters"
        );
        for (binding, (observed, violated_at)) in &told {
            let same = |report: &&PropertyReport| format!("{:?}", report.binding) == *binding;
            let report = found.iter().find(same).expect("an instance");
            if *observed == Verdict::Violated {
                // It was reported at once; the search may have found one that is violated sooner.
                assert!(report.predicted.violated_at <= *violated_at);
            } else {
                assert_eq!(report.predicted.violated_at, *violated_at);
            }
        }
        instances += found.len();
        early += told.len();
    }
    println!("{instances} instances, {early} violations told early, {forgetful} without beginning");
    assert!(instances > 5000 && early > 2000 && forgetful > 100);
}
