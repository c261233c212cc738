//! Runs that cannot be: one line each, with what is said of it.

use std::num::NonZeroU64;

use portent_monitor_core::{
    Action, CondId, Delivery, Discipline, Event, LockId, Msg, Op, Stamped, Symbols, ThreadId,
};
use portent_testing::Rng;

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
                wait that gave it back: log `lock` when the lock was acquired, `unlock` before it is released, and a wait as \
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
    for op in [Op::Lock, Op::ReadLock] {
        refused(
            |s| {
                let (m, a) = (lock(s), s.threads.intern("A").unwrap());
                vec![("A", Op::Lock(m)), ("T", Op::Join(a)), ("T", op(m))]
            },
            "thread T takes lock m, which A has held since line 1 and did not give back before it ended: log `unlock` \
             before the lock is released",
        );
    }
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
                ("A", Op::Lock(m)),
                ("B", Op::ReadLock(m)),
                ("A", Op::Unlock(m)),
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
fn a_reader_cannot_be_waiting_so_its_lock_is_not_taken() {
    let reads = "thread B takes lock m, which A holds for reading since line 1: log `lock` and `rlock` when the lock \
                 was acquired, `unlock` and `runlock` before it is released";
    let lock = |s: &mut Symbols| s.locks.intern("m").unwrap();
    let cond = |s: &mut Symbols| s.conds.intern("c").unwrap();
    refused(
        |s| {
            let m = lock(s);
            vec![("A", Op::ReadLock(m)), ("B", Op::Lock(m))]
        },
        reads,
    );
    // Be it by a wake-up, after a notify, from one of several readers, or from one that reads too.
    refused(
        |s| {
            let (m, c) = (lock(s), cond(s));
            vec![
                ("A", Op::ReadLock(m)),
                ("B", Op::Notify(c)),
                ("B", Op::Wait(c, Some(m))),
            ]
        },
        reads,
    );
    refused(
        |s| {
            let m = lock(s);
            vec![
                ("A", Op::ReadLock(m)),
                ("C", Op::ReadLock(m)),
                ("B", Op::ReadLock(m)),
                ("C", Op::ReadUnlock(m)),
                ("B", Op::Lock(m)),
            ]
        },
        reads,
    );
    refused(
        |s| {
            let (m, c) = (lock(s), cond(s));
            vec![
                ("A", Op::ReadLock(m)),
                ("A", Op::Wait(c, None)),
                ("B", Op::Lock(m)),
            ]
        },
        reads,
    );
    // Who reads may take the lock as well, if nobody else reads.
    admitted(|s| {
        let m = lock(s);
        vec![
            ("A", Op::ReadLock(m)),
            ("A", Op::Lock(m)),
            ("A", Op::Unlock(m)),
            ("A", Op::ReadUnlock(m)),
            ("B", Op::Lock(m)),
        ]
    });
}

#[test]
fn a_lock_is_not_held_twice_at_the_end_of_a_run() {
    let lock = |s: &mut Symbols| s.locks.intern("m").unwrap();
    let cond = |s: &mut Symbols| s.conds.intern("c").unwrap();
    let held = "thread A holds lock m to the end, but B has taken it on line 2, and no line says that A \
                waits: log `lock` when the lock was acquired, `unlock` before it is released, and a wait \
                as `waiting` and `wait`";
    for op in [Op::Lock, Op::ReadLock] {
        let ended = ends(|s| {
            let m = lock(s);
            vec![("A", Op::Lock(m)), ("B", op(m))]
        });
        assert_eq!(ended.unwrap_err(), held);
    }
    // The first of two.
    let ended = ends(|s| {
        let (m, n) = (lock(s), s.locks.intern("n").unwrap());
        vec![
            ("A", Op::Lock(m)),
            ("B", Op::Lock(m)),
            ("B", Op::Lock(n)),
            ("C", Op::Lock(n)),
            ("D", Op::Lock(m)),
        ]
    });
    assert_eq!(ended.unwrap_err(), held);
    // That others wait or notify says nothing of A.
    for op in [Op::Notify, |c| Op::Wait(c, None), |c| Op::Waiting(c, None)] {
        let ended = ends(|s| {
            let (m, c) = (lock(s), cond(s));
            vec![("A", Op::Lock(m)), ("B", Op::Lock(m)), ("B", op(c))]
        });
        assert_eq!(ended.unwrap_err(), held);
    }
    // A has begun to wait, be it in the right words or logged as a wake-up.
    for op in [|c, m| Op::Waiting(c, Some(m)), |c, _| Op::Wait(c, None)] {
        let ended = ends(|s| {
            let (m, c) = (lock(s), cond(s));
            vec![("A", Op::Lock(m)), ("A", op(c, m)), ("B", Op::Lock(m))]
        });
        assert_eq!(ended, Ok(()));
    }
    let ended = ends(|s| {
        let m = lock(s);
        vec![("A", Op::Lock(m)), ("A", Op::Unlock(m)), ("B", Op::Lock(m))]
    });
    assert_eq!(ended, Ok(()));
}

#[test]
fn a_wait_gives_back_the_lock_that_it_names_and_no_other() {
    let locks = |s: &mut Symbols| ["m", "n"].map(|name| s.locks.intern(name).unwrap());
    let cond = |s: &mut Symbols| s.conds.intern("c").unwrap();
    refused(
        |s| {
            let ([m, n], c) = (locks(s), cond(s));
            vec![
                ("A", Op::Lock(m)),
                ("A", Op::Lock(n)),
                ("A", Op::Waiting(c, Some(n))),
                ("B", Op::Lock(m)),
                ("B", Op::Unlock(m)),
                ("B", Op::Notify(c)),
                ("A", Op::Wait(c, Some(n))),
            ]
        },
        "thread A holds lock m, but B has taken it on line 4, and A goes on without waking up from a wait that gave it \
         back: log `lock` when the lock was acquired, `unlock` before it is released, and a wait as `waiting` and `wait`",
    );
    // A wait that was logged where it begins, and then did something else.
    refused(
        |s| {
            let ([m, n], c) = (locks(s), cond(s));
            vec![
                ("A", Op::Lock(m)),
                ("A", Op::Lock(n)),
                ("A", Op::Wait(c, Some(n))),
                ("B", Op::Lock(m)),
                ("B", Op::Unlock(m)),
                ("A", Op::Unlock(n)),
            ]
        },
        "thread A holds lock m, but B has taken it on line 4, and A goes on without waking up from a wait that gave it \
         back: log `lock` when the lock was acquired, `unlock` before it is released, and a wait as `waiting` and `wait`",
    );
}

/// Feeds the events, all of which are fine, and says what is wrong with the end of the run.
fn ends(events: impl FnOnce(&mut Symbols) -> Vec<(&'static str, Op)>) -> Result<(), String> {
    let mut symbols = Symbols::default();
    let events = events(&mut symbols);
    let mut discipline = Discipline::default();
    for (line, (name, op)) in (1..).zip(events) {
        let mut event = Event::new(symbols.threads.intern(name).unwrap(), op);
        event.line = NonZeroU64::new(line);
        discipline.admit(&event, &symbols).unwrap();
    }
    discipline
        .finish(&symbols)
        .map_err(|error| error.to_string())
}

/// Locks of both kinds, as they come, and threads that end: a run without conditions is admitted to its end if and only if at every moment each
/// lock has one writer or only readers, by a count that knows nothing of waits.
#[test]
fn random_locks_are_admitted_if_nobody_holds_one_that_another_excludes() {
    let symbols = Symbols::default();
    let (mut fine, mut broken, mut at_the_end, mut readers) = (0, 0, 0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let length = 1 + rng.below(7);
        let events: Vec<(usize, usize, usize)> = (0..length)
            .map(|_| (rng.below(3), rng.below(6), rng.below(2)))
            .collect();
        // How often each thread holds each lock, for writing and for reading.
        let mut held = [[[0u32; 2]; 3]; 2];
        let mut possible = true;
        let mut discipline = Discipline::default();
        let mut admitted = true;
        let (mut began, mut ended) = ([false; 3], [false; 3]);
        for &(thread, op, lock) in &events {
            let child = (thread + 1) % 3;
            if ended[thread] || op == 5 && (!began[child] || ended[child]) {
                continue;
            }
            began[thread] = true;
            let side = op % 2;
            let others_exclude = |held: &[[u32; 2]; 3]| {
                let others = (0..3).filter(|&other| other != thread);
                { others }.any(|other| held[other][0] > 0 || side == 0 && held[other][1] > 0)
            };
            match op {
                0 | 1 => {
                    possible &= !others_exclude(&held[lock]);
                    held[lock][thread][side] += 1;
                }
                2 | 3 if held[lock][thread][side] == 0 => possible = false,
                2 | 3 => held[lock][thread][side] -= 1,
                5 => ended[child] = true,
                _ => {}
            }
            let lock = LockId::from_index(lock).unwrap();
            let op = match op {
                0 => Op::Lock(lock),
                1 => Op::ReadLock(lock),
                2 => Op::Unlock(lock),
                3 => Op::ReadUnlock(lock),
                5 => Op::Join(ThreadId::from_index(child).unwrap()),
                _ => Action::default().into(),
            };
            let event = Event::new(ThreadId::from_index(thread).unwrap(), op);
            admitted &= discipline.admit(&event, &symbols).is_ok();
        }
        let ended = discipline.finish(&symbols).is_ok();
        assert_eq!(admitted && ended, possible, "seed {seed}: {events:?}");
        fine += usize::from(possible);
        broken += usize::from(!possible);
        at_the_end += usize::from(admitted && !ended);
        readers += usize::from(possible && events.iter().any(|event| event.1 == 1));
    }
    assert!(fine > 1_000 && broken > 1_000 && at_the_end > 100 && readers > 500);
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
