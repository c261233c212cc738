//! Condition variables and barriers.

use std::time::Duration;

use super::{
    run,
    sync::{
        Arc, Barrier, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc::{TryRecvError, channel},
    },
    thread,
};

#[test]
fn smoke() {
    run(|| {
        let condition = Condvar::new();
        condition.notify_one();
        condition.notify_all();
    });
}

#[test]
fn notify_one() {
    run(|| {
        let (mutex, condition) = (Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
        let guard = mutex.lock().unwrap();
        let (inside, there) = (Arc::clone(&mutex), Arc::clone(&condition));
        thread::spawn(move || {
            let _guard = inside.lock().unwrap();
            there.notify_one();
        });
        drop(condition.wait(guard).unwrap());
    });
}

#[test]
fn notify_all() {
    run(|| {
        const THREADS: u32 = 10;
        let data = Arc::new((Mutex::new(0), Condvar::new()));
        let (sender, receiver) = channel();
        for _ in 0..THREADS {
            let (data, sender) = (Arc::clone(&data), sender.clone());
            thread::spawn(move || {
                let (lock, condition) = &*data;
                let mut count = lock.lock().unwrap();
                *count += 1;
                if *count == THREADS {
                    sender.send(()).unwrap();
                }
                while *count != 0 {
                    count = condition.wait(count).unwrap();
                }
                sender.send(()).unwrap();
            });
        }
        drop(sender);
        receiver.recv().unwrap();
        let (lock, condition) = &*data;
        let mut count = lock.lock().unwrap();
        *count = 0;
        condition.notify_all();
        drop(count);
        for _ in 0..THREADS {
            receiver.recv().unwrap();
        }
    });
}

#[test]
fn wait_while() {
    run(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let there = Arc::clone(&pair);
        thread::spawn(move || {
            *there.0.lock().unwrap() = true;
            there.1.notify_one();
        });
        let guard = pair
            .1
            .wait_while(pair.0.lock().unwrap(), |started| !*started);
        assert!(*guard.unwrap());
    });
}

#[test]
fn wait_timeout() {
    run(|| {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        loop {
            let guard = mutex.lock().unwrap();
            let (_guard, result) = condition
                .wait_timeout(guard, Duration::from_millis(1))
                .unwrap();
            // It may wake up for no reason.
            if result.timed_out() {
                break;
            }
        }
    });
}

#[test]
fn wait_timeout_while() {
    run(|| {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        let guard = mutex.lock().unwrap();
        let (guard, result) = condition
            .wait_timeout_while(guard, Duration::from_millis(1), |()| true)
            .unwrap();
        assert!(result.timed_out());
        let (_guard, result) = condition
            .wait_timeout_while(guard, Duration::ZERO, |()| false)
            .unwrap();
        assert!(!result.timed_out(), "satisfied before it begins");
    });
}

#[test]
fn wait_timeout_wake() {
    run(|| {
        let (mutex, condition) = (Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
        loop {
            let guard = mutex.lock().unwrap();
            let notified = Arc::new(AtomicBool::new(false));
            let (inside, there, told) = (
                Arc::clone(&mutex),
                Arc::clone(&condition),
                Arc::clone(&notified),
            );
            let other = thread::spawn(move || {
                let _guard = inside.lock().unwrap();
                told.store(true, Ordering::SeqCst);
                there.notify_one();
            });
            let (guard, result) = condition
                .wait_timeout(guard, Duration::from_secs(600))
                .unwrap();
            assert!(!result.timed_out());
            // It may wake up for no reason.
            let told = notified.load(Ordering::SeqCst);
            drop(guard);
            other.join().unwrap();
            if told {
                break;
            }
        }
    });
}

#[test]
fn poison_reaches_those_who_wait() {
    run(|| {
        let pair = Arc::new((Mutex::new(1), Condvar::new()));
        let there = Arc::clone(&pair);
        let (sender, receiver) = channel();
        let other = thread::spawn(move || {
            receiver.recv().unwrap();
            let _guard = there.0.lock().unwrap();
            there.1.notify_one();
            std::panic::resume_unwind(Box::new("poison"));
        });
        let mut guard = pair.0.lock().unwrap();
        sender.send(()).unwrap();
        let poisoned = loop {
            match pair.1.wait(guard) {
                Ok(again) => guard = again,
                Err(poisoned) => break poisoned,
            }
        };
        assert_eq!(**poisoned.get_ref(), 1);
        drop(poisoned);
        assert!(other.join().is_err());
    });
}

#[test]
fn barrier() {
    run(|| {
        const THREADS: usize = 6;
        let barrier = Arc::new(Barrier::new(THREADS));
        let (sender, receiver) = channel();
        for _ in 0..THREADS - 1 {
            let (barrier, sender) = (Arc::clone(&barrier), sender.clone());
            thread::spawn(move || sender.send(barrier.wait().is_leader()).unwrap());
        }
        // The others have not passed.
        assert!(matches!(receiver.try_recv(), Err(TryRecvError::Empty)));
        let mut leaders = usize::from(barrier.wait().is_leader());
        for _ in 0..THREADS - 1 {
            leaders += usize::from(receiver.recv().unwrap());
        }
        assert_eq!(leaders, 1);
        assert!(Barrier::new(0).wait().is_leader());
        assert!(Barrier::new(1).wait().is_leader());
    });
}

#[test]
fn one_leader_a_round_though_rounds_overtake() {
    run(|| {
        // Three threads meet in twos: a round may be over before one of an earlier round wakes up.
        const ARRIVALS: u32 = 300;
        let barrier = Barrier::new(2);
        let arrivals = AtomicU32::new(0);
        let leaders: u32 = thread::scope(|s| {
            let all = [(); 3].map(|()| {
                s.spawn(|| {
                    let mut leads = 0;
                    while arrivals.fetch_add(1, Ordering::SeqCst) < ARRIVALS {
                        leads += u32::from(barrier.wait().is_leader());
                    }
                    leads
                })
            });
            all.map(|one| one.join().unwrap()).iter().sum()
        });
        assert_eq!(leaders, ARRIVALS / 2);
    });
}

#[test]
fn shown() {
    assert_eq!(format!("{:?}", Condvar::new()), "Condvar { .. }");
    assert_eq!(format!("{:?}", Barrier::new(1)), "Barrier { .. }");
    assert_eq!(
        format!("{:?}", Barrier::new(1).wait()),
        "BarrierWaitResult { is_leader: true }"
    );
}

/// The old way to wait for a time.
#[test]
#[allow(deprecated)]
fn wait_timeout_ms() {
    run(|| {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        loop {
            let (_guard, woken) = condition.wait_timeout_ms(mutex.lock().unwrap(), 1).unwrap();
            // It may wake up for no reason.
            if !woken {
                break;
            }
        }
    });
}

#[test]
fn wait_timeout_while_wakes() {
    run(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let there = Arc::clone(&pair);
        let guard = pair.0.lock().unwrap();
        thread::spawn(move || {
            *there.0.lock().unwrap() = true;
            there.1.notify_one();
        });
        let (guard, result) = pair
            .1
            .wait_timeout_while(guard, Duration::from_secs(600), |ready| !*ready)
            .unwrap();
        assert!(!result.timed_out() && *guard);
    });
}

#[test]
fn one_of_two_is_notified() {
    run(|| {
        let pair = Arc::new((Mutex::new((0, 0)), Condvar::new()));
        let (sender, receiver) = channel();
        for _ in 0..2 {
            let (there, sender) = (Arc::clone(&pair), sender.clone());
            thread::spawn(move || {
                let mut guard = there.0.lock().unwrap();
                guard.0 += 1;
                while guard.1 == 0 {
                    guard = there.1.wait(guard).unwrap();
                }
                guard.1 -= 1;
                sender.send(()).unwrap();
            });
        }
        while pair.0.lock().unwrap().0 < 2 {
            thread::yield_now();
        }
        for _ in 0..2 {
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            pair.0.lock().unwrap().1 = 1;
            pair.1.notify_one();
            receiver.recv().unwrap();
        }
    });
}

#[test]
fn one_condition_of_two_mutexes() {
    run(|| {
        // One after the other: at the same time is not allowed everywhere.
        let turned = Condvar::new();
        for mutex in [Mutex::new(false), Mutex::new(false)] {
            thread::scope(|s| {
                s.spawn(|| {
                    *mutex.lock().unwrap() = true;
                    turned.notify_all();
                });
                let guard = mutex.lock().unwrap();
                assert!(*turned.wait_while(guard, |done| !*done).unwrap());
            });
        }
    });
}

#[test]
fn two_conditions_of_one_mutex() {
    run(|| {
        // A place for one thing: who fills it waits until it is empty, who empties it until it is full.
        let place = Mutex::new(None);
        let (filled, emptied) = (Condvar::new(), Condvar::new());
        let sum = thread::scope(|s| {
            s.spawn(|| {
                for n in 1..=20 {
                    let full = |there: &mut Option<i32>| there.is_some();
                    let mut there = emptied.wait_while(place.lock().unwrap(), full).unwrap();
                    *there = Some(n);
                    filled.notify_one();
                }
            });
            (0..20)
                .map(|_| {
                    let empty = |there: &mut Option<i32>| there.is_none();
                    let mut there = filled.wait_while(place.lock().unwrap(), empty).unwrap();
                    emptied.notify_one();
                    there.take().unwrap()
                })
                .sum::<i32>()
        });
        assert_eq!(sum, 210);
    });
}

#[test]
fn a_notify_that_nobody_waits_for_is_lost() {
    run(|| {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        condition.notify_all();
        let waited =
            condition
                .wait_timeout_while(mutex.lock().unwrap(), Duration::from_millis(1), |()| true);
        assert!(waited.unwrap().1.timed_out());
    });
}

#[test]
fn poison_reaches_those_who_wait_for_a_time() {
    run(|| {
        let pair = Arc::new((Mutex::new(1), Condvar::new()));
        let there = Arc::clone(&pair);
        let _ = thread::spawn(move || {
            let _guard = there.0.lock().unwrap();
            std::panic::resume_unwind(Box::new("poison"));
        })
        .join();
        let guard = pair.0.lock().unwrap_err().into_inner();
        let poisoned = pair.1.wait_timeout(guard, Duration::from_millis(1));
        assert_eq!(*poisoned.unwrap_err().into_inner().0, 1);
        let guard = pair.0.lock().unwrap_err().into_inner();
        assert!(
            pair.1.wait_while(guard, |_| false).is_ok(),
            "it did not wait"
        );
    });
}

#[test]
fn a_barrier_again_and_again() {
    run(|| {
        const ROUNDS: usize = 15;
        let barrier = Barrier::new(3);
        let count = AtomicU32::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for round in 1..=ROUNDS as u32 {
                        count.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                        assert_eq!(count.load(Ordering::SeqCst), 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
    });
}
