//! The rows of PoET and Kairos: what holds in a cut is what the last rows of its processes say.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{data, read, to_native};
use portent_monitor_core::{Event, Symbols, Value};
use portent_testing::Rng;
use portent_trace::Options;

#[test]
fn both_tools_say_the_same() {
    let options = Options::default();
    let poet = to_native(&data("joint.poet.json"), &options);
    assert_eq!(to_native(&data("joint.kairos.csv"), &options), poet);
}

const PROCESSES: usize = 3;
const PROPOSITIONS: [&str; 3] = ["p", "q", "r"];

struct Row {
    processes: Vec<usize>,
    propositions: Vec<&'static str>,
    clock: [u32; PROCESSES],
}

/// Rows of some processes each, which know what the others that take part knew.
fn some_rows(rng: &mut Rng) -> Vec<Row> {
    let mut clocks = [[0; PROCESSES]; PROCESSES];
    let rows = (0..rng.below(9)).map(|_| {
        let mut processes: Vec<usize> = (0..PROCESSES).filter(|_| rng.below(3) == 0).collect();
        if processes.is_empty() {
            processes.push(rng.below(PROCESSES));
        }
        let mut clock = [0; PROCESSES];
        for &process in &processes {
            for (known, other) in clock.iter_mut().zip(clocks[process]) {
                *known = other.max(*known);
            }
        }
        for &process in &processes {
            clock[process] += 1;
        }
        for &process in &processes {
            clocks[process] = clock;
        }
        let propositions = PROPOSITIONS.into_iter();
        Row {
            processes,
            propositions: propositions.filter(|_| rng.below(2) == 0).collect(),
            clock,
        }
    });
    rows.collect()
}

fn kairos(rows: &[Row]) -> String {
    let name = |process: &usize| format!("P{}", process + 1);
    let lines = rows.iter().enumerate().map(|(i, row)| {
        let processes: Vec<String> = row.processes.iter().map(name).collect();
        let clock = row.clock.iter().enumerate();
        let clock: Vec<String> = clock.map(|(p, n)| format!("{}:{n}", name(&p))).collect();
        let (processes, clock) = (processes.join("|"), clock.join(";"));
        format!("e{i},{processes},{clock},{}\n", row.propositions.join("|"))
    });
    format!("eid,processes,vc,props\n{}", lines.collect::<String>())
}

fn poet(rows: &[Row]) -> String {
    let name = |process: &usize| format!("\"P{}\"", process + 1);
    let quoted = |text: &&str| format!("\"{text}\"");
    let events = rows.iter().enumerate().map(|(i, row)| {
        let processes: Vec<String> = row.processes.iter().map(name).collect();
        let propositions: Vec<String> = row.propositions.iter().map(quoted).collect();
        let (processes, propositions) = (processes.join(","), propositions.join(","));
        format!(
            "[\"e{i}\", [{processes}], [{propositions}], {:?}]",
            row.clock
        )
    });
    format!("{{\"events\": [{}]}}", events.collect::<Vec<_>>().join(","))
}

/// The rows in some order that their clocks allow.
fn some_order(rows: &[Row], rng: &mut Rng) -> Vec<usize> {
    let precedes = |a: &Row, b: &Row| (0..PROCESSES).all(|p| a.clock[p] <= b.clock[p]);
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let is_free = |&i: &usize| !left.iter().any(|&j| j != i && precedes(&rows[j], &rows[i]));
        let free: Vec<usize> = left.iter().copied().filter(is_free).collect();
        let next = free[rng.below(free.len())];
        left.retain(|&row| row != next);
        order.push(next);
    }
    order
}

/// The variables that are true after the named events in this order.
fn state(order: &[usize], events: &[Event], symbols: &Symbols) -> BTreeSet<String> {
    let mut values = BTreeMap::new();
    for row in order {
        let is_row = |event: &&Event| {
            let name = event.action().and_then(|action| action.name);
            name.is_some_and(|name| symbols.names.name(name) == format!("e{row}"))
        };
        let event = events.iter().find(is_row).unwrap();
        for (var, value) in event.writes() {
            values.insert(symbols.vars.name(var).to_owned(), value.cloned());
        }
    }
    let holds = values.into_iter();
    let holds = holds.filter(|(_, value)| *value == Some(Value::Bool(true)));
    holds.map(|(name, _)| name).collect()
}

#[test]
fn propositions_hold_where_the_frontier_has_them() {
    let mut rng = Rng::new(7);
    let mut several = 0;
    for case in 0..2000 {
        let rows = some_rows(&mut rng);
        several += usize::from(rows.iter().any(|row| row.processes.len() > 1));
        let text = if case % 2 == 0 {
            kairos(&rows)
        } else {
            poet(&rows)
        };
        let (events, symbols) = read(text.as_bytes(), &Options::default())
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        let order = some_order(&rows, &mut rng);
        for length in 0..=order.len() {
            let cut = &order[..length];
            let mut expected = BTreeSet::new();
            for process in 0..PROCESSES {
                let mut of_process = cut.iter().rev().map(|&row| &rows[row]);
                if let Some(last) = of_process.find(|row| row.processes.contains(&process)) {
                    let names = last.propositions.iter();
                    expected.extend(names.map(|name| format!("P{}.{name}", process + 1)));
                }
            }
            assert_eq!(state(cut, &events, &symbols), expected, "{cut:?} of {text}");
        }
    }
    assert!(several > 1000, "{several}");
}
