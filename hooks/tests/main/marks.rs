//! What a recording of everything says for those who look for races, deadlocks and blocks that are not atomic.

use portent_hooks::{
    Recorded, Recording, Shared, atomic_block, symbols,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};
use portent_monitor_core::{Mark, Marker, Op, Operation};
use std::time::Duration;

/// All that `f` does.
fn record(f: impl FnOnce()) -> Vec<Recorded> {
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    f();
    drop(entered);
    stream.finish()
}

/// The operations on one object, with their marks.
fn on(events: &[Recorded], name: &str) -> Vec<(Operation, Option<Mark>)> {
    let symbols = symbols();
    { events.iter() }
        .filter(|recorded| recorded.event.op.object(&symbols) == Some(name))
        .filter_map(|recorded| Some((recorded.event.op.operation()?, recorded.event.mark)))
        .collect()
}

#[test]
fn accesses_of_atomics_are_marked_and_others_are_not() {
    let events = record(|| {
        let atomic = AtomicU32::with_name("marked atomic", 0);
        let shared = Shared::with_name("marked shared", 0);
        atomic.store(1, SeqCst);
        atomic.load(SeqCst);
        atomic.fetch_add(1, SeqCst);
        shared.set(1);
        shared.get();
    });
    let atomic = Some(Mark::Atomic);
    assert_eq!(
        on(&events, "marked atomic"),
        [
            (Operation::Write, atomic),
            (Operation::Read, atomic),
            (Operation::Update, atomic)
        ]
    );
    assert_eq!(
        on(&events, "marked shared"),
        [(Operation::Write, None), (Operation::Read, None)]
    );
}

#[test]
fn a_try_that_succeeds_is_marked_and_one_who_waits_asks() {
    let contend = || {
        let events = record(|| {
            let lock = Mutex::with_name("marked lock", ());
            drop(lock.try_lock().unwrap());
            let held = lock.lock().unwrap();
            thread::scope(|s| {
                let waiting = s.spawn(|| drop(lock.lock().unwrap()));
                std::thread::sleep(Duration::from_millis(50));
                drop(held);
                waiting.join().unwrap();
            });
        });
        let here = events[0].event.thread;
        let (own, others): (Vec<_>, Vec<_>) =
            { events.into_iter() }.partition(|recorded| recorded.event.thread == here);
        assert_eq!(
            on(&own, &name_of_lock(&own)),
            [
                (Operation::Lock, Some(Mark::Try)),
                (Operation::Unlock, None),
                (Operation::Lock, None),
                (Operation::Unlock, None)
            ]
        );
        let found = on(&others, &name_of_lock(&own));
        let found: Vec<Operation> = found.into_iter().map(|(operation, _)| operation).collect();
        let asked = [Operation::Request, Operation::Lock, Operation::Unlock];
        assert!(found == asked || found == asked[1..], "{found:?}");
        found == asked
    };
    // The other thread may be so late that it does not have to wait, but not always.
    assert!((0..50).any(|_| contend()));
}

/// Each lock that is called the same has a name of its own.
fn name_of_lock(events: &[Recorded]) -> String {
    let lock = events.iter().find_map(|recorded| match recorded.event.op {
        Op::Lock(lock) => Some(lock),
        _ => None,
    });
    let symbols = symbols();
    symbols.locks.name(lock.expect("it was taken")).to_owned()
}

#[test]
fn blocks_begin_and_end_in_the_recording_that_they_began_in() {
    let mut left_open = None;
    let events = record(|| {
        let _outer = atomic_block("outer block");
        drop(atomic_block("inner block"));
        left_open = Some(atomic_block("open block"));
    });
    let markers: Vec<(Marker, String)> = { events.iter() }
        .filter_map(|recorded| match recorded.event.op {
            Op::Marker(marker, Some(name)) => {
                assert!(recorded.event.loc.is_some());
                Some((marker, symbols().names.name(name).to_owned()))
            }
            _ => None,
        })
        .collect();
    let expected = [
        (Marker::Begin, "outer block"),
        (Marker::Begin, "inner block"),
        (Marker::End, "inner block"),
        (Marker::Begin, "open block"),
        (Marker::End, "outer block"),
    ];
    assert_eq!(
        markers,
        expected.map(|(marker, name)| (marker, name.to_owned()))
    );
    let later = record(|| drop(left_open));
    assert!(
        later
            .iter()
            .all(|recorded| !matches!(recorded.event.op, Op::Marker(..)))
    );
    // Whoever records only some names is not told.
    let (recording, mut stream) = Recording::relevant(["outer block"]).start();
    let entered = recording.enter();
    drop(atomic_block("outer block"));
    drop(entered);
    assert!(stream.finish().is_empty());
}
