//! Stepping allocates nothing: events, integers, floats, booleans, and strings that are shared.

use portent_monitor_dsl::{Monitor, Property, Stepper, Value};
use portent_testing::{Counting, allocations};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn monitor(text: &str) -> Monitor {
    Property::parse(text)
        .and_then(|property| property.monitor())
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

const STEPS: i64 = 10_000;

/// Follows a run with `step`, and asserts that it allocates nothing and visits more than one state.
fn check(monitor: &Monitor, mut step: impl FnMut(&mut Stepper, i64)) {
    let mut run = monitor.start().unwrap_or_else(|error| panic!("{error}"));
    let mut visited = vec![false; monitor.states()];
    let count = allocations(|| {
        for index in 0..STEPS {
            step(&mut run, index);
            visited[run.state().index()] = true;
        }
    });
    assert_eq!(count, 0, "{:?}", monitor.property());
    assert_eq!(run.steps(), STEPS as u64);
    assert!(
        visited.iter().filter(|&&state| state).count() > 1,
        "{:?}",
        monitor.property()
    );
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn events() {
    let monitor = monitor("ere: (open (read | write)* close)*");
    let [open, read, write, close] = ["open", "read", "write", "close"]
        .map(|name| monitor.alphabet().event(name).expect("declared"));
    check(&monitor, |run, index| {
        run.event([open, read, write, close][index as usize % 4]);
    });
}

#[test]
fn integers() {
    let monitor = monitor(
        "property p { var w: int = 0 var v: int = 0 ltl: always (w > 30 -> eventually (v > 25 since w + v == 7)) }",
    );
    let [w, v] = ["w", "v"].map(|name| monitor.alphabet().variable(name).expect("declared"));
    check(&monitor, |run, index| {
        let written = run.write([w, v][index as usize % 2], index % 60);
        assert!(written.is_ok());
    });
}

#[test]
fn floats() {
    let monitor = monitor(
        "property p { var x: float = 0.5 var y: float = 1 ltl: always (x > 2.5 -> once (y * 2.0 < x)) || always eventually x == y }",
    );
    let [x, y] = ["x", "y"].map(|name| monitor.alphabet().variable(name).expect("declared"));
    check(&monitor, |run, index| {
        let value = match index % 3 {
            // An integer is a number too.
            0 => Value::Int(index % 5),
            _ => Value::Float(index as f64 / 7.0),
        };
        assert!(run.write([x, y][index as usize % 2], value).is_ok());
    });
}

#[test]
fn booleans() {
    let monitor = monitor(
        "property p { var a: bool = false var b: bool = false var c: bool = true ltl: always (a -> eventually (b && prev c)) }",
    );
    let ids = ["a", "b", "c"].map(|name| monitor.alphabet().variable(name).expect("declared"));
    check(&monitor, |run, index| {
        assert!(run.write(ids[index as usize % 3], index % 5 < 2).is_ok());
    });
}

#[test]
fn strings() {
    let monitor = monitor(
        "property p { var s: string = \"shut\" var t: string = \"\" ltl: always (s == \"open\" -> eventually (s == t || s == \"shut\")) }",
    );
    let [s, t] = ["s", "t"].map(|name| monitor.alphabet().variable(name).expect("declared"));
    let values: Vec<Value> = ["open", "shut", "ajar"]
        .map(|text| Value::Str(Arc::from(text)))
        .to_vec();
    check(&monitor, |run, index| {
        let value = values[index as usize % 3].clone();
        assert!(run.write([s, t][index as usize % 2], value).is_ok());
    });
}

#[test]
fn events_that_write() {
    let monitor = monitor(
        "property p(f) { event open(f), close(f) var n: int = 0 var ok: bool = true ltl: always (open && ok -> eventually (close && n > 3)) }",
    );
    let [open, close] =
        ["open", "close"].map(|name| monitor.alphabet().event(name).expect("declared"));
    let [n, ok] = ["n", "ok"].map(|name| monitor.alphabet().variable(name).expect("declared"));
    check(&monitor, |run, index| {
        let event = [Some(open), None, Some(close)][index as usize % 3];
        let writes = [
            (n, Value::Int(index % 9)),
            (ok, Value::Bool(index % 2 == 0)),
        ];
        assert!(run.step(event, writes).is_ok());
    });
}

/// Machines over many letters are stepped through decision trees, not through a table.
#[test]
fn decision_trees() {
    let names: Vec<String> = (0..18).map(|index| format!("p{index}")).collect();
    let variables: Vec<String> = names
        .iter()
        .map(|name| format!("var {name}: bool = false"))
        .collect();
    let monitor = monitor(&format!(
        "property p {{ {} ltl: always ({} -> eventually p0) }}",
        variables.join(" "),
        names.join(" xor ")
    ));
    assert_eq!(monitor.letter_classes(), None);
    let ids: Vec<_> = names
        .iter()
        .map(|name| monitor.alphabet().variable(name).expect("declared"))
        .collect();
    check(&monitor, |run, index| {
        assert!(run.write(ids[index as usize % 18], index % 7 < 3).is_ok());
    });
}
