//! Events that arrive in another order than they were observed in, released by their clocks.

use std::sync::Arc;

use portent_lattice::{
    Checker, Limit, Options, Report, Watch,
    report::{PropertyReport, WarningKind},
};
use portent_monitor_core::{Action, ChainId, Clock, Event, Op, Stamp, Stamped, Symbols};
use portent_monitor_dsl::Monitor;
use portent_testing::Rng;

use super::{Program, monitor};
use crate::{handed::Handed, zero};

/// An event of a thread, with how many events of each thread are in its past.
#[derive(Clone)]
struct Clocked {
    thread: usize,
    event: Event,
    clock: Vec<u32>,
}

impl Clocked {
    fn stamp(&self) -> Stamp {
        Stamp {
            chain: ChainId::from_index(self.thread).expect("few"),
            clock: Arc::new(Clock::from_counts(&self.clock)),
        }
    }
}

/// What some processes do that learn of each other now and then, in observed order.
fn processes(rng: &mut Rng, length: usize) -> (Vec<Clocked>, Symbols) {
    let threads = 2 + rng.below(3);
    let mut program = Program::new(threads);
    let mut clocks = vec![vec![0; threads]; threads];
    let events = (0..length)
        .map(|_| {
            let thread = rng.below(threads);
            if rng.one_in(3) {
                let other = clocks[rng.below(threads)].clone();
                for (mine, theirs) in clocks[thread].iter_mut().zip(other) {
                    *mine = theirs.max(*mine);
                }
            }
            clocks[thread][thread] += 1;
            let clock = clocks[thread].clone();
            let name = rng.pick(&["a", "b", "c", "other"]);
            let name = program.symbols.names.intern(name).expect("few");
            let action = Action::new(name).args([rng.below(2) as i64]);
            let counts = program.threads.iter().copied().zip(clock.iter().copied());
            let counts = counts.filter(|&(_, count)| count > 0).collect();
            let stamped = Stamped::new(action, counts);
            let event = Event::new(program.threads[thread], Op::Stamped(Box::new(stamped)));
            Clocked {
                thread,
                event,
                clock,
            }
        })
        .collect();
    (events, program.symbols)
}

/// The same events in an order that keeps only each thread's own.
fn shuffled(rng: &mut Rng, events: &[Clocked]) -> Vec<Clocked> {
    let mut order: Vec<usize> = events.iter().map(|event| event.thread).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, rng.below(place + 1));
    }
    let mut queues: Vec<_> = (0..8)
        .map(|thread| events.iter().filter(move |event| event.thread == thread))
        .collect();
    let next = |thread: usize| queues[thread].next().expect("as many").clone();
    order.into_iter().map(next).collect()
}

/// Gives all events to a watch, and the report of what was not told before as well as what was.
fn watch(
    monitor: &Monitor,
    events: &[Clocked],
    symbols: &Symbols,
    options: Options,
    by_stamps: bool,
) -> Report {
    let mut watch = Watch::new([monitor.clone()], zero, options)
        .expect("no variables")
        .handed(symbols);
    let mut told = Vec::new();
    for clocked in events {
        let found = if by_stamps {
            watch.take_stamped(&clocked.event, &clocked.stamp())
        } else {
            watch.take(&clocked.event)
        };
        told.extend(found.expect("fits").into_iter().map(|found| found.binding));
    }
    let report = watch.finish("run").expect("a report");
    let violated = report.properties.iter().filter(|p| p.predicted.violated);
    let mut violated: Vec<_> = violated.map(|p| p.binding.clone()).collect();
    told.sort_by_key(|binding| format!("{binding:?}"));
    violated.sort_by_key(|binding| format!("{binding:?}"));
    assert_eq!(told, violated, "all was told while the run went on");
    report
}

fn predictions(report: &Report) -> Vec<String> {
    let prediction = |p: &PropertyReport| {
        let (binding, violated) = (&p.binding, p.predicted.violated);
        format!(
            "{binding:?} {} {violated} {}",
            p.relevant, p.lattice.exhaustive
        )
    };
    let mut all: Vec<String> = report.properties.iter().map(prediction).collect();
    all.sort();
    all
}

const PROPERTIES: [&str; 5] = [
    "property p(f) { event a(f), b(f), c(f)  ltl: always (c -> once a) }",
    "property p(f) { event a(f), b(f), c(f)  ere: (a b* c)* }",
    "property p(f) { event a(f), b(f), c(f)  never: .* a .* b .* c .* b .* a }",
    "property p(f) { event a(f), b(f), c(f)  never: .* a (a | b)* b (a | b)* b (a | b)* c }",
    "property p(f) { event a(f), b(f), c(f)  never: (b* a b* a)* b* c }",
];

#[test]
fn any_order_of_arrival_gives_the_predictions_of_the_observed_order() {
    let mut rng = Rng::new(88);
    let monitors = PROPERTIES.map(monitor);
    let (mut late, mut violated) = (0, 0);
    for round in 0..3000 {
        let (events, symbols) = processes(&mut rng, 1 + round % 16);
        let monitor = &monitors[rng.below(monitors.len())];
        let by_stamps = rng.one_in(2);
        let in_order = Options::default();
        let expected = watch(monitor, &events, &symbols, in_order, by_stamps);
        let arrived = shuffled(&mut rng, &events);
        let in_any_order = Options::default().causal_delivery(true);
        let report = watch(monitor, &arrived, &symbols, in_any_order, by_stamps);
        assert_eq!(predictions(&report), predictions(&expected), "{round}");
        assert_eq!(report.trace.events, events.len() as u64);
        let comes_late = |(place, event): (usize, &Clocked)| {
            let before = arrived[..place].iter();
            before
                .filter(|other| other.thread != event.thread)
                .any(|other| event.clock[event.thread] <= other.clock[event.thread])
        };
        late += usize::from(arrived.iter().enumerate().any(comes_late));
        violated += usize::from(report.is_violated());
    }
    assert!(late > 1000 && violated > 500, "{late}, {violated}");
}

#[test]
fn what_waits_in_vain_is_told() {
    let mut rng = Rng::new(89);
    let monitor = monitor(PROPERTIES[0]);
    let (mut waits, mut waits_not) = (0, 0);
    for _ in 0..1000 {
        let (events, symbols) = processes(&mut rng, 12);
        let mut arrived = shuffled(&mut rng, &events);
        let lost = arrived.remove(rng.below(arrived.len()));
        let waiting = arrived
            .iter()
            .filter(|event| event.clock[lost.thread] >= lost.clock[lost.thread])
            .count();
        let options = Options::default().causal_delivery(true);
        let report = watch(&monitor, &arrived, &symbols, options, rng.one_in(2));
        assert_eq!(report.trace.events as usize, arrived.len() - waiting);
        let is_missing = |kind: WarningKind| kind == WarningKind::EventsMissing;
        let warning = report
            .warnings
            .iter()
            .find(|warning| is_missing(warning.kind));
        match waiting {
            0 => {
                assert_eq!(warning, None);
                waits_not += 1;
            }
            _ => {
                let text = &warning.expect("a warning").text;
                assert!(text.starts_with(&waiting.to_string()), "{text}");
                let number = lost.clock[lost.thread];
                assert!(
                    text.contains(&format!("waits for event {number} of")),
                    "{text}"
                );
                for property in &report.properties {
                    assert!(!property.lattice.exhaustive);
                    assert_eq!(property.lattice.limit, Some(Limit::Missing));
                }
                waits += 1;
            }
        }
    }
    assert!(waits > 300 && waits_not > 20, "{waits}, {waits_not}");
}

#[test]
fn beyond_the_limit_the_first_bindings_are_watched() {
    let mut rng = Rng::new(90);
    let monitors = PROPERTIES.map(monitor);
    let mut cut = 0;
    for _ in 0..500 {
        let mut program = Program::new(3);
        let events: Vec<Event> = (0..rng.below(24))
            .map(|_| {
                let name = rng.pick(&["a", "b", "c"]);
                program.event(rng.below(3), name, &[rng.below(5) as i64])
            })
            .collect();
        let monitor = &monitors[rng.below(monitors.len())];
        let options = Options::default().max_bindings(1 + rng.below(5));
        let mut checker = Checker::new([monitor.clone()], zero, options.clone())
            .expect("fits")
            .handed(&program.symbols);
        let mut watch = Watch::new([monitor.clone()], zero, options)
            .expect("fits")
            .handed(&program.symbols);
        for event in &events {
            checker.take(event).expect("fits");
            watch.take(event).expect("fits");
        }
        let expected = checker.finish("run").expect("a report");
        let report = watch.finish("run").expect("a report");
        assert_eq!(predictions(&report), predictions(&expected));
        assert_eq!(report.warnings, expected.warnings);
        let is_cut = |kind: WarningKind| kind == WarningKind::TooManyBindings;
        cut += usize::from(report.warnings.iter().any(|warning| is_cut(warning.kind)));
    }
    assert!(cut > 200, "{cut}");
}
