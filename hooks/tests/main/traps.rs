//! Mistakes that are easily made, one test each.

use std::{cell::RefCell, time::Duration};

use portent_hooks::{
    Recorded, Recording, event,
    sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, atomic::AtomicU64, mpsc},
    thread,
};
use portent_monitor_core::{Stamp, Value};

/// The stamps of the events whose argument is a number.
pub(super) fn stamp(events: &[Recorded], number: i64) -> &Stamp {
    let mut found = events.iter().filter(|recorded| {
        let action = recorded.event.action();
        action.is_some_and(|action| action.args == [Value::Int(number)])
    });
    let first = found
        .next()
        .unwrap_or_else(|| panic!("{number} is not there"));
    assert!(found.next().is_none(), "{number} is there twice");
    &first.stamp
}

pub(super) fn ordered(events: &[Recorded], [a, b]: [i64; 2]) -> bool {
    assert!(!stamp(events, b).precedes(stamp(events, a)));
    stamp(events, a).precedes(stamp(events, b))
}

/// What a recording of `step` gives, of what `f` does.
pub(super) fn record(f: impl FnOnce()) -> Vec<Recorded> {
    let (recording, mut stream) = Recording::relevant(["step"]).start();
    let entered = recording.enter();
    f();
    drop(entered);
    stream.finish()
}

pub(super) fn step(number: i64) {
    event!(step, number);
}

/// What `first` does in one thread is done when `second` begins in another; no hook says so.
fn in_turn(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    let done = std::sync::Barrier::new(2);
    thread::scope(|s| {
        s.spawn(|| {
            first();
            done.wait();
        });
        s.spawn(|| {
            done.wait();
            second();
        });
    });
}

#[test]
fn threads_that_meet_nowhere_are_not_ordered() {
    let events = record(|| in_turn(|| step(1), || step(2)));
    assert!(!ordered(&events, [1, 2]));
}

#[test]
fn a_lock_orders_and_readers_do_not_order_each_other() {
    let events = record(|| {
        let mutex = Mutex::new(());
        in_turn(
            || {
                step(1);
                drop(mutex.lock().unwrap());
            },
            || {
                drop(mutex.lock().unwrap());
                step(2);
            },
        );
    });
    assert!(ordered(&events, [1, 2]));
    let events = record(|| {
        let lock = RwLock::new(());
        in_turn(
            || {
                step(1);
                drop(lock.read().unwrap());
            },
            || {
                drop(lock.read().unwrap());
                step(2);
                drop(lock.write().unwrap());
                step(3);
            },
        );
    });
    assert!(!ordered(&events, [1, 2]) && ordered(&events, [1, 3]));
}

#[test]
fn a_reader_of_an_empty_clock_receives_too() {
    // Nobody has ticked when the lock is first read, and its version is that of the empty clock.
    let events = record(|| {
        let lock = RwLock::new(());
        let number = AtomicU64::new(0);
        drop(lock.read().unwrap());
        in_turn(
            || {
                step(1);
                drop(lock.write().unwrap());
                number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            },
            || {
                drop(lock.read().unwrap());
                step(2);
            },
        );
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn a_cell_seen_empty_is_before_its_initialisation() {
    let events = record(|| {
        let cell = OnceLock::new();
        in_turn(
            || {
                step(1);
                assert_eq!(cell.get(), None);
            },
            || {
                cell.set(1).unwrap();
                step(2);
            },
        );
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn taking_apart_comes_after_all_holders() {
    let events = record(|| {
        let mutex = Mutex::new(0);
        let shared = Arc::new(mutex);
        let there = Arc::clone(&shared);
        let other = std::thread::spawn({
            let child = thread::spawn(move || {
                step(1);
                *there.lock().unwrap() += 1;
            });
            // It ends, and is not joined through the hooks.
            move || {
                while !child.is_finished() {
                    std::thread::yield_now();
                }
            }
        });
        other.join().unwrap();
        let mutex = loop {
            if Arc::strong_count(&shared) == 1 {
                break Arc::try_unwrap(shared).unwrap();
            }
        };
        assert_eq!(mutex.into_inner().unwrap(), 1);
        step(2);
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn a_wait_that_timed_out_heard_of_nobody() {
    let events = record(|| {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        in_turn(
            || {
                step(1);
                condition.notify_all();
            },
            || {
                let guard = mutex.lock().unwrap();
                let soon = Duration::from_millis(1);
                let (_guard, result) = condition
                    .wait_timeout_while(guard, soon, |()| true)
                    .unwrap();
                assert!(result.timed_out());
                step(2);
            },
        );
    });
    // The notify was before the wait began, which comes after it.
    assert!(ordered(&events, [1, 2]));
    let events = record(|| {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                let guard = mutex.lock().unwrap();
                let soon = Duration::from_millis(20);
                let waited = condition.wait_timeout(guard, soon).unwrap();
                assert!(waited.1.timed_out());
                step(2);
            });
            s.spawn(|| step(1));
        });
    });
    assert!(!ordered(&events, [1, 2]));
}

#[test]
fn a_barrier_orders_its_own_round_only() {
    let events = record(|| {
        let barrier = Barrier::new(2);
        thread::scope(|s| {
            s.spawn(|| {
                step(1);
                barrier.wait();
                step(2);
            });
            barrier.wait();
            step(3);
        });
    });
    assert!(ordered(&events, [1, 3]) && !ordered(&events, [2, 3]));
}

#[test]
fn the_end_of_a_channel_is_heard_of() {
    let events = record(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        let other = thread::spawn(move || {
            step(1);
            drop(sender);
        });
        assert!(receiver.recv().is_err());
        step(2);
        other.join().unwrap();
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn sends_on_one_channel_are_ordered_and_room_is_found() {
    let events = record(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let other = sender.clone();
        in_turn(
            move || {
                step(1);
                sender.send(1).unwrap();
            },
            move || {
                assert_eq!(receiver.recv(), Ok(1));
                step(2);
                other.send(2).unwrap();
                step(3);
            },
        );
    });
    assert!(ordered(&events, [1, 2]) && ordered(&events, [2, 3]));
    let events = record(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        in_turn(
            || {
                step(1);
                sender.send(1).unwrap();
            },
            || {
                other.send(2).unwrap();
                step(2);
            },
        );
        drop(receiver);
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn who_goes_on_after_a_rendezvous_comes_after_the_receive() {
    let events = record(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::scope(|s| {
            s.spawn(move || {
                step(1);
                receiver.recv().unwrap();
            });
            sender.send(()).unwrap();
            step(2);
        });
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn an_unpark_is_heard_of_and_a_fork_brings_no_more_than_the_spawner_knew() {
    let events = record(|| {
        let main = thread::current();
        let other = thread::spawn(move || {
            step(1);
            main.unpark();
        });
        thread::park();
        step(2);
        other.join().unwrap();
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn a_panic_leaves_clocks() {
    let events = record(|| {
        let mutex = Mutex::new(());
        let _ = thread::scope(|s| {
            s.spawn(|| {
                let _guard = mutex.lock();
                step(1);
                std::panic::resume_unwind(Box::new(()));
            })
            .join()
        });
        assert!(mutex.is_poisoned());
        let mutex = &mutex;
        thread::scope(|s| {
            s.spawn(move || {
                drop(mutex.lock());
                step(2);
            });
        });
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn what_destructors_of_thread_locals_do_is_recorded_and_joined() {
    struct Last(i64);
    impl Drop for Last {
        fn drop(&mut self) {
            step(self.0);
        }
    }
    thread_local!(static LAST: RefCell<Option<Last>> = const { RefCell::new(None) });
    let events = record(|| {
        let other = thread::spawn(|| LAST.with(|last| *last.borrow_mut() = Some(Last(1))));
        other.join().unwrap();
        step(2);
    });
    assert!(ordered(&events, [1, 2]));
    // The end of a scope does not wait for them, so that they are late.
    let (recording, mut stream) = Recording::relevant(["step"]).start();
    let entered = recording.enter();
    thread::scope(|s| {
        let other = s.spawn(|| LAST.with(|last| *last.borrow_mut() = Some(Last(1))));
        other.join().unwrap();
    });
    step(2);
    drop(entered);
    assert_eq!((stream.finish().len(), stream.counts().late), (1, 1));
}

#[test]
fn a_failed_try_is_between_lock_and_unlock() {
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    let mutex = Mutex::with_name("tried", ());
    let guard = mutex.lock().unwrap();
    thread::scope(|s| {
        s.spawn(|| assert!(mutex.try_lock().is_err()));
    });
    drop(guard);
    drop(entered);
    let events = stream.finish();
    let operations: Vec<_> = events
        .iter()
        .map(|line| line.event.op.operation())
        .collect();
    use portent_monitor_core::Operation::{Fork, Join, Lock, TryLock, Unlock};
    assert_eq!(operations, [Lock, Fork, TryLock, Join, Unlock].map(Some));
}

#[test]
fn who_parks_again_leaves_what_it_was_woken_with() {
    // Its clock is then that of the one who woke it, and so is that of the token; but a token has no exclusive updates.
    let events = record(|| {
        let turn = std::sync::Barrier::new(2);
        let done = std::sync::atomic::AtomicBool::new(false);
        let done = &done;
        thread::scope(|s| {
            let parked = s.spawn(|| {
                turn.wait();
                thread::park();
                thread::park_timeout(Duration::ZERO);
                turn.wait();
            });
            let there = parked.thread().clone();
            let again = there.clone();
            s.spawn(move || {
                step(1);
                there.unpark();
                done.store(true, std::sync::atomic::Ordering::Release);
            });
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                std::thread::yield_now();
            }
            turn.wait();
            turn.wait();
            s.spawn(move || {
                again.unpark();
                step(2);
            });
        });
    });
    assert!(ordered(&events, [1, 2]));
}

#[test]
fn a_park_whose_time_is_over_is_no_wake_up() {
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    let nothing = Duration::ZERO;
    thread::park_timeout(nothing);
    thread::current().unpark();
    thread::park_timeout(nothing);
    // What it was woken with is taken.
    thread::park_timeout(nothing);
    drop(entered);
    let operations: Vec<_> = { stream.finish().into_iter() }
        .map(|line| line.event.op.operation())
        .collect();
    use portent_monitor_core::Operation::{Notify, Wait, Waiting};
    let expected = [Waiting, Notify, Waiting, Wait, Waiting];
    assert_eq!(operations, expected.map(Some));
}
