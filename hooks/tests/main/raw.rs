//! Raw locks: exclusive, and recorded as the locks of the standard library are. Their order is in `table.rs`, and in the random
//! programs.

use std::sync::atomic::{AtomicBool, Ordering};

use lock_api::RwLockWriteGuard;
use portent_hooks::{
    Recorded, Recording, event, symbols,
    sync::lock_api::{RawMutex, RawRwLock},
    thread,
};
use portent_monitor_core::{
    Op,
    Operation::{self, Fork, Join, Lock, ReadLock, ReadUnlock, TryLock, Unlock},
};

use crate::stress::{collect, same_offline};

type Mutex<T> = lock_api::Mutex<RawMutex, T>;
type RwLock<T> = lock_api::RwLock<RawRwLock, T>;

/// Threads that want the same locks; what is inside is whole whenever somebody looks.
fn contend(rounds: u64) {
    static TOTAL: Mutex<u64> = Mutex::new(0);
    let before = *TOTAL.lock();
    let pair = RwLock::new([0; 2]);
    thread::scope(|s| {
        for index in 0..4 {
            let pair = &pair;
            s.spawn(move || {
                for round in 0..rounds {
                    *TOTAL.lock() += 1;
                    if let Some(both) = pair.try_read() {
                        assert_eq!(both[0], both[1]);
                    }
                    let mut both = pair.write();
                    both[0] += 1;
                    if round % 8 == index {
                        event!(inside, n = round);
                        thread::yield_now();
                    }
                    both[1] += 1;
                    if round % 2 == 0 {
                        let both = RwLockWriteGuard::downgrade(both);
                        assert_eq!(both[0], both[1]);
                        assert_eq!(*pair.read_recursive(), *both, "it may be shared twice");
                    }
                }
            });
        }
    });
    assert_eq!(*TOTAL.lock() - before, 4 * rounds);
    assert_eq!(pair.into_inner(), [4 * rounds; 2]);
}

#[test]
fn nobody_else_is_inside() {
    contend(2_000);
    for (builder, rounds) in [
        (Recording::relevant(["inside"]), 5_000),
        (Recording::everything(), 480),
    ] {
        let (recording, stream) = builder.start();
        let stopped = AtomicBool::new(false);
        let (events, counts) = std::thread::scope(|s| {
            let reader = s.spawn(|| collect(stream, &stopped));
            let entered = recording.enter();
            contend(rounds);
            drop(entered);
            stopped.store(true, Ordering::Release);
            reader.join().unwrap()
        });
        assert_eq!((counts.dropped, counts.late, counts.foreign), (0, 0, 0));
        let inside = events.iter().filter(|line| line.event.action().is_some());
        assert_eq!(inside.count() as u64, 4 * rounds / 8);
    }
}

fn recorded(f: impl FnOnce()) -> Vec<Recorded> {
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    f();
    drop(entered);
    stream.finish()
}

fn operations(events: &[Recorded]) -> Vec<Operation> {
    let operations = events.iter().map(|line| line.event.op.operation());
    operations.map(|operation| operation.unwrap()).collect()
}

#[test]
fn what_is_recorded() {
    let named = Mutex::from_raw(RawMutex::with_name("queue"), ());
    let cache = RwLock::new(());
    let mut line = 0;
    let events = recorded(|| {
        let held = named.lock();
        thread::scope(|s| {
            s.spawn(|| assert!(named.try_lock().is_none()));
        });
        drop(held);
        let writing = cache.write();
        line = line!() - 1;
        let reading = RwLockWriteGuard::downgrade(writing);
        drop(cache.try_read().unwrap());
        assert!(named.try_lock().is_some() && cache.is_locked() && !cache.is_locked_exclusive());
        drop(reading);
    });
    assert_eq!(
        operations(&events),
        [
            Lock, Fork, TryLock, Join, Unlock, // the mutex, and one who tried it
            Lock, Unlock, ReadLock, // downgraded
            ReadLock, ReadUnlock, Lock, Unlock, ReadUnlock
        ]
    );
    let symbols = symbols();
    let name = |at: usize| match events[at].event.op {
        Op::Lock(lock) => symbols.locks.name(lock),
        _ => panic!("{}", events[at]),
    };
    assert_eq!(name(0), "queue");
    assert_eq!(name(5), format!("RawRwLock@{}:{line}", file!()));
    same_offline(&events);
}

#[test]
fn what_was_not_recorded_as_taken_is_not_so_as_given_back() {
    let (one, other) = (Mutex::new(()), RwLock::new(()));
    let held = (one.lock(), other.read());
    let events = recorded(|| {
        drop(held);
        drop(other.read());
    });
    assert_eq!(operations(&events), [ReadLock, ReadUnlock]);
    // And the other way round.
    let mut held = None;
    let events = recorded(|| held = Some((one.lock(), other.write())));
    assert_eq!(operations(&events), [Lock, Lock]);
    drop(held);
    let events = recorded(|| drop((one.lock(), other.read())));
    assert_eq!(operations(&events), [Lock, ReadLock, Unlock, ReadUnlock]);
}

#[test]
fn a_panic_gives_back() {
    let mutex = Mutex::new(0);
    let events = recorded(|| {
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = mutex.lock();
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err() && mutex.try_lock().is_some());
    });
    assert_eq!(operations(&events), [Lock, Unlock, Lock, Unlock]);
}
