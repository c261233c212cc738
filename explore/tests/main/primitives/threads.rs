//! Threads that borrow, panic, or have to end.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use portent_explore::{Explorer, FailureKind};
use portent_hooks::{
    sync::{
        Mutex, RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

use super::{checked, failure};

#[test]
fn threads_that_borrow() {
    let program = || {
        let mut numbers = [0; 2];
        let total = AtomicU32::new(0);
        thread::scope(|scope| {
            for number in &mut numbers {
                let total = &total;
                scope.spawn(move || {
                    *number = 1 + total.fetch_add(1, SeqCst);
                });
            }
        });
        assert_eq!(numbers.iter().sum::<u32>(), 3);
    };
    assert_eq!(checked(program), (2, 0, 0));
    let report = Explorer::new().check(|| {
        let caught = panic::catch_unwind(|| {
            thread::scope(|scope| {
                scope.spawn(|| panic!("inside"));
            });
        });
        assert!(caught.is_err());
    });
    assert!(failure(&report, FailureKind::Panic).contains("inside"));
}

#[test]
fn a_deadlock_of_threads_that_borrow() {
    let report = Explorer::new().keep_going().check(|| {
        let locks = [Mutex::new(vec![1]), Mutex::new(vec![2])];
        let data = vec![1, 2, 3];
        thread::scope(|scope| {
            for number in 0..2 {
                let (locks, data) = (&locks, &data);
                scope.spawn(move || {
                    // What its destructor looks at has to be there still.
                    struct Last<'a>(&'a [i32]);
                    impl Drop for Last<'_> {
                        fn drop(&mut self) {
                            assert_eq!(self.0.len(), 3);
                        }
                    }
                    let _last = Last(data);
                    let _first = locks[number].lock();
                    let _second = locks[1 - number].lock();
                });
            }
        });
    });
    assert_eq!((report.executions, report.deadlocks), (3, 1), "{report}");
    assert!(
        !report.to_string().contains("could not be ended"),
        "{report}"
    );
}

#[test]
fn a_destructor_that_locks_when_all_threads_have_to_end() {
    struct Locks(Arc<[Mutex<()>; 2]>, usize);
    impl Drop for Locks {
        fn drop(&mut self) {
            drop(self.0[self.1].lock());
        }
    }
    let report = Explorer::new().keep_going().check(|| {
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let spawned: Vec<_> = (0..2)
            .map(|number| {
                let locks = Arc::clone(&locks);
                thread::spawn(move || {
                    let _later = Locks(Arc::clone(&locks), 1 - number);
                    let _first = locks[number].lock();
                    let _second = locks[1 - number].lock();
                })
            })
            .collect();
        for thread in spawned {
            let _ = thread.join();
        }
    });
    assert_eq!(report.deadlocks, 1, "{report}");
    assert!(!std::thread::panicking());
    assert!(
        !report.to_string().contains("could not be ended"),
        "{report}"
    );
}

#[test]
fn a_panic_poisons() {
    let report = Explorer::new().keep_going().check(|| {
        let locks = Arc::new((Mutex::new(0), RwLock::new(0)));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let _one = other.0.lock().unwrap();
            let _two = other.1.write().unwrap();
            panic!("inside");
        });
        assert!(thread.join().is_err());
        assert!(locks.0.lock().is_err() && locks.1.read().is_err());
        assert!(locks.0.is_poisoned());
    });
    assert_eq!((report.executions, report.failed), (1, 1), "{report}");
    assert!(failure(&report, FailureKind::Panic).contains("inside"));
}

#[test]
fn a_thread_that_does_not_want_to_end() {
    let report = Explorer::new().check(|| {
        let lock = Mutex::new(());
        let _first = lock.lock();
        let swallowed = panic::catch_unwind(AssertUnwindSafe(|| drop(lock.lock())));
        drop(swallowed);
        drop(lock.lock());
    });
    assert_eq!(report.deadlocks, 1, "{report}");
    assert!(
        !report.to_string().contains("could not be ended"),
        "{report}"
    );
}

#[test]
fn a_destructor_that_waits_while_its_thread_panics() {
    struct Joins(Option<thread::JoinHandle<()>>);
    impl Drop for Joins {
        fn drop(&mut self) {
            let _ = self.0.take().unwrap().join();
        }
    }
    let report = Explorer::new().keep_going().check(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let held = lock.lock().unwrap();
        let _joins = Joins(Some(thread::spawn(move || *other.lock().unwrap() += 1)));
        drop(held);
        panic!("with a thread");
    });
    assert!(failure(&report, FailureKind::Panic).contains("with a thread"));
    assert!(!std::thread::panicking());
    assert!(
        !report.to_string().contains("could not be ended"),
        "{report}"
    );
}
