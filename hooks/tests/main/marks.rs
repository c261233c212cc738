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
    let found = on(&events, "marked lock");
    assert_eq!(found[0], (Operation::Lock, Some(Mark::Try)));
    assert_eq!(found[1], (Operation::Unlock, None));
    assert_eq!(found[2], (Operation::Lock, None));
    // The other thread may have come too late to have to wait.
    let rest: Vec<Operation> = found[3..].iter().map(|(operation, _)| *operation).collect();
    let asked = [
        Operation::Request,
        Operation::Unlock,
        Operation::Lock,
        Operation::Unlock,
    ];
    assert!(rest == asked || rest == asked[1..], "{rest:?}");
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
