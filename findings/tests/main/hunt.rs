//! Random traces and what is found in them.

use portent_findings::{Finder, Hunt, Model, Options, Report};
use portent_monitor_core::{Event, LocId, LockId, Mark, Op, Symbols, ThreadId};
use portent_testing::{Rng, sharing};

/// How many random traces of each kind.
pub(crate) fn cases() -> u64 {
    let cases = std::env::var("PORTENT_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(5000)
}

/// A small trace of threads that share variables and locks, [dressed](dress).
pub(crate) fn random(rng: &mut Rng, draws: usize, locations: usize) -> Vec<Event> {
    let events = sharing(rng, draws);
    dress(rng, events, locations)
}

/// Gives a trace marks; some threads end with a request, if its events have no clocks. With `locations` of 0 every event has one of its own.
pub(crate) fn dress(rng: &mut Rng, mut events: Vec<Event>, locations: usize) -> Vec<Event> {
    for thread in 0..3 {
        let thread = ThreadId::from(thread);
        let has_ended = events.iter().any(|event| event.op == Op::Join(thread));
        let has_begun = events.iter().any(|event| event.thread == thread);
        let has_clocks = matches!(events.first().map(|event| &event.op), Some(Op::Stamped(_)));
        if rng.one_in(3) && has_begun && !has_ended && !has_clocks {
            let lock = LockId::from(rng.below(3) as u32);
            events.push(Event::new(thread, Op::Request(lock)));
        }
    }
    for (index, event) in events.iter_mut().enumerate() {
        let loc = if locations == 0 {
            index
        } else {
            rng.below(locations)
        };
        event.loc = LocId::from_index(loc);
        let is_lock = matches!(event.op, Op::Lock(_) | Op::ReadLock(_));
        let is_access = matches!(event.op, Op::Read(_) | Op::Write(..) | Op::Update(..));
        if rng.one_in(8) && (is_lock || is_access) {
            event.mark = Some(if is_lock { Mark::Try } else { Mark::Atomic });
        }
    }
    events
}

/// Names for everything that random events have.
pub(crate) fn named(symbols: &mut Symbols) {
    for index in 0..64 {
        let name = index.to_string();
        symbols.threads.intern(&format!("T{name}")).unwrap();
        symbols.locks.intern(&name).unwrap();
        symbols.vars.intern(&name).unwrap();
        symbols.locs.intern(&name).unwrap();
        symbols.names.intern(&name).unwrap();
    }
}

/// Looks in a trace whose names do not matter.
pub(crate) fn find(events: &[Event], model: Model, hunt: Hunt) -> Report {
    let mut finder = Finder::new(Options::default().model(model).hunt(hunt));
    named(finder.symbols_mut());
    for event in events {
        finder.take(event).unwrap();
    }
    finder.finish().unwrap()
}
