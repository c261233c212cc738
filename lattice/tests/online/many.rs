//! Very many bindings: their searches rest between two steps, and answer as if each were the only one.

use std::num::NonZeroU64;

use portent_lattice::{Options, Report, Watch};
use portent_monitor_core::{Event, Op, Value};
use portent_testing::Rng;

use super::{Program, all, answer, check, monitor, zero};
use crate::handed::Handed;

const FILES: usize = 400;

/// Threads that open, read and close any file, and now and then hold a lock. Each event, with the file that it is about.
fn run(rng: &mut Rng, program: &mut Program, steps: usize) -> Vec<(Option<i64>, Event)> {
    let lock = program.symbols.locks.intern("m").expect("few");
    let mut events = Vec::new();
    for _ in 0..steps {
        let thread = rng.below(4);
        if rng.one_in(4) {
            let thread = program.threads[thread];
            events.push((None, Event::new(thread, Op::Lock(lock))));
            events.push((None, Event::new(thread, Op::Unlock(lock))));
        }
        if rng.below(200) == 0 {
            let value = rng.below(3) as i64;
            events.push((None, program.write(thread, "mode", value)));
        }
        let file = rng.below(FILES) as i64;
        let name = rng.pick(&["open", "read", "read", "read", "close"]);
        events.push((Some(file), program.event(thread, name, &[file])));
    }
    events
}

/// What is reported, and with which event each binding was.
fn watch<'e>(
    text: &str,
    events: impl Iterator<Item = (usize, &'e Event)>,
    program: &Program,
) -> (Report, Vec<(String, usize)>) {
    let mut watch = Watch::new([monitor(text)], zero, Options::default())
        .expect("no values")
        .handed(&program.symbols);
    let mut news = Vec::new();
    for (number, event) in events {
        for found in watch.take(event).expect("fits") {
            news.push((format!("{:?}", found.binding), number));
        }
    }
    let report = watch.finish("run").expect("a report");
    (report, news)
}

#[test]
fn very_many_bindings_are_answered_as_each_alone() {
    let texts = [
        "property p(f) { event open(f), read(f), close(f)  never: .* close read read close }",
        "property p(f) { event open(f), read(f), close(f)  never: .* open (read read)* close read close }",
        "property p(f) { event open(f), read(f), close(f)  var mode: int = 0  \
         ltl: always (read && mode == 2 -> once open) }",
    ];
    for (seed, text) in (0..).zip(texts) {
        let mut rng = Rng::new(seed);
        let mut program = Program::new(4);
        let events = run(&mut rng, &mut program, 6_000);
        let numbered = || events.iter().enumerate();
        let (report, news) = watch(text, numbered().map(|(n, (_, e))| (n, e)), &program);
        let plain: Vec<Event> = events.iter().map(|(_, event)| event.clone()).collect();
        let offline = check(
            &[monitor(text)],
            &plain,
            &program.symbols,
            Options::default(),
        );
        assert_eq!(all(&report, answer), all(&offline, answer), "{text}");
        assert!((20..FILES - 20).contains(&news.len()), "{}", news.len());
        for file in (0..FILES as i64).step_by(7) {
            let alone = numbered().filter(|(_, (of, _))| of.is_none_or(|of| of == file));
            let (_, alone) = watch(text, alone.map(|(n, (_, e))| (n, e)), &program);
            let name = format!("{:?}", [("f", Value::from(file))]);
            let among_all: Vec<_> = { news.iter() }
                .filter(|(binding, _)| *binding == name)
                .cloned()
                .collect();
            assert_eq!(alone, among_all, "{text}");
        }
    }
}

/// The arguments of a witness are what the events said, whether they are the values of the binding, are only spelled alike, or are
/// none of its parameters.
#[test]
fn witnesses_of_very_many_bindings_say_what_events_said() {
    let text = "property p(f, g) { event open(f), read(g, f), close(f), mark  never: .* close .* read .* }";
    let mut program = Program::new(3);
    let options = Options::default();
    let mut watch = Watch::new([monitor(text)], zero, options).expect("no values");
    let mut found = Vec::new();
    for file in 1..=600i64 {
        let said = |number: i64| match file % 3 {
            0 => Value::from(number.to_string().as_str()),
            _ => Value::from(number),
        };
        let mut events = [
            program.event(0, "open", &[file]),
            program.event(1, "mark", &[file]),
            program.event(1, "read", &[7, file]),
            program.event(2, "close", &[file]),
        ];
        let Op::Event(read) = &mut events[2].op else {
            unreachable!("an event")
        };
        read.args = [7, file].map(said).into_iter().collect();
        let is_marked = file % 50 == 0;
        for (line, event) in (1..).zip(&mut events) {
            if line == 2 && !is_marked {
                continue;
            }
            event.line = NonZeroU64::new(10 * file as u64 + line);
            found.extend(program.tell(&mut watch, event));
        }
        let [report] = &found[..] else {
            panic!("{} violations", found.len())
        };
        let rows = report.predicted.witness.as_ref().expect("all is kept");
        let row = |name: &str| {
            // A mark is a step of all bindings that come later, too.
            let mut rows = rows.iter().rev();
            let row = rows.find(|row| row.name.as_deref() == Some(name));
            let row = row.expect("in the witness");
            (row.args.to_vec(), row.line.map_or(0, NonZeroU64::get))
        };
        let line = 10 * file as u64;
        assert_eq!(row("open"), (vec![Value::from(file)], line + 1));
        if is_marked {
            assert_eq!(row("mark"), (vec![Value::from(file)], line + 2));
        }
        assert_eq!(row("read"), (vec![said(7), said(file)], line + 3));
        assert_eq!(row("close"), (vec![Value::from(file)], line + 4));
        found.clear();
    }
}
