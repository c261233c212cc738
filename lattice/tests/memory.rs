//! What a run that does not fit in the memory still tells: what was observed, nothing that cannot be, and that it is not all.

use portent_lattice::{Checker, Counting, Error, Options, Report, report::WarningKind};
use portent_monitor_core::{Action, Event, Op, Symbols};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::Rng;

use crate::{handed::Handed, oracle::Oracle, random, zero};

fn check(monitor: &Monitor, events: &[Event], symbols: &Symbols, memory: u64) -> Report {
    let options = Options::default().memory(memory);
    let mut checker = Checker::new([monitor.clone()], zero, options)
        .expect("initial values")
        .handed(symbols);
    for event in events {
        checker.take(event).expect("events fit");
    }
    checker.finish("random").expect("a report")
}

#[test]
fn an_order_that_is_lost_on_the_way_adds_no_run() {
    let mut rng = Rng::new(23);
    let monitors = random::monitors(&mut rng, 150);
    let (mut lost, mut predicted, mut missed) = (0, 0, 0);
    for _ in 0..12_000 {
        let monitor = &monitors[rng.below(monitors.len())];
        let (events, symbols) = random::trace(&mut rng, 14);
        let oracle = Oracle::new(&events, &symbols, monitor, zero);
        if oracle.relevant.len() > 10 {
            continue;
        }
        let Some(truth) = oracle.truth(20_000) else {
            continue;
        };
        // Room for the search, and a little for clocks.
        let report = check(
            monitor,
            &events,
            &symbols,
            rng.pick(&[1000, 2000, 4000, 8000]),
        );
        let is_lost = { report.warnings.iter() }
            .any(|warning| warning.kind == WarningKind::OrderBeyondMemory);
        let property = &report.properties[0];
        let observed = (property.observed.verdict, property.observed.step);
        assert_eq!(Some(observed), truth.observed);
        let violated = property.predicted.violated;
        assert!(truth.violated > 0 || !violated, "no false alarm");
        assert!(!property.lattice.exhaustive || violated == (truth.violated > 0));
        if let (Some(witness), Some(at)) =
            (&property.predicted.witness, property.predicted.violated_at)
        {
            let run: Vec<usize> = witness.iter().map(|row| row.event as usize).collect();
            oracle.examine(&run, at as usize);
            predicted += usize::from(is_lost && !run.is_sorted());
        }
        if is_lost {
            assert!(!property.lattice.exhaustive && property.runs.is_none());
            lost += 1;
            missed += usize::from(truth.violated > 0 && !violated);
        }
    }
    assert!(
        lost > 300 && predicted > 10 && missed > 10,
        "{lost} lost, {predicted} predicted from what was known, {missed} missed"
    );
}

/// One thread after the other holds a lock; what came first is known, and who came last is not.
#[test]
fn before_the_order_is_lost_other_runs_are_found() {
    let mut symbols = Symbols::default();
    let lock = symbols.locks.intern("m").expect("few");
    let [a, b] = ["a", "b"].map(|name| symbols.names.intern(name).expect("few"));
    let mut thread = |number: usize| symbols.threads.intern(&format!("T{number}")).expect("few");
    let mut events = vec![
        Event::new(thread(0), Action::new(a)),
        Event::new(thread(1), Action::new(b)),
    ];
    for number in 0..2000 {
        for op in [Op::Lock(lock), Action::new(a).into(), Op::Unlock(lock)] {
            events.push(Event::new(thread(number), op));
        }
    }
    let property = Property::parse("always (b -> once a)").expect("a property");
    let monitor = property.monitor().expect("small");
    for (memory, is_lost) in [(1 << 20, true), (1 << 30, false)] {
        let options = Options::default().memory(memory).counting(Counting::Never);
        let mut checker = Checker::new([monitor.clone()], zero, options)
            .expect("no variables")
            .handed(&symbols);
        for event in &events {
            checker.take(event).expect("fits");
        }
        let report = checker.finish("threads").expect("a report");
        let found = &report.properties[0];
        assert!(found.predicted.violated);
        assert_eq!(found.predicted.violated_at, Some(1));
        assert_eq!(found.lattice.exhaustive, !is_lost);
        let warned = { report.warnings.iter() }
            .any(|warning| warning.kind == WarningKind::OrderBeyondMemory);
        assert_eq!(warned, is_lost);
    }
}

#[test]
fn more_steps_than_fit_are_an_error() {
    let mut symbols = Symbols::default();
    let thread = symbols.threads.intern("T").expect("few");
    let name = symbols.names.intern("a").expect("few");
    let event = Event::new(thread, Action::new(name));
    let property = Property::parse("always (a -> !b)").expect("a property");
    let monitor = property.monitor().expect("small");
    let take = |memory: u64, steps: usize| {
        let options = Options::default().memory(memory);
        let mut checker = Checker::new([monitor.clone()], zero, options)
            .expect("no variables")
            .handed(&symbols);
        (0..steps).try_for_each(|_| checker.take(&event))
    };
    assert_eq!(take(1 << 20, 100_000), Ok(()), "a little is always kept");
    assert_eq!(take(1 << 26, 300_000), Ok(()));
    let Err(Error::StepsBeyondMemory { steps, memory }) = take(1 << 20, 300_000) else {
        panic!("there is no room for them");
    };
    assert!((100_000..300_000).contains(&steps) && memory == 1 << 20);
}
