//! Threads.

use std::{
    any::Any,
    panic,
    time::{Duration, Instant},
};

use super::{
    run,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread, thread_local,
};

#[test]
fn names() {
    run(|| {
        thread::spawn(|| assert!(thread::current().name().is_none()))
            .join()
            .unwrap();
        let named = thread::Builder::new()
            .name("ada lovelace".to_owned())
            .stack_size(1 << 20);
        let handle = named
            .spawn(|| assert_eq!(thread::current().name(), Some("ada lovelace")))
            .unwrap();
        assert_eq!(handle.thread().name(), Some("ada lovelace"));
        let id = handle.thread().id();
        handle.join().unwrap();
        assert_ne!(id, thread::current().id());
        thread::scope(|s| {
            let named = thread::Builder::new().name("inside".to_owned());
            let handle = named.spawn_scoped(s, || thread::current().name().map(str::to_owned));
            assert_eq!(handle.unwrap().join().unwrap().as_deref(), Some("inside"));
        });
    });
}

#[test]
fn a_panic_reaches_the_joiner() {
    run(|| {
        let panicked = thread::spawn(|| panic::resume_unwind(Box::new("text"))).join();
        let payload: Box<dyn Any + Send> = panicked.unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"text"));
        let joined = thread::scope(|s| s.spawn(|| panic::resume_unwind(Box::new(7))).join());
        assert!(joined.unwrap_err().is::<i32>());
    });
}

#[test]
fn a_scope_panics_if_a_thread_of_it_did() {
    run(|| {
        let caught = panic::catch_unwind(|| {
            thread::scope(|s| {
                s.spawn(|| panic::resume_unwind(Box::new(())));
            });
        });
        assert!(caught.is_err());
        let caught = panic::catch_unwind(|| {
            thread::scope(|s| {
                s.spawn(|| {});
                panic::resume_unwind(Box::new(1u8));
            })
        });
        assert!(caught.unwrap_err().is::<u8>());
    });
}

#[test]
fn a_thread_that_spawns() {
    run(|| {
        let (sender, receiver) = channel();
        fn child(sender: super::sync::mpsc::Sender<()>, depth: u32) {
            thread::spawn(move || match depth {
                0 => sender.send(()).unwrap(),
                _ => child(sender, depth - 1),
            });
        }
        child(sender, 10);
        receiver.recv().unwrap();
    });
}

#[test]
fn scoped_threads_borrow_and_spawn() {
    run(|| {
        let mut numbers = vec![1, 2, 3];
        let mut other = 0;
        thread::scope(|s| {
            s.spawn(|| assert_eq!(numbers.len(), 3));
            s.spawn(|| {
                other += numbers[0] + numbers[2];
                s.spawn(|| assert_eq!(numbers[1], 2));
            });
        });
        numbers.push(4);
        assert_eq!((other, numbers.len()), (4, 4));
    });
}

#[test]
fn park_and_unpark() {
    run(|| {
        for _ in 0..20 {
            let parked = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&parked);
            let other = thread::spawn(move || {
                while !flag.load(Ordering::Acquire) {
                    thread::park();
                }
            });
            parked.store(true, Ordering::Release);
            other.thread().unpark();
            other.join().unwrap();
        }
        thread::current().unpark();
        thread::park_timeout(Duration::from_secs(600));
        let start = Instant::now();
        thread::park_timeout(Duration::from_millis(1));
        thread::sleep(Duration::from_millis(1));
        assert!(start.elapsed() >= Duration::from_millis(1));
    });
}

#[test]
fn a_thread_may_unpark_before_the_other_begins() {
    run(|| {
        let main = thread::current();
        let woke = Arc::new(Mutex::new(false));
        let told = Arc::clone(&woke);
        let other = thread::spawn(move || {
            *told.lock().unwrap() = true;
            main.unpark();
        });
        while !*woke.lock().unwrap() {
            thread::park();
        }
        other.join().unwrap();
    });
}

#[test]
fn is_finished() {
    run(|| {
        let barrier = Arc::new(super::sync::Barrier::new(2));
        let there = Arc::clone(&barrier);
        let handle = thread::spawn(move || {
            there.wait();
        });
        assert!(!handle.is_finished());
        barrier.wait();
        while !handle.is_finished() {
            thread::yield_now();
        }
        handle.join().unwrap();
    });
}

#[test]
fn what_destructors_of_thread_locals_do_is_before_the_join() {
    run(|| {
        struct Last(Arc<AtomicUsize>);
        impl Drop for Last {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        thread_local!(static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) });
        let count = Arc::new(AtomicUsize::new(0));
        let there = Arc::clone(&count);
        thread::spawn(move || LAST.with(|last| *last.borrow_mut() = Some(Last(there))))
            .join()
            .unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn what_a_thread_panics_with() {
    run(|| {
        fn panicked(payload: impl Any + Send) -> Box<dyn Any + Send> {
            thread::spawn(move || panic::resume_unwind(Box::new(payload)))
                .join()
                .unwrap_err()
        }
        assert_eq!(*panicked("text").downcast::<&str>().unwrap(), "text");
        assert_eq!(
            *panicked("text".to_owned()).downcast::<String>().unwrap(),
            "text"
        );
        assert_eq!(*panicked(413u16).downcast::<u16>().unwrap(), 413);
        assert!(panicked(()).is::<()>());
        assert!(!thread::panicking());
    });
}

#[test]
#[should_panic(expected = "null")]
fn a_name_with_a_null() {
    let named = thread::Builder::new().name("a\0b".to_owned());
    let _ = named.spawn(|| {});
}

#[test]
fn what_is_moved_into_a_thread_stays_where_it_is() {
    run(|| {
        let (sender, receiver) = channel();
        let there: Box<i32> = Box::new(1);
        let address = (&raw const *there).addr();
        thread::spawn(move || sender.send((&raw const *there).addr()).unwrap());
        assert_eq!(receiver.recv(), Ok(address));
    });
}

#[test]
fn ids() {
    run(|| {
        let mine = thread::current().id();
        assert_eq!(mine, thread::current().id());
        let other = thread::spawn(|| thread::current().id());
        let seen = other.thread().id();
        assert_eq!(other.join().unwrap(), seen);
        assert_ne!(seen, mine);
        assert_eq!(
            size_of::<Option<thread::ThreadId>>(),
            size_of::<thread::ThreadId>()
        );
    });
}

#[test]
fn a_token_that_was_there_before() {
    run(|| {
        for _ in 0..10 {
            thread::current().unpark();
            thread::park();
            thread::current().unpark();
            thread::current().unpark();
            thread::park_timeout(Duration::from_secs(600));
            let start = Instant::now();
            // The two were one. It may return for no reason, but not always.
            thread::park_timeout(Duration::from_millis(1));
            assert!(start.elapsed() < Duration::from_secs(600));
        }
    });
}

#[test]
fn parked_until_somebody_unparks() {
    run(|| {
        for timed in [false, true] {
            let main = thread::current();
            let over = Arc::new(AtomicBool::new(false));
            let there = Arc::clone(&over);
            let other = thread::spawn(move || {
                thread::yield_now();
                there.store(true, Ordering::SeqCst);
                main.unpark();
            });
            while !over.load(Ordering::SeqCst) {
                if timed {
                    thread::park_timeout(Duration::from_secs(600));
                } else {
                    thread::park();
                }
            }
            other.join().unwrap();
        }
    });
}

#[test]
#[allow(deprecated)]
fn milliseconds() {
    run(|| {
        let start = Instant::now();
        thread::sleep_ms(1);
        assert!(start.elapsed() >= Duration::from_millis(1));
        thread::current().unpark();
        thread::park_timeout_ms(600_000);
    });
}

#[test]
fn a_thread_that_nobody_joins() {
    run(|| {
        let (sender, receiver) = channel();
        drop(thread::spawn(move || sender.send(7).unwrap()));
        assert_eq!(receiver.recv(), Ok(7));
    });
}

#[test]
fn the_result_of_a_scoped_thread_is_dropped_before_the_scope_ends() {
    run(|| {
        struct Result<'a>(&'a AtomicUsize);
        impl Drop for Result<'_> {
            fn drop(&mut self) {
                thread::yield_now();
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let dropped = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| Result(&dropped));
        });
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_scope_returns_and_its_threads_too() {
    run(|| {
        let text = "a".to_owned();
        let lengths = thread::scope(|s| {
            let one = s.spawn(|| text.len());
            let other = s.spawn(|| text.len() + 1);
            assert_ne!(one.thread().id(), other.thread().id());
            (one.join().unwrap(), other.join().unwrap())
        });
        assert_eq!(lengths, (1, 2));
    });
}

#[test]
fn a_scope_whose_panic_was_joined_goes_well() {
    run(|| {
        let seven = thread::scope(|s| {
            let bad = s.spawn(|| panic::resume_unwind(Box::new(())));
            assert!(bad.join().is_err());
            7
        });
        assert_eq!(seven, 7);
    });
}

#[test]
fn a_scope_that_panics_waits_for_its_threads() {
    run(|| {
        let (inside, ended) = (AtomicBool::new(false), AtomicUsize::new(0));
        let caught = panic::catch_unwind(panic::AssertUnwindSafe(|| {
            thread::scope(|s| {
                s.spawn(|| {
                    while !inside.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                    ended.fetch_add(1, Ordering::SeqCst);
                    // What the scope itself panicked with is told.
                    panic::resume_unwind(Box::new(2u16));
                });
                inside.store(true, Ordering::Release);
                panic::resume_unwind(Box::new(1u8));
            })
        }));
        assert!(caught.unwrap_err().is::<u8>());
        assert_eq!(ended.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_scope_in_a_thread_of_another() {
    run(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|outer| {
            outer.spawn(|| {
                thread::scope(|inner| {
                    for _ in 0..3 {
                        inner.spawn(|| count.fetch_add(1, Ordering::SeqCst));
                    }
                });
                assert_eq!(count.load(Ordering::SeqCst), 3);
            });
        });
    });
}

#[test]
fn locals_of_each_thread() {
    run(|| {
        thread_local! {
            static CELL: std::cell::Cell<i32> = const { std::cell::Cell::new(1) };
            static LIST: std::cell::RefCell<Vec<i32>> = const { std::cell::RefCell::new(Vec::new()) };
        }
        CELL.set(2);
        LIST.with_borrow_mut(|list| list.push(3));
        thread::spawn(|| {
            assert_eq!((CELL.get(), LIST.take()), (1, vec![]));
            assert_eq!(CELL.replace(5), 1);
        })
        .join()
        .unwrap();
        assert_eq!((CELL.get(), LIST.with_borrow(Vec::len)), (2, 1));
        assert_eq!(LIST.try_with(|list| list.borrow().clone()).unwrap(), [3]);
        LIST.set(vec![]);
    });
}

#[test]
fn a_local_that_is_set_first_is_not_made() {
    run(|| {
        thread_local! {
            static CELL: std::cell::Cell<i32> = panic!("nobody asked for it");
            pub static LIST: std::cell::RefCell<Vec<i32>> = panic!("nobody asked for it");
        }
        CELL.set(2);
        LIST.set(vec![3]);
        assert_eq!((CELL.take(), CELL.get()), (2, 0));
        assert_eq!((LIST.replace(vec![4]), LIST.take()), (vec![3], vec![4]));
        CELL.set(5);
        LIST.set(vec![6]);
        assert_eq!((CELL.get(), LIST.take()), (5, vec![6]));
    });
}

#[test]
fn who_is_current_in_a_destructor() {
    run(|| {
        struct Last(Arc<Mutex<Option<thread::ThreadId>>>);
        impl Drop for Last {
            fn drop(&mut self) {
                *self.0.lock().unwrap() = Some(thread::current().id());
            }
        }
        thread_local!(static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) });
        let seen = Arc::new(Mutex::new(None));
        let there = Arc::clone(&seen);
        let other = thread::spawn(move || LAST.set(Some(Last(there))));
        let id = other.thread().id();
        other.join().unwrap();
        assert_eq!(*seen.lock().unwrap(), Some(id));
    });
}

#[test]
fn as_many_as_are_asked_for() {
    run(|| {
        assert!(thread::available_parallelism().unwrap().get() >= 1);
        let all: Vec<_> = (0..20).map(|n| thread::spawn(move || n)).collect();
        let sum: i32 = all.into_iter().map(|one| one.join().unwrap()).sum();
        assert_eq!(sum, 190);
    });
}
