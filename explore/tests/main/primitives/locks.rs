//! Mutexes, read-write locks, and the locks of another crate.

use std::sync::Arc;

use portent_explore::{Explorer, FailureKind};
use portent_hooks::{
    sync::{
        RwLock,
        lock_api::{RawMutex, RawRwLock},
    },
    thread,
};

use super::{checked, failure};
use crate::programs::threads;

#[test]
fn a_lock_that_is_shared_and_tried() {
    let program = || {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let writer = thread::spawn(move || *other.write().unwrap() += 1);
        let seen = lock.try_read().map(|guard| *guard);
        assert!(seen.is_ok(), "it is being written");
        writer.join().unwrap();
    };
    // Before the writer, while it is inside, and after it.
    assert_eq!(checked(program), (3, 0, 0));
    let report = Explorer::new().check(program);
    assert!(failure(&report, FailureKind::Panic).contains("it is being written"));
}

#[test]
fn a_reader_that_waits_behind_a_writer_that_waits_for_it() {
    let program = || {
        let lock = Arc::new(RwLock::with_name("cache", 0));
        let other = Arc::clone(&lock);
        let writer = thread::spawn(move || *other.write().unwrap() += 1);
        {
            let _first = lock.read().unwrap();
            let _second = lock.read().unwrap();
        }
        writer.join().unwrap();
    };
    // The writer asks before the first read and writes before or after both, or it asks between them, or after them.
    let (_, blocked, deadlocks) = checked(program);
    assert_eq!((blocked, deadlocks), (0, 1));
    let report = Explorer::new().check(program);
    let message = failure(&report, FailureKind::Deadlock);
    assert!(
        message.contains("main waits to read-lock cache"),
        "{message}"
    );
    assert!(
        message.contains("thread 1 waits to lock cache"),
        "{message}"
    );
}

#[test]
fn a_reader_that_wants_to_write() {
    let report = Explorer::new().check(|| {
        let lock = RwLock::with_name("cache", 0);
        let _reading = lock.read().unwrap();
        let _writing = lock.write().unwrap();
    });
    let message = failure(&report, FailureKind::Deadlock);
    assert!(message.contains("main waits to lock cache"), "{message}");
}

#[test]
fn locks_of_another_crate() {
    let program = || {
        let lock = Arc::new(lock_api::Mutex::<RawMutex, u32>::new(0));
        let body = Arc::clone(&lock);
        threads(2, move |_| *body.lock() += 1);
        assert_eq!(*lock.lock(), 2);
    };
    assert_eq!(checked(program), (2, 0, 0));
    let shared = || {
        let lock = Arc::new(lock_api::RwLock::<RawRwLock, u32>::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let mut writing = other.write();
            *writing += 1;
            let reading = lock_api::RwLockWriteGuard::downgrade(writing);
            assert_eq!(*reading, 1);
        });
        let before = *lock.read();
        if let Some(mut writing) = lock.try_write() {
            *writing += 2;
        }
        thread.join().unwrap();
        assert!(before <= 1 && [1, 3].contains(&*lock.read()));
    };
    checked(shared);
}
