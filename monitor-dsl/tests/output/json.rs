//! The machine as other programs see it: the conditions of its JSON form, its stored form, and the explanation of a verdict.
//!
//! The conditions are read by a small evaluator of their text that knows nothing of the crate's own.

use super::sealed::sealed_and_again;
use crate::oracle::case::Case;
use crate::oracle::random::{self, Shape, Subject};
use portent_monitor_dsl::{
    Config, Description, EventId, Letter, Monitor, Property, Stepper, Value, Verdict, Verdicts,
};
use portent_testing::Rng;

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Monitor>();
    shared_between_threads::<Property>();
    shared_between_threads::<Config>();
    shared_between_threads::<portent_monitor_dsl::Error>();
    const fn sent_between_threads<T: Send>() {}
    sent_between_threads::<Stepper>();
};

/// Properties of all kinds, the same ones every time.
fn properties(seed: u64, count: usize) -> impl Iterator<Item = (Property, Case)> {
    let subjects = [
        Subject::Flags,
        Subject::Events,
        Subject::Comparisons,
        Subject::Mixed,
        Subject::Floats,
    ];
    let shapes = [Shape::Future, Shape::Past, Shape::Mixed];
    (0..count).map(move |index| {
        let mut rng = Rng::new(seed + index as u64);
        let subject = subjects[index % 5];
        let size = rng.between(2, 12);
        let case = match index % 3 {
            0 => random::ere_case(&mut rng, subject, size, index % 2 == 0),
            _ => random::ltl_case(&mut rng, subject, shapes[index / 15 % 3], size),
        };
        let text = case.text(Some(rng.any()));
        let property = Property::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        (property, case)
    })
}

fn monitor(property: &Property) -> Monitor {
    property
        .monitor()
        .unwrap_or_else(|error| panic!("{property:?}\n{error}"))
}

/// Reads a condition over propositions that are known by their text only.
struct Reader<'a> {
    rest: &'a str,
    propositions: &'a [String],
    holds: &'a dyn Fn(usize) -> bool,
}

impl Reader<'_> {
    fn read(when: &str, propositions: &[String], holds: &dyn Fn(usize) -> bool) -> bool {
        let mut reader = Reader {
            rest: when,
            propositions,
            holds,
        };
        let value = reader.any();
        assert_eq!(reader.rest, "", "in {when}");
        value
    }

    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> bool {
        let mut value = self.odd();
        while self.take("||") {
            value |= self.odd();
        }
        value
    }

    fn odd(&mut self) -> bool {
        let mut value = self.all();
        while self.take("xor ") {
            value ^= self.all();
        }
        value
    }

    fn all(&mut self) -> bool {
        let mut value = self.one();
        while self.take("&&") {
            value &= self.one();
        }
        value
    }

    fn one(&mut self) -> bool {
        // A proposition first: it may begin like something else, and the longest is meant.
        let known = (0..self.propositions.len())
            .filter(|&p| self.rest.starts_with(&self.propositions[p]))
            .filter(|&p| {
                let next = self.rest[self.propositions[p].len()..].chars().next();
                next.is_none_or(|c| " )".contains(c))
            })
            .max_by_key(|&p| self.propositions[p].len());
        if let Some(p) = known {
            self.rest = self.rest[self.propositions[p].len()..].trim_start();
            return (self.holds)(p);
        }
        if self.take("!") {
            return !self.one();
        }
        if self.take("(") {
            let value = self.any();
            assert!(self.take(")"), "`)` before {}", self.rest);
            return value;
        }
        if self.take("true") {
            return true;
        }
        assert!(self.take("false"), "a condition before {}", self.rest);
        false
    }
}

#[test]
fn the_evaluator_reads_conditions() {
    let propositions = [
        "p".to_owned(),
        "pq".to_owned(),
        "x > 3".to_owned(),
        "\"a b\"".to_owned(),
    ];
    let read =
        |text: &str, holds: &[usize]| Reader::read(text, &propositions, &|p| holds.contains(&p));
    assert!(read("p && !pq", &[0]));
    assert!(!read("p && !pq", &[0, 1]));
    assert!(read("(p && pq) || !(x > 3)", &[]));
    assert!(!read("(p && pq) || !(x > 3)", &[2]));
    assert!(read("\"a b\" && (p || x > 3)", &[2, 3]));
    assert!(read("true", &[]) && !read("false", &[]));
    assert!(read("p xor pq xor !(x > 3)", &[0, 1]));
    assert!(read("p && pq xor p || pq && p xor !(x > 3)", &[0]));
    assert!(!read("p && pq xor p || pq && p xor !(x > 3)", &[0, 1]));
}

/// Every letter that can occur is in exactly one condition of each state, and that leads where the monitor goes.
fn check_conditions(monitor: &Monitor) {
    let Description {
        propositions,
        transitions,
        outputs,
        states,
        initial,
        ..
    } = monitor.description();
    assert_eq!(
        (transitions.len(), outputs.len(), initial),
        (states, states, 0)
    );
    let alphabet = monitor.alphabet();
    for state in monitor.state_ids() {
        assert_eq!(outputs[state.index()], monitor.verdict(state));
        let letters: Vec<Letter> = if state == monitor.initial() {
            alphabet.initial_letters().collect()
        } else {
            alphabet.letters().collect()
        };
        for letter in letters {
            let holds = |p: usize| alphabet.holds(letter, p);
            let edges = &transitions[state.index()];
            let taken: Vec<usize> = edges
                .iter()
                .filter(|edge| {
                    let when = edge.when.as_ref().expect("not too long");
                    Reader::read(when, &propositions, &holds)
                })
                .map(|edge| edge.to)
                .collect();
            assert_eq!(
                taken,
                [monitor.next(state, letter).index()],
                "{:?}",
                monitor.property()
            );
        }
    }
}

#[test]
fn conditions_are_disjoint_and_cover_every_letter() {
    for (property, _) in properties(0x1500_0000, 300) {
        check_conditions(&monitor(&property));
    }
    for text in [
        "always (\"a b\" -> next \"x > 3\")",
        "ere: (a b c d e f g)* & ~(.* a .* a .*)",
        "always (x * y > 3 -> x == y && s != \"a && b\" && s != \"(\")",
        "property p { var true_: bool = true var x: float = 0 ltl: always (x > 2.5 || x < -1 || x == 1 -> prev true_) }",
    ] {
        check_conditions(&monitor(
            &Property::parse(text).unwrap_or_else(|error| panic!("{error}")),
        ));
    }
}

/// Flags `p0`, `p1`, ... and a formula without temporal operators that must always hold.
fn always(flags: usize, formula: &str) -> Monitor {
    let variables: Vec<String> = (0..flags)
        .map(|flag| format!("var p{flag}: bool = false"))
        .collect();
    let text = format!(
        "property flags {{ {} ltl: always ({formula}) }}",
        variables.join(" ")
    );
    monitor(&Property::parse(&text).unwrap_or_else(|error| panic!("{error}")))
}

/// At least `least` of the flags from `first` on, as people write it: this one and one less, or without it.
fn at_least(least: usize, first: usize, flags: usize) -> String {
    match (least, flags - first) {
        (0, _) => "true".to_owned(),
        (least, rest) if least > rest => "false".to_owned(),
        _ => format!(
            "(p{first} && {} || {})",
            at_least(least - 1, first + 1, flags),
            at_least(least, first + 1, flags)
        ),
    }
}

#[test]
fn a_parity_is_as_short_as_it_is() {
    let names: Vec<String> = (0..16).map(|flag| format!("p{flag}")).collect();
    let parity = always(16, &names.join(" xor "));
    check_conditions(&parity);
    for (_, when) in parity.edges(parity.initial()) {
        assert_eq!(when.literals(), 16);
    }
    for text in [parity.to_table(), parity.to_dot()] {
        assert!(
            text.contains(&names.join(" xor ")) && text.len() < 2_000,
            "{text}"
        );
    }
}

#[test]
fn thresholds_and_other_functions_of_many_flags() {
    for (least, flags) in [(2, 3), (3, 8), (5, 9)] {
        check_conditions(&always(flags, &at_least(least, 0, flags)));
    }
    check_conditions(&always(
        9,
        "(p0 xor p1 && p2) -> (p3 xor p4 xor (p5 || p6 && p7 <-> p8))",
    ));
}

/// The literals of the conditions that leave the initial state.
fn literals(monitor: &Monitor) -> Vec<usize> {
    let edges = monitor.edges(monitor.initial());
    edges.iter().map(|(_, when)| when.literals()).collect()
}

/// What is a sum of short products, or a product of short sums, is written as one.
#[test]
fn neighbours_in_a_long_row() {
    let neighbours = |flags: usize, part: fn(usize, usize) -> String, sign: &str| {
        let parts: Vec<String> = (0..flags - 1).map(|flag| part(flag, flag + 1)).collect();
        always(flags, &parts.join(sign))
    };
    let implied = |a: usize, b: usize| format!("(p{a} -> p{b})");
    let both = |a: usize, b: usize| format!("(p{a} && p{b})");
    for flags in [4, 9] {
        check_conditions(&neighbours(flags, implied, " && "));
        check_conditions(&neighbours(flags, both, " || "));
    }
    let ordered = neighbours(20, implied, " && ");
    assert_eq!(literals(&ordered), [38, 38]);
    let table = ordered.to_table();
    assert!(table.contains("(!p0 || p1) && (!p1 || p2)"), "{table}");
    assert!(table.contains("(p0 && !p1) || (p1 && !p2)"), "{table}");
    assert_eq!(literals(&neighbours(20, both, " || ")), [38, 38]);
}

/// A random sum of products of flags and comparisons of two numbers.
fn random_sum(rng: &mut Rng) -> String {
    let literal = |rng: &mut Rng| {
        let negated = ["", "!"][rng.below(2)];
        match rng.below(3) {
            0 => format!("{negated}(n < {})", rng.below(3)),
            1 => format!("{negated}(m == {})", rng.below(3)),
            _ => format!("{negated}p{}", rng.below(5)),
        }
    };
    let product = |rng: &mut Rng| {
        let literals: Vec<String> = (0..rng.between(1, 4)).map(|_| literal(rng)).collect();
        literals.join(" && ")
    };
    let products: Vec<String> = (0..rng.between(2, 7)).map(|_| product(rng)).collect();
    products.join(" || ")
}

#[test]
fn sums_and_products_over_flags_and_numbers() {
    let mut rng = Rng::new(0x1500_1000);
    let flags: Vec<String> = (0..5)
        .map(|flag| format!("var p{flag}: bool = false"))
        .collect();
    for _ in 0..300 {
        let (sum, other) = (random_sum(&mut rng), random_sum(&mut rng));
        let text = format!(
            "property sums {{ {} var n: int = 0 var m: int = 0 ltl: always (({sum}) && ({other})) }}",
            flags.join(" ")
        );
        let property = Property::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        check_conditions(&monitor(&property));
    }
}

#[test]
fn a_table_shows_the_first_of_many_edges() {
    // Any of the seven may happen first, and any others with it.
    let parts: Vec<String> = (0..7).map(|x| format!("F (x{x} > 0)")).collect();
    let text = format!("ltl: {}", parts.join(" && "));
    let monitor = monitor(&Property::parse(&text).unwrap_or_else(|error| panic!("{error}")));
    let (all, shown) = (monitor.edges(monitor.initial()).len(), Monitor::TABLE_EDGES);
    assert_eq!(all, 128);
    let more = format!("... and {} more edges", all - shown);
    assert!(monitor.to_table().contains(&more));
}

/// What has too many cases to be written out is counted, in every format but generated code.
#[test]
fn a_condition_that_is_too_long_is_counted() {
    let monitor = always(14, &at_least(7, 0, 14));
    let edges = monitor.edges(monitor.initial());
    let description = monitor.description();
    for ((_, when), edge) in edges.iter().zip(&description.transitions[0]) {
        assert!(when.literals() > 2_000);
        assert_eq!(edge.when, None);
        let instead = format!("(a condition of {} literals)", when.literals());
        assert_eq!(monitor.spell(when), instead);
        for text in [monitor.to_table(), monitor.to_dot()] {
            assert!(text.contains(&instead) && text.len() < 2_000, "{text}");
        }
    }
    let code = monitor.to_rust();
    let arms = code.lines().filter(|line| line.contains(" => "));
    let longest = arms.map(str::len).max();
    assert!(
        longest.is_some_and(|longest| longest < 4_000),
        "{longest:?}"
    );
}

#[test]
fn the_keys_of_a_description() {
    let monitor = monitor(
        &Property::parse("property p(f) { event a(f) ltl: always !a }")
            .unwrap_or_else(|e| panic!("{e}")),
    );
    let json = serde_json::to_value(monitor.description()).expect("plain data");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    let expected = [
        "name",
        "kind",
        "parameters",
        "where",
        "events",
        "states",
        "initial",
        "propositions",
        "outputs",
        "transitions",
    ];
    assert_eq!(keys, expected);
    assert_eq!(json["outputs"], serde_json::json!(["ok", "violated"]));
    assert_eq!(
        json["transitions"][1],
        serde_json::json!([{"when": "true", "to": 1}])
    );
}

#[test]
fn declared_events_are_described() {
    let text = r#"
        property p(t, u, x) where u != t {
            event a(x) by t on lock(x), b by u on send("c"), c(x) by u matches "(?<x>.)", d, e on fork
            ltl: always (a || b || c || d || e)
        }"#;
    let monitor = Property::parse(text).and_then(|property| property.monitor());
    let monitor = monitor.unwrap_or_else(|error| panic!("{error}"));
    let json = serde_json::to_value(monitor.description()).expect("plain data");
    assert_eq!(json["where"], serde_json::json!(["t != u"]));
    let event = |name, parameters, by, matches, on| {
        serde_json::json!({
            "name": name, "parameters": parameters, "by": by, "matches": matches, "on": on,
        })
    };
    let (x, none) = (Some(["x"]), None::<&str>);
    let expected = [
        event("a", x, Some("t"), none, Some("lock(x)")),
        event("b", None, Some("u"), none, Some("send(\"c\")")),
        event("c", x, Some("u"), Some("(?<x>.)"), none),
        event("d", None, none, none, none),
        event("e", None, none, none, Some("fork")),
    ];
    assert_eq!(json["events"], serde_json::json!(expected));
    assert!(monitor.to_rust().contains("/// a(x) by t on lock(x)\n"));
    let stored = serde_json::to_string(&monitor).expect("plain data");
    assert_eq!(serde_json::from_str::<Monitor>(&stored).ok(), Some(monitor));
}

#[test]
fn a_stored_monitor_is_the_same_monitor() {
    for (index, (property, _)) in properties(0x1500_1000, 120).enumerate() {
        let verdicts = if index % 2 == 0 {
            Verdicts::Three
        } else {
            Verdicts::Four
        };
        let monitor = Config::new()
            .verdicts(verdicts)
            .monitor(&property)
            .unwrap_or_else(|error| panic!("{error}"));
        let stored = serde_json::to_string(&monitor).expect("plain data");
        let again: Monitor =
            serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{stored}\n{error}"));
        assert_eq!(again, monitor);
        assert_eq!(again.description(), monitor.description());
        assert_eq!(serde_json::to_string(&again).expect("plain data"), stored);
        assert_eq!(sealed_and_again(&monitor), monitor);
    }
}

/// The second of the properties of a file stays the second.
#[test]
fn a_stored_monitor_knows_its_place_in_a_file() {
    let text = "property a { event x ltl: always x } property b(f) { event y(f) ere: y* }";
    let properties =
        Property::parse_file("two.portent", text).unwrap_or_else(|error| panic!("{error}"));
    for property in &properties {
        let stored = serde_json::to_string(&monitor(property)).expect("plain data");
        let again: Monitor =
            serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.property().name(), property.name());
        assert_eq!(again, monitor(property));
    }
}

/// All the values in a JSON text, replaced one at a time.
fn corruptions(value: &serde_json::Value) -> Vec<serde_json::Value> {
    use serde_json::{Value, json};
    let mut found: Vec<Value> = [
        json!(null),
        json!(-1),
        json!(7),
        json!(4294967295u32),
        json!("ltl"),
        json!([]),
        json!({}),
    ]
    .into();
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let mut shorter = items.clone();
                shorter.remove(index);
                found.push(Value::Array(shorter));
                for other in corruptions(item) {
                    let mut changed = items.clone();
                    changed[index] = other;
                    found.push(Value::Array(changed));
                }
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let mut fewer = fields.clone();
                fewer.remove(key);
                found.push(Value::Object(fewer));
                for other in corruptions(item) {
                    let mut changed = fields.clone();
                    changed[key] = other;
                    found.push(Value::Object(changed));
                }
            }
        }
        _ => {}
    }
    found.retain(|other| other != value);
    found
}

/// Whatever was changed, the stored form is refused, or it is a machine that can be followed.
#[test]
fn a_corrupted_monitor_is_refused_or_harmless() {
    let texts = [
        "always (a -> next b)",
        "ere: (a b)*",
        "property p { var x: int = 3 var s: string = \"a\" ltl: always (x > 3 -> once s == \"b\") }",
    ];
    let (mut refused, mut harmless) = (0, 0);
    for text in texts {
        let original = monitor(&Property::parse(text).unwrap_or_else(|error| panic!("{error}")));
        let json = serde_json::to_value(&original).expect("plain data");
        for corrupted in corruptions(&json) {
            let Ok(monitor) = serde_json::from_value::<Monitor>(corrupted) else {
                refused += 1;
                continue;
            };
            harmless += 1;
            for state in monitor.state_ids() {
                for letter in monitor.alphabet().letters() {
                    assert!(monitor.next(state, letter).index() < monitor.states());
                }
            }
            assert_eq!(monitor.description().states, monitor.states());
            assert!(monitor.to_table().contains("verdict"));
            assert!(monitor.to_rust().contains("struct Monitor"));
            drop(monitor.notes());
        }
    }
    assert!(
        refused > 200 && harmless > 10,
        "{refused} refused, {harmless} harmless"
    );
    for text in [
        "",
        "{",
        "null",
        "[]",
        "{\"property\": 3}",
        "{\"property\": {\"file\": null, \"text\": \"\", \"index\": 9}}",
    ] {
        assert!(serde_json::from_str::<Monitor>(text).is_err(), "{text}");
    }
}

/// A few random steps, drawn from the concrete steps that the oracle knows.
fn random_run(monitor: &Monitor, case: &Case, rng: &mut Rng) -> Stepper {
    let steps: Vec<_> = case
        .letters()
        .into_iter()
        .flat_map(|letter| letter.steps)
        .collect();
    let ids: Vec<_> = case
        .variables
        .iter()
        .map(|variable| monitor.alphabet().variable(&variable.name))
        .collect();
    let values = |step: &crate::oracle::case::Step| -> Vec<_> {
        let pairs = ids.iter().zip(&step.values);
        pairs
            .filter_map(|(id, written)| Some(((*id)?, Value::from(written))))
            .collect()
    };
    let silent: Vec<_> = steps.iter().filter(|step| step.event.is_none()).collect();
    let start = silent.get(rng.below(silent.len().max(1)));
    let mut run = monitor
        .start_with(|name| {
            let index = case
                .variables
                .iter()
                .position(|variable| variable.name == name)?;
            start.map(|step| Value::from(&step.values[index]))
        })
        .unwrap_or_else(|error| panic!("{error}"))
        .remembering();
    for _ in 0..rng.between(0, 12) {
        let step = &steps[rng.below(steps.len())];
        let event: Option<EventId> = step
            .event
            .and_then(|e| monitor.alphabet().event(&case.events[e]));
        if event.is_none() && !monitor.alphabet().has_silent_letter() {
            continue;
        }
        run.step(event, values(step))
            .unwrap_or_else(|error| panic!("{error}"));
    }
    run
}

#[test]
fn final_verdicts_are_explained() {
    let mut explained = [0, 0];
    for (index, (property, case)) in properties(0x1500_2000, 400).enumerate() {
        let monitor = monitor(&property);
        let text = property
            .text()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut rng = Rng::new(index as u64);
        for _ in 0..6 {
            let run = random_run(&monitor, &case, &mut rng);
            let Some(explanation) = run.explain() else {
                assert!(!run.verdict().is_final(), "{property:?}");
                assert_eq!(run.decided_after(), None);
                continue;
            };
            assert_eq!(explanation.verdict, run.verdict(), "{property:?}");
            assert_eq!(
                Some(explanation.step),
                run.decided_after(),
                "{property:?}: {explanation}"
            );
            assert!(
                explanation.at <= explanation.step,
                "{property:?}: {explanation}"
            );
            assert!(
                text.contains(&explanation.part),
                "{property:?}: {explanation}"
            );
            assert!(!explanation.part.is_empty() && !explanation.reason.is_empty());
            explained[usize::from(explanation.verdict == Verdict::Satisfied)] += 1;
        }
    }
    assert!(explained.iter().all(|&count| count > 100), "{explained:?}");
}
