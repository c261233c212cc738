//! What a recording of everything says for those who look for races, deadlocks and blocks that are not atomic.

use portent_hooks::{
    Recorded, Recording, Shared, atomic_block, symbols,
    sync::{
        Mutex, Once, OnceLock, RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
        lock_api::{RawMutex, RawRwLock},
    },
    task, thread,
};
use portent_monitor_core::{Mark, Marker, Op, Operation};
use std::{sync::Arc, time::Duration};

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

/// The operations on locks by others than the thread or task of the first event, with their marks.
fn of_others(events: &[Recorded]) -> Vec<(Operation, Option<Mark>)> {
    let first = events[0].event.thread;
    let others = events.iter().filter(|one| one.event.thread != first);
    let locks = others.filter_map(|one| {
        let operation = one.event.op.operation()?;
        let is_of_lock = matches!(
            one.event.op,
            Op::Lock(_) | Op::Unlock(_) | Op::ReadLock(_) | Op::ReadUnlock(_) | Op::Request(_)
        );
        is_of_lock.then_some((operation, one.event.mark))
    });
    locks.collect()
}

/// Another thread wants what this one holds: it asks, and takes it without a mark. It may be so late that it does not have to, but not always.
fn asks(contend: fn(), [taken, given]: [Operation; 2]) {
    let asked = [Operation::Request, taken, given].map(|operation| (operation, None));
    let asks = || {
        let found = of_others(&record(contend));
        assert!(found == asked || found == asked[1..], "{found:?}");
        found == asked
    };
    assert!((0..50).any(|_| asks()));
}

const READING: [Operation; 2] = [Operation::ReadLock, Operation::ReadUnlock];
const WRITING: [Operation; 2] = [Operation::Lock, Operation::Unlock];

/// Holds something while another thread wants it.
fn while_held<G>(held: G, want: impl FnOnce() + Send) {
    thread::scope(|s| {
        let waiting = s.spawn(want);
        std::thread::sleep(Duration::from_millis(50));
        drop(held);
        waiting.join().unwrap();
    });
}

/// What somebody alone does, on locks.
fn alone(f: fn()) -> Vec<(Operation, Option<Mark>)> {
    let events = record(f).into_iter();
    let marks = events.filter_map(|one| Some((one.event.op.operation()?, one.event.mark)));
    marks.collect()
}

const TRIES: [(Operation, Option<Mark>); 4] = [
    (Operation::ReadLock, Some(Mark::Try)),
    (Operation::ReadUnlock, None),
    (Operation::Lock, Some(Mark::Try)),
    (Operation::Unlock, None),
];

#[test]
fn both_sides_of_a_read_write_lock_ask_and_are_tried() {
    let tries = alone(|| {
        let lock = RwLock::new(());
        drop(lock.try_read().unwrap());
        drop(lock.try_write().unwrap());
    });
    assert_eq!(tries, TRIES);
    let reader: fn() = || {
        let lock = RwLock::new(());
        while_held(lock.write().unwrap(), || drop(lock.read().unwrap()));
    };
    asks(reader, READING);
    let writer: fn() = || {
        let lock = RwLock::new(());
        while_held(lock.read().unwrap(), || drop(lock.write().unwrap()));
    };
    asks(writer, WRITING);
}

#[test]
fn both_sides_of_raw_locks_ask_and_are_tried() {
    type Raw = lock_api::RwLock<RawRwLock, ()>;
    let tries = alone(|| {
        let lock = Raw::new(());
        drop(lock.try_read().unwrap());
        drop(lock.try_write().unwrap());
        let lock = lock_api::Mutex::<RawMutex, ()>::new(());
        drop(lock.try_lock().unwrap());
    });
    assert_eq!(tries, [&TRIES[..], &TRIES[2..]].concat());
    asks(
        || {
            let lock = Raw::new(());
            while_held(lock.write(), || drop(lock.read()));
        },
        READING,
    );
    asks(
        || {
            let lock = lock_api::Mutex::<RawMutex, ()>::new(());
            while_held(lock.lock(), || drop(lock.lock()));
        },
        WRITING,
    );
}

#[test]
fn locks_of_tasks_ask_and_are_tried() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
    };
    let tries = record(|| {
        let (lock, pair) = (task::Mutex::new(()), task::RwLock::new(()));
        drop(pair.try_read().unwrap());
        drop(pair.try_write().unwrap());
        drop(lock.try_lock().unwrap());
    });
    let tries: Vec<_> = { tries.iter() }
        .filter_map(|one| Some((one.event.op.operation()?, one.event.mark)))
        .collect();
    assert_eq!(tries, [&TRIES[..], &TRIES[2..]].concat());
    // On one thread it is certain that the other task has to wait.
    let events = record(|| {
        runtime().block_on(async {
            let lock = Arc::new(task::Mutex::new(()));
            let held = lock.lock().await;
            let other = Arc::clone(&lock);
            let waiting = task::spawn(async move { drop(other.lock().await) });
            tokio::task::yield_now().await;
            drop(held);
            waiting.await.unwrap();
        });
    });
    let asked = [Operation::Request, Operation::Lock, Operation::Unlock];
    assert_eq!(of_others(&events), asked.map(|operation| (operation, None)));
}

#[test]
fn what_is_set_once_does_not_race() {
    let marks = alone(|| {
        let (once, cell) = (Once::new(), OnceLock::new());
        once.call_once(|| {});
        once.call_once(|| {});
        cell.set(1).unwrap();
        assert_eq!(cell.get(), Some(&1));
    });
    let atomic = |operation| (operation, Some(Mark::Atomic));
    let of_each = [Operation::Update, Operation::Read].map(atomic);
    assert_eq!(marks, [of_each, of_each].concat());
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
