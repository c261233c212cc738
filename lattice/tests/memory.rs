//! What a run that does not fit in the memory still tells: what was observed, nothing that cannot be, and that it is not all.

use portent_lattice::{Checker, Counting, Error, Model, Options, Report, report::WarningKind};
use portent_monitor_core::{Action, Event, Op, Symbols, Value};
use portent_monitor_dsl::{Monitor, Property, Verdict};
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

/// How many steps there are in the runs that do not fit in a mebibyte, of which something is kept in any case.
const TOO_MANY: usize = 250_000;

/// A run of two threads: `a` again and again, with other events at some places.
fn long_run(others: &[(usize, &str)], symbols: &mut Symbols) -> Vec<Event> {
    let x = symbols.vars.intern("x").expect("few");
    let mut event = |number: usize, name: &str| {
        let thread = symbols.threads.intern(["A", "B"][number % 2]).expect("few");
        let action = Action::new(symbols.names.intern(name).expect("few"));
        let action = match name {
            "write" => action.set(vec![(x, Value::from(number as i64))]),
            _ => action,
        };
        Event::new(thread, action)
    };
    let mut events: Vec<Event> = (0..TOO_MANY).map(|number| event(number, "a")).collect();
    for &(place, name) in others {
        events[place] = event(place, name);
    }
    events
}

#[test]
fn of_more_steps_than_fit_the_observed_run_is_followed() {
    let texts = [
        "always (a -> !once b)",
        "always (b -> eventually c)",
        "always x < 1000",
        "always (d -> once b)",
    ];
    let monitors = texts.map(|text| {
        let property = Property::parse(text).expect("a property");
        property.monitor().expect("small")
    });
    let late = TOO_MANY - 10;
    let runs: &[&[(usize, &str)]] = &[
        &[],
        &[(7, "b")],
        &[(late, "b")],
        &[(late, "b"), (late + 5, "c")],
        &[(late, "write"), (late + 3, "d")],
        // Other orders are found where they fit.
        &[(10, "b"), (11, "d"), (late, "b")],
    ];
    let (mut violated, mut pending) = (0, 0);
    for others in runs {
        let mut symbols = Symbols::default();
        let events = long_run(others, &mut symbols);
        // What is pending at the end has not got what it waits for.
        let ends: &[bool] = if others.len() == 1 {
            &[false, true]
        } else {
            &[false]
        };
        for &complete in ends {
            let options = Options::default()
                .memory(1 << 20)
                .complete(complete)
                .window(4)
                .counting(Counting::Never);
            let mut checker = Checker::new(monitors.clone(), zero, options)
                .expect("initial values")
                .handed(&symbols);
            for event in &events {
                checker.take(event).expect("events fit");
            }
            let report = checker.finish("long").expect("a report");
            let kinds = report.warnings.iter().map(|warning| warning.kind);
            assert!(
                kinds
                    .clone()
                    .any(|kind| kind == WarningKind::StepsBeyondMemory)
            );
            for (found, monitor) in report.properties.iter().zip(&monitors) {
                let observed = follow(monitor, &events, &symbols);
                let told = (found.observed.verdict, found.observed.step);
                assert_eq!((told, found.relevant), observed, "{}", found.name);
                assert!(!found.lattice.exhaustive && found.runs.is_none());
                let verdict = found.observed.verdict;
                let is_bad =
                    verdict == Verdict::Violated || (complete && verdict == Verdict::Pending);
                assert!(
                    found.predicted.violated || !is_bad,
                    "what was observed is told"
                );
                // Only in the last run something else is possible.
                let is_possible = others.len() == 3 && found.name == texts[3];
                assert_eq!(
                    found.predicted.violated,
                    is_bad || is_possible,
                    "{}",
                    found.name
                );
                violated += usize::from(verdict == Verdict::Violated);
                pending += usize::from(complete && verdict == Verdict::Pending);
            }
        }
    }
    assert!(violated >= 5 && pending >= 2, "{violated}, {pending}");
}

/// The verdict of the observed run, after how many steps it was known, and how many there were; read from the events.
fn follow(monitor: &Monitor, events: &[Event], symbols: &Symbols) -> ((Verdict, Option<u64>), u64) {
    let alphabet = monitor.alphabet();
    let mut run = monitor.start_with(zero).expect("initial values");
    let mut steps = 0;
    for event in events {
        let Op::Event(action) = &event.op else {
            panic!("only events");
        };
        let name = action.name.map(|name| symbols.names.name(name));
        let name = name.and_then(|name| alphabet.event(name));
        let written = { action.set.iter() }.filter_map(|(variable, value)| {
            let variable = alphabet.variable(symbols.vars.name(*variable))?;
            Some((variable, value.clone()))
        });
        let written: Vec<_> = written.collect();
        if name.is_some() || !written.is_empty() {
            steps += 1;
            run.step(name, written).expect("fits");
        }
    }
    ((run.verdict(), run.decided_after()), steps)
}

/// Where there is not one observed run, or more than that is asked for, there is no room for an answer.
#[test]
fn more_steps_than_fit_are_an_error_with_parameters() {
    let mut symbols = Symbols::default();
    let events = long_run(&[], &mut symbols);
    let take = |text: &str, memory: u64, model: Model| {
        let monitor = Property::parse(text).expect("a property").monitor();
        let options = Options::default().memory(memory).causality(model);
        let mut checker = Checker::new([monitor.expect("small")], zero, options)
            .expect("no variables")
            .handed(&symbols);
        { events.iter() }.try_for_each(|event| checker.take(event))
    };
    let plain = "always (a -> !b)";
    let parametric = "property p(t) { event a by t  event b by t  ltl: always (a -> !b) }";
    assert_eq!(take(plain, 1 << 20, Model::HappensBefore), Ok(()));
    for (text, model) in [(parametric, Model::HappensBefore), (plain, Model::Maximal)] {
        assert_eq!(take(text, 1 << 26, model), Ok(()));
        let Err(Error::StepsBeyondMemory { steps, memory }) = take(text, 1 << 20, model) else {
            panic!("there is no room for them");
        };
        assert!((100_000..TOO_MANY as u64).contains(&steps) && memory == 1 << 20);
    }
}
