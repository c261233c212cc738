//! The model `strong` from a trace to the report, for properties of every kind, against all runs that leave things out.

use portent_lattice::{Checker, Model, Options, report::PropertyReport};
use portent_monitor_core::{Action, Causality, Event, LockId, Op, Symbols, ThreadId, Value};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::Rng;

use crate::{handed::Handed, oracle::Oracle, random, zero};

/// This many random traces are compared; more if `PORTENT_CASES` asks for them.
fn cases() -> usize {
    let asked = std::env::var("PORTENT_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(5_000)
}

fn check_all(
    monitor: &Monitor,
    events: &[Event],
    symbols: &Symbols,
    options: Options,
) -> Vec<PropertyReport> {
    let options = options.causality(Model::Strong);
    let checker = Checker::new([monitor.clone()], zero, options);
    let mut checker = checker.expect("initial values").handed(symbols);
    for event in events {
        checker.take(event).expect("events fit");
    }
    checker.finish("random").expect("a report").properties
}

/// The same, of a property without parameters.
fn check(
    monitor: &Monitor,
    events: &[Event],
    symbols: &Symbols,
    options: Options,
) -> PropertyReport {
    check_all(monitor, events, symbols, options).remove(0)
}

fn random_trace(rng: &mut Rng) -> (Vec<Event>, Symbols) {
    if rng.one_in(2) {
        let length = rng.between(3, 12);
        random::trace(rng, length)
    } else {
        random::sections(rng)
    }
}

#[test]
fn any_property_is_violated_iff_some_run_that_leaves_out_violates_it() {
    let mut rng = Rng::new(2_027);
    let monitors = random::monitors(&mut rng, 300);
    let (mut found, mut none, mut widened) = (0, 0, 0);
    for round in 0..cases() {
        let monitor = &monitors[rng.below(monitors.len())];
        let (events, symbols) = random_trace(&mut rng);
        let oracle = Oracle::new(&events, &symbols, monitor, zero);
        let Some(truth) = oracle.truth(3_000) else {
            continue;
        };
        let mut options = Options::default();
        if round % 3 == 0 {
            options.max_states = 0;
        }
        let report = check(monitor, &events, &symbols, options);
        let soonest = oracle.soonest_leaving_out(&events);
        assert!(report.lattice.exhaustive, "round {round}");
        assert_eq!(
            report.predicted.violated,
            soonest.is_some(),
            "round {round}"
        );
        // What happens-before finds is taken as it is; what is found beyond need not be a shortest.
        match truth.soonest {
            Some(_) => assert_eq!(report.predicted.violated_at, truth.soonest),
            None => assert!(report.predicted.violated_at >= soonest, "round {round}"),
        }
        *if soonest.is_some() {
            &mut found
        } else {
            &mut none
        } += 1;
        widened += usize::from(soonest.is_some() && truth.soonest.is_none());
    }
    let counts = [found, none];
    let are_many = counts.iter().all(|&count| count > 40);
    assert!(are_many && widened > 5, "{counts:?}, {widened}");
}

#[test]
fn a_search_without_memory_is_right_in_what_it_says() {
    let mut rng = Rng::new(2_028);
    let monitors = random::monitors(&mut rng, 200);
    let (mut limited, mut found) = (0, 0);
    for round in 0..cases() {
        let monitor = &monitors[rng.below(monitors.len())];
        let (events, symbols) = random_trace(&mut rng);
        let oracle = Oracle::new(&events, &symbols, monitor, zero);
        let memory = rng.pick(&[0, 1, 100, 400, 1_000, 4_000]);
        let mut options = Options::default().memory(memory);
        if round % 2 == 0 {
            options.max_states = 0;
        }
        let report = check(monitor, &events, &symbols, options);
        let is_violated = oracle.soonest_leaving_out(&events).is_some();
        if report.predicted.violated {
            assert!(is_violated, "round {round}");
            found += 1;
        } else if report.lattice.exhaustive {
            assert!(!is_violated, "round {round}");
        } else {
            assert!(report.lattice.limit.is_some(), "round {round}");
            limited += 1;
        }
    }
    assert!(
        limited > 40 && found > 40,
        "{limited} limited, {found} found"
    );
}

const BODIES: [&str; 6] = [
    "ltl: always (b -> once a)",
    "ltl: always !(a && once b)",
    "ltl: always (c -> [a, b))",
    "never: {}* b {!c}* a",
    "never: {}* b {}* c",
    "ere: (a b* c)*",
];

/// What a thread does: with a lock, or an event about a thing.
type Line = (ThreadId, Result<Op, (&'static str, i64)>);

/// Sections of three threads, each with a few events about one of two things.
fn about_things(rng: &mut Rng) -> Vec<Line> {
    let lock = LockId::from(0);
    let mut lines = Vec::new();
    for _ in 0..rng.between(2, 4) {
        let thread = ThreadId::from(rng.below(3) as u32);
        let is_guarded = !rng.one_in(3);
        if is_guarded {
            lines.push((thread, Ok(Op::Lock(lock))));
        }
        for _ in 0..rng.between(1, 2) {
            let event = (rng.pick(&["a", "b", "c"]), rng.below(2) as i64);
            lines.push((thread, Err(event)));
        }
        if is_guarded {
            lines.push((thread, Ok(Op::Unlock(lock))));
        }
    }
    lines
}

#[test]
fn a_parametric_property_is_violated_iff_one_of_its_instances_is() {
    let mut symbols = Symbols::default();
    for name in ["T0", "T1", "T2"] {
        symbols.threads.intern(name).expect("few");
        symbols.locks.intern(name).expect("few");
    }
    let [a, b, c, other] =
        ["a", "b", "c", "other"].map(|name| symbols.names.intern(name).expect("few"));
    let name = |text: &str| match text {
        "a" => a,
        "b" => b,
        _ => c,
    };
    let monitors = BODIES.map(|body| {
        let parametric = format!("property p(t) {{\n  event a(t), b(t), c(t)\n  {body}\n}}");
        let plain = format!("property p {{\n  event a, b, c\n  {body}\n}}");
        [parametric, plain].map(|text| {
            let property = Property::parse(text).expect("a property");
            property.monitor().expect("small")
        })
    });
    let (mut found, mut none) = (0, 0);
    for round in 0..cases() {
        let mut rng = Rng::new(round as u64);
        let [parametric, plain] = &monitors[rng.below(monitors.len())];
        let lines = about_things(&mut rng);
        let events = |action: &dyn Fn(&str, i64) -> Action| -> Vec<Event> {
            let event = |(thread, what): &(ThreadId, Result<Op, (&str, i64)>)| match what {
                Ok(op) => Event::new(*thread, op.clone()),
                Err((text, thing)) => Event::new(*thread, action(text, *thing)),
            };
            lines.iter().map(event).collect()
        };
        let trace = events(&|text, thing| Action::new(name(text)).args([Value::from(thing)]));
        let reports = check_all(parametric, &trace, &symbols, Options::default());
        let is_exhaustive = reports.iter().all(|report| report.lattice.exhaustive);
        assert!(is_exhaustive, "round {round}");
        let is_there = |thing: &i64| {
            let mut things = lines.iter().filter_map(|(_, what)| what.as_ref().err());
            things.any(|(_, other)| other == thing)
        };
        let is_violated = |thing: i64| {
            let trace =
                events(&|text, about| Action::new(if about == thing { name(text) } else { other }));
            let oracle = Oracle::new(&trace, &symbols, plain, zero);
            oracle.soonest_leaving_out(&trace).is_some()
        };
        let expected = [0, 1].into_iter().filter(is_there).any(is_violated);
        let found_any = reports.iter().any(|report| report.predicted.violated);
        assert_eq!(found_any, expected, "round {round}: {lines:?}");
        *if expected { &mut found } else { &mut none } += 1;
    }
    assert!(found > 100 && none > 100, "{found}, {none}");
}

/// A checker that tries what the order of locks hides.
fn trying(monitor: &Monitor, symbols: &Symbols) -> Checker {
    let options = Options::default().trial_events(1_000);
    let checker = Checker::new([monitor.clone()], zero, options);
    checker.expect("initial values").handed(symbols)
}

#[test]
fn of_a_run_that_brings_stamps_the_same_is_tried() {
    let mut rng = Rng::new(2_031);
    let monitors = random::monitors(&mut rng, 300);
    let (mut tried, mut violated) = (0, 0);
    for round in 0..cases() {
        let monitor = &monitors[rng.below(monitors.len())];
        let (events, symbols) = random_trace(&mut rng);
        let [mut computed, mut given] = [(); 2].map(|()| trying(monitor, &symbols));
        let mut causality = Causality::default();
        for event in &events {
            computed.take(event).expect("events fit");
            let stamp = causality.step(event, true).expect("few").expect("relevant");
            given.take_stamped(event, &stamp).expect("in order");
        }
        let [computed, given] = [computed, given].map(|mut checker| {
            let mut report = checker.finish("random").expect("a report");
            report.properties.remove(0)
        });
        assert_eq!(given.under_strong, computed.under_strong, "round {round}");
        let by_locks = [&given, &computed].map(|report| report.lattice.ordered_by_locks);
        assert_eq!(by_locks[0], by_locks[1], "round {round}");
        if let Some(found) = &given.under_strong {
            tried += 1;
            violated += usize::from(found.violated);
        }
    }
    assert!(
        tried > 100 && violated > 5,
        "{tried} tried, {violated} violated"
    );
}

#[test]
fn what_stamps_order_for_other_reasons_is_no_matter_of_locks() {
    let mut symbols = Symbols::default();
    let [t, u] = ["T", "U"].map(|name| symbols.threads.intern(name).unwrap());
    let [a, b] = ["a", "b"].map(|name| symbols.names.intern(name).unwrap());
    let [m, n] = ["m", "n"].map(|name| symbols.locks.intern(name).unwrap());
    let of_t = [Op::Lock(m), Action::new(a).into(), Op::Unlock(m)].map(|op| Event::new(t, op));
    let of_u = [Op::Lock(m), Op::Unlock(m), Action::new(b).into()].map(|op| Event::new(u, op));
    let monitor = Property::parse("always (b -> once a)")
        .unwrap()
        .monitor()
        .unwrap();
    // By its lock alone the second thread comes after the first; or for a reason that no event tells, and its lock is another.
    for is_told in [false, true] {
        let mut checker = trying(&monitor, &symbols);
        let mut causality = Causality::default();
        let mut take = |event: &Event, with: &Event| {
            let stamp = causality.step(event, true).unwrap().unwrap();
            checker.take_stamped(with, &stamp).unwrap();
        };
        of_t.iter().for_each(|event| take(event, event));
        let other = [Op::Lock(n), Op::Unlock(n)].map(|op| Event::new(u, op));
        take(&of_u[0], if is_told { &other[0] } else { &of_u[0] });
        take(&of_u[1], if is_told { &other[1] } else { &of_u[1] });
        take(&of_u[2], &of_u[2]);
        let report = checker.finish("run").unwrap();
        let property = &report.properties[0];
        assert!(!property.predicted.violated);
        let tried = property.under_strong.as_ref().map(|found| found.violated);
        let expected = if is_told {
            (Some(0), None)
        } else {
            (Some(1), Some(true))
        };
        assert_eq!((property.lattice.ordered_by_locks, tried), expected);
    }
}
