//! Sections of locks, and tries that fail.

use portent_hooks::{
    Recording,
    sync::{Mutex, RwLock, lock_api as raw},
    thread,
};
use portent_monitor_core::{
    Operation,
    Operation::{Lock, ReadLock, ReadUnlock, TryLock, Unlock},
    Role,
};

use super::{Move, compare, compare_pairs, says, step};

const SECTION: &[Operation] = &[Lock, Unlock];
const SHARED_SECTION: &[Operation] = &[ReadLock, ReadUnlock];

#[test]
fn sections() {
    compare_pairs::<Mutex<()>>(
        Role::Lock,
        || Mutex::new(()),
        &[
            Move {
                name: "a section",
                operations: SECTION,
                act: |x| drop(x.lock().unwrap()),
            },
            Move {
                name: "a section that was tried",
                operations: SECTION,
                act: |x| drop(x.try_lock().unwrap()),
            },
        ],
    );
    compare_pairs::<RwLock<()>>(
        Role::Lock,
        || RwLock::new(()),
        &[
            Move {
                name: "write",
                operations: SECTION,
                act: |x| drop(x.write().unwrap()),
            },
            Move {
                name: "try_write",
                operations: SECTION,
                act: |x| drop(x.try_write().unwrap()),
            },
            Move {
                name: "read",
                operations: SHARED_SECTION,
                act: |x| drop(x.read().unwrap()),
            },
            Move {
                name: "try_read",
                operations: SHARED_SECTION,
                act: |x| drop(x.try_read().unwrap()),
            },
        ],
    );
}

type RawMutex = lock_api::Mutex<raw::RawMutex, ()>;
type RawRwLock = lock_api::RwLock<raw::RawRwLock, ()>;

#[test]
fn sections_of_raw_locks() {
    compare_pairs::<RawMutex>(
        Role::Lock,
        || RawMutex::new(()),
        &[
            Move {
                name: "a raw section",
                operations: SECTION,
                act: |x| drop(x.lock()),
            },
            Move {
                name: "a raw section that was tried",
                operations: SECTION,
                act: |x| drop(x.try_lock().unwrap()),
            },
        ],
    );
    compare_pairs::<RawRwLock>(
        Role::Lock,
        || RawRwLock::new(()),
        &[
            Move {
                name: "a raw write",
                operations: SECTION,
                act: |x| drop(x.write()),
            },
            Move {
                name: "a raw read",
                operations: SHARED_SECTION,
                act: |x| drop(x.read()),
            },
            Move {
                name: "a raw read that was tried",
                operations: SHARED_SECTION,
                act: |x| drop(x.try_read_recursive().unwrap()),
            },
            Move {
                name: "a raw write that is downgraded",
                operations: &[Lock, Unlock, ReadLock, ReadUnlock],
                act: |x| drop(lock_api::RwLockWriteGuard::downgrade(x.write())),
            },
        ],
    );
}

/// Somebody holds the lock by `hold` while others try it and fail.
fn compare_tries<W: Sync + 'static, G>(
    kind: &str,
    world: impl Fn() -> W,
    hold: impl for<'w> Fn(&'w W) -> G + Sync,
    try_it: impl Fn(&W) + Sync,
    [lock, unlock]: [Operation; 2],
) {
    let (hold, try_it) = (&hold, &try_it);
    // Only from the first try on is a lock watched from outside.
    let world = || {
        let world = world();
        let held = hold(&world);
        try_it(&world);
        drop(held);
        world
    };
    compare(
        &format!("{kind}, then a failed try"),
        says(&[lock], &[TryLock], Role::Lock),
        |turns| {
            let world = world();
            thread::scope(|s| {
                s.spawn(|| {
                    let held = turns.at(0, || {
                        step(1);
                        hold(&world)
                    });
                    turns.at(2, || drop(held));
                });
                s.spawn(|| {
                    turns.at(1, || {
                        try_it(&world);
                        step(2);
                    });
                });
            });
        },
    );
    compare(
        &format!("a failed try, then the end of {kind}"),
        says(&[TryLock], &[unlock], Role::Lock),
        |turns| {
            let world = world();
            thread::scope(|s| {
                s.spawn(|| {
                    let held = turns.at(0, || hold(&world));
                    turns.at(2, || {
                        drop(held);
                        step(2);
                    });
                });
                s.spawn(|| {
                    turns.at(1, || {
                        step(1);
                        try_it(&world);
                    });
                });
            });
        },
    );
    compare(
        &format!("two failed tries of {kind}"),
        says(&[TryLock], &[TryLock], Role::Lock),
        |turns| {
            let world = world();
            thread::scope(|s| {
                s.spawn(|| {
                    let held = turns.at(0, || hold(&world));
                    turns.at(3, || drop(held));
                });
                s.spawn(|| {
                    turns.at(1, || {
                        step(1);
                        try_it(&world);
                    });
                });
                s.spawn(|| {
                    turns.at(2, || {
                        try_it(&world);
                        step(2);
                    });
                });
            });
        },
    );
}

#[test]
fn failed_tries() {
    // Never freed, so that a guard need not borrow from what the scenario makes.
    type Held<T> = &'static T;
    fn leaked<T>(value: T) -> Held<T> {
        Box::leak(Box::new(value))
    }
    // The first one does not know who holds the lock, and is counted.
    let (recording, stream) = Recording::relevant(["step"]).start();
    let (entered, first) = (recording.enter(), Mutex::new(()));
    let held = first.lock().unwrap();
    assert!(first.try_lock().is_err() && first.try_lock().is_err());
    drop((held, entered));
    assert_eq!(stream.counts().blind, 2);
    compare_tries(
        "a section",
        || leaked(Mutex::new(())),
        |x: &Held<Mutex<()>>| x.lock().unwrap(),
        |x| assert!(x.try_lock().is_err()),
        [Lock, Unlock],
    );
    compare_tries(
        "a write",
        || leaked(RwLock::new(())),
        |x: &Held<RwLock<()>>| x.write().unwrap(),
        |x| assert!(x.try_read().is_err()),
        [Lock, Unlock],
    );
    compare_tries(
        "a raw section",
        || leaked(RawMutex::new(())),
        |x: &Held<RawMutex>| x.lock(),
        |x| assert!(x.try_lock().is_none()),
        [Lock, Unlock],
    );
    compare_tries(
        "a raw write",
        || leaked(RawRwLock::new(())),
        |x: &Held<RawRwLock>| x.write(),
        |x| assert!(x.try_read().is_none()),
        [Lock, Unlock],
    );
    compare_tries(
        "a raw read",
        || leaked(RawRwLock::new(())),
        |x: &Held<RawRwLock>| x.read(),
        |x| assert!(x.try_write().is_none()),
        [ReadLock, ReadUnlock],
    );
    compare_tries(
        "a read",
        || leaked(RwLock::new(())),
        |x: &Held<RwLock<()>>| x.read().unwrap(),
        |x| assert!(x.try_write().is_err()),
        [ReadLock, ReadUnlock],
    );
}
