//! Mutexes and read-write locks.

use std::{
    panic::{self, AssertUnwindSafe},
    rc::Rc,
};

use super::{
    run,
    sync::{
        Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread,
};

#[derive(Debug, PartialEq, Eq)]
struct NonCopy(i32);

fn poisoned_mutex<T: Send + 'static>(value: T) -> Arc<Mutex<T>> {
    let mutex = Arc::new(Mutex::new(value));
    let inside = Arc::clone(&mutex);
    let _ = thread::spawn(move || {
        let _guard = inside.lock().unwrap();
        panic::resume_unwind(Box::new("poison"));
    })
    .join();
    assert!(mutex.is_poisoned());
    mutex
}

fn poisoned_rwlock<T: Send + Sync + 'static>(value: T) -> Arc<RwLock<T>> {
    let lock = Arc::new(RwLock::new(value));
    let inside = Arc::clone(&lock);
    let _ = thread::spawn(move || {
        let _guard = inside.write().unwrap();
        panic::resume_unwind(Box::new("poison"));
    })
    .join();
    assert!(lock.is_poisoned());
    lock
}

#[test]
fn smoke() {
    run(|| {
        let mutex = Mutex::new(());
        drop(mutex.lock().unwrap());
        drop(mutex.lock().unwrap());
        let lock = RwLock::new(());
        drop(lock.read().unwrap());
        drop(lock.write().unwrap());
        drop((lock.read().unwrap(), lock.read().unwrap()));
        drop(lock.write().unwrap());
    });
}

#[test]
fn lots_and_lots() {
    run(|| {
        const TIMES: u32 = 100;
        const THREADS: u32 = 3;
        let mutex = Arc::new(Mutex::new(0));
        let (sender, receiver) = channel();
        for _ in 0..THREADS {
            for _ in 0..2 {
                let (mutex, sender) = (Arc::clone(&mutex), sender.clone());
                thread::spawn(move || {
                    for _ in 0..TIMES {
                        *mutex.lock().unwrap() += 1;
                    }
                    sender.send(()).unwrap();
                });
            }
        }
        drop(sender);
        for _ in 0..2 * THREADS {
            receiver.recv().unwrap();
        }
        assert_eq!(*mutex.lock().unwrap(), TIMES * THREADS * 2);
    });
}

#[test]
fn try_lock() {
    run(|| {
        let mutex = Mutex::new(5);
        *mutex.try_lock().unwrap() = 6;
        let guard = mutex.lock().unwrap();
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        thread::scope(|s| {
            s.spawn(|| assert!(mutex.try_lock().is_err()));
        });
        drop(guard);
        assert_eq!(*mutex.try_lock().unwrap(), 6);
        let poisoned = poisoned_mutex(1);
        assert!(
            matches!(poisoned.try_lock(), Err(TryLockError::Poisoned(guard)) if **guard.get_ref() == 1)
        );
    });
}

#[test]
fn try_read_and_write() {
    run(|| {
        let lock = RwLock::new(0);
        let guard = lock.read().unwrap();
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        assert_eq!(*lock.try_read().unwrap(), 0);
        drop(guard);
        let guard = lock.write().unwrap();
        assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
        assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
        drop(guard);
        *lock.try_write().unwrap() = 1;
        assert_eq!(*lock.try_read().unwrap(), 1);
        assert!(matches!(
            poisoned_rwlock(0).try_read(),
            Err(TryLockError::Poisoned(_))
        ));
    });
}

#[test]
fn into_inner() {
    run(|| {
        struct Foo(Arc<AtomicUsize>);
        impl Drop for Foo {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        assert_eq!(Mutex::new(NonCopy(10)).into_inner().unwrap(), NonCopy(10));
        assert_eq!(RwLock::new(NonCopy(10)).into_inner().unwrap(), NonCopy(10));
        let dropped = Arc::new(AtomicUsize::new(0));
        let mutex = Mutex::new(Foo(Arc::clone(&dropped)));
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        {
            let _inner = mutex.into_inner().unwrap();
            assert_eq!(dropped.load(Ordering::SeqCst), 0);
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        let mutex = Arc::try_unwrap(poisoned_mutex(NonCopy(10))).unwrap();
        assert_eq!(mutex.into_inner().unwrap_err().into_inner(), NonCopy(10));
        let lock = Arc::try_unwrap(poisoned_rwlock(NonCopy(10))).unwrap();
        assert_eq!(lock.into_inner().unwrap_err().into_inner(), NonCopy(10));
    });
}

#[test]
fn get_mut() {
    run(|| {
        let mut mutex = Mutex::new(NonCopy(10));
        *mutex.get_mut().unwrap() = NonCopy(20);
        assert_eq!(mutex.into_inner().unwrap(), NonCopy(20));
        let mut lock = RwLock::new(NonCopy(10));
        *lock.get_mut().unwrap() = NonCopy(20);
        assert_eq!(lock.into_inner().unwrap(), NonCopy(20));
        let mut mutex = Arc::try_unwrap(poisoned_mutex(1)).unwrap();
        assert_eq!(**mutex.get_mut().unwrap_err().get_ref(), 1);
    });
}

#[test]
fn poison() {
    run(|| {
        let mutex = poisoned_mutex(1);
        let guard = mutex.lock().unwrap_err().into_inner();
        assert_eq!(*guard, 1);
        drop(guard);
        mutex.clear_poison();
        assert!(!mutex.is_poisoned());
        assert_eq!(*mutex.lock().unwrap(), 1);
        let lock = poisoned_rwlock(1);
        assert!(lock.read().is_err() && lock.write().is_err());
        lock.clear_poison();
        assert!(lock.read().is_ok() && lock.write().is_ok());
    });
}

#[test]
fn a_reader_that_panics_does_not_poison() {
    run(|| {
        let lock = Arc::new(RwLock::new(1));
        let inside = Arc::clone(&lock);
        let _ = thread::spawn(move || {
            let _guard = inside.read().unwrap();
            panic::resume_unwind(Box::new("no poison"));
        })
        .join();
        assert_eq!(*lock.read().unwrap(), 1);
        assert_eq!(*lock.write().unwrap(), 1);
    });
}

#[test]
fn nested() {
    run(|| {
        let inner = Arc::new(Mutex::new(1));
        let outer = Arc::new(Mutex::new(inner));
        thread::spawn(move || {
            let lock = outer.lock().unwrap();
            assert_eq!(*lock.lock().unwrap(), 1);
        })
        .join()
        .unwrap();
    });
}

#[test]
fn access_in_unwind() {
    run(|| {
        struct Unwinder(Arc<Mutex<i32>>);
        impl Drop for Unwinder {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let mutex = Arc::new(Mutex::new(1));
        let inside = Arc::clone(&mutex);
        let _ = thread::spawn(move || {
            let _unwinder = Unwinder(inside);
            panic::resume_unwind(Box::new("unwinds"));
        })
        .join();
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
}

#[test]
fn unsized_values() {
    run(|| {
        let mutex: &Mutex<[i32]> = &Mutex::new([1, 2, 3]);
        mutex.lock().unwrap()[0] = 4;
        assert_eq!(&*mutex.lock().unwrap(), &[4, 2, 3]);
        let lock: Arc<RwLock<dyn std::fmt::Debug + Send + Sync>> = Arc::new(RwLock::new(7));
        assert_eq!(format!("{:?}", &*lock.read().unwrap()), "7");
    });
}

#[test]
fn reads_and_writes_of_many() {
    run(|| {
        const THREADS: u32 = 4;
        let lock = Arc::new(RwLock::new(0u32));
        let all: Vec<_> = (0..THREADS)
            .map(|index| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || {
                    for step in 0..100u32 {
                        if (step + index).is_multiple_of(7) {
                            *lock.write().unwrap() += 1;
                        } else {
                            let seen = *lock.read().unwrap();
                            assert!(seen <= 100 * THREADS);
                        }
                    }
                })
            })
            .collect();
        for one in all {
            one.join().unwrap();
        }
        assert!(*lock.read().unwrap() >= 4 * 14);
    });
}

#[test]
fn shown() {
    run(|| {
        let mutex = Mutex::new(1);
        assert_eq!(
            format!("{mutex:?}"),
            "Mutex { data: 1, poisoned: false, .. }"
        );
        let guard = mutex.lock().unwrap();
        assert_eq!(
            format!("{mutex:?}"),
            "Mutex { data: \"<locked>\", poisoned: false, .. }"
        );
        assert_eq!(format!("{guard:?} {guard}"), "1 1");
        drop(guard);
        let lock = RwLock::new("a");
        assert_eq!(
            format!("{lock:?}"),
            "RwLock { data: \"a\", poisoned: false, .. }"
        );
        let guard = lock.read().unwrap();
        assert_eq!(format!("{guard:?} {guard}"), "\"a\" a");
        drop(guard);
        assert_eq!(format!("{}", lock.write().unwrap()), "a");
        assert_eq!(*Mutex::<i32>::default().lock().unwrap(), 0);
        assert_eq!(*RwLock::from(3).read().unwrap(), 3);
    });
}

#[test]
fn traits() {
    fn sync_and_send<T: Sync + Send>() {}
    fn sync<T: Sync>() {}
    fn unwind_safe<T: panic::UnwindSafe + panic::RefUnwindSafe>() {}
    sync_and_send::<Mutex<std::cell::Cell<i32>>>();
    sync_and_send::<RwLock<i32>>();
    sync::<MutexGuard<'_, i32>>();
    sync::<RwLockReadGuard<'_, i32>>();
    sync::<RwLockWriteGuard<'_, i32>>();
    unwind_safe::<Mutex<Rc<std::cell::Cell<i32>>>>();
    unwind_safe::<RwLock<i32>>();
    // A guard of something that lives longer will do.
    fn shorter<'a>(guard: RwLockReadGuard<'a, &'static str>) -> RwLockReadGuard<'a, &'a str> {
        guard
    }
    let _ = shorter;
}

#[test]
fn statics() {
    run(|| {
        static MUTEX: Mutex<i32> = Mutex::new(1);
        static LOCK: RwLock<i32> = RwLock::new(1);
        assert_eq!(*MUTEX.lock().unwrap() + *LOCK.read().unwrap(), 2);
    });
}

#[test]
fn a_guard_that_is_forgotten_keeps_the_lock() {
    run(|| {
        let mutex = Mutex::new(0);
        std::mem::forget(mutex.lock().unwrap());
        assert!(mutex.try_lock().is_err());
        let caught = panic::catch_unwind(AssertUnwindSafe(|| drop(mutex.try_lock())));
        assert!(caught.is_ok());
    });
}

#[test]
fn a_value_is_dropped_with_its_lock_and_once() {
    run(|| {
        struct Counted(Arc<AtomicUsize>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let count = Arc::new(AtomicUsize::new(0));
        let lock = RwLock::new(Counted(Arc::clone(&count)));
        drop(lock.write().unwrap());
        assert_eq!(count.load(Ordering::SeqCst), 0);
        drop(lock);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        drop(
            RwLock::new(Counted(Arc::clone(&count)))
                .into_inner()
                .unwrap(),
        );
        drop(Mutex::new(Counted(Arc::clone(&count))));
        assert_eq!(count.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn what_a_writer_poisons() {
    run(|| {
        assert!(poisoned_rwlock(1).read().is_err());
        assert!(poisoned_rwlock(1).write().is_err());
        assert!(poisoned_rwlock(1).try_write().is_err());
        let mut lock = Arc::try_unwrap(poisoned_rwlock(1)).unwrap();
        **lock.get_mut().unwrap_err().get_mut() = 2;
        lock.clear_poison();
        assert_eq!(*lock.get_mut().unwrap(), 2);
        let lock = poisoned_rwlock(3);
        assert_eq!(
            *lock.read().unwrap_or_else(|poisoned| poisoned.into_inner()),
            3
        );
        assert_eq!(
            format!("{lock:?}"),
            "RwLock { data: 3, poisoned: true, .. }"
        );
        assert_eq!(
            format!("{:?}", poisoned_mutex(3)),
            "Mutex { data: 3, poisoned: true, .. }"
        );
    });
}

#[test]
fn one_writes_and_many_read() {
    run(|| {
        let lock = Arc::new(RwLock::new(0));
        let (sender, receiver) = channel();
        let there = Arc::clone(&lock);
        thread::spawn(move || {
            let mut lock = there.write().unwrap();
            for _ in 0..10 {
                let before = *lock;
                *lock = -1;
                thread::yield_now();
                *lock = before + 1;
            }
            sender.send(()).unwrap();
        });
        let readers: Vec<_> = (0..5)
            .map(|_| {
                let there = Arc::clone(&lock);
                thread::spawn(move || assert!(*there.read().unwrap() >= 0))
            })
            .collect();
        for reader in readers {
            reader.join().unwrap();
        }
        receiver.recv().unwrap();
        assert_eq!(*lock.read().unwrap(), 10);
    });
}

#[test]
fn locks_while_it_unwinds() {
    run(|| {
        struct Unwinder(Arc<RwLock<i32>>);
        impl Drop for Unwinder {
            fn drop(&mut self) {
                *self.0.write().unwrap() += 1;
            }
        }
        let lock = Arc::new(RwLock::new(1));
        let inside = Arc::clone(&lock);
        let _ = thread::spawn(move || {
            let _unwinder = Unwinder(inside);
            panic::resume_unwind(Box::new("unwinds"));
        })
        .join();
        assert_eq!(*lock.read().unwrap(), 2, "it was not poisoned");
    });
}

#[test]
fn slices_in_read_write_locks() {
    run(|| {
        let lock: &RwLock<[i32]> = &RwLock::new([1, 2, 3]);
        {
            let mut inside = lock.write().unwrap();
            inside[0] = 4;
            inside[2] = 5;
        }
        assert_eq!(&*lock.read().unwrap(), &[4, 2, 5]);
    });
}

#[test]
fn several_readers_hold_it_at_once() {
    run(|| {
        let lock = RwLock::new(1);
        let meets = super::sync::Barrier::new(3);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let guard = lock.read().unwrap();
                    meets.wait();
                    assert_eq!(*guard, 1);
                });
            }
            let guard = lock.read().unwrap();
            meets.wait();
            assert!(lock.try_write().is_err());
            drop(guard);
        });
        assert!(lock.try_write().is_ok());
    });
}

#[test]
fn a_try_of_one_that_another_thread_holds() {
    run(|| {
        let mutex = Mutex::new(0);
        let (meets, goes) = (super::sync::Barrier::new(2), super::sync::Barrier::new(2));
        thread::scope(|s| {
            s.spawn(|| {
                let _guard = mutex.lock().unwrap();
                meets.wait();
                goes.wait();
            });
            meets.wait();
            assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
            goes.wait();
            while mutex.try_lock().is_err() {
                thread::yield_now();
            }
        });
    });
}

#[test]
fn poison_while_it_is_held_stays() {
    run(|| {
        let mutex = Mutex::new(0);
        // A guard that was taken while the thread already unwound does not poison.
        struct Late<'a>(&'a Mutex<i32>);
        impl Drop for Late<'_> {
            fn drop(&mut self) {
                drop(self.0.lock());
            }
        }
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            let _late = Late(&mutex);
            panic::resume_unwind(Box::new(()));
        }));
        assert!(caught.is_err() && !mutex.is_poisoned());
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            let _guard = mutex.lock().unwrap();
            panic::resume_unwind(Box::new(()));
        }));
        assert!(caught.is_err() && mutex.is_poisoned());
        *mutex.lock().unwrap_or_else(|poisoned| {
            mutex.clear_poison();
            poisoned.into_inner()
        }) = 1;
        assert_eq!(*mutex.lock().unwrap(), 1);
    });
}

#[cfg(since = "1.92")]
mod downgrades {
    #![allow(clippy::incompatible_msrv)]

    use super::*;

    #[test]
    fn it_is_a_reader() {
        run(|| {
            let lock = RwLock::new(0);
            let mut writes = lock.write().unwrap();
            *writes = 1;
            let reads = RwLockWriteGuard::downgrade(writes);
            assert_eq!((*reads, *lock.read().unwrap()), (1, 1));
            assert!(lock.try_write().is_err());
            drop(reads);
            assert!(lock.try_write().is_ok());
        });
    }

    #[test]
    fn nobody_writes_in_between() {
        run(|| {
            let lock = RwLock::new(0);
            thread::scope(|s| {
                for index in 1..=3 {
                    let lock = &lock;
                    s.spawn(move || {
                        for round in 0..20 {
                            let mut writes = lock.write().unwrap();
                            *writes = 100 * index + round;
                            let reads = RwLockWriteGuard::downgrade(writes);
                            assert_eq!(*reads, 100 * index + round);
                        }
                    });
                }
            });
        });
    }

    #[test]
    fn readers_who_wait_come_in() {
        run(|| {
            let lock = RwLock::new(0);
            let (sender, receiver) = channel();
            thread::scope(|s| {
                let mut writes = lock.write().unwrap();
                for _ in 0..2 {
                    let (lock, sender) = (&lock, sender.clone());
                    s.spawn(move || sender.send(*lock.read().unwrap()).unwrap());
                }
                *writes = 7;
                let reads = RwLockWriteGuard::downgrade(writes);
                assert_eq!((receiver.recv(), receiver.recv()), (Ok(7), Ok(7)));
                drop(reads);
            });
        });
    }

    #[test]
    fn one_that_panics_after_it_does_not_poison() {
        run(|| {
            let lock = RwLock::new(0);
            let caught = panic::catch_unwind(AssertUnwindSafe(|| {
                let _reads = RwLockWriteGuard::downgrade(lock.write().unwrap());
                panic::resume_unwind(Box::new(()));
            }));
            assert!(caught.is_err() && !lock.is_poisoned());
        });
    }
}
