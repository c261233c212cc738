//! A running program that is watched: the same answers as when the run has ended, from what is kept.

use portent_lattice::{
    Checker, Counting, Goal, Options, Reductions, Report, Watch,
    report::{Predicted, PropertyReport},
};
use portent_monitor_core::{Action, Event, Op, Symbols, ThreadId, Value};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::Rng;

use crate::{oracle::Oracle, random, zero};

fn check(monitors: &[Monitor], events: &[Event], symbols: &Symbols, options: Options) -> Report {
    let mut checker = Checker::new(monitors.to_vec(), zero, options).expect("initial values");
    for event in events {
        checker.take(event, symbols).expect("events fit");
    }
    checker.finish("run", symbols).expect("a report")
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

fn essences(report: &Report) -> Vec<String> {
    let properties = report.properties.iter().map(essence);
    properties
        .chain([format!("{:?}", report.vacuous)])
        .collect()
}

fn some_options(rng: &mut Rng) -> Options {
    Options {
        lookahead: (rng.below(4) > 0).then(|| rng.below(6) as u32),
        window: (rng.below(5) == 0).then(|| 1 + rng.below(4)),
        history: rng.below(4),
        goal: Goal {
            complete: rng.below(6) == 0,
        },
        counting: Counting::Never,
        // What reductions leave out depends on events that are still to come.
        reductions: Reductions::NONE,
        ..Options::default()
    }
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
        let offline = check(&some, &events, &symbols, options.clone());
        let mut watch = Watch::new(some.clone(), zero, options.clone()).expect("initial values");
        let mut news = Vec::new();
        for (index, event) in events.iter().enumerate() {
            for found in watch.take(event, &symbols).expect("events fit") {
                let property = some.iter().find(|m| m.property().name() == found.name);
                let so_far = &events[..=index];
                let oracle = Oracle::new(so_far, &symbols, property.expect("one"), zero);
                examine(&found.predicted, &oracle);
                forgetful += usize::from(found.predicted.forgotten > 0);
                news.push(found);
            }
        }
        let online = watch.finish("run", &symbols).expect("a report");
        assert_eq!(essences(&online), essences(&offline), "{options:?}");
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

#[test]
fn a_limit_never_loses_the_observed_run() {
    let mut rng = Rng::new(31);
    let monitors = random::monitors(&mut rng, 200);
    let mut lost_others = 0;
    for _ in 0..2000 {
        let monitor = monitors[rng.below(monitors.len())].clone();
        let (events, symbols) = random::trace(&mut rng, 20);
        let options = Options {
            memory: rng.pick(&[0, 1, 100, 300, 600]),
            ..some_options(&mut rng)
        };
        let goal = options.goal;
        let mut watch = Watch::new([monitor], zero, options).expect("initial values");
        for event in &events {
            watch.take(event, &symbols).expect("events fit");
        }
        let report = watch.finish("run", &symbols).expect("a report");
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
        let action = Action {
            name: Some(self.symbols.names.intern(name).expect("few")),
            args: args.iter().copied().map(Value::from).collect(),
            set: Vec::new(),
        };
        Event::new(self.threads[thread], Op::Event(Box::new(action)))
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
    let options = Options {
        lookahead: Some(lookahead),
        history,
        ..Options::default()
    };
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
            let news = watch.take(&event, &program.symbols).expect("fits");
            assert_eq!(news, [], "nothing can be violated");
        }
        most = most.max(watch.kept());
    }
    let each = 2 * history + 4 * lookahead as usize;
    // One search of the first property, and one for each file and for none of the second.
    assert!(most > 6 * history && most <= 7 * each, "{most}");
    let report = watch.finish("long", &program.symbols).expect("a report");
    assert_eq!(report.properties.len(), 6);
    assert!(report.properties.iter().all(|p| p.lattice.exhaustive));
    assert_eq!(report.properties[0].relevant, STEPS as u64);
}

#[test]
fn after_a_long_run_a_witness_shows_its_end() {
    let options = Options {
        lookahead: Some(4),
        history: 10,
        ..Options::default()
    };
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
            Event::new(program.threads[0], Op::Send(chan, message)),
            Event::new(program.threads[1], Op::Recv(chan, message)),
            behind,
        ];
        if step == 900 {
            // This once nobody waits.
            events.drain(1..3);
        }
        for event in events {
            found.extend(watch.take(&event, &program.symbols).expect("fits"));
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
