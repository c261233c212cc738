//! What happens once.

use std::panic::{self, AssertUnwindSafe};

use super::{
    run,
    sync::{
        Arc, LazyLock, Once, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread,
};

fn silently<R>(f: impl FnOnce() -> R) -> Result<R, ()> {
    panic::catch_unwind(AssertUnwindSafe(f)).map_err(|_| ())
}

#[test]
fn smoke_once() {
    run(|| {
        static ONCE: Once = Once::new();
        let mut times = 0;
        ONCE.call_once(|| times += 1);
        ONCE.call_once(|| times += 1);
        assert!(times <= 1 && ONCE.is_completed());
    });
}

#[test]
fn stampede() {
    run(|| {
        let once = Arc::new(Once::new());
        let runs = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = channel();
        for _ in 0..10 {
            let (once, runs, sender) = (Arc::clone(&once), Arc::clone(&runs), sender.clone());
            thread::spawn(move || {
                for _ in 0..4 {
                    thread::yield_now();
                }
                once.call_once(|| {
                    runs.fetch_add(1, Ordering::SeqCst);
                });
                assert_eq!(runs.load(Ordering::SeqCst), 1);
                sender.send(()).unwrap();
            });
        }
        for _ in 0..10 {
            receiver.recv().unwrap();
        }
    });
}

#[test]
fn poison_of_once() {
    run(|| {
        let once = Once::new();
        assert!(silently(|| once.call_once(|| panic::resume_unwind(Box::new(())))).is_err());
        assert!(silently(|| once.call_once(|| {})).is_err(), "poisoned");
        let mut called = false;
        once.call_once_force(|state| called = state.is_poisoned());
        assert!(called);
        once.call_once(|| {});
        assert!(once.is_completed());
    });
}

#[test]
fn wait_for_once() {
    run(|| {
        let once = Arc::new(Once::new());
        let value = Arc::new(AtomicUsize::new(0));
        let (there, seen) = (Arc::clone(&once), Arc::clone(&value));
        let waiting = thread::spawn(move || {
            there.wait();
            seen.load(Ordering::Relaxed)
        });
        once.call_once(|| value.store(7, Ordering::Relaxed));
        assert_eq!(waiting.join().unwrap(), 7);
        once.wait_force();
    });
}

#[test]
fn cell() {
    run(|| {
        let mut cell = OnceLock::new();
        assert_eq!(cell.get(), None);
        assert_eq!(cell.get_mut(), None);
        assert_eq!(cell.set(1), Ok(()));
        assert_eq!(cell.set(2), Err(2));
        *cell.get_mut().unwrap() = 3;
        assert_eq!(*cell.get_or_init(|| 4), 3);
        assert_eq!(
            (cell.clone(), OnceLock::from(3)),
            (OnceLock::from(3), cell.clone())
        );
        assert_eq!(format!("{cell:?}"), "OnceLock(3)");
        assert_eq!(
            format!("{:?}", OnceLock::<i32>::new()),
            "OnceLock(<uninit>)"
        );
        assert_eq!(cell.take(), Some(3));
        assert_eq!(cell.get(), None);
        assert_eq!(*cell.get_or_init(|| 5), 5);
        assert_eq!(cell.into_inner(), Some(5));
        assert_eq!(OnceLock::<i32>::default().into_inner(), None);
    });
}

#[test]
fn a_cell_whose_initialisation_panicked_is_empty() {
    run(|| {
        let cell = OnceLock::new();
        assert!(
            silently(|| cell.get_or_init(|| -> i32 { panic::resume_unwind(Box::new(())) }))
                .is_err()
        );
        assert_eq!(cell.get(), None);
        assert_eq!(*cell.get_or_init(|| 1), 1);
    });
}

#[test]
fn a_cell_of_many_threads() {
    run(|| {
        static CELL: OnceLock<usize> = OnceLock::new();
        let runs = AtomicUsize::new(0);
        thread::scope(|s| {
            for index in 0..8 {
                let runs = &runs;
                s.spawn(move || {
                    CELL.get_or_init(|| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        index
                    });
                });
            }
        });
        assert!(runs.into_inner() <= 1 && CELL.get().is_some());
    });
}

#[test]
fn lazy() {
    run(|| {
        static CALLED: AtomicUsize = AtomicUsize::new(0);
        let lazy = LazyLock::new(|| {
            CALLED.fetch_add(1, Ordering::SeqCst);
            92
        });
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
        let seen = thread::scope(|s| s.spawn(|| *lazy - 30).join().unwrap());
        assert_eq!((seen, *LazyLock::force(&lazy) - 30), (62, 62));
        assert_eq!(format!("{lazy:?}"), "LazyLock(92)");
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| vec!["a", "b"]);
        assert_eq!(NAMES.len(), 2);
        assert_eq!(*LazyLock::<i32>::default(), 0);
    });
}

#[test]
fn lazy_that_panicked_stays_so() {
    run(|| {
        let lazy: LazyLock<String> = LazyLock::new(|| panic::resume_unwind(Box::new(())));
        for _ in 0..2 {
            assert!(silently(|| lazy.len()).is_err());
        }
    });
}

#[test]
fn an_once_that_is_poisoned_can_be_forced_and_waited_for() {
    run(|| {
        let once = Arc::new(Once::new());
        assert!(silently(|| once.call_once(|| panic::resume_unwind(Box::new(())))).is_err());
        assert!(!once.is_completed());
        assert!(silently(|| once.wait()).is_err(), "poisoned");
        let there = Arc::clone(&once);
        let waits = thread::spawn(move || there.wait_force());
        // Who comes meanwhile waits for it.
        let there = Arc::clone(&once);
        let (sender, receiver) = channel();
        let forces = thread::spawn(move || {
            there.call_once_force(|state| {
                assert!(state.is_poisoned());
                sender.send(()).unwrap();
                thread::yield_now();
            });
        });
        receiver.recv().unwrap();
        once.call_once(|| panic!("it was done"));
        forces.join().unwrap();
        waits.join().unwrap();
        assert!(once.is_completed());
        once.call_once_force(|_| panic!("it was done"));
    });
}

#[test]
fn an_once_in_another() {
    run(|| {
        let (one, other) = (Once::new(), Once::new());
        one.call_once(|| other.call_once(|| {}));
        assert!(one.is_completed() && other.is_completed());
        assert_eq!(format!("{one:?}"), "Once { .. }");
    });
}

#[test]
fn a_cell_that_is_waited_for() {
    run(|| {
        let cell = Arc::new(OnceLock::new());
        let there = Arc::clone(&cell);
        let waits = thread::spawn(move || *there.wait());
        thread::yield_now();
        assert_eq!(cell.set(7), Ok(()));
        assert_eq!(waits.join().unwrap(), 7);
        assert_eq!(*cell.wait(), 7);
    });
}

#[test]
fn a_cell_whose_value_is_dropped_once() {
    run(|| {
        struct Counted(Arc<AtomicUsize>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let count = Arc::new(AtomicUsize::new(0));
        let cell = OnceLock::new();
        cell.get_or_init(|| Counted(Arc::clone(&count)));
        assert!(cell.set(Counted(Arc::clone(&count))).is_err());
        assert_eq!(count.load(Ordering::SeqCst), 1, "what had no place");
        drop(cell);
        assert_eq!(count.load(Ordering::SeqCst), 2);
        drop(OnceLock::<Counted>::new());
        let mut cell = OnceLock::from(Counted(Arc::clone(&count)));
        drop(cell.take());
        assert_eq!(count.load(Ordering::SeqCst), 3);
        drop(cell);
        assert_eq!(count.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn cells_are_compared_and_cloned() {
    run(|| {
        let (empty, full) = (OnceLock::<String>::new(), OnceLock::from("a".to_owned()));
        assert_eq!(empty, OnceLock::new());
        assert_ne!(empty, full);
        assert_ne!(full, OnceLock::from("b".to_owned()));
        assert_eq!((empty.clone(), full.clone()), (empty, full));
    });
}

#[test]
fn a_cell_that_is_filled_by_one_of_many() {
    run(|| {
        let cell = OnceLock::new();
        let won = AtomicUsize::new(0);
        thread::scope(|s| {
            for index in 0..6 {
                let (cell, won) = (&cell, &won);
                s.spawn(move || match cell.set(index) {
                    Ok(()) => won.fetch_add(1, Ordering::SeqCst),
                    Err(mine) => {
                        assert_ne!(Some(&mine), cell.get());
                        0
                    }
                });
            }
        });
        assert_eq!(won.into_inner(), 1);
    });
}

#[test]
fn a_cell_in_a_static_and_in_a_struct() {
    run(|| {
        struct Owner {
            name: String,
            length: OnceLock<usize>,
        }
        let owner = Owner {
            name: "seven77".to_owned(),
            length: OnceLock::new(),
        };
        assert_eq!(*owner.length.get_or_init(|| owner.name.len()), 7);
        static NAMES: OnceLock<Vec<String>> = OnceLock::new();
        assert_eq!(NAMES.get_or_init(|| vec!["a".to_owned()]).len(), 1);
    });
}

#[test]
fn what_is_made_when_needed_is_made_once() {
    run(|| {
        let made = AtomicUsize::new(0);
        let lazy = LazyLock::new(|| {
            made.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            vec![1, 2]
        });
        thread::scope(|s| {
            for _ in 0..5 {
                s.spawn(|| assert_eq!(lazy.len(), 2));
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn what_is_made_when_needed_can_be_changed_by_its_owner() {
    run(|| {
        let mut lazy = LazyLock::new(|| vec![1]);
        lazy.push(2);
        assert_eq!(*lazy, [1, 2]);
        let mut bad: LazyLock<Vec<i32>> = LazyLock::new(|| panic::resume_unwind(Box::new(())));
        assert!(silently(|| bad.push(1)).is_err());
        assert!(silently(|| bad.len()).is_err(), "it stays so");
    });
}

#[test]
fn one_that_needs_another() {
    run(|| {
        static TEN: LazyLock<i32> = LazyLock::new(|| 10);
        static HUNDRED: LazyLock<i32> = LazyLock::new(|| *TEN * *TEN);
        fn thousand() -> &'static i32 {
            static THOUSAND: LazyLock<i32> = LazyLock::new(|| *HUNDRED * *TEN);
            &THOUSAND
        }
        assert_eq!((*HUNDRED, *thousand()), (100, 1_000));
    });
}

#[test]
fn one_that_was_never_needed_drops_what_would_make_it() {
    run(|| {
        let kept = Arc::new(());
        let inside = Arc::clone(&kept);
        let lazy: LazyLock<usize, _> = LazyLock::new(move || Arc::strong_count(&inside));
        assert_eq!(Arc::strong_count(&kept), 2);
        drop(lazy);
        assert_eq!(Arc::strong_count(&kept), 1);
        let inside = Arc::clone(&kept);
        let lazy = LazyLock::new(move || Arc::strong_count(&inside));
        assert_eq!((*lazy, Arc::strong_count(&kept)), (2, 1), "nor is it kept");
    });
}
