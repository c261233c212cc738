//! Random traces and properties, from a seed.

#![allow(dead_code)] // every test file uses a part

use portent_monitor_core::{Action, Delivery, Event, Msg, Op, Symbols, Value};
use portent_monitor_dsl::{Config, Monitor, Property};
use portent_testing::{Rng, admitted};

/// A trace of up to `length` events of up to four threads, each admitted by the discipline.
pub(crate) fn trace(rng: &mut Rng, length: usize) -> (Vec<Event>, Symbols) {
    let mut symbols = Symbols::default();
    let events = trace_with(rng, length, &mut symbols);
    (events, symbols)
}

/// The same, with symbols that may have names already.
pub(crate) fn trace_with(rng: &mut Rng, length: usize, symbols: &mut Symbols) -> Vec<Event> {
    let threads = 2 + rng.below(3);
    admitted(length, symbols, |symbols| {
        let thread = symbols.threads.intern(&format!("T{}", rng.below(threads)));
        Event::new(thread.expect("few"), some_op(rng, symbols))
    })
}

/// Critical sections of up to three threads, one after the other: each writes, reads and signals a
/// little under a lock.
pub(crate) fn sections(rng: &mut Rng) -> (Vec<Event>, Symbols) {
    let mut symbols = Symbols::default();
    let lock = symbols.locks.intern("m").expect("few");
    let mut events = Vec::new();
    for _ in 0..2 + rng.below(2) {
        let thread = symbols.threads.intern(&format!("T{}", rng.below(3)));
        let thread = thread.expect("few");
        events.push(Event::new(thread, Op::Lock(lock)));
        for _ in 0..1 + rng.below(2) {
            let op = match rng.below(5) {
                0 => Op::Read(symbols.vars.intern(rng.pick(&["x", "y"])).expect("few")),
                _ => loop {
                    let op = some_op(rng, &mut symbols);
                    if matches!(op, Op::Write(..) | Op::Event(_)) {
                        break op;
                    }
                },
            };
            events.push(Event::new(thread, op));
        }
        events.push(Event::new(thread, Op::Unlock(lock)));
    }
    (events, symbols)
}

fn some_op(rng: &mut Rng, symbols: &mut Symbols) -> Op {
    let value = Value::from(rng.below(4) as i64);
    let var = symbols
        .vars
        .intern(rng.pick(&["x", "y", "z"]))
        .expect("few");
    let lock = symbols.locks.intern("m").expect("few");
    let chan = symbols.chans.intern("c").expect("few");
    let msg = Msg::Number(rng.below(3) as i64);
    let reads = value == Value::from(0);
    match rng.below(24) {
        0..8 => Op::Write(var, Some(value)),
        8 => Op::Update(var, Some(value)),
        9 => Op::Read(var),
        10 if reads => Op::ReadLock(lock),
        10 => Op::Lock(lock),
        11 if reads => Op::ReadUnlock(lock),
        11 => Op::Unlock(lock),
        12 => Op::Send(chan, msg, Delivery::Unordered),
        13 => Op::Recv(chan, msg, Delivery::Unordered),
        14 => Op::Fork(symbols.threads.intern("T3").expect("few")),
        15 => Op::Join(symbols.threads.intern("T3").expect("few")),
        _ => {
            let name = symbols.names.intern(rng.pick(&["a", "b", "c"]));
            let set = if rng.below(3) == 0 {
                vec![(var, value)]
            } else {
                Vec::new()
            };
            Action::new(name.expect("few")).set(set).into()
        }
    }
}

/// Monitors of random properties.
pub(crate) fn monitors(rng: &mut Rng, count: usize) -> Vec<Monitor> {
    let config = Config::new().max_states(200);
    let mut monitors = Vec::new();
    while monitors.len() < count {
        let text = property(rng);
        let Ok(property) = Property::parse(&text) else {
            continue;
        };
        if let Ok(monitor) = config.monitor(&property) {
            monitors.push(monitor);
        }
    }
    monitors
}

/// A random property over the variables and events of [`trace`].
pub(crate) fn property(rng: &mut Rng) -> String {
    match rng.below(10) {
        0 => format!("ere: {}", expression(rng, 3)),
        1 => format!("never: {}", expression(rng, 3)),
        2..6 => rng.pick(FIXED).to_owned(),
        _ => formula(rng, 3),
    }
}

const FIXED: &[&str] = &[
    "always (x >= y)",
    "always (x + y < 5)",
    "always (a -> once b)",
    "always (x > 2 -> (y > 0 since start(x > 1)))",
    "always (a -> eventually b)",
    "[](c -> [a, b))",
    "always !(a && next b)",
    "eventually (x == 3 && y == 3)",
    "ere: (a b* c)*",
    "never: {}* a b a",
    "always (b -> Y a)",
    "always (x != z || y != z)",
    "always !(x > 1 && y > 1 && z > 1)",
    "always (a -> x > y)",
    "never: {}* a {!b}* c",
    "never: {}* {x > y} {}* {y > x} {}* {x > y}",
    "ere: ~({}* a b {}*)",
    "always (c -> !(b since a))",
];

fn atom(rng: &mut Rng) -> &'static str {
    rng.pick(&[
        "a",
        "b",
        "c",
        "x > 1",
        "x >= y",
        "y == 2",
        "z < 2",
        "x + z > 3",
        "true",
    ])
}

fn formula(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 {
        return format!("({})", atom(rng));
    }
    let inner = formula(rng, depth - 1);
    if rng.below(2) == 0 {
        let operator = rng.pick(&["!", "G", "F", "X", "N", "Y", "Z", "O", "H"]);
        return format!("({operator} {inner})");
    }
    let less = rng.below(depth);
    let other = formula(rng, less);
    let operator = rng.pick(&["&&", "||", "->", "U", "W", "S", "R", "T"]);
    format!("({inner} {operator} {other})")
}

fn expression(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 {
        return rng
            .pick(&["a", "b", "c", "{x > 1}", "{a, y == 2}", "{}", "{x >= y}"])
            .to_owned();
    }
    let inner = expression(rng, depth - 1);
    match rng.below(6) {
        0 => format!("({inner})*"),
        1 => format!("({inner})?"),
        2 => format!("(~({inner}))"),
        _ => {
            let less = rng.below(depth);
            let other = expression(rng, less);
            let operator = rng.pick(&[" ", " | ", " & ", " "]);
            format!("({inner}{operator}{other})")
        }
    }
}
