//! The way in: what is refused, events that bring stamps, several properties on one clock, one run after another.

use portent_lattice::{Checker, Counting, Error, Options, Reductions, Report, Watch};
use portent_monitor_core::{
    Action, Causality, Delivery, Event, Msg, Op, Stamp, SymbolKind, Symbols, ThreadId, Value,
};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::Rng;

use crate::{handed::Handed, random, zero};

fn monitor(text: &str) -> Monitor {
    Property::parse(text)
        .expect("a property")
        .monitor()
        .expect("small")
}

fn thread(symbols: &mut Symbols, name: &str) -> ThreadId {
    symbols.threads.intern(name).expect("few")
}

fn named(symbols: &mut Symbols, thread: ThreadId, name: &str) -> Event {
    Event::new(
        thread,
        Action::new(symbols.names.intern(name).expect("few")),
    )
}

/// Events that no run can have, each after others that one can, and what is said of it.
fn impossible(symbols: &mut Symbols) -> Vec<(Vec<Event>, &'static str)> {
    let (t, u) = (thread(symbols, "T"), thread(symbols, "U"));
    let m = symbols.locks.intern("m").expect("few");
    let c = symbols.chans.intern("c").expect("few");
    let a = named(symbols, t, "a");
    let event = Event::new;
    vec![
        (
            vec![event(t, Op::Recv(c, Msg::Number(1), Delivery::Unordered))],
            "thread T receives message 1 on channel c, which was not sent before",
        ),
        (
            vec![event(u, Op::Lock(m)), event(t, Op::Unlock(m))],
            "thread T releases lock m, which it does not hold",
        ),
        (
            vec![event(u, Op::ReadLock(m)), event(t, Op::Lock(m))],
            "thread T takes lock m, which U holds for reading: log `lock` and `rlock` when the lock was acquired, \
             `unlock` and `runlock` before it is released",
        ),
        (
            vec![event(u, Op::Fork(t)), event(u, Op::Join(t)), a],
            "thread T acts after it was joined",
        ),
    ]
}

#[test]
fn what_no_run_can_do_is_an_error() {
    let mut symbols = Symbols::default();
    for (events, message) in impossible(&mut symbols) {
        let property = monitor("always !a");
        let (last, before) = events.split_last().expect("some");
        let mut checker = Checker::new([property.clone()], zero, Options::default())
            .expect("no variables")
            .handed(&symbols);
        let mut watch = Watch::new([property.clone()], zero, Options::default())
            .expect("no variables")
            .handed(&symbols);
        for event in before {
            checker.take(event).expect("possible");
            watch.take(event).expect("possible");
        }
        for _ in 0..2 {
            // Refused once, and as nothing of it is kept, refused again.
            let error = checker.take(last).expect_err(message);
            assert_eq!(error.to_string(), message);
            let error = watch.take(last).expect_err(message);
            assert_eq!(error.to_string(), message);
        }
        let report = checker.finish("run").expect("a report");
        assert_eq!(report.trace.events, before.len() as u64);
        assert!(!report.is_violated());
        // Somebody else has looked, or takes the blame.
        let trusting = Options::default().admitted(true);
        let mut checker = Checker::new([property], zero, trusting)
            .expect("no variables")
            .handed(&symbols);
        for event in &events {
            checker.take(event).expect("not looked at");
        }
    }
}

#[test]
fn a_run_does_not_end_with_a_lock_that_two_threads_hold() {
    let mut symbols = Symbols::default();
    let (t, u) = (thread(&mut symbols, "T"), thread(&mut symbols, "U"));
    let m = symbols.locks.intern("m").expect("few");
    let c = symbols.conds.intern("c").expect("few");
    let a = named(&mut symbols, t, "a");
    let mut checker = Checker::new([monitor("always !a")], zero, Options::default())
        .expect("no variables")
        .handed(&symbols);
    let mut watch = Watch::new([monitor("always !a")], zero, Options::default())
        .expect("no variables")
        .handed(&symbols);
    for takes in [Op::Lock(m), Op::ReadLock(m)] {
        let held = [Event::new(u, Op::Lock(m)), Event::new(t, takes), a.clone()];
        let mut end = |run: &[Event]| {
            for event in run {
                checker.take(event).expect("possible");
                watch.take(event).expect("possible");
            }
            [checker.finish("run"), watch.finish("run")]
        };
        for ended in end(&held) {
            let error = ended.expect_err("held twice").to_string();
            let said = "thread U holds lock m to the end, but T has taken it, and no line says that U waits";
            assert!(error.starts_with(said), "{error}");
        }
        // Both are ready for another run, in which U says that it waits.
        let [locked, taken, a] = held;
        let waiting = Event::new(u, Op::Waiting(c, Some(m)));
        for ended in end(&[locked, waiting, taken, a]) {
            let report = ended.expect("a report");
            assert_eq!(report.warnings.len(), 0, "{:?}", report.warnings);
            assert!(report.is_violated());
        }
    }
}

/// What must not depend on how events were ordered and how many properties there are: everything.
fn essence(report: &Report) -> String {
    serde_json::to_string(report).expect("JSON")
}

/// What must not depend on which chains the events are on: all but how many nodes that takes.
fn answers(report: &Report) -> Vec<String> {
    let properties = report.properties.iter();
    properties
        .map(|property| {
            format!(
                "{} {:?} {:?} {:?} {:?} {:?} {:?} {}",
                property.name,
                property.binding,
                property.relevant,
                property.observed,
                property.predicted.violated_at,
                property.runs,
                property.lattice.cuts,
                property.lattice.exhaustive,
            )
        })
        .collect()
}

fn some_monitors(rng: &mut Rng, monitors: &[Monitor]) -> Vec<Monitor> {
    (0..1 + rng.below(4))
        .map(|_| monitors[rng.below(monitors.len())].clone())
        .collect()
}

#[test]
fn properties_that_are_checked_together_get_the_answers_that_each_gets_alone() {
    let mut rng = Rng::new(12);
    let monitors = random::monitors(&mut rng, 200);
    for round in 0..2000 {
        let some = some_monitors(&mut rng, &monitors);
        let (events, symbols) = random::trace(&mut rng, 16);
        let check = |some: &[Monitor]| {
            let mut checker = Checker::new(some.to_vec(), zero, Options::default())
                .expect("initial values")
                .handed(&symbols);
            for event in &events {
                checker.take(event).expect("possible");
            }
            answers(&checker.finish("run").expect("a report"))
        };
        let alone: Vec<String> = some
            .iter()
            .flat_map(|monitor| check(std::slice::from_ref(monitor)))
            .collect();
        assert_eq!(check(&some), alone, "round {round}");
    }
}

#[test]
fn events_that_bring_stamps_get_the_answers_of_those_that_do_not() {
    let mut rng = Rng::new(13);
    let monitors = random::monitors(&mut rng, 200);
    let mut left_out = 0;
    for round in 0..2000 {
        let some = some_monitors(&mut rng, &monitors);
        let (events, symbols) = random::trace(&mut rng, 16);
        let options = Options::default()
            .reductions(Reductions::NONE)
            .counting(if round % 2 == 0 {
                Counting::Auto
            } else {
                Counting::Never
            })
            .lookahead((round % 2 == 1).then_some(1000));
        // A program that stamps more than anybody asks for, and sends only what may be a step.
        let mut causality = Causality::default();
        let stamped: Vec<(&Event, Stamp)> = events
            .iter()
            .filter_map(|event| {
                let relevant = event.action().is_some() || event.writes().next().is_some();
                let stamp = causality.step(event, relevant || rng.one_in(3));
                let stamp = stamp.expect("few")?;
                relevant.then_some((event, stamp))
            })
            .collect();
        left_out += events.len() - stamped.len();
        if round % 2 == 0 {
            let start = || {
                Checker::new(some.clone(), zero, options.clone())
                    .expect("initial values")
                    .handed(&symbols)
            };
            let (mut computed, mut given) = (start(), start());
            for event in &events {
                computed.take(event).expect("possible");
            }
            for (event, stamp) in &stamped {
                given.take_stamped(event, stamp).expect("in order");
            }
            let [computed, given] = [&mut computed, &mut given]
                .map(|checker| answers(&checker.finish("run").expect("a report")));
            assert_eq!(computed, given, "round {round}");
        } else {
            let start = || {
                Watch::new(some.clone(), zero, options.clone())
                    .expect("initial values")
                    .handed(&symbols)
            };
            let (mut computed, mut given) = (start(), start());
            let mut news = [Vec::new(), Vec::new()];
            for event in &events {
                news[0].extend(computed.take(event).expect("possible"));
            }
            for (event, stamp) in &stamped {
                let found = given.take_stamped(event, stamp);
                news[1].extend(found.expect("in order"));
            }
            assert_eq!(news[0].len(), news[1].len(), "round {round}");
            let [computed, given] = [&mut computed, &mut given]
                .map(|watch| answers(&watch.finish("run").expect("a report")));
            assert_eq!(computed, given, "round {round}");
        }
    }
    assert!(left_out > 2000, "{left_out}");
}

#[test]
fn there_is_one_clock_for_all_events_of_a_run() {
    let mut symbols = Symbols::default();
    let (t, u) = (thread(&mut symbols, "T"), thread(&mut symbols, "U"));
    let (a, b) = (named(&mut symbols, t, "a"), named(&mut symbols, u, "b"));
    let start = || {
        Checker::new([monitor("always !(a && b)")], zero, Options::default())
            .expect("no variables")
            .handed(&symbols)
    };
    let mut causality = Causality::default();
    let mut stamp = |event: &Event| causality.step(event, true).expect("few").expect("relevant");
    let (first, second, other) = (stamp(&a), stamp(&a), stamp(&b));

    let mut checker = start();
    checker.take(&a).expect("possible");
    let mixed = checker.take_stamped(&b, &other);
    assert_eq!(mixed, Err(Error::MixedStamps));
    let mut checker = start();
    checker.take_stamped(&b, &other).expect("first");
    assert_eq!(checker.take(&a), Err(Error::MixedStamps));
    checker.take_stamped(&a, &second).expect("later");
    let late = Error::LateStamp {
        number: 1,
        known: 2,
    };
    let again = checker.take_stamped(&a, &first);
    assert_eq!(again, Err(late));
}

#[test]
fn a_checker_that_has_finished_takes_the_next_run() {
    let mut rng = Rng::new(14);
    let monitors = random::monitors(&mut rng, 50);
    let files = monitor("property p(f) { event open(f), close(f)  ere: (open close)* }");
    for _ in 0..200 {
        let mut some = some_monitors(&mut rng, &monitors);
        some.push(files.clone());
        let start =
            || Checker::new(some.clone(), zero, Options::default()).expect("initial values");
        let mut checker = start();
        for _ in 0..3 {
            // Every run has symbols of its own, in which the ids mean something else.
            let (mut events, mut symbols) = random::trace(&mut rng, 10);
            let t = thread(&mut symbols, "T0");
            for name in ["b", "open", "close"] {
                let mut event = named(&mut symbols, t, name);
                if let Op::Event(action) = &mut event.op {
                    action.args.push(Value::from(rng.below(3) as i64));
                }
                events.insert(rng.below(events.len() + 1), event);
            }
            checker = checker.handed(&symbols);
            let mut new = start().handed(&symbols);
            let possible: Vec<&Event> = events
                .iter()
                .filter(|event| new.take(event).is_ok())
                .collect();
            for event in possible {
                checker.take(event).expect("possible");
            }
            let [again, new] = [&mut checker, &mut new]
                .map(|checker| essence(&checker.finish("run").expect("a report")));
            assert_eq!(again, new);
        }
    }
}

#[test]
fn a_watch_that_has_finished_watches_the_next_run_as_a_new_one_would() {
    let mut rng = Rng::new(14);
    let monitors = random::monitors(&mut rng, 100);
    for round in 0..300 {
        let some = some_monitors(&mut rng, &monitors);
        let start = || Watch::new(some.clone(), zero, Options::default()).expect("initial values");
        let mut again = start();
        for run in 0..3 {
            // Every run has symbols of its own.
            let (events, symbols) = random::trace(&mut rng, 12);
            again = again.handed(&symbols);
            let mut first = start().handed(&symbols);
            let [again, first] = [&mut again, &mut first].map(|watch| {
                let mut news = 0;
                for event in &events {
                    news += watch.take(event).expect("possible").len();
                }
                let report = watch.finish("run").expect("a report");
                (news, answers(&report))
            });
            assert_eq!(again, first, "round {round}, run {run}");
        }
    }
}

/// As one that is read of a trace, or made by hand: with the names that there are already, and some that are new.
#[test]
fn names_keep_their_ids_from_one_run_to_the_next() {
    let mut rng = Rng::new(15);
    let monitors = random::monitors(&mut rng, 50);
    for _ in 0..200 {
        let some = some_monitors(&mut rng, &monitors);
        let start =
            || Checker::new(some.clone(), zero, Options::default()).expect("initial values");
        let mut checker = start();
        for _ in 0..3 {
            let before: Vec<String> = checker.symbols().names.iter().map(str::to_owned).collect();
            let events = random::trace_with(&mut rng, 10, checker.symbols_mut());
            assert!(
                checker
                    .symbols()
                    .names
                    .iter()
                    .take(before.len())
                    .eq(&before)
            );
            let mut new = start().handed(checker.symbols());
            let [again, new] = [&mut checker, &mut new].map(|checker| {
                for event in &events {
                    checker.take(event).expect("possible");
                }
                essence(&checker.finish("run").expect("a report"))
            });
            assert_eq!(again, new);
        }
    }
}

/// An event that was made with other symbols, of which one has a name that is not known here.
fn of_others(rng: &mut Rng, symbols: &Symbols, t: ThreadId) -> (Event, SymbolKind) {
    let mut others = symbols.clone();
    let name = "nobody here has that name";
    let action = Action::new(symbols.names.get("a").expect("an event"));
    let (op, kind): (Op, _) = match rng.below(8) {
        0 => {
            let other = others.threads.intern(name).expect("few");
            return (Event::new(other, action), SymbolKind::Thread);
        }
        1 => {
            let mut event = Event::new(t, action);
            event.loc = Some(others.locs.intern(name).expect("few"));
            return (event, SymbolKind::Location);
        }
        2 => {
            let x = others.vars.intern(name).expect("few");
            (action.set([(x, 1)]).into(), SymbolKind::Variable)
        }
        3 => {
            let m = others.locks.intern(name).expect("few");
            (Op::Lock(m), SymbolKind::Lock)
        }
        4 => {
            let c = others.chans.intern(name).expect("few");
            (Op::TryRecv(c), SymbolKind::Channel)
        }
        5 => {
            let c = others.conds.intern(name).expect("few");
            (Op::Notify(c), SymbolKind::Condition)
        }
        6 => {
            let b = others.barriers.intern(name).expect("few");
            (Op::Barrier(b, 1), SymbolKind::Barrier)
        }
        _ => {
            let name = others.names.intern(name).expect("few");
            (Action::new(name).into(), SymbolKind::Name)
        }
    };
    (Event::new(t, op), kind)
}

#[test]
fn an_event_of_other_symbols_is_refused_and_leaves_no_trace() {
    let mut rng = Rng::new(16);
    let monitors = random::monitors(&mut rng, 50);
    let mut refused = std::collections::BTreeMap::new();
    for round in 0..400 {
        let some = some_monitors(&mut rng, &monitors);
        let (mut events, mut symbols) = random::trace(&mut rng, 16);
        let t = thread(&mut symbols, "T0");
        events.push(named(&mut symbols, t, "a"));
        let checker = || {
            let checker = Checker::new(some.clone(), zero, Options::default());
            checker.expect("initial values").handed(&symbols)
        };
        let watch = || {
            let options = Options::default().causal_delivery(round % 2 == 1);
            let watch = Watch::new(some.clone(), zero, options);
            watch.expect("initial values").handed(&symbols)
        };
        let (mut checkers, mut watches) = ([checker(), checker()], [watch(), watch()]);
        let mut causality = Causality::default();
        for event in &events {
            if rng.one_in(2) {
                let (event, kind) = of_others(&mut rng, &symbols, t);
                let error = Error::UnknownSymbol { kind };
                *refused.entry(kind.to_string()).or_insert(0) += 1;
                assert_eq!(checkers[0].take(&event), Err(error.clone()));
                let taken = if round % 2 == 1 {
                    let stamp = causality
                        .clone()
                        .step(&Event::new(t, event.op.clone()), true);
                    let stamp = stamp.expect("few").expect("relevant");
                    watches[0].take_stamped(&event, &stamp)
                } else {
                    watches[0].take(&event)
                };
                assert_eq!(taken, Err(error));
                assert_eq!(watches[0].held(), 0);
            }
            for checker in &mut checkers {
                checker.take(event).expect("possible");
            }
            let stamp = causality.step(event, true).expect("few").expect("relevant");
            let [found, expected] = watches.each_mut().map(|watch| {
                let taken = match round % 2 {
                    1 => watch.take_stamped(event, &stamp),
                    _ => watch.take(event),
                };
                taken.expect("possible")
            });
            assert_eq!(found, expected);
        }
        let [found, expected] = checkers.map(|mut all| all.finish("run").expect("a report"));
        assert_eq!(essence(&found), essence(&expected));
        let [found, expected] = watches.map(|mut all| all.finish("run").expect("a report"));
        assert_eq!(answers(&found), answers(&expected));
    }
    assert_eq!(refused.len(), 8, "{refused:?}");
    assert_eq!(
        Error::UnknownSymbol {
            kind: SymbolKind::Lock
        }
        .to_string(),
        "an event has a lock that is not among the symbols of this run: events must be made with the `symbols_mut()` of whoever \
         takes them"
    );
}
