//! Every primitive under the scheduler: small programs whose classes can be counted by hand, or are known from the literature.

use std::{
    collections::VecDeque,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    time::Duration,
};

use portent_explore::{
    Explorer, FailureKind, Report, Stopped,
    strategy::{Exhaustive, Source},
};
use portent_hooks::{
    sync::{
        Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
        lock_api::{RawMutex, RawRwLock},
        mpsc,
    },
    thread,
};

use crate::programs::threads;

/// One run of each class; it has to be the same number as among all interleavings.
fn explore(explorer: Explorer, program: impl Fn()) -> Report {
    let report = explorer.strategy(Source::new).keep_going().check(program);
    assert_eq!(report.stopped, Stopped::Exhausted, "{report}");
    report
}

/// Executions, cut runs, deadlocks.
fn counts(program: impl Fn()) -> (u64, u64, u64) {
    let report = explore(Explorer::new(), program);
    (report.executions, report.blocked, report.deadlocks)
}

/// The same, of a program so small that all interleavings can be compared.
fn checked(program: impl Fn()) -> (u64, u64, u64) {
    checked_by(Explorer::new, program)
}

fn checked_by(explorer: impl Fn() -> Explorer, program: impl Fn()) -> (u64, u64, u64) {
    let all = explorer()
        .strategy(Exhaustive::new)
        .keep_going()
        .check(&program);
    assert_eq!(all.stopped, Stopped::Exhausted, "{all}");
    let report = explore(explorer(), program);
    assert_eq!(report.classes, all.classes, "{report}\n{all}");
    assert_eq!(report.deadlocks > 0, all.deadlocks > 0);
    assert_eq!(report.failed > 0, all.failed > 0);
    (report.executions, report.blocked, report.deadlocks)
}

/// One writes, all others read; by atomics.
fn readers(count: usize) {
    let number = AtomicU32::new(0);
    threads(count + 1, move |thread| {
        if thread == 0 {
            number.store(1, SeqCst);
        } else {
            number.load(SeqCst);
        }
    });
}

/// The same under a lock.
fn shared_readers(count: usize) {
    let number = RwLock::new(0);
    threads(count + 1, move |thread| {
        if thread == 0 {
            *number.write().unwrap() += 1;
        } else {
            let _ = *number.read().unwrap();
        }
    });
}

/// Each thread takes two forks.
fn philosophers(count: usize) {
    let forks: Vec<Mutex<()>> = (0..count).map(|_| Mutex::new(())).collect();
    let forks = Arc::new(forks);
    let spawned: Vec<_> = (0..count)
        .map(|number| {
            let forks = Arc::clone(&forks);
            thread::spawn(move || {
                let _left = forks[number].lock().unwrap();
                let _right = forks[(number + 1) % count].lock().unwrap();
            })
        })
        .collect();
    for thread in spawned {
        let _ = thread.join();
    }
}

/// One thread looks for the last zero of an array from behind, others each add one to what is before them.
fn last_zero(count: usize) {
    let numbers: Vec<AtomicU32> = (0..=count).map(|_| AtomicU32::new(0)).collect();
    threads(count + 1, move |thread| {
        if thread == 0 {
            let mut at = count;
            while numbers[at].load(SeqCst) != 0 {
                at -= 1;
            }
        } else {
            let before = numbers[thread - 1].load(SeqCst);
            numbers[thread].store(before + 1, SeqCst);
        }
    });
}

/// Producers and consumers at a buffer with two conditions.
fn buffer(producers: usize, consumers: usize, items: usize, capacity: usize) {
    struct Buffer {
        items: Mutex<VecDeque<usize>>,
        not_full: Condvar,
        not_empty: Condvar,
    }
    let buffer = Buffer {
        items: Mutex::new(VecDeque::new()),
        not_full: Condvar::new(),
        not_empty: Condvar::new(),
    };
    threads(producers + consumers, move |thread| {
        for item in 0..items {
            let mut guard = buffer.items.lock().unwrap();
            if thread < producers {
                while guard.len() == capacity {
                    guard = buffer.not_full.wait(guard).unwrap();
                }
                guard.push_back(item);
                buffer.not_empty.notify_one();
            } else {
                while guard.is_empty() {
                    guard = buffer.not_empty.wait(guard).unwrap();
                }
                guard.pop_front();
                buffer.not_full.notify_one();
            }
        }
    });
}

#[test]
fn one_writer_and_readers() {
    assert_eq!(counts(|| readers(8)), (256, 0, 0));
    assert_eq!(checked(|| shared_readers(3)), (8, 0, 0));
    assert_eq!(counts(|| shared_readers(8)), (256, 0, 0));
}

#[test]
fn philosophers_at_a_table() {
    assert_eq!(counts(|| philosophers(3)), (7, 0, 1));
    assert_eq!(counts(|| philosophers(5)), (31, 0, 1));
}

#[test]
fn the_last_zero() {
    assert_eq!(counts(|| last_zero(5)), (64, 15, 0));
    assert_eq!(counts(|| last_zero(7)), (320, 294, 0));
}

#[test]
fn a_bounded_buffer() {
    let first = |capacity| {
        let report = explore(Explorer::new().first_waiter(), || buffer(2, 2, 2, capacity));
        (report.executions, report.blocked, report.deadlocks)
    };
    assert_eq!(first(1), (50_264, 0, 0));
    assert_eq!(first(2), (18_252, 0, 0));
}

#[test]
fn one_producer_and_one_consumer() {
    assert_eq!(counts(|| buffer(1, 1, 2, 1)), (8, 0, 0));
}

const TIME: Duration = Duration::from_secs(3600);

/// What the first failure says, which is of this kind.
fn failure(report: &Report, kind: FailureKind) -> &str {
    let failure = report.failures.first();
    let failure = failure.unwrap_or_else(|| panic!("nothing failed: {report}"));
    assert_eq!(failure.kind, kind, "{report}");
    &failure.message
}

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

#[test]
fn a_channel_with_two_senders() {
    let program = || {
        let (sender, receiver) = mpsc::channel();
        for number in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 1);
    };
    assert_eq!(checked(program), (2, 0, 0));
}

#[test]
fn a_message_that_is_there_or_not() {
    let program = || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(1));
        let seen = receiver.try_recv();
        let _ = thread.join();
        seen
    };
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    // Before the message; between it and the end of the sender; after that.
    assert_eq!(
        checked(|| {
            seen.borrow_mut().insert(format!("{:?}", program()));
        }),
        (3, 0, 0)
    );
    assert_eq!(
        seen.into_inner().into_iter().collect::<Vec<_>>(),
        ["Err(Empty)", "Ok(1)"]
    );
}

#[test]
fn a_receiver_that_does_not_wait_for_ever() {
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    checked(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            let _ = sender.send(1);
        });
        let mut all = String::new();
        for _ in 0..2 {
            all += &format!("{:?} ", receiver.recv_timeout(TIME));
        }
        thread.join().unwrap();
        seen.borrow_mut().insert(all);
    });
    let seen = seen.into_inner();
    for expected in [
        "Ok(1) Err(Timeout) ",
        "Ok(1) Err(Disconnected) ",
        "Err(Timeout) Ok(1) ",
    ] {
        assert!(seen.contains(expected), "{seen:?}");
    }
}

#[test]
fn a_channel_without_room() {
    let program = || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let number = Arc::new(AtomicU32::new(0));
        let there = Arc::clone(&number);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            there.load(SeqCst)
        });
        number.store(1, SeqCst);
        receiver.recv().unwrap();
        assert_eq!(
            thread.join().unwrap(),
            1,
            "it went on before its message was received"
        );
    };
    assert_eq!(checked(program), (1, 0, 0));
    // Nobody receives: the sender waits, until there is nobody to wait for.
    let report = Explorer::new().check(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || sender.send(1).is_err());
        drop(receiver);
        assert!(thread.join().unwrap());
    });
    report.assert_passed();
    let report = Explorer::new().check(|| {
        let (sender, _receiver) = mpsc::sync_channel(0);
        sender.send(1).unwrap();
    });
    let message = failure(&report, FailureKind::Deadlock);
    assert!(
        message.contains("main waits for others, to send to mpsc@"),
        "{message}"
    );
    let report = Explorer::new().check(|| {
        let (sender, _receiver) = mpsc::sync_channel(0);
        let _ = sender.try_send(1);
    });
    assert!(failure(&report, FailureKind::Limit).contains("cannot be explored"));
}

#[test]
fn a_channel_with_little_room() {
    let program = || {
        let (sender, receiver) = mpsc::sync_channel(1);
        let number = Arc::new(AtomicU32::new(0));
        let there = Arc::clone(&number);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            there.load(SeqCst)
        });
        number.store(1, SeqCst);
        receiver.recv().unwrap();
        receiver.recv().unwrap();
        assert_eq!(thread.join().unwrap(), 1, "there was no room");
    };
    assert_eq!(checked(program), (1, 0, 0));
}

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
