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
    thread,
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
