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
