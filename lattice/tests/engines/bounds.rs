//! A bound says what may be left out. Where an engine leaves out nothing it stays the one that answers, so no bound makes a search slower.

use portent_lattice::{Checker, Counting, Engine, Options, report::PropertyReport};
use portent_monitor_core::{Action, Event, Op, Symbols, Value};
use portent_monitor_dsl::Property;
use portent_testing::Rng;

use crate::{handed::Handed, zero};

/// Four threads, far too many cuts to visit. Two of them set variables to 1 only while they hold a lock, a third as it
/// likes; after all have ended comes an r, and then a d.
fn run() -> (Vec<Event>, Symbols) {
    let mut rng = Rng::new(11);
    let mut symbols = Symbols::default();
    let thread = |symbols: &mut Symbols, n: usize| symbols.threads.intern(&format!("T{n}"));
    let threads: Vec<_> = (0..4)
        .map(|n| thread(&mut symbols, n).expect("few"))
        .collect();
    let lock = symbols.locks.intern("m").expect("few");
    let variables = ["x", "y", "z"].map(|name| symbols.vars.intern(name).expect("few"));
    let [b, c, r, d] = ["b", "c", "r", "d"].map(|name| symbols.names.intern(name).expect("few"));
    let children = threads[1..].iter();
    let mut events: Vec<Event> = { children.clone() }
        .map(|&child| Event::new(threads[0], Op::Fork(child)))
        .collect();
    for _ in 0..1_000 {
        let number = rng.below(4);
        let mut act = |op: Op| events.push(Event::new(threads[number], op));
        let write = |value: i64| Op::Write(variables[number], Some(Value::from(value)));
        match number {
            0 | 1 if rng.one_in(4) => {
                for op in [Op::Lock(lock), write(1), write(0), Op::Unlock(lock)] {
                    act(op);
                }
            }
            2 if rng.one_in(4) => act(write(rng.below(2) as i64)),
            _ => act(Action::new(rng.pick(&[b, c, r])).into()),
        }
    }
    events.extend(children.map(|&child| Event::new(threads[0], Op::Join(child))));
    events.extend([r, d].map(|name| Event::new(threads[0], Action::new(name))));
    (events, symbols)
}

#[test]
fn a_bound_keeps_no_engine_from_an_exhaustive_answer() {
    let (events, symbols) = run();
    let check = |text: &str, options: Options| -> PropertyReport {
        let property = Property::parse(text).expect("a property");
        let monitor = property.monitor().expect("small");
        let options = options.counting(Counting::Never);
        let mut checker = Checker::new([monitor], zero, options)
            .expect("initial values")
            .handed(&symbols);
        for event in &events {
            checker.take(event).expect("fits");
        }
        let mut report = checker.finish("run").expect("a report");
        report.properties.remove(0)
    };
    for (text, engine) in [
        (
            "property p { event b, c, r, q  ltl: always !q }",
            Engine::Linear,
        ),
        (
            "property p { var x: int = 0  var y: int = 0  var z: int = 0  ltl: always !(x == 1 && y == 1 && z == 1) }",
            Engine::Conjunctive,
        ),
        (
            "property p { event b, c, r, d  never: .* b (b | c)* d }",
            Engine::Intervals,
        ),
    ] {
        let free = check(text, Options::default());
        assert_eq!(free.lattice.engine, engine, "{text}");
        assert!(free.lattice.exhaustive && !free.predicted.violated);
        for bounded in [
            Options::default().window(8),
            Options::default().lookahead(8),
            Options::default().memory(16 << 20),
            Options::default().window(8).lookahead(8).memory(16 << 20),
        ] {
            let found = check(text, bounded.clone());
            assert_eq!(found.lattice.engine, engine, "{text} with {bounded:?}");
            assert_eq!(found.lattice.nodes, free.lattice.nodes);
            assert!(found.lattice.exhaustive && !found.predicted.violated);
        }
    }
}
