//! The pairs that a story names, against what they claim: that the one event comes before the other is what violates the
//! property, and nothing that the monitor ignores is named.

use crate::{handed::Handed, oracle::Oracle, random, zero};
use portent_lattice::{Checker, Options, report::Predicted};
use portent_monitor_core::{Event, Op, Symbols, Value};
use portent_monitor_dsl::{Config, Monitor, Property};
use portent_testing::Rng;

fn predicted(monitor: &Monitor, events: &[Event], symbols: &Symbols) -> Predicted {
    let mut checker = Checker::new([monitor.clone()], zero, Options::default())
        .unwrap()
        .handed(symbols);
    for event in events {
        checker.take(event).unwrap();
    }
    let mut report = checker.finish("trace").unwrap();
    report.properties.remove(0).predicted
}

/// Who overtakes whom where threads write values in this order.
fn named(property: &str, writes: &[(&str, &str, i64)]) -> Vec<(u32, Vec<u32>)> {
    let monitor = Property::parse(property).unwrap().monitor().unwrap();
    let mut symbols = Symbols::default();
    let events: Vec<Event> = { writes.iter() }
        .map(|&(thread, variable, value)| {
            let thread = symbols.threads.intern(thread).unwrap();
            let variable = symbols.vars.intern(variable).unwrap();
            Event::new(thread, Op::Write(variable, Some(Value::from(value))))
        })
        .collect();
    let overtakings = predicted(&monitor, &events, &symbols).overtakings;
    let pairs = overtakings.into_iter();
    pairs.map(|one| (one.event, one.overtaken)).collect()
}

#[test]
fn of_writes_that_could_take_each_others_place_the_first_is_named() {
    let writes = [
        ("A", "x", 5),
        ("A", "x", 6),
        ("A", "x", 7),
        ("B", "y", 3),
        ("B", "y", 4),
    ];
    assert_eq!(named("always (y > 3 -> x > 4)", &writes), [(4, vec![0])]);
    let writes = [("A", "v", 0), ("B", "v", 5), ("B", "v", 16), ("C", "l", 31)];
    assert_eq!(named("always !(l > 30 && v < 1)", &writes), [(3, vec![1])]);
}

#[test]
fn only_the_write_that_helps_is_named() {
    let writes = [("A", "x", 5), ("A", "x", 2), ("A", "x", 7), ("B", "y", 4)];
    assert_eq!(named("always (y > 3 -> x > 4)", &writes), [(3, vec![2])]);
}

#[test]
fn comparisons_of_two_variables_name_the_first_write_that_is_enough() {
    let writes = [("A", "x", 5), ("A", "x", 9), ("B", "y", 4)];
    assert_eq!(named("always (x >= y)", &writes), [(2, vec![0])]);
}

/// The observed run up to the first event that is said to be overtaken, gone on with as in the witness, is violated.
#[test]
fn what_is_named_is_enough() {
    let mut rng = Rng::new(20_063);
    let config = Config::new().max_states(200);
    let mut stories = [0; 3];
    for _ in 0..20_000 {
        let text = random::property(&mut rng);
        let Ok(monitor) = Property::parse(&text).and_then(|p| config.monitor(&p)) else {
            continue;
        };
        let length = 3 + rng.below(11);
        let (events, symbols) = random::trace(&mut rng, length);
        let predicted = predicted(&monitor, &events, &symbols);
        let (Some(rows), Some(violated_at)) = (&predicted.witness, predicted.violated_at) else {
            continue;
        };
        let overtakings = &predicted.overtakings;
        assert!(
            overtakings.is_empty() || !predicted.swaps.is_empty(),
            "{text}"
        );
        let run: Vec<usize> = rows.iter().map(|row| row.event as usize).collect();
        let oracle = Oracle::new(&events, &symbols, &monitor, zero);
        let place = |event: u32| run.iter().position(|&other| other == event as usize);
        for one in overtakings {
            let mut overtaken = one.overtaken.iter();
            assert!(overtaken.all(|&other| other < one.event && place(other) > place(one.event)));
        }
        let all = overtakings.iter().flat_map(|one| &one.overtaken);
        let Some(first) = all.min().map(|&first| first as usize) else {
            continue;
        };
        let mut claimed: Vec<usize> = (0..first).collect();
        let moved = run[..violated_at as usize].iter();
        claimed.extend(moved.filter(|event| **event >= first));
        let until = claimed.len() as u64;
        let rest: Vec<usize> = (0..run.len()).filter(|e| !claimed.contains(e)).collect();
        claimed.extend(rest);
        assert!(oracle.is_run(&claimed), "{text}: {claimed:?} of {run:?}");
        let after = oracle.violated_after(&claimed);
        assert!(
            after.is_some_and(|after| after <= until),
            "{text}: {claimed:?} of {run:?}, {overtakings:?}"
        );
        stories[overtakings.len().min(3) - 1] += 1;
    }
    println!("stories of one, two and more events: {stories:?}");
    assert!(stories[0] > 500 && stories[1] > 20);
}
