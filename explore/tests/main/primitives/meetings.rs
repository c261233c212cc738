//! Barriers, what is done once, and threads that park.

use std::sync::Arc;

use portent_explore::{Explorer, FailureKind};
use portent_hooks::{
    sync::{
        Barrier, LazyLock, Once, OnceLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

use super::{TIME, checked, counts, failure};
use crate::programs::threads;

#[test]
fn threads_that_meet() {
    let program = || {
        let barrier = Arc::new((Barrier::new(3), AtomicU32::new(0)));
        let leaders: Vec<_> = (0..3)
            .map(|_| {
                let barrier = Arc::clone(&barrier);
                thread::spawn(move || {
                    barrier.1.fetch_add(1, SeqCst);
                    let is_leader = barrier.0.wait().is_leader();
                    assert_eq!(barrier.1.load(SeqCst), 3, "not all are there");
                    is_leader
                })
            })
            .collect();
        let leaders = leaders.into_iter().filter(|_| true);
        assert_eq!(
            leaders
                .map(|thread| u32::from(thread.join().unwrap()))
                .sum::<u32>(),
            1
        );
    };
    // They come in any order, and are counted in any order before that.
    assert_eq!(counts(program), (36, 0, 0));
    let report = Explorer::new().check(|| {
        let barrier = Barrier::with_name("start", 2);
        barrier.wait();
    });
    let message = failure(&report, FailureKind::Deadlock);
    assert!(
        message.contains("main waits for others, to meet others at start"),
        "{message}"
    );
}

#[test]
fn what_is_done_once() {
    let once = || {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let body = Arc::clone(&shared);
        threads(3, move |_| {
            body.0.call_once(|| {
                body.1.fetch_add(1, SeqCst);
            });
            assert_eq!(body.1.load(SeqCst), 1, "it is not done yet");
        });
    };
    // Any of them does it.
    assert_eq!(checked(once), (3, 0, 0));
    let cell = || {
        let cell = Arc::new(OnceLock::new());
        let other = Arc::clone(&cell);
        let thread = thread::spawn(move || *other.get_or_init(|| 1));
        let looked = cell.get().copied();
        let set = cell.set(2);
        let value = thread.join().unwrap();
        assert_eq!(set.is_ok(), value == 2);
        assert!(looked.is_none_or(|looked| looked == 1));
    };
    // The thread is done before the look; it begins before the look, or after it, but before the other; or after that.
    assert_eq!(checked(cell), (3, 0, 0));
    let lazy = || {
        let lazy = Arc::new(LazyLock::new(|| 7));
        let other = Arc::clone(&lazy);
        let thread = thread::spawn(move || **other);
        assert_eq!(**lazy + thread.join().unwrap(), 14);
    };
    assert_eq!(checked(lazy), (2, 0, 0));
}

#[test]
fn what_is_done_once_may_fail() {
    let report = Explorer::new().keep_going().check(|| {
        let once = Arc::new(OnceLock::new());
        let other = Arc::clone(&once);
        let thread = thread::spawn(move || *other.get_or_init(|| panic!("no value")));
        let value: i32 = *once.get_or_init(|| 1);
        assert_eq!(value, 1);
        let _ = thread.join();
    });
    assert_eq!((report.deadlocks, report.executions), (0, 2), "{report}");
    assert!(failure(&report, FailureKind::Panic).contains("no value"));
}

#[test]
fn threads_that_park() {
    let program = || {
        let ready = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&ready);
        let thread = thread::spawn(move || {
            while other.load(SeqCst) == 0 {
                thread::park();
            }
        });
        ready.store(1, SeqCst);
        thread.thread().unpark();
        thread.join().unwrap();
    };
    assert_eq!(checked(program), (2, 0, 0));
    let report = Explorer::new().check(|| {
        let thread = thread::spawn(thread::park);
        thread.join().unwrap();
    });
    let message = failure(&report, FailureKind::Deadlock);
    assert!(
        message.contains("thread 1 waits to be unparked"),
        "{message}"
    );
    Explorer::new()
        .check(|| {
            thread::park_timeout(TIME);
            thread::park_timeout(TIME);
            let me = thread::current();
            let name = thread::Builder::new().name("child".into());
            let other = name.spawn(move || {
                me.unpark();
                let me = thread::current();
                assert_eq!(me.name(), Some("child"));
                me.id()
            });
            thread::park();
            assert_ne!(other.unwrap().join().unwrap(), thread::current().id());
        })
        .assert_passed();
}
