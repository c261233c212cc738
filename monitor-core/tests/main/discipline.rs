//! Runs that cannot be: one line each, with what is said of it.

use std::num::NonZeroU64;

use portent_monitor_core::{
    Action, CondId, Delivery, Discipline, Event, LockId, Msg, Op, Stamped, Symbols, ThreadId,
};

/// Feeds the events; all but the last are fine, and the last one is refused with this message.
fn refused(events: impl FnOnce(&mut Symbols) -> Vec<(&'static str, Op)>, message: &str) {
    let mut symbols = Symbols::default();
    let events = events(&mut symbols);
    let mut discipline = Discipline::default();
    let last = events.len() - 1;
    for (i, (name, op)) in events.into_iter().enumerate() {
        let mut event = Event::new(symbols.threads.intern(name).unwrap(), op);
        event.line = NonZeroU64::new(i as u64 + 1);
        match discipline.admit(&event, &symbols) {
            Ok(()) => assert_ne!(i, last, "{message}"),
            Err(error) => assert_eq!((i, error.to_string().as_str()), (last, message)),
        }
        if i == last {
            // A refused event leaves no mark: it is refused again, for the same reason.
            let again = discipline.admit(&event, &symbols).unwrap_err();
            assert_eq!(again.to_string(), message);
        }
    }
}

fn t(symbols: &mut Symbols, name: &str) -> ThreadId {
    symbols.threads.intern(name).unwrap()
}

fn stamped(symbols: &mut Symbols, clock: &[(&str, u32)]) -> Op {
    let clock = clock
        .iter()
        .map(|(name, n)| (t(symbols, name), *n))
        .collect();
    Stamped::new(Action::default(), clock).into()
}

#[test]
fn locks() {
    refused(
        |s| {
            let m = s.locks.intern("m").unwrap();
            vec![("A", Op::Lock(m)), ("B", Op::Unlock(m))]
        },
        "thread B releases lock m, which it does not hold",
    );
    refused(
        |s| {
            let m = s.locks.intern("m").unwrap();
            vec![("A", Op::ReadLock(m)), ("A", Op::Unlock(m))]
        },
        "thread A releases lock m, which it does not hold",
    );
    refused(
        |s| {
            let m = s.locks.intern("m").unwrap();
            vec![("A", Op::Lock(m)), ("A", Op::ReadUnlock(m))]
        },
        "thread A releases lock m, which it does not hold on its shared side",
    );
    refused(
        |s| {
            let m = s.locks.intern("m").unwrap();
            let twice = [
                Op::Lock(m),
                Op::Lock(m),
                Op::Unlock(m),
                Op::Unlock(m),
                Op::Unlock(m),
            ];
            twice.into_iter().map(|op| ("A", op)).collect()
        },
        "thread A releases lock m, which it does not hold",
    );
}

/// Feeds the events, all of which are fine.
fn admitted(events: impl FnOnce(&mut Symbols) -> Vec<(&'static str, Op)>) {
    let mut symbols = Symbols::default();
    let events = events(&mut symbols);
    let mut discipline = Discipline::default();
    for (name, op) in events {
        let event = Event::new(symbols.threads.intern(name).unwrap(), op);
        discipline.admit(&event, &symbols).unwrap();
    }
}

#[test]
fn two_threads_do_not_hold_one_lock_at_once() {
    let both = "thread A holds lock m, but B has taken it on line 2, and A goes on without waking up from a \
                wait: log `lock` when the lock was acquired, `unlock` before it is released, and a wait as \
                `waiting` and `wait`";
    let lock = |s: &mut Symbols| s.locks.intern("m").unwrap();
    let cond = |s: &mut Symbols| s.conds.intern("c").unwrap();
    refused(
        |s| {
            let m = lock(s);
            vec![
                ("A", Op::Lock(m)),
                ("B", Op::Lock(m)),
                ("B", Op::Unlock(m)),
                ("A", Op::Unlock(m)),
            ]
        },
        both,
    );
    // One that has ended was not waiting.
    refused(
        |s| {
            let (m, a) = (lock(s), s.threads.intern("A").unwrap());
            vec![("A", Op::Lock(m)), ("B", Op::Lock(m)), ("T", Op::Join(a))]
        },
        both,
    );
    refused(
        |s| {
            let (m, c) = (lock(s), cond(s));
            vec![
                ("A", Op::Lock(m)),
                ("B", Op::Lock(m)),
                ("B", Op::Notify(c)),
                ("A", Op::Wait(c, None)),
            ]
        },
        both,
    );
    refused(
        |s| {
            let m = lock(s);
            vec![
                ("A", Op::ReadLock(m)),
                ("B", Op::Lock(m)),
                ("A", Op::ReadUnlock(m)),
            ]
        },
        both,
    );
    // Two readers are fine; so is a wait, shown by its begin, by its wake-up, or logged at the call.
    admitted(|s| {
        let (m, c) = (lock(s), cond(s));
        vec![
            ("A", Op::ReadLock(m)),
            ("B", Op::ReadLock(m)),
            ("A", Op::ReadUnlock(m)),
            ("B", Op::ReadUnlock(m)),
            ("A", Op::Lock(m)),
            ("B", Op::Lock(m)),
            ("B", Op::Unlock(m)),
            ("A", Op::Wait(c, None)),
            ("A", Op::Unlock(m)),
            ("A", Op::Lock(m)),
            ("A", Op::Waiting(c, Some(m))),
            ("B", Op::Lock(m)),
            ("B", Op::Unlock(m)),
            ("A", Op::Wait(c, Some(m))),
            ("A", Op::Wait(c, None)),
            ("B", Op::Lock(m)),
            ("B", Op::Unlock(m)),
            ("A", Op::Unlock(m)),
        ]
    });
    refused(
        |s| {
            let (m, c) = (lock(s), cond(s));
            vec![("A", Op::Waiting(c, Some(m)))]
        },
        "thread A releases lock m, which it does not hold",
    );
}

#[test]
fn a_thread_that_waits_does_nothing_before_it_wakes_up() {
    fn ids(s: &mut Symbols) -> (LockId, CondId, CondId) {
        let conds = &mut s.conds;
        let (c, d) = (conds.intern("c").unwrap(), conds.intern("d").unwrap());
        (s.locks.intern("m").unwrap(), c, d)
    }
    let asleep = "thread A began to wait for c on line 2 and gave lock m back, and goes on or ends without \
                  waking up: log `wait` when it has woken up, or `lock` where its time was over";
    type Goes = fn(&mut Symbols, CondId) -> (&'static str, Op);
    let goes_on: [Goes; 5] = [
        |_, _| ("A", Op::Event(Box::default())),
        |s, _| ("A", Op::Read(s.vars.intern("x").unwrap())),
        |s, _| ("A", Op::Lock(s.locks.intern("n").unwrap())),
        |_, d| ("A", Op::Wait(d, None)),
        |s, _| ("B", Op::Join(t(s, "A"))),
    ];
    for goes_on in goes_on {
        refused(
            |s| {
                let (m, c, d) = ids(s);
                let begin = [("A", Op::Lock(m)), ("A", Op::Waiting(c, Some(m)))];
                begin.into_iter().chain([goes_on(s, d)]).collect()
            },
            asleep,
        );
    }
    // It wakes up, its time is over, or there was no lock to be given back.
    admitted(|s| {
        let (m, c, _) = ids(s);
        vec![
            ("A", Op::Lock(m)),
            ("A", Op::Waiting(c, Some(m))),
            ("A", Op::Wait(c, Some(m))),
            ("A", Op::Waiting(c, Some(m))),
            ("A", Op::Request(m)),
            ("A", Op::Lock(m)),
            ("A", Op::Unlock(m)),
            ("A", Op::Waiting(c, None)),
            ("A", Op::Event(Box::default())),
        ]
    });
}

#[test]
fn threads() {
    refused(
        |s| vec![("A", Op::Join(t(s, "B")))],
        "thread A joins B, a thread that was neither forked nor seen before",
    );
    refused(
        |s| vec![("A", Op::Join(t(s, "A")))],
        "thread A joins itself",
    );
    refused(
        |s| vec![("A", Op::Fork(t(s, "A")))],
        "thread A forks A, which has already been started",
    );
    refused(
        |s| vec![("A", Op::Fork(t(s, "B"))), ("B", Op::Fork(t(s, "A")))],
        "thread B forks A, which has already been started",
    );
    refused(
        |s| vec![("A", Op::Fork(t(s, "B"))), ("A", Op::Fork(t(s, "B")))],
        "thread A forks B, which has already been started",
    );
    refused(
        |s| {
            let x = s.vars.intern("x").unwrap();
            let b = t(s, "B");
            vec![
                ("A", Op::Fork(b)),
                ("A", Op::Join(b)),
                ("A", Op::Fork(b)),
                ("B", Op::Read(x)),
                ("A", Op::Join(b)),
                ("B", Op::Read(x)),
            ]
        },
        "thread B acts after it was joined",
    );
}

#[test]
fn messages_and_barriers() {
    refused(
        |s| {
            let c = s.chans.intern("c").unwrap();
            vec![
                ("A", Op::Send(c, Msg::Number(1), Delivery::Unordered)),
                ("B", Op::Recv(c, Msg::Number(2), Delivery::Unordered)),
            ]
        },
        "thread B receives message 2 on channel c, which was not sent before",
    );
    refused(
        |s| {
            let b = s.barriers.intern("b").unwrap();
            let x = s.vars.intern("x").unwrap();
            vec![
                ("A", Op::Barrier(b, 0)),
                ("B", Op::Barrier(b, 0)),
                ("A", Op::Read(x)),
                ("A", Op::Barrier(b, 1)),
                ("C", Op::Barrier(b, 0)),
            ]
        },
        "thread C arrives at round 0 of barrier b after a thread of that round went on",
    );
    refused(
        |s| {
            let b = s.barriers.intern("b").unwrap();
            vec![("A", Op::Barrier(b, 3)), ("A", Op::Barrier(b, 3))]
        },
        "thread A arrives at round 3 of barrier b after a thread of that round went on",
    );
}

#[test]
fn clocks() {
    refused(
        |s| {
            let x = s.vars.intern("x").unwrap();
            vec![("A", stamped(s, &[("A", 1)])), ("A", Op::Read(x))]
        },
        "a trace has only lines with `vc` or only lines with `op`, and this line is the first of the other kind",
    );
    refused(
        |s| vec![("A", stamped(s, &[("B", 1)]))],
        "the clock of an event of A does not count that event: its component A must be at least 1",
    );
    refused(
        |s| {
            vec![
                ("A", stamped(s, &[("A", 2)])),
                ("A", stamped(s, &[("A", 2)])),
            ]
        },
        "the clock of A goes backwards: component A is 2, after 2 on line 1",
    );
    refused(
        |s| {
            vec![
                ("B", stamped(s, &[("B", 1)])),
                ("A", stamped(s, &[("A", 1), ("B", 1)])),
                ("A", stamped(s, &[("A", 2)])),
            ]
        },
        "the clock of A goes backwards: component B is 0, after 1 on line 2",
    );
    refused(
        |s| {
            vec![
                ("A", stamped(s, &[("A", 1), ("B", 2)])),
                ("B", stamped(s, &[("B", 2)])),
            ]
        },
        "event 2 of B comes after the clock on line 1 that counts it",
    );
    refused(
        |s| {
            vec![
                ("B", stamped(s, &[("B", 1)])),
                ("B", stamped(s, &[("B", 3)])),
                ("A", stamped(s, &[("A", 1), ("B", 3), ("C", 7)])),
                ("A", stamped(s, &[("A", 2), ("B", 4), ("C", 7)])),
            ]
        },
        "the clock of A counts 4 events of B, but only 3 of them come before it, the last on line 2",
    );
}
