//! Taking an event allocates nothing if it is no step of any property, and nothing but room to grow if it is one.
//!
//! A binary of its own, because it replaces the allocator of the whole program by one that counts: the other tests are not to run
//! with it.

mod handed;

use portent_lattice::{Checker, Options, Watch};
use portent_monitor_core::{Action, Causality, Details, Event, Op, Stamp, Symbols, Value};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::{Counting, allocations};

use self::handed::Handed;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Properties that look at events in every way: by name, by argument, by variable, by text.
const PROPERTIES: [&str; 4] = [
    "property a(u, f) { event open(u, f), twin(u, u), close(f)  ltl: always (close -> once open) }",
    "property b { var x: float = 0  var s: string = \"\"  ltl: always (x > 2.5 -> s != \"no\") }",
    "property c(k) { event put(k) matches \"put '(?<k>[^']*)'\"  event ack(k) matches \"ack '(?<k>[^']*)'\" \
     ltl: always (put -> eventually ack) }",
    "property d { var load: int = 0 matches \"load is (?<load>[0-9]+)\" \
     var mode: string = \"\" matches \"mode is (?<mode>[a-z]+)\" \
     ltl: always (load > 90 -> mode == \"safe\") }",
];

fn monitors() -> Vec<Monitor> {
    let property = |text| Property::parse(text).and_then(|property| property.monitor());
    { PROPERTIES.into_iter() }
        .map(|text| property(text).unwrap_or_else(|error| panic!("{text}\n{error}")))
        .collect()
}

/// Makes events of one thread.
struct Program {
    symbols: Symbols,
    thread: &'static str,
}

impl Program {
    fn event(&mut self, op: Op) -> Event {
        let thread = self.symbols.threads.intern(self.thread).expect("few");
        Event::new(thread, op)
    }

    fn named(&mut self, name: &str, args: &[Value], set: &[(&str, Value)]) -> Event {
        let name = self.symbols.names.intern(name).expect("few");
        let mut var = |name: &str| self.symbols.vars.intern(name).expect("few");
        let set = { set.iter() }.map(|(name, value)| (var(name), value.clone()));
        let action = Action::new(name).args(args.to_vec()).set(set);
        self.event(action.into())
    }

    fn saying(&mut self, text: &str) -> Event {
        let mut event = self.named("log", &[], &[]);
        event.details = Some(Box::new(Details::new(
            Some(text.into()),
            vec![("level".into(), "3".into())],
        )));
        event
    }

    /// What no property looks at.
    fn no_steps(&mut self) -> Vec<Event> {
        let m = self.symbols.locks.intern("m").expect("few");
        let y = self.symbols.vars.intern("y").expect("few");
        vec![
            self.event(Op::Lock(m)),
            self.event(Op::Read(y)),
            self.event(Op::Write(y, Some(Value::from(1)))),
            self.event(Op::Update(y, None)),
            self.named("other", &[Value::from("x")], &[("y", Value::from(2))]),
            // One argument too many, and two that differ.
            self.named("close", &[Value::from(1), Value::from(2)], &[]),
            self.named("twin", &[Value::from(1), Value::from(2)], &[]),
            self.saying("nothing to see"),
            self.event(Op::Unlock(m)),
        ]
    }

    /// What some property takes for a step; `number` is everywhere in it.
    fn steps(&mut self, number: i64) -> Vec<Event> {
        let texts = [
            format!("put '{number}'"),
            format!("ack '{number}'"),
            format!("load is {number}"),
            "mode is fast".to_owned(),
        ];
        let mut steps = vec![
            self.named("open", &[Value::from("bob"), Value::from(number)], &[]),
            self.named("twin", &[Value::from(number), Value::from(number)], &[]),
            self.named("close", &[Value::from(number)], &[]),
            self.named("other", &[], &[("x", Value::from(number as f64 / 8.0))]),
        ];
        steps.extend(texts.iter().map(|text| self.saying(text)));
        steps
    }
}

fn checker(symbols: &Symbols) -> Checker {
    let checker = Checker::new(monitors(), |_| None, Options::default());
    checker.expect("declared values").handed(symbols)
}

const ROUNDS: i64 = 2_000;

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn an_event_that_is_no_step_allocates_nothing() {
    let mut program = Program {
        symbols: Symbols::default(),
        thread: "T1",
    };
    let (steps, mut events) = (program.steps(7), program.no_steps());
    program.thread = "T2";
    events.extend(program.no_steps());
    let mut checker = checker(&program.symbols);
    // What there is to know of names, values and patterns becomes known in the first round.
    for event in steps.iter().chain(&events) {
        checker.take(event).expect("possible");
    }
    let before: usize = checker.steps().sum();
    let count = allocations(|| {
        for _ in 0..ROUNDS {
            for event in &events {
                checker.take(event).expect("possible");
            }
        }
    });
    assert_eq!(count, 0);
    assert_eq!(checker.steps().sum::<usize>(), before, "no steps");
}

/// Likewise while the run goes on, with a lookahead and without: once the lookahead is over, all levels that wait for other events
/// are made.
#[test]
fn an_event_that_is_no_step_allocates_nothing_while_a_run_is_watched() {
    for lookahead in [None, Some(4)] {
        let mut program = Program {
            symbols: Symbols::default(),
            thread: "T1",
        };
        let options = Options::default().lookahead(lookahead);
        let (steps, events) = (program.steps(7), program.no_steps());
        let watch = Watch::new(monitors(), |_| None, options);
        let mut watch = watch.expect("declared values").handed(&program.symbols);
        for event in steps.iter().chain(&events) {
            watch.take(event).expect("possible");
        }
        let count = allocations(|| {
            for _ in 0..ROUNDS {
                for event in &events {
                    let news = watch.take(event).expect("possible");
                    assert!(news.is_empty());
                }
            }
        });
        assert_eq!(count, 0, "lookahead {lookahead:?}");
    }
}

/// Events with their places in the causal order.
fn stamped(
    rounds: impl IntoIterator<Item = Event>,
    causality: &mut Causality,
) -> Vec<(Event, Stamp)> {
    let stamp = |event: Event| {
        let stamp = causality.step(&event, true).expect("few");
        (event, stamp.expect("relevant"))
    };
    rounds.into_iter().map(stamp).collect()
}

fn take(checker: &mut Checker, events: &[(Event, Stamp)]) {
    for (event, stamp) in events {
        let taken = checker.take_stamped(event, stamp);
        taken.expect("in order");
    }
}

#[test]
fn a_step_allocates_nothing_but_room_to_grow() {
    let mut program = Program {
        symbols: Symbols::default(),
        thread: "T1",
    };
    let mut steps: Vec<Event> = (0..50).flat_map(|number| program.steps(number)).collect();
    program.thread = "T2";
    steps.extend((0..50).flat_map(|number| program.steps(number)));
    let (mut checker, mut causality) = (checker(&program.symbols), Causality::default());
    let first = stamped(steps.iter().cloned(), &mut causality);
    take(&mut checker, &first);
    // Each time there are twice as many, so that every list grows once.
    for times in [1, 2, 4, 8, 16] {
        let again = (0..times).flat_map(|_| steps.iter().cloned());
        let again = stamped(again, &mut causality);
        let count = allocations(|| take(&mut checker, &again));
        assert!(count < 20, "{count} allocations for {} events", again.len());
    }
}

/// Values that never come again are kept without an allocation for each of them.
#[test]
fn new_values_allocate_nothing_but_room_to_grow() {
    let mut program = Program {
        symbols: Symbols::default(),
        thread: "T1",
    };
    let mut causality = Causality::default();
    let mut writes = |numbers: std::ops::Range<i64>| {
        let write = |number| program.named("log", &[], &[("x", Value::from(number as f64))]);
        stamped(numbers.map(write).collect::<Vec<_>>(), &mut causality)
    };
    let (first, more) = (writes(0..ROUNDS), writes(ROUNDS..2 * ROUNDS));
    let mut checker = checker(&program.symbols);
    take(&mut checker, &first);
    let count = allocations(|| take(&mut checker, &more));
    assert!(count < 20, "{count} allocations for {ROUNDS} new values");
}

/// Where the order is computed here, too.
#[test]
fn to_order_a_step_allocates_nothing_but_room_to_grow() {
    let mut program = Program {
        symbols: Symbols::default(),
        thread: "T1",
    };
    let steps: Vec<Event> = (0..50).flat_map(|number| program.steps(number)).collect();
    let mut checker = checker(&program.symbols);
    let mut go = |times: usize| {
        for event in (0..times).flat_map(|_| &steps) {
            checker.take(event).expect("possible");
        }
    };
    go(1);
    for times in [1, 2, 4, 8, 16] {
        let count = allocations(|| go(times));
        assert!(count < 20, "{count} allocations, {times} times");
    }
}

/// How many steps are measured; an allocation is allowed for a hundred of them.
const STEPS: usize = 100_000;

const THREADS: [&str; 12] = [
    "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10", "T11", "T12",
];

/// What some threads do again and again: in turns they use one of some files while they hold its lock, and log about it without. They
/// meet at variables, too, which a property may read or not.
fn busy(symbols: &mut Symbols, threads: usize, files: usize) -> Vec<Event> {
    let threads = &THREADS[..threads];
    let mut events = Vec::new();
    for turn in 0..threads.len() * files {
        let file = (turn / threads.len()) as i64;
        let mut program = Program {
            symbols: std::mem::take(symbols),
            thread: threads[turn % threads.len()],
        };
        let lock = format!("m{}", file % 3);
        let lock = program.symbols.locks.intern(&lock).expect("few");
        let [x, y] = ["x", "y"].map(|name| program.symbols.vars.intern(name).expect("few"));
        let named = |program: &mut Program, name| program.named(name, &[Value::from(file)], &[]);
        let log = named(&mut program, "log");
        events.extend([
            program.event(Op::Read(y)),
            log.clone(),
            program.event(Op::Lock(lock)),
            named(&mut program, "open"),
            program.event(Op::Write(x, Some(Value::from(file as f64)))),
            log,
            program.event(Op::Write(y, Some(Value::from(1)))),
            named(&mut program, "close"),
            program.event(Op::Unlock(lock)),
        ]);
        *symbols = program.symbols;
    }
    events
}

const FILE: &str =
    "property file(f) { event open(f), log(f), close(f)  ere: (open log* close | log)* }";

fn monitor(text: &str) -> Monitor {
    let property = Property::parse(text).and_then(|property| property.monitor());
    property.unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn in_a_busy_run_a_step_allocates_nothing_but_room_to_grow() {
    let mut symbols = Symbols::default();
    let events = busy(&mut symbols, 4, 100);
    let monitors = [monitor(FILE), monitor(PROPERTIES[1])];
    let mut checker = Checker::new(monitors, |_| None, Options::default())
        .expect("declared")
        .handed(&symbols);
    let mut go = |steps: usize| {
        let before: usize = checker.steps().sum();
        while checker.steps().sum::<usize>() < before + steps {
            for event in &events {
                checker.take(event).expect("possible");
            }
        }
    };
    go(10_000);
    let count = allocations(|| go(STEPS));
    assert!(count < STEPS / 100, "{count} allocations");
}

/// A search that goes on keeps some thousand steps, and then puts new ones in the place of those that it forgets.
#[test]
fn in_a_busy_run_that_is_watched_a_step_allocates_almost_nothing() {
    for files in [1, 100] {
        let mut symbols = Symbols::default();
        let events = busy(&mut symbols, 4, files);
        let mut watch = Watch::new([monitor(FILE)], |_| None, Options::default())
            .expect("none")
            .handed(&symbols);
        let a_round = 4 * 4 * files;
        let mut go = |steps: usize| {
            for _ in 0..steps.div_ceil(a_round) {
                for event in &events {
                    let news = watch.take(event).expect("possible");
                    assert!(news.is_empty());
                }
            }
        };
        go(10_000 + 3_000 * files);
        let count = allocations(|| go(STEPS));
        assert!(count < STEPS / 100, "{count} allocations, {files} files");
        let report = watch.finish("busy").expect("sound");
        assert!(!report.is_violated());
        for file in &report.properties {
            assert!(file.lattice.exhaustive, "{:?}", file.lattice);
        }
        assert_eq!(report.properties.len(), files);
    }
}

/// Likewise where steps write what a property reads. With parameters, a write is a step of every binding.
#[test]
fn in_a_busy_run_that_is_watched_a_write_allocates_almost_nothing() {
    const QUOTA: &str = "property quota(f) { var x: float = 0  event open(f), log(f), close(f) \
         ltl: always (open -> x < 1000) }";
    let files = 10;
    for (property, bindings) in [(PROPERTIES[1], 1), (QUOTA, files)] {
        let mut symbols = Symbols::default();
        let events = busy(&mut symbols, 4, files);
        let mut watch = Watch::new([monitor(property)], |_| None, Options::default())
            .expect("declared")
            .handed(&symbols);
        let mut go = |steps: usize| {
            for _ in 0..steps.div_ceil(4 * files * bindings) {
                for event in &events {
                    let news = watch.take(event).expect("possible");
                    assert!(news.is_empty());
                }
            }
        };
        go(40_000);
        let count = allocations(|| go(STEPS));
        assert!(count < STEPS / 100, "{count} allocations, {property}");
    }
}

/// And where lines have texts, which are kept as long as their steps: a step's own text is moved into the place of a forgotten one.
#[test]
fn in_a_busy_run_that_is_watched_a_text_allocates_almost_nothing() {
    let mut program = Program {
        symbols: Symbols::default(),
        thread: "T1",
    };
    let texts = ["load is 7", "mode is safe", "load is 12", "mode is fast"];
    let events: Vec<Event> = texts.iter().map(|text| program.saying(text)).collect();
    let watch = Watch::new([monitor(PROPERTIES[3])], |_| None, Options::default());
    let mut watch = watch.expect("declared").handed(&program.symbols);
    let mut go = |steps: usize| {
        for event in events.iter().cycle().take(steps) {
            let news = watch.take(event).expect("possible");
            assert!(news.is_empty());
        }
    };
    go(40_000);
    let count = allocations(|| go(STEPS));
    assert!(count < STEPS / 100, "{count} allocations");
}

/// Likewise with a lookahead, where levels are made one after the other: the next is put into the memory of the last but one, and new
/// steps into that of forgotten ones.
#[test]
fn in_a_busy_run_that_is_watched_with_a_lookahead_a_step_allocates_almost_nothing() {
    // Steps that each turn of a thread makes, and how many files there are.
    for (property, steps_a_turn, files) in [(FILE, 4, 1), (PROPERTIES[1], 1, 10)] {
        for (lookahead, threads) in [
            (10, 2),
            (10, 3),
            (10, 4),
            (10, 12),
            (100, 2),
            (100, 3),
            (100, 4),
        ] {
            let mut symbols = Symbols::default();
            let events = busy(&mut symbols, threads, files);
            let options = Options::default().lookahead(Some(lookahead));
            let mut watch = Watch::new([monitor(property)], |_| None, options)
                .expect("declared")
                .handed(&symbols);
            let mut go = |steps: usize| {
                for _ in 0..steps.div_ceil(steps_a_turn * threads * files) {
                    for event in &events {
                        let news = watch.take(event).expect("possible");
                        assert!(news.is_empty());
                    }
                }
            };
            go(10_000);
            let count = allocations(|| go(STEPS));
            assert!(
                count < STEPS / 100,
                "{count} allocations, lookahead {lookahead}, {threads} threads, {property}"
            );
            let report = watch.finish("busy").expect("sound");
            assert!(!report.is_violated());
            assert_eq!(report.properties.len(), 1);
            assert!(report.properties[0].relevant >= STEPS as u64);
        }
    }
}
