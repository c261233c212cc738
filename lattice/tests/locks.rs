//! How many steps come after others because of locks alone, against the definition of the causal order.

use portent_lattice::{Checker, Options};
use portent_monitor_core::{
    Action, Delivery, Event, Msg, Op, Symbols, Value, definition::Relation,
};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::{Rng, admitted};

use crate::{handed::Handed, zero};

fn monitor() -> Monitor {
    let text = r#"property p {
        event a, b, take matches "[|]acq\(m\)"
        var x: int = 0
        ltl: always (a -> x < 1000 || once (b || take))
    }"#;
    Property::parse(text).unwrap().monitor().unwrap()
}

fn random_event(rng: &mut Rng, symbols: &mut Symbols) -> Event {
    let thread = symbols.threads.intern(rng.pick(&["S", "T", "U"])).unwrap();
    let name = symbols.names.intern(rng.pick(&["a", "b", "c"])).unwrap();
    let lock = symbols.locks.intern(rng.pick(&["m", "n"])).unwrap();
    let var = symbols.vars.intern(rng.pick(&["x", "y"])).unwrap();
    let chan = symbols.chans.intern("c").unwrap();
    let message = Msg::Number(rng.below(4) as i64);
    let child = symbols.threads.intern(rng.pick(&["S", "T", "U"])).unwrap();
    let cond = symbols.conds.intern("c").unwrap();
    let op = match rng.below(20) {
        16 => Op::TryLock(lock),
        17 => Op::Waiting(cond, Some(lock)),
        18 => Op::Wait(cond, Some(lock)),
        19 => Op::Notify(cond),
        0..4 => Action::new(name).into(),
        4..7 => Op::Lock(lock),
        7..10 => Op::Unlock(lock),
        10 => Op::ReadLock(lock),
        11 => Op::ReadUnlock(lock),
        12 => Op::Write(var, Some(Value::from(1))),
        13 => Op::Send(chan, message, Delivery::Unordered),
        14 => Op::Recv(chan, message, Delivery::Unordered),
        _ => Op::Join(child),
    };
    Event::new(thread, op)
}

/// As it is defined: the relation with locks, and with lines that order nothing in their place.
fn expected(events: &[Event], symbols: &Symbols) -> u64 {
    let without_lock = |event: &Event| match event.op {
        Op::Lock(lock)
        | Op::Unlock(lock)
        | Op::ReadLock(lock)
        | Op::ReadUnlock(lock)
        | Op::TryLock(lock) => Event::new(event.thread, Op::Request(lock)),
        Op::Waiting(cond, _) => Event::new(event.thread, Op::Waiting(cond, None)),
        Op::Wait(cond, _) => Event::new(event.thread, Op::Wait(cond, None)),
        _ => event.clone(),
    };
    let is_step = |event: &Event| match &event.op {
        Op::Event(action) => action
            .name
            .is_some_and(|name| symbols.names.name(name) != "c"),
        Op::Write(var, _) => symbols.vars.name(*var) == "x",
        Op::Lock(lock) => symbols.locks.name(*lock) == "m",
        _ => false,
    };
    let without: Vec<Event> = events.iter().map(without_lock).collect();
    let (with, without) = (Relation::new(events), Relation::new(&without));
    let steps: Vec<usize> = (0..events.len())
        .filter(|&index| is_step(&events[index]))
        .collect();
    let ordered_by_locks = |&&later: &&usize| {
        let mut earlier = steps.iter();
        earlier.any(|&earlier| with.precedes(earlier, later) && !without.precedes(earlier, later))
    };
    steps.iter().filter(ordered_by_locks).count() as u64
}

#[test]
fn steps_that_only_locks_keep_in_order_are_counted() {
    let mut rng = Rng::new(11);
    let monitor = monitor();
    let mut some = 0;
    for _ in 0..2000 {
        let mut symbols = Symbols::default();
        let draws = rng.between(5, 40);
        let events = admitted(draws, &mut symbols, |symbols| {
            random_event(&mut rng, symbols)
        });
        let mut checker = Checker::new([monitor.clone()], zero, Options::default())
            .unwrap()
            .handed(&symbols);
        for event in &events {
            checker.take(event).unwrap();
        }
        let report = checker.finish("run").unwrap();
        let expected = expected(&events, &symbols);
        some += usize::from(expected > 0);
        for property in report.properties {
            let found = property.lattice.ordered_by_locks;
            assert_eq!(found, Some(expected), "{events:?}");
        }
    }
    assert!(some > 200, "locks mattered in {some} runs");
}
