//! Random programs that really run in parallel: their clocks against the order that really was.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use portent_hooks::{Counts, Recorded, Recording, Stream, symbols};
use portent_monitor_core::{Causality, Clocked, Discipline, Op, Stamp, Value};

use crate::{
    order::{Order, Run, Seen},
    program,
};

/// Runs a program and returns what was recorded of it; `None` if its threads could not tell what they saw, or a failed try could not.
fn recorded(seed: u64, everything: bool) -> Option<(Run, Vec<Recorded>)> {
    let builder = if everything {
        Recording::everything()
    } else {
        Recording::relevant(["happens"])
    };
    let (recording, mut stream) = builder.start();
    let entered = recording.enter();
    let run = program::run(seed, everything);
    drop(entered);
    let events = stream.finish();
    let counts = stream.counts();
    assert_eq!((counts.dropped, counts.foreign), (0, 0), "seed {seed}");
    (!run.is_unclear && counts.blind == 0).then_some((run, events))
}

/// The stamps of the application events, by their argument.
fn stamps(events: &[Recorded]) -> HashMap<i64, &Stamp> {
    let argument = |recorded: &Recorded| match recorded.event.action()?.args[..] {
        [Value::Int(id)] => Some(id),
        _ => None,
    };
    events
        .iter()
        .filter_map(|recorded| Some((argument(recorded)?, &recorded.stamp)))
        .collect()
}

/// Compares every pair of relevant events; returns how many pairs there are, and how many of them are
/// ordered.
pub(crate) fn compare(seed: u64, run: &Run, events: &[Recorded]) -> [usize; 2] {
    let order = Order::new(&run.logs, &run.capacities);
    let stamps = stamps(events);
    assert_eq!(
        stamps.len(),
        order.events().len(),
        "seed {seed}: all were recorded"
    );
    let mut ordered = 0;
    for &(a, from) in order.events() {
        for &(b, to) in order.events() {
            assert_eq!(
                stamps[&a].precedes(stamps[&b]),
                order.precedes(from, to),
                "seed {seed}: {a:x} before {b:x}\n{}",
                shown(&run.logs)
            );
            ordered += usize::from(order.precedes(from, to));
        }
    }
    [order.events().len().pow(2), ordered]
}

#[test]
fn clocks_of_relevant_events_are_the_order_that_was() {
    let (mut programs, mut all, mut tries, mut notifies) = (0, [0; 2], 0, 0);
    for seed in 0..4_000 {
        if programs == PROGRAMS {
            break;
        }
        if let Some((run, events)) = recorded(seed, false) {
            let compared = compare(seed, &run, &events);
            all = [all[0] + compared[0], all[1] + compared[1]];
            programs += 1;
            for seen in run.logs.iter().flatten() {
                tries += usize::from(matches!(seen, Seen::Tried(..)));
                notifies += usize::from(matches!(seen, Seen::Notify(_)));
            }
        }
    }
    let [pairs, ordered] = all;
    println!(
        "{programs} programs, {pairs} pairs of events, {ordered} of them ordered, \
         {tries} failed tries, {notifies} notifies"
    );
    assert_eq!(programs, PROGRAMS, "at most every second one is unclear");
    assert!(pairs >= 1_000_000, "{pairs} pairs");
    assert!(tries > 20 && notifies > 2_000);
    // An ordered pair is counted once, and an event with itself too.
    let concurrent = pairs - 2 * ordered;
    assert!(
        concurrent > 10_000,
        "{concurrent} of {pairs} pairs are concurrent"
    );
}

const PROGRAMS: usize = 2_000;

#[test]
fn clocks_of_everything_are_the_order_that_was() {
    let mut programs = 0;
    for seed in 10_000..10_400 {
        let Some((run, events)) = recorded(seed, true) else {
            continue;
        };
        compare(seed, &run, &events);
        same_offline(&events);
        places_are_causal(seed, events.clone());
        let forks = events
            .iter()
            .filter(|line| matches!(line.event.op, Op::Fork(_)));
        assert!(forks.count() >= 2, "seed {seed}");
        programs += 1;
    }
    println!("{programs} programs");
    assert!(programs > 200, "{programs} programs");
}

/// In the order of their places no event comes before one that its clock counts.
fn places_are_causal(seed: u64, mut events: Vec<Recorded>) {
    events.sort_by_key(|recorded| recorded.place.expect("everything is recorded"));
    let mut counted: HashMap<_, u32> = HashMap::new();
    for recorded in &events {
        let stamp = &recorded.stamp;
        for index in 0..recorded.components() {
            let (chain, count) = recorded.component(index);
            let known = counted.get(&chain).copied().unwrap_or(0);
            let own = u32::from(chain == stamp.chain);
            assert!(
                count <= known + own,
                "seed {seed}: {recorded} came too early"
            );
        }
        counted.insert(stamp.chain, stamp.number());
    }
}

/// Takes out what is recorded, until it is told to stop.
pub(crate) fn collect(mut stream: Stream, stopped: &AtomicBool) -> (Vec<Recorded>, Counts) {
    let mut events = Vec::new();
    while !stopped.load(Ordering::Acquire) {
        events.extend(stream.next_within(Duration::from_millis(1)));
    }
    events.extend(stream.finish());
    (events, stream.counts())
}

/// Written down in the order in which it comes out, a recording of everything has the same order for one
/// who only reads it.
pub(crate) fn same_offline(events: &[Recorded]) {
    // Larger ones would take long, and say no more.
    let events = &events[..events.len().min(1_500)];
    let symbols = symbols();
    let mut discipline = Discipline::default();
    let mut causality = Causality::default();
    let stamps: Vec<Stamp> = events
        .iter()
        .enumerate()
        .map(|(at, recorded)| {
            let event = &recorded.event;
            if let Err(error) = discipline.admit(event, &symbols) {
                let lines: Vec<String> = events[..=at].iter().map(Recorded::to_string).collect();
                panic!("{recorded}: {error}\n{}", lines.join("\n"));
            }
            causality.step(event, true).unwrap().unwrap()
        })
        .collect();
    for (a, from) in events.iter().zip(&stamps) {
        for (b, to) in events.iter().zip(&stamps) {
            if a.stamp.precedes(&b.stamp) != from.precedes(to) {
                let lines: Vec<String> = events.iter().map(Recorded::to_string).collect();
                let live = a.stamp.precedes(&b.stamp);
                panic!(
                    "{a} before {b}: {live} live, not so offline\n{}",
                    lines.join("\n")
                );
            }
        }
    }
}

/// The logs of a run, one a line.
fn shown(logs: &[Vec<Seen>]) -> String {
    let lines = logs.iter().enumerate();
    let lines = lines.map(|(index, log)| format!("{index}: {log:x?}"));
    lines.collect::<Vec<String>>().join("\n")
}
