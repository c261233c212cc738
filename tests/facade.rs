//! What an application sees through the façade: from a property file to a verdict with its reason.

use std::sync::mpsc;

use portent::{
    Config, Options, Property, Recording, Value, Verdict, Verdicts, Watch, event,
    events::{Event, Op},
};

/// The property files of the examples, with the sizes of their monitors.
const EXAMPLES: [(&str, &str, usize); 3] = [
    (
        "reservoir",
        include_str!("../examples/reservoir/reservoir.portent"),
        4,
    ),
    (
        "landing",
        include_str!("../examples/landing/landing.portent"),
        5,
    ),
    ("files", include_str!("../examples/files/files.portent"), 3),
];

#[test]
fn the_monitors_of_the_examples_have_their_sizes() {
    for (name, text, states) in EXAMPLES {
        let properties = Property::parse_file(name, text).expect(name);
        assert_eq!(
            properties[0].monitor().expect(name).states(),
            states,
            "{name}"
        );
    }
}

#[test]
fn a_run_is_followed_to_a_verdict_that_explains_itself() {
    let [(_, text, _), ..] = EXAMPLES;
    let monitor = Property::parse(text)
        .and_then(|property| property.monitor())
        .expect("parses");
    let [w, v] = ["w", "v"].map(|name| monitor.alphabet().variable(name).expect("declared"));
    let mut run = monitor
        .start()
        .expect("initial values are declared")
        .remembering();
    for (variable, value, expected) in [
        (w, 27, Verdict::Ok),
        (v, 50, Verdict::Ok),
        (w, 31, Verdict::Violated),
    ] {
        assert_eq!(run.write(variable, value).expect("an integer"), expected);
    }
    let explanation = run.explain().expect("the verdict is final");
    assert_eq!(explanation.step, 3);
    assert_eq!(explanation.part, "q -> ((r && p) since start(p))");
}

#[test]
fn monitors_are_shared_between_threads() {
    let property = Property::parse("always (logout -> once login)").expect("parses");
    let monitor = Config::new()
        .verdicts(Verdicts::Three)
        .monitor(&property)
        .expect("is small");
    let verdicts: Vec<Verdict> = std::thread::scope(|scope| {
        let runs = ["login", "logout"].map(|name| {
            let monitor = monitor.clone();
            scope.spawn(move || {
                let event = monitor.alphabet().event(name).expect("in the formula");
                monitor.start().expect("no variables").event(event)
            })
        });
        runs.into_iter()
            .map(|run| run.join().expect("no panic"))
            .collect()
    });
    assert_eq!(verdicts, [Verdict::Satisfied, Verdict::Violated]);
}

#[test]
fn a_program_is_watched_from_another_thread() {
    let [(_, text, _), ..] = EXAMPLES;
    let monitor = Property::parse(text)
        .and_then(|property| property.monitor())
        .expect("parses");
    let (sender, receiver) = mpsc::channel();
    let options = Options::default().lookahead(3);
    let mut watch = Watch::new([monitor], |_| None, options).expect("initial values are declared");
    let symbols = watch.symbols_mut();
    let threads = ["T1", "T2"].map(|name| symbols.threads.intern(name).expect("few"));
    let [w, v] = ["w", "v"].map(|name| symbols.vars.intern(name).expect("few"));
    let found = std::thread::scope(|scope| {
        let sidecar = scope.spawn(move || {
            let events = receiver.into_iter();
            let news = events.flat_map(|event| watch.take(&event).expect("integers"));
            news.collect::<Vec<_>>()
        });
        for (thread, variable, value) in [
            (1, w, 24),
            (0, v, 50),
            (1, w, 27),
            (0, v, 60),
            (1, w, 31),
            (0, v, 70),
        ] {
            let write = Op::Write(variable, Some(Value::from(value)));
            sender
                .send(Event::new(threads[thread], write))
                .expect("somebody listens");
        }
        drop(sender);
        sidecar.join().expect("no panic")
    });
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].observed.verdict, Verdict::Ok);
    assert_eq!(found[0].predicted.violated_at, Some(3));
    assert_eq!(found[0].predicted.swaps, [[1, 2], [1, 4], [3, 4]]);
}

/// Names that a running program uses for the first time reach whoever watches it, one event after the other.
#[test]
fn a_watch_learns_the_names_of_a_program_while_it_runs() {
    let text = "property file(f) { event open(f), read(f), close(f)  ere: (open read* close)* }";
    let monitor = Property::parse(text).and_then(|property| property.monitor());
    let mut watch =
        Watch::new([monitor.expect("small")], |_| None, Options::default()).expect("no variables");
    let (recording, mut stream) = Recording::relevant(["open", "read", "close"]).start();
    let entered = recording.enter();
    let mut predicted = Vec::new();
    let mut take_all = |watch: &mut Watch| {
        while let Some(recorded) = stream.try_next() {
            stream.names(watch.symbols_mut()).expect("only these");
            let found = watch.take_stamped(&recorded.event, &recorded.stamp);
            predicted.extend(found.expect("in order"));
        }
    };
    event!(open, file = "a");
    take_all(&mut watch);
    assert!(watch.symbols().names.get("open").is_some());
    let known = watch.symbols().threads.len();
    let reader = portent::thread::Builder::new().name("a reader".to_owned());
    let reader = reader.spawn(|| event!(read, file = "b")).expect("a thread");
    reader.join().expect("no panic");
    take_all(&mut watch);
    assert!(watch.symbols().threads.len() > known);
    event!(close, file = "a");
    drop(entered);
    take_all(&mut watch);
    let [found] = predicted.as_slice() else {
        panic!("one violation, not {predicted:?}");
    };
    assert_eq!(found.binding, [("f".to_owned(), Value::from("b"))]);
    let report = watch.finish("run").expect("a report");
    assert_eq!(report.trace.events, 3);
}
