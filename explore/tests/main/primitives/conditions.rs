//! Waits that are notified, or not; whose time is over; that end for no reason.

use std::sync::Arc;

use portent_explore::{Explorer, FailureKind};
use portent_hooks::{
    sync::{Condvar, Mutex},
    thread,
};

use super::{TIME, checked, checked_by, failure};

#[test]
fn a_notify_that_nobody_hears() {
    let program = || {
        let pair = Arc::new((Mutex::new(()), Condvar::with_name("ready")));
        let other = Arc::clone(&pair);
        let waiter = thread::spawn(move || drop(other.1.wait(other.0.lock().unwrap())));
        pair.1.notify_one();
        waiter.join().unwrap();
    };
    assert_eq!(checked(program), (2, 0, 1));
    let report = Explorer::new().check(program);
    let message = failure(&report, FailureKind::Deadlock);
    assert!(
        message.contains("thread 1 waits to be notified of ready"),
        "{message}"
    );
}

#[test]
fn whoever_waits_may_be_the_one() {
    // The first of two waiters must not be the one, as the second one notifies nobody.
    let program = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let spawned: Vec<_> = (0..2)
            .map(|number| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mut waiting = shared.0.lock().unwrap();
                    while *waiting != number {
                        waiting = shared.1.wait(waiting).unwrap();
                    }
                    *waiting += 1;
                    drop(shared.1.wait(waiting));
                    assert_eq!(number, 0, "the last one is woken up");
                })
            })
            .collect();
        let mut waiting = shared.0.lock().unwrap();
        while *waiting < 2 {
            drop(waiting);
            shared.1.notify_all();
            thread::yield_now();
            waiting = shared.0.lock().unwrap();
        }
        drop(waiting);
        shared.1.notify_one();
        for thread in spawned {
            let _ = thread.join();
        }
    };
    let any = Explorer::new().max_runs(2_000).keep_going().check(program);
    assert!(
        any.failures
            .iter()
            .any(|failure| failure.kind == FailureKind::Panic),
        "{any}"
    );
}

#[test]
fn a_wait_that_times_out() {
    let program = || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&pair);
        let waiter = thread::spawn(move || {
            let guard = other.0.lock().unwrap();
            let (guard, result) = other
                .1
                .wait_timeout_while(guard, TIME, |ready| !*ready)
                .unwrap();
            (*guard, result.timed_out())
        });
        *pair.0.lock().unwrap() = true;
        pair.1.notify_one();
        waiter.join().unwrap()
    };
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    checked(|| {
        seen.borrow_mut().insert(program());
    });
    // Time is over and nobody has come; nobody waited long; time is over, but somebody came before it had the mutex again.
    let seen: Vec<(bool, bool)> = seen.into_inner().into_iter().collect();
    assert_eq!(seen, [(false, true), (true, false)]);
}

#[test]
fn a_wait_that_ends_for_no_reason() {
    let program = || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&pair);
        let waiter = thread::spawn(move || {
            let mut ready = other.0.lock().unwrap();
            if !*ready {
                ready = other.1.wait(ready).unwrap();
            }
            assert!(*ready, "nothing is ready");
        });
        *pair.0.lock().unwrap() = true;
        pair.1.notify_one();
        waiter.join().unwrap();
    };
    Explorer::new().check(program).assert_passed();
    let report = Explorer::new().spurious_wake_ups(1).check(program);
    assert!(failure(&report, FailureKind::Panic).contains("nothing is ready"));
    checked_by(|| Explorer::new().spurious_wake_ups(1), program);
}
