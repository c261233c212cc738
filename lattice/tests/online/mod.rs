//! A running program that is watched: the same answers as when the run has ended, from what is kept.

mod delivery;
mod long;
mod many;

use portent_lattice::{
    Checker, Counting, Engine, Options, Reductions, Report, Watch,
    report::{Predicted, PropertyReport},
};
use portent_monitor_core::{Action, Delivery, Event, Op, Symbols, ThreadId, Value};
use portent_monitor_dsl::{Monitor, Property, Verdict};
use portent_testing::Rng;
use std::collections::BTreeMap;

use crate::{handed::Handed, oracle::Oracle, random, zero};

fn check(monitors: &[Monitor], events: &[Event], symbols: &Symbols, options: Options) -> Report {
    let mut checker = Checker::new(monitors.to_vec(), zero, options)
        .expect("initial values")
        .handed(symbols);
    for event in events {
        checker.take(event).expect("events fit");
    }
    checker.finish("run").expect("a report")
}

/// What must be the same online and offline: all but which run is shown, and which of several limits
/// is named.
fn essence(report: &PropertyReport) -> String {
    format!(
        "{} {:?} {} {:?} {} {:?} {} {} {}",
        report.name,
        report.binding,
        report.relevant,
        report.observed,
        report.predicted.violated,
        report.predicted.violated_at,
        report.lattice.nodes,
        report.lattice.exhaustive,
        report.lattice.dropped,
    )
}

/// What must be the same of a stream, which looks for the first event that completes a violation and not for the shortest run.
fn answer(report: &PropertyReport) -> String {
    format!(
        "{} {:?} {} {:?} {} {}",
        report.name,
        report.binding,
        report.relevant,
        report.observed,
        report.predicted.violated,
        report.lattice.exhaustive,
    )
}

fn all(report: &Report, what: fn(&PropertyReport) -> String) -> Vec<String> {
    let properties = report.properties.iter().map(what);
    properties
        .chain([format!("{:?}", report.vacuous)])
        .collect()
}

fn some_options(rng: &mut Rng) -> Options {
    Options::default()
        .lookahead((rng.below(4) > 0).then(|| rng.below(6) as u32))
        .window((rng.below(5) == 0).then(|| 1 + rng.below(4)))
        .history(rng.below(4))
        .complete(rng.below(6) == 0)
        .counting(Counting::Never)
        .reductions(Reductions::NONE)
}

/// Checks a witness against the definition: some order of what was forgotten leads to it.
fn examine(predicted: &Predicted, oracle: &Oracle) {
    let rows = predicted.witness.as_ref().expect("violated");
    let run: Vec<usize> = rows.iter().map(|row| row.event as usize).collect();
    assert_eq!(
        predicted.forgotten as usize + run.len(),
        oracle.relevant.len()
    );
    let violated_at = predicted.violated_at.expect("violated") as usize;
    oracle.examine_end(&run, violated_at);
}

#[test]
fn online_says_what_offline_says() {
    let mut rng = Rng::new(2026);
    let monitors = random::monitors(&mut rng, 300);
    let (mut early, mut forgetful, mut limited) = (0, 0, 0);
    for _ in 0..6000 {
        let some: Vec<Monitor> = (0..1 + rng.below(3))
            .map(|_| monitors[rng.below(monitors.len())].clone())
            .collect();
        let (events, symbols) = random::trace(&mut rng, 40);
        let options = some_options(&mut rng);
        // Without a lookahead, and if runs do not have to end, nothing limits the search.
        let streams = options.lookahead.is_none() && !options.goal.complete;
        let unlimited = options.clone().window(options.window.filter(|_| !streams));
        let offline = check(&some, &events, &symbols, unlimited.clone());
        let mut watch = Watch::new(some.clone(), zero, unlimited)
            .expect("initial values")
            .handed(&symbols);
        let mut news = Vec::new();
        for (index, event) in events.iter().enumerate() {
            for found in watch.take(event).expect("events fit") {
                let property = some.iter().find(|m| m.property().name() == found.name);
                let so_far = &events[..=index];
                let oracle = Oracle::new(so_far, &symbols, property.expect("one"), zero);
                examine(&found.predicted, &oracle);
                forgetful += usize::from(found.predicted.forgotten > 0);
                news.push(found);
            }
        }
        let online = watch.finish("run").expect("a report");
        let what = if streams { answer } else { essence };
        assert_eq!(all(&online, what), all(&offline, what), "{options:?}");
        let violated = online.properties.iter().filter(|p| p.predicted.violated);
        assert!(news.len() <= violated.count(), "told once");
        limited += usize::from(online.properties.iter().any(|p| !p.lattice.exhaustive));
        early += news.len();
    }
    println!(
        "{early} predictions before the end, {forgetful} without their beginning; {limited} runs limited"
    );
    assert!(early > 2000 && forgetful > 200 && limited > 500);
}

/// The first event with which a run of the events so far is violated, for each binding of a property:
/// the observed run, and any run within the lookahead.
fn violated_with(
    monitor: &Monitor,
    events: &[Event],
    symbols: &Symbols,
    options: &Options,
) -> BTreeMap<String, [Option<usize>; 2]> {
    let mut first: BTreeMap<String, [Option<usize>; 2]> = BTreeMap::new();
    for known in 1..=events.len() {
        let report = check(
            std::slice::from_ref(monitor),
            &events[..known],
            symbols,
            options.clone(),
        );
        for property in report.properties {
            let entry = first.entry(format!("{:?}", property.binding)).or_default();
            if property.observed.verdict == Verdict::Violated {
                entry[0].get_or_insert(known - 1);
            }
            if property.predicted.violated {
                entry[1].get_or_insert(known - 1);
            }
        }
    }
    first
}

#[test]
fn what_is_known_is_reported_in_time() {
    let mut rng = Rng::new(407);
    let monitors = random::monitors(&mut rng, 100);
    let parametric = [
        "property p(f) { event a(f), b(f), c(f)  ltl: always (c -> once a) }",
        "property p(f) { event a(f), b(f), c(f)  ere: (a b* c)* }",
        "property p(f, g) { event a(f), b(g), c(f, g)  ltl: always (c -> once b) }",
    ]
    .map(monitor);
    let (mut with_observed, mut by_prediction) = (0, 0);
    for round in 0..1500 {
        let options = some_options(&mut rng).lookahead(rng.below(8) as u32);
        // What a window keeps depends on events that are still to come.
        let options = options.complete(false).window(None);
        let (monitor, events, symbols) = if round % 2 == 0 {
            let (events, symbols) = random::trace(&mut rng, 24);
            (&monitors[rng.below(monitors.len())], events, symbols)
        } else {
            let mut program = Program::new(3);
            let monitor = &parametric[rng.below(parametric.len())];
            let both = monitor.property().parameters().len() == 2;
            let events = (0..rng.below(24))
                .map(|_| {
                    let (thread, kind) = (rng.below(3), rng.below(4));
                    let mut args = vec![rng.below(3) as i64];
                    if both && kind == 2 {
                        args.push(rng.below(2) as i64);
                    }
                    // What is no step counts for the lookahead, too.
                    program.event(thread, ["a", "b", "c", "other"][kind], &args)
                })
                .collect();
            (monitor, events, program.symbols)
        };
        let lookahead = options.lookahead.expect("given") as usize;
        let expected = violated_with(monitor, &events, &symbols, &options);
        let mut watch = Watch::new([monitor.clone()], zero, options)
            .expect("initial values")
            .handed(&symbols);
        let mut reported: BTreeMap<String, usize> = BTreeMap::new();
        for (now, event) in events.iter().enumerate() {
            for found in watch.take(event).expect("events fit") {
                let before = reported.insert(format!("{:?}", found.binding), now);
                assert_eq!(before, None, "reported once");
            }
        }
        for (binding, [observed, any]) in expected {
            let told = reported.remove(&binding);
            if let Some(observed) = observed {
                let told = told.expect("the observed run is violated");
                assert!(
                    told <= observed,
                    "{binding}: {told}, observed at {observed}"
                );
            }
            with_observed += usize::from(told.is_some() && told == observed);
            by_prediction += usize::from(told.is_some() && told != observed);
            let Some(any) = any else {
                assert_eq!(told, None, "{binding} is not violated");
                continue;
            };
            assert!(told.is_none_or(|told| told >= any), "{binding}: too early");
            if any + lookahead < events.len() {
                let told = told.expect("the lookahead has passed");
                assert!(told <= any + lookahead, "{binding}: {told}, known at {any}");
            }
        }
        assert!(reported.is_empty(), "{reported:?}");
    }
    println!("{with_observed} with the observed violation, {by_prediction} by prediction");
    assert!(with_observed > 1000 && by_prediction > 100);
}

#[test]
fn without_a_lookahead_a_prediction_comes_with_the_event_that_completes_it() {
    let mut rng = Rng::new(2027);
    let monitors = random::monitors(&mut rng, 200);
    let parametric = [
        "property p(f) { event a(f), b(f), c(f)  ltl: always (c -> once a) }",
        "property p(f) { event a(f), b(f), c(f)  ere: (a b* c)* }",
        "property p(f, g) { event a(f), b(g), c(f, g)  ltl: always (c -> once b) }",
    ]
    .map(monitor);
    let (mut with_observed, mut by_prediction) = (0, 0);
    for round in 0..2500 {
        let options = Options::default().counting(Counting::Never);
        let (monitor, events, symbols) = if round % 2 == 0 {
            let (events, symbols) = random::trace(&mut rng, 30);
            (&monitors[rng.below(monitors.len())], events, symbols)
        } else {
            let mut program = Program::new(3);
            let monitor = &parametric[rng.below(parametric.len())];
            let both = monitor.property().parameters().len() == 2;
            let events = (0..rng.below(24))
                .map(|_| {
                    let (thread, kind) = (rng.below(3), rng.below(4));
                    let mut args = vec![rng.below(3) as i64];
                    if both && kind == 2 {
                        args.push(rng.below(2) as i64);
                    }
                    program.event(thread, ["a", "b", "c", "other"][kind], &args)
                })
                .collect();
            (monitor, events, program.symbols)
        };
        let expected = violated_with(monitor, &events, &symbols, &options);
        let mut watch = Watch::new([monitor.clone()], zero, options)
            .expect("initial values")
            .handed(&symbols);
        let mut reported: BTreeMap<String, usize> = BTreeMap::new();
        for (now, event) in events.iter().enumerate() {
            for found in watch.take(event).expect("events fit") {
                assert!(found.predicted.witness.is_some());
                let before = reported.insert(format!("{:?}", found.binding), now);
                assert_eq!(before, None, "reported once");
            }
        }
        // A comparison of two variables is for levels, which are complete at the end.
        let streams = !watch
            .finish("run")
            .expect("a report")
            .properties
            .iter()
            .any(|property| property.lattice.engine == Engine::Enumerate);
        for (binding, [observed, any]) in expected {
            let told = reported.remove(&binding);
            if streams {
                assert_eq!(told, any, "{binding} of {}", monitor.property().name())
            } else {
                assert_eq!(told, observed, "{binding}")
            }
            with_observed += usize::from(told.is_some() && told == observed);
            by_prediction += usize::from(told.is_some() && told != observed);
        }
        assert!(reported.is_empty(), "{reported:?}");
    }
    println!("{with_observed} with the observed violation, {by_prediction} by prediction");
    assert!(with_observed > 500 && by_prediction > 500);
}

#[test]
fn a_narrowed_watch_predicts_nothing_that_cannot_be_and_loses_nothing_that_was() {
    let mut rng = Rng::new(2031);
    let monitors = [
        "property p { event a, b, c, d  never: .* a b c a c b .* d }",
        "property p { event a, b, c, d  ltl: always (d -> once (a && once (b && once c))) }",
        "property p { event a, b, c, d  never: .* a a b b c c d }",
        "property p { event a, b, c, d  ere: ((a | b | c) (a | b | c | d))* (a | b | c)? }",
    ]
    .map(monitor);
    let (mut exact, mut limited, mut missed) = (0, 0, 0);
    for _ in 0..600 {
        // Nothing orders these threads, so nothing is settled by itself.
        let mut program = Program::new(3);
        let length = 10 + rng.below(36);
        let events: Vec<Event> = (0..length)
            .map(|_| {
                let name = ["a", "b", "c", "d"][rng.below(31) / 10];
                program.event(rng.below(3), name, &[])
            })
            .collect();
        let symbols = program.symbols;
        let monitor = &monitors[rng.below(monitors.len())];
        let options = Options::default().counting(Counting::Never);
        let expected = violated_with(monitor, &events, &symbols, &options);
        let mut watch = Watch::new([monitor.clone()], zero, options)
            .expect("initial values")
            .handed(&symbols);
        let from = rng.below(10);
        let mut told = None;
        for (now, event) in events.iter().enumerate() {
            if now >= from {
                watch.narrow();
            }
            if !watch.take(event).expect("events fit").is_empty() {
                told = Some(now);
            }
        }
        let limit = watch.limit();
        let report = watch.finish("run").expect("a report");
        let [observed, any] = expected.values().next().copied().unwrap_or_default();
        if observed.is_some() {
            assert!(told <= observed && told.is_some());
        }
        assert!(told.is_none() || (any.is_some() && any <= told));
        if report.properties[0].lattice.engine == Engine::Enumerate {
            continue;
        }
        match limit {
            None => {
                assert_eq!(told, any);
                exact += 1;
            }
            Some(_) => {
                limited += 1;
                missed += usize::from(told != any);
            }
        }
    }
    println!("{exact} exact, {limited} limited, of which {missed} missed something");
    assert!(exact > 100 && limited > 200 && missed > 50);
}

#[test]
fn a_binding_with_few_later_steps_is_closed_by_events_of_others() {
    let options = Options::default().lookahead(100);
    let files = "property file(f) { event open(f), read(f), close(f)  ere: (open read* close)* }";
    let mut watch = Watch::new([monitor(files)], zero, options).expect("initial values");
    let mut program = Program::new(2);
    let mut reported = Vec::new();
    for (thread, name) in [(0, "open"), (1, "read"), (0, "close")] {
        let event = program.event(thread, name, &[0]);
        reported.extend(program.tell(&mut watch, &event));
    }
    for later in 0..60_000 {
        // The oldest step has number 0, the first of these 3.
        let closed = later + 3 > 100;
        assert_eq!(reported.len(), usize::from(closed), "event {}", later + 3);
        let name = ["open", "close"][(later / 7 % 2) as usize];
        let event = program.event(0, name, &[1 + later % 7]);
        reported.extend(program.tell(&mut watch, &event));
    }
    assert_eq!(reported[0].binding, [("f".to_owned(), Value::from(0))]);
    assert_eq!(reported[0].observed.verdict, Verdict::Ok);
}

#[test]
fn a_violation_of_the_observed_run_waits_for_nothing() {
    for lookahead in [None, Some(0), Some(1000)] {
        let options = Options::default().lookahead(lookahead);
        let property = monitor("always (logout -> once login)");
        let mut watch = Watch::new([property], zero, options).expect("initial values");
        let mut program = Program::new(2);
        let event = program.event(1, "logout", &[]);
        let reported = program.tell(&mut watch, &event);
        let [report] = reported.as_slice() else {
            panic!("reported at once");
        };
        assert_eq!(report.observed.step, Some(1));
        assert_eq!(report.predicted.violated_at, Some(1));
        let rows = report.predicted.witness.as_ref().expect("violated");
        assert_eq!(rows[0].verdict, Verdict::Violated);
    }
}

#[test]
fn a_limit_never_loses_the_observed_run() {
    let mut rng = Rng::new(31);
    let monitors = random::monitors(&mut rng, 200);
    let mut lost_others = 0;
    for _ in 0..2000 {
        let monitor = monitors[rng.below(monitors.len())].clone();
        let (events, symbols) = random::trace(&mut rng, 20);
        let options = some_options(&mut rng).memory(rng.pick(&[0, 1, 100, 300, 600]));
        let goal = options.goal;
        let mut watch = Watch::new([monitor], zero, options)
            .expect("initial values")
            .handed(&symbols);
        for event in &events {
            watch.take(event).expect("events fit");
        }
        let report = watch.finish("run").expect("a report");
        let [property] = report.properties.as_slice() else {
            panic!("one property, no parameters");
        };
        let observed = &property.observed;
        assert!(property.predicted.violated || !goal.is_bad(observed.verdict, true));
        lost_others += usize::from(!property.lattice.exhaustive);
    }
    assert!(lost_others > 500, "{lost_others}");
}

/// A thread for each of the given names, and an event of one of them.
struct Program {
    symbols: Symbols,
    threads: Vec<ThreadId>,
}

impl Program {
    fn new(threads: usize) -> Program {
        let mut symbols = Symbols::default();
        let threads = (0..threads)
            .map(|n| symbols.threads.intern(&format!("T{n}")).expect("few"))
            .collect();
        Program { symbols, threads }
    }

    fn event(&mut self, thread: usize, name: &str, args: &[i64]) -> Event {
        let name = self.symbols.names.intern(name).expect("few");
        Event::new(
            self.threads[thread],
            Action::new(name).args(args.iter().copied()),
        )
    }

    /// Gives an event that was just made to who watches, with the names that are new.
    fn tell(&self, watch: &mut Watch, event: &Event) -> Vec<PropertyReport> {
        let caught_up = watch.symbols_mut().catch_up(&self.symbols);
        caught_up.expect("has no other names");
        watch.take(event).expect("fits")
    }

    fn write(&mut self, thread: usize, variable: &str, value: i64) -> Event {
        let variable = self.symbols.vars.intern(variable).expect("few");
        Event::new(
            self.threads[thread],
            Op::Write(variable, Some(Value::from(value))),
        )
    }
}

fn monitor(text: &str) -> Monitor {
    Property::parse(text)
        .expect("a property")
        .monitor()
        .expect("small")
}

const STEPS: usize = 200_000;

#[test]
fn what_is_kept_does_not_grow_with_the_run() {
    let (lookahead, history) = (6, 20);
    let options = Options::default().lookahead(lookahead).history(history);
    let monitors = [
        // Of two counters that grow for ever; the second is never ahead by 50.
        monitor("always (y < x + 50)"),
        monitor("property p(f) { event open(f), read(f), close(f)  ere: (open read* close)* }"),
    ];
    let mut watch = Watch::new(monitors, zero, options).expect("initial values");
    let mut program = Program::new(3);
    let mut most = 0;
    let lock = program.symbols.locks.intern("m").expect("few");
    for step in 0..STEPS {
        let thread = step % 3;
        let number = (step / 2) as i64;
        let file = (step / 4 % 5) as i64;
        let events = [
            Event::new(program.threads[thread], Op::Lock(lock)),
            match step % 2 {
                0 => program.write(thread, "x", number),
                _ => program.write(thread, "y", number),
            },
            program.event(thread, ["open", "read", "read", "close"][step % 4], &[file]),
            Event::new(program.threads[thread], Op::Unlock(lock)),
        ];
        for event in events {
            let news = program.tell(&mut watch, &event);
            assert_eq!(news, [], "nothing can be violated");
        }
        most = most.max(watch.kept());
    }
    let each = 2 * history + 4 * lookahead as usize;
    // One search of the first property, and one for each file and for none of the second.
    assert!(most > 6 * history && most <= 7 * each, "{most}");
    let report = watch.finish("long").expect("a report");
    assert_eq!(report.properties.len(), 6);
    assert!(report.properties.iter().all(|p| p.lattice.exhaustive));
    assert_eq!(report.properties[0].relevant, STEPS as u64);
}

#[test]
fn after_a_long_run_a_witness_shows_its_end() {
    let options = Options::default().lookahead(4).history(10);
    let property = monitor("always (x <= y)");
    let mut watch = Watch::new([property], zero, options).expect("initial values");
    let mut program = Program::new(2);
    let mut found = Vec::new();
    let chan = program.symbols.chans.intern("c").expect("few");
    for step in 1..=1000i64 {
        let message = portent_monitor_core::Msg::Number(step);
        let ahead = program.write(0, "y", step);
        let behind = program.write(1, "x", step);
        let mut events = vec![
            ahead,
            Event::new(
                program.threads[0],
                Op::Send(chan, message, Delivery::Unordered),
            ),
            Event::new(
                program.threads[1],
                Op::Recv(chan, message, Delivery::Unordered),
            ),
            behind,
        ];
        if step == 900 {
            // This once nobody waits.
            events.drain(1..3);
        }
        for event in events {
            found.extend(program.tell(&mut watch, &event));
        }
    }
    let [found] = found.as_slice() else {
        panic!("one prediction, not {}", found.len());
    };
    let predicted = &found.predicted;
    // The 1799th step is `y = 900`; without waiting for it comes `x = 900`.
    assert_eq!(predicted.violated_at, Some(1799));
    assert_eq!(predicted.swaps, [[1798, 1799]]);
    let rows = predicted.witness.as_ref().expect("violated");
    assert!(
        (1760..1790).contains(&predicted.forgotten),
        "{}",
        predicted.forgotten
    );
    assert_eq!(
        rows[0].values.len(),
        1,
        "of the other variable nothing is known yet"
    );
    let row = &rows[(1798 - predicted.forgotten) as usize];
    let values = [
        ("x".into(), Value::from(900)),
        ("y".into(), Value::from(899)),
    ];
    assert_eq!((row.event, &*row.values), (1799, &values[..]));
    assert_eq!(watch.kept(), 0);
    let json = serde_json::to_value(predicted).expect("JSON");
    assert_eq!(json["forgotten"], predicted.forgotten);
}
