//! Events that are recognised by operations and actors, against the definition of instances.
//!
//! Every combination of values is tried. It is an instance if nothing is equal that must differ, and the bindings of what the
//! lines can be that it agrees with cover all parameters; what binds all that an earlier declaration binds on the same line
//! counts nowhere. To an instance a line is the first of the declared events that
//! it agrees with. What two threads do together is done by each of them. That run, marked line by line in texts, is checked by the property without parameters.

use std::collections::{BTreeMap, BTreeSet};

use portent_lattice::{Checker, Counting, Options, Reductions, Watch, report::PropertyReport};
use portent_monitor_core::{Action, Delivery, Details, Event, Msg, Op, Symbols, Value};
use portent_monitor_dsl::Property;
use portent_testing::Rng;

use crate::handed::Handed;

const PARAMETERS: [&str; 3] = ["t", "u", "x"];

/// A value that a line gives a parameter.
type Bound = (&'static str, String);

/// A declaration of the property, and what it says of a line: `None` if the line is another event, or else what it binds.
struct Declared {
    name: &'static str,
    text: &'static str,
    binds: &'static [&'static str],
    read: fn(&Line) -> Option<Vec<Bound>>,
}

const DECLARED: [Declared; 12] = [
    Declared {
        name: "take",
        text: "take(x) by t on lock(x)",
        binds: &["t", "x"],
        read: |line| (line.op == "lock").then(|| vec![line.by("t"), line.of("x")]),
    },
    Declared {
        name: "drop",
        text: "drop on unlock(x)",
        binds: &["x"],
        read: |line| (line.op == "unlock").then(|| vec![line.of("x")]),
    },
    Declared {
        name: "mine",
        text: "mine(x) by t on write(x)",
        binds: &["t", "x"],
        read: |line| (line.op == "write").then(|| vec![line.by("t"), line.of("x")]),
    },
    Declared {
        name: "theirs",
        text: "theirs(x) by u on write(x)",
        binds: &["u", "x"],
        read: |line| (line.op == "write").then(|| vec![line.by("u"), line.of("x")]),
    },
    Declared {
        name: "same",
        text: "same by t on lock(t)",
        binds: &["t"],
        read: |line| (line.op == "lock" && line.thread == line.object).then(|| vec![line.by("t")]),
    },
    Declared {
        name: "any",
        text: "any on write",
        binds: &[],
        read: |line| (line.op == "write").then(Vec::new),
    },
    Declared {
        name: "v_written",
        text: "v_written by u on write(\"v\")",
        binds: &["u"],
        read: |line| (line.op == "write" && line.object == "v").then(|| vec![line.by("u")]),
    },
    Declared {
        name: "post",
        text: "post by u on send",
        binds: &["u"],
        read: |line| (line.op == "send").then(|| vec![line.by("u")]),
    },
    Declared {
        name: "open",
        text: "open(x) by t",
        binds: &["t", "x"],
        read: |line| (line.op == "open").then(|| vec![line.by("t"), line.of("x")]),
    },
    Declared {
        name: "own",
        text: "own(u) by u",
        binds: &["u"],
        read: |line| (line.op == "own" && line.thread == line.object).then(|| vec![line.by("u")]),
    },
    Declared {
        name: "grant",
        text: "grant(u) by t",
        binds: &["t", "u"],
        read: |line| {
            let given = ("u", line.object.clone());
            (line.op == "grant").then(|| vec![line.by("t"), given])
        },
    },
    Declared {
        name: "app",
        text: "app by t on event",
        binds: &["t"],
        read: |line| {
            let is_event = matches!(line.op, "open" | "own" | "grant");
            is_event.then(|| vec![line.by("t")])
        },
    },
];

/// One line of a trace.
#[derive(Clone, Debug)]
struct Line {
    thread: String,
    /// Who does it together with that thread.
    partner: Option<String>,
    /// The operation, or the name of an application event.
    op: &'static str,
    object: String,
    value: i64,
}

impl Line {
    /// The same, done by each of its threads.
    fn by_each(&self) -> impl Iterator<Item = Line> {
        let threads = [Some(&self.thread), self.partner.as_ref()];
        threads.into_iter().flatten().map(|thread| Line {
            thread: thread.clone(),
            ..self.clone()
        })
    }

    fn by(&self, parameter: &'static str) -> Bound {
        (parameter, self.thread.clone())
    }

    fn of(&self, parameter: &'static str) -> Bound {
        (parameter, self.object.clone())
    }

    fn details(&self, symbols: &mut Symbols, text: Option<&str>) -> Option<Box<Details>> {
        let mut details = Details::new(text.map(Into::into), Vec::new());
        let partner = self.partner.iter();
        details.partners = partner
            .map(|thread| symbols.threads.intern(thread).expect("few"))
            .collect();
        Some(Box::new(details))
    }

    fn event(&self, symbols: &mut Symbols, message: i64) -> Event {
        let thread = symbols.threads.intern(&self.thread).expect("few");
        let op = match self.op {
            "lock" => Op::Lock(symbols.locks.intern(&self.object).expect("few")),
            "unlock" => Op::Unlock(symbols.locks.intern(&self.object).expect("few")),
            "write" => {
                let var = symbols.vars.intern(&self.object).expect("few");
                Op::Write(var, Some(Value::from(self.value)))
            }
            "send" => {
                let chan = symbols.chans.intern(&self.object).expect("few");
                Op::Send(chan, Msg::Number(message), Delivery::Unordered)
            }
            name => {
                let action = Action::new(symbols.names.intern(name).expect("few"));
                action.args([self.object.as_str()]).into()
            }
        };
        let mut event = Event::new(thread, op);
        event.details = self.details(symbols, None);
        event
    }
}

fn trace(rng: &mut Rng, most: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let threads = 2 + rng.below(2);
    while lines.len() < 3 + rng.below(most) {
        let thread = format!("T{}", rng.below(threads));
        let other = format!("T{}", rng.below(threads));
        let together = rng.below(3) == 0 && other != thread;
        let mut line = |op: &'static str, object: &str, value: usize| {
            let together = together && !matches!(op, "lock" | "unlock" | "send");
            lines.push(Line {
                thread: thread.clone(),
                partner: together.then(|| other.clone()),
                op,
                object: object.to_owned(),
                value: value as i64,
            });
        };
        match rng.below(7) {
            0 => {
                let lock = rng.pick(&["v", "w", "T0"]);
                line("lock", lock, 0);
                line("unlock", lock, 0);
            }
            1 | 2 => line("write", rng.pick(&["v", "w"]), rng.below(3)),
            3 => line("send", "c", 0),
            4 => line("open", rng.pick(&["v", "w"]), 0),
            5 => line("own", rng.pick(&["T0", "T1"]), 0),
            _ => line("grant", rng.pick(&["T0", "T1"]), 0),
        }
    }
    lines
}

/// A property: which declarations it has in which order, and what it says.
struct Question {
    declared: Vec<&'static Declared>,
    differ: bool,
    body: String,
}

impl Question {
    fn random(rng: &mut Rng) -> Question {
        loop {
            let mut left: Vec<&'static Declared> = DECLARED.iter().collect();
            let mut declared = Vec::new();
            for _ in 0..2 + rng.below(3) {
                declared.push(left.swap_remove(rng.below(left.len())));
            }
            let bound: BTreeSet<&str> = declared.iter().flat_map(|d| d.binds).copied().collect();
            if bound.len() < PARAMETERS.len() {
                continue;
            }
            let mut name = || declared[rng.below(declared.len())].name;
            let (a, b, c) = (name(), name(), name());
            let body = match rng.below(6) {
                0 => format!("ltl: always ({a} -> once {b})"),
                1 => format!("ltl: always ({a} -> [{b}, {c}))"),
                2 => format!("never: .* {a} {{!{b}}}* {c}"),
                3 => format!("ere: ({a} | {b}* {c})*"),
                4 => format!("ltl: always ({a} -> v < 2)"),
                _ => format!("never: .* {a} {{v == 1}}+ {b}"),
            };
            return Question {
                declared,
                differ: rng.below(2) == 0,
                body,
            };
        }
    }

    /// What a line can be, in the order of declarations. What binds all that an earlier one binds counts nowhere.
    fn readings(&self, line: &Line) -> Vec<(&'static str, Vec<Bound>)> {
        let mut readings: Vec<(&'static str, Vec<Bound>)> = Vec::new();
        let declared = { self.declared.iter() }
            .flat_map(|declared| line.by_each().map(move |line| (declared, line)));
        for (declared, line) in declared {
            let Some(bound) = (declared.read)(&line) else {
                continue;
            };
            let differ = !self.differ || {
                let value = |parameter| bound.iter().find(|(p, _)| *p == parameter);
                let (t, u) = (value("t"), value("u"));
                t.is_none() || u.is_none() || t.map(|(_, v)| v) != u.map(|(_, v)| v)
            };
            let hidden = |(_, earlier): &(_, Vec<Bound>)| earlier.iter().all(|b| bound.contains(b));
            if differ && !readings.iter().any(hidden) {
                readings.push((declared.name, bound));
            }
        }
        readings
    }

    fn text(&self, parametric: bool) -> String {
        let head = match (parametric, self.differ) {
            (false, _) => "property p",
            (true, false) => "property p(t, u, x)",
            (true, true) => "property p(t, u, x) where t != u",
        };
        let events = self.declared.iter().map(|declared| {
            if parametric {
                declared.text.to_owned()
            } else {
                format!("{} matches \"^<{}>$\"", declared.name, declared.name)
            }
        });
        let events: Vec<String> = events.collect();
        format!(
            "{head} {{\n  var v: int = 0\n  event {}\n  {}\n}}",
            events.join(", "),
            self.body
        )
    }
}

fn options() -> Options {
    Options::default()
}

fn check(text: &str, events: &[Event], symbols: &Symbols, options: Options) -> Vec<PropertyReport> {
    let property = Property::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let monitor = property.monitor().expect("small");
    let mut checker = Checker::new([monitor], |_| None, options)
        .expect("initial values")
        .handed(symbols);
    for event in events {
        checker.take(event).expect("fits");
    }
    let report = checker.finish("random").expect("a report");
    report.properties
}

/// What must agree: all but the witness, of which there may be several, and the binding.
fn essence(report: &PropertyReport) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        report.relevant,
        report.observed,
        report.predicted.violated_at,
        report.runs,
        report.lattice.cuts,
    )
}

fn binding(report: &PropertyReport) -> Vec<String> {
    let values = report.binding.iter().map(|(_, value)| match value {
        Value::Str(text) => text.to_string(),
        other => other.to_string(),
    });
    values.collect()
}

/// The instances of a question on a trace, as they are defined.
fn defined(
    question: &Question,
    lines: &[Line],
    symbols: &mut Symbols,
) -> BTreeMap<Vec<String>, String> {
    let mut expected = BTreeMap::new();
    for t in ["T0", "T1", "T2"] {
        for u in ["T0", "T1", "T2"] {
            for x in ["v", "w", "T0"] {
                if question.differ && t == u {
                    continue;
                }
                let value = |parameter: &str| match parameter {
                    "t" => t,
                    "u" => u,
                    _ => x,
                };
                let agrees = |bound: &[Bound]| bound.iter().all(|(p, found)| value(p) == found);
                let mut covered = BTreeSet::new();
                let mut events = Vec::new();
                for (number, line) in lines.iter().enumerate() {
                    let mut event = line.event(symbols, number as i64);
                    let mut text = "-".to_owned();
                    for (name, bound) in question.readings(line).into_iter().rev() {
                        if agrees(&bound) {
                            covered.extend(bound.into_iter().map(|(parameter, _)| parameter));
                            text = format!("<{name}>");
                        }
                    }
                    event.details = line.details(symbols, Some(&text));
                    events.push(event);
                }
                if covered.len() == PARAMETERS.len() {
                    let reports = check(&question.text(false), &events, symbols, options());
                    let values = [t, u, x].map(str::to_owned).to_vec();
                    expected.insert(values, essence(&reports[0]));
                }
            }
        }
    }
    expected
}

#[test]
fn instances_of_operations_and_actors_are_as_defined() {
    let mut rng = Rng::new(9);
    let (mut instances, mut violated) = (0, 0);
    for round in 0..4000 {
        let question = Question::random(&mut rng);
        let lines = trace(&mut rng, 9);
        let mut symbols = Symbols::default();
        let numbered = lines.iter().enumerate();
        let events: Vec<Event> = numbered
            .map(|(number, line)| line.event(&mut symbols, number as i64))
            .collect();
        let text = question.text(true);
        let reports = check(&text, &events, &symbols, options());
        violated += reports
            .iter()
            .filter(|report| report.predicted.violated)
            .count();
        let found: BTreeMap<_, _> = reports.iter().map(|r| (binding(r), essence(r))).collect();
        let expected = defined(&question, &lines, &mut symbols);
        assert_eq!(found, expected, "round {round}: {text}\n{lines:#?}");
        instances += expected.len();
    }
    println!("{instances} instances, {violated} violated");
    assert!(instances > 1500 && violated > 300);
}

#[test]
fn a_run_that_is_watched_has_the_same_instances() {
    let mut rng = Rng::new(10);
    let mut instances = 0;
    for round in 0..4000 {
        let question = Question::random(&mut rng);
        let lines = trace(&mut rng, 12);
        let mut symbols = Symbols::default();
        let numbered = lines.iter().enumerate();
        let events: Vec<Event> = numbered
            .map(|(number, line)| line.event(&mut symbols, number as i64))
            .collect();
        let text = question.text(true);
        let mut options = options();
        options.counting = Counting::Never;
        options.reductions = Reductions::NONE;
        options.lookahead = (round % 3 > 0).then(|| rng.below(5) as u32);
        // Without one, the first event that completes a violation is looked for and not the shortest run.
        let is_shortest = options.lookahead.is_some();
        let outcome = |report: &PropertyReport| {
            let violated_at = report.predicted.violated_at;
            (
                binding(report),
                report.relevant,
                report.observed.verdict,
                report.predicted.violated,
                violated_at.filter(|_| is_shortest),
            )
        };
        let expected = check(&text, &events, &symbols, options.clone());
        let monitor = Property::parse(&text)
            .expect("good")
            .monitor()
            .expect("small");
        let mut watch = Watch::new([monitor], |_| None, options)
            .expect("initial values")
            .handed(&symbols);
        for event in &events {
            watch.take(event).expect("fits");
        }
        let found = watch.finish("random").expect("a report").properties;
        let expected: Vec<_> = expected.iter().map(outcome).collect();
        let found: Vec<_> = found.iter().map(outcome).collect();
        assert_eq!(found, expected, "round {round}: {text}\n{lines:#?}");
        instances += found.len();
    }
    println!("{instances} instances");
    assert!(instances > 1500);
}
