//! What goes wrong is found, and told.

use std::sync::Arc;

use portent_explore::{
    Explorer, FailureKind,
    strategy::{Pct, Random, Uniform},
};
use portent_hooks::{
    Shared,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

use crate::programs;

fn lost_update() {
    let number = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&number);
    let thread = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    number.store(number.load(SeqCst) + 1, SeqCst);
    thread.join().unwrap();
    assert_eq!(number.load(SeqCst), 2, "an update is lost");
}

#[test]
fn a_lost_update() {
    let report = Explorer::new().check(lost_update);
    let failure = &report.failures[0];
    assert_eq!(failure.kind, FailureKind::Panic);
    assert!(
        failure
            .message
            .starts_with("main panicked at explore/tests")
    );
    assert!(failure.message.contains("an update is lost"));
    assert_eq!(failure.steps.len(), 5);
    let random = Explorer::new()
        .strategy(|| Random::new(1, 1000))
        .keep_going()
        .check(lost_update);
    assert_eq!(random.executions, 1000);
    assert!((200..800).contains(&random.failed), "{}", random.failed);
}

#[test]
fn a_deadlock() {
    let report = Explorer::new().check(programs::crossed_locks);
    let failure = &report.failures[0];
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(
        failure.message.contains("thread 1 waits to lock Mutex@"),
        "{}",
        failure.message
    );
    assert!(
        failure
            .message
            .contains("main waits for the end of thread 1")
    );
}

#[test]
fn a_thread_that_locks_twice() {
    let report = Explorer::new().check(|| {
        let lock = Mutex::with_name("twice", ());
        let _first = lock.lock();
        let _second = lock.lock();
    });
    assert_eq!(report.deadlocks, 1);
    assert!(
        report.failures[0]
            .message
            .contains("main waits to lock twice")
    );
}

#[test]
fn a_guard_that_was_leaked_is_not_waited_for() {
    let report = Explorer::new().check(|| {
        let lock = Arc::new(Mutex::new(()));
        std::mem::forget(lock.lock());
        let other = Arc::clone(&lock);
        let _ = thread::spawn(move || drop(other.lock())).join();
    });
    assert_eq!(report.deadlocks, 1, "{report}");
}

#[test]
fn a_lock_that_is_held_by_an_earlier_run() {
    static LOCK: Mutex<()> = Mutex::new(());
    let report = Explorer::new().keep_going().check(|| {
        let one = thread::spawn(|| std::mem::forget(LOCK.lock()));
        one.join().unwrap();
        assert!(LOCK.try_lock().is_err());
    });
    assert_eq!(report.failures[0].kind, FailureKind::Obstructed, "{report}");
}

#[test]
fn a_panic_ends_its_thread_only() {
    let report = Explorer::new().keep_going().check(|| {
        let shared = Arc::new(Shared::new(0));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            assert_eq!(other.get(), 0, "too late");
            other.set(1);
        });
        shared.set(2);
        shared.set(3);
        let _ = thread.join();
    });
    assert!(report.failed > 0);
    assert_eq!(report.deadlocks, 0);
    assert_eq!(Some(report.executions), report.classes);
}

#[test]
fn a_try_makes_unlocks_steps() {
    let report = Explorer::new().keep_going().check(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        let taken = lock.try_lock().is_ok();
        thread.join().unwrap();
        assert!(taken, "somebody else had it");
    });
    // Before the lock, inside, and after it.
    assert_eq!(
        (report.executions, report.blocked, report.failed),
        (3, 0, 1),
        "{report}"
    );
}

/// One thread does ten steps, the other one, and it fails only before or after all of the ten: one in eleven interleavings each.
fn first_of_all() {
    let number = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&number);
    let many = thread::spawn(move || {
        for _ in 0..10 {
            other.fetch_add(1, SeqCst);
        }
    });
    let other = Arc::clone(&number);
    let one = thread::spawn(move || assert_ne!(other.fetch_add(100, SeqCst), 10, "last"));
    many.join().unwrap();
    let _ = one.join();
}

#[test]
fn walks_that_are_nearly_uniform() {
    let walk = |runs: u64| {
        let random = Explorer::new()
            .strategy(move || Random::new(3, runs))
            .keep_going();
        let uniform = Explorer::new()
            .strategy(move || Uniform::new(3, runs))
            .keep_going();
        (
            random.check(first_of_all).failed,
            uniform.check(first_of_all).failed,
        )
    };
    // One in 1024, and one in 11.
    let (random, uniform) = walk(11_000);
    assert!(random < 40, "{random}");
    assert!((800..1200).contains(&uniform), "{uniform}");
}

#[test]
fn priorities_find_what_needs_few_changes() {
    let report = Explorer::new()
        .strategy(|| Pct::new(5, 1000, 1))
        .keep_going()
        .check(first_of_all);
    // Whoever has the higher priority goes first: half of the runs.
    assert!((400..600).contains(&report.failed), "{}", report.failed);
    let update = Explorer::new()
        .strategy(|| Pct::new(5, 1000, 2))
        .check(lost_update);
    assert_eq!(update.failed, 1);
}
