//! Mistakes that are easily made, one test each.

use std::{cell::RefCell, time::Duration};

use portent_hooks::{
    Full, Recorded, Recording, Shared, Stream, event, symbols,
    sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, atomic::AtomicU64, mpsc},
    thread,
};
use portent_monitor_core::{Op, Stamp, Value};

/// The stamps of the events whose argument is a number.
fn stamp(events: &[Recorded], number: i64) -> &Stamp {
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

fn ordered(events: &[Recorded], [a, b]: [i64; 2]) -> bool {
    assert!(!stamp(events, b).precedes(stamp(events, a)));
    stamp(events, a).precedes(stamp(events, b))
}

/// What a recording of `step` gives, of what `f` does.
fn record(f: impl FnOnce()) -> Vec<Recorded> {
    let (recording, mut stream) = Recording::relevant(["step"]).start();
    let entered = recording.enter();
    f();
    drop(entered);
    stream.finish()
}

fn step(number: i64) {
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
fn two_recordings_and_one_static() {
    static BETWEEN: Mutex<()> = Mutex::new(());
    // An edge through the other's thread is an edge; its events are not there.
    let (one, mut of_one) = Recording::relevant(["step"]).start();
    let (other, mut of_other) = Recording::relevant(["step"]).start();
    let entered = one.enter();
    step(1);
    drop(BETWEEN.lock().unwrap());
    let there = other.enter();
    drop(BETWEEN.lock().unwrap());
    step(10);
    drop(BETWEEN.lock().unwrap());
    drop(there);
    let last = std::thread::spawn(move || {
        let _entered = one.enter();
        drop(BETWEEN.lock().unwrap());
        step(2);
    });
    last.join().unwrap();
    drop(entered);
    let (of_one, of_other) = (of_one.finish(), of_other.finish());
    assert!(ordered(&of_one, [1, 2]));
    assert_eq!((of_one.len(), of_other.len()), (2, 1));
    assert_eq!(
        stamp(&of_other, 10).clock.counts(),
        [1],
        "other recordings are not counted"
    );
}

#[test]
fn a_later_recording_counts_from_one() {
    for _ in 0..3 {
        let events = record(|| {
            step(1);
            step(2);
        });
        assert_eq!(stamp(&events, 2).clock.counts(), [2]);
    }
}

fn full(policy: Full) -> (Stream, u64) {
    let (recording, stream) = Recording::relevant(["step"])
        .capacity(64)
        .on_full(policy)
        .start();
    let entered = recording.enter();
    for number in 0..500 {
        step(number);
    }
    drop(entered);
    (stream, 500)
}

#[test]
fn what_is_dropped_is_counted_and_leaves_no_gap() {
    for policy in [Full::Drop, Full::Sample(10)] {
        let (mut stream, all) = full(policy);
        let events = stream.finish();
        let counts = stream.counts();
        assert!(counts.dropped > 0);
        assert_eq!(counts.recorded + counts.dropped, all);
        let numbers = events.iter().map(|recorded| recorded.stamp.number());
        assert!(numbers.eq(1..=events.len() as u32), "{policy:?}");
    }
}

#[test]
fn who_blocks_goes_on_when_there_is_room_or_nobody() {
    let (recording, mut stream) = Recording::relevant(["step"]).capacity(64).start();
    thread::scope(|s| {
        s.spawn(|| {
            let _entered = recording.enter();
            (0..5_000).for_each(step);
        });
        let mut next = 0;
        while next < 5_000 {
            if let Some(recorded) = stream.next_within(Duration::from_secs(60)) {
                next += 1;
                assert_eq!(recorded.stamp.number(), next);
            }
        }
        // Nobody takes out the next ones; when the stream is gone, nobody waits for it.
        let other = s.spawn(|| {
            let _entered = recording.enter();
            (0..5_000).for_each(step);
        });
        std::thread::sleep(Duration::from_millis(5));
        drop(stream);
        other.join().unwrap();
    });
}

#[test]
fn a_reader_that_wants_a_lock_of_the_program_gets_it_between_sections() {
    // The program waits for room before it takes the lock, and never when it gives it back.
    let (recording, stream) = Recording::everything().capacity(64).start();
    let mutex = Mutex::new(0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|s| {
        let reader = s.spawn(|| {
            let mut stream = stream;
            let mut seen = 0u64;
            while !stop.load(std::sync::atomic::Ordering::Acquire) {
                if stream.next_within(Duration::from_millis(1)).is_some() {
                    seen += *mutex.lock().unwrap();
                }
            }
            seen
        });
        let entered = recording.enter();
        for _ in 0..500 {
            *mutex.lock().unwrap() += 1;
        }
        drop(entered);
        stop.store(true, std::sync::atomic::Ordering::Release);
        assert!(reader.join().unwrap() > 0);
    });
}

#[test]
fn to_give_back_never_waits_and_is_not_lost() {
    let (recording, mut stream) = Recording::everything().capacity(64).start();
    let entered = recording.enter();
    let mutexes: Vec<Mutex<()>> = (0..40).map(|_| Mutex::new(())).collect();
    let guards: Vec<_> = mutexes.iter().map(|mutex| mutex.lock().unwrap()).collect();
    // There is no room for all of these, and nobody takes anything out.
    drop(guards);
    drop(entered);
    assert_eq!(stream.finish().len(), 80);
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
fn names_and_places_are_those_of_the_program() {
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    let unnamed = Mutex::new(());
    let (line, named) = (line!() - 1, Shared::with_name("level", 1));
    drop(unnamed.lock().unwrap());
    named.set(7);
    drop(entered);
    let events = stream.finish();
    let symbols = symbols();
    let Op::Lock(lock) = events[0].event.op else {
        panic!("{}", events[0]);
    };
    let expected = format!("Mutex@{}:{line}", file!());
    assert_eq!(symbols.locks.name(lock), expected);
    let place = symbols.locs.name(events[0].event.loc.unwrap());
    assert_eq!(place, format!("{}:{}:18", file!(), line + 2));
    let Op::Write(var, Some(Value::Int(7))) = events[2].event.op else {
        panic!("{}", events[2]);
    };
    assert_eq!(symbols.vars.name(var), "level");
}

#[test]
fn threads_that_were_not_spawned_through_the_hooks_are_counted() {
    let (recording, mut stream) = Recording::relevant(["only_global"]).start();
    let global = recording.make_global();
    event!(only_global);
    std::thread::spawn(|| event!(only_global)).join().unwrap();
    drop(global);
    event!(only_global);
    assert_eq!(stream.finish().len(), 2);
    // Tests that run at the same time may have others.
    assert!(stream.counts().foreign >= 1);
}

#[test]
fn what_is_settled_counts_as_before_and_the_rest_stays_exact() {
    let (recording, mut stream) = Recording::relevant(["step"]).start();
    let entered = recording.enter();
    let mut events = Vec::new();
    // Threads of nobody, each of which ends before the next begins; only the middle one is settled.
    for number in 1..=4 {
        let detached = thread::spawn(move || step(number));
        // Joined by one who is not hooked, so that its chain was given back.
        std::thread::spawn(|| detached.join().unwrap())
            .join()
            .unwrap();
        events.extend(stream.next_within(Duration::from_secs(60)));
        if number == 2 {
            stream.settle();
        }
    }
    drop(entered);
    events.extend(stream.finish());
    let chain = |number| stamp(&events, number).chain;
    assert!(chain(1) != chain(2) && chain(3) != chain(4));
    let mut reused = [chain(3), chain(4)];
    reused.sort();
    assert_eq!(reused, [chain(1), chain(2)], "both were settled");
    assert!(!ordered(&events, [1, 2]) && !ordered(&events, [3, 4]));
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
fn what_a_variable_begins_with_is_of_this_recording() {
    let shared = Shared::with_name("first_shared", 1);
    let atomic = AtomicU64::with_name("first_atomic", 10);
    let never = Shared::with_name("first_never", 100);
    for run in 0..3 {
        let (recording, stream) = Recording::everything().start();
        let entered = recording.enter();
        thread::scope(|s| {
            s.spawn(|| shared.update(|shared| *shared += 1));
            s.spawn(|| atomic.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        });
        shared.update(|shared| *shared += 1);
        atomic.store(atomic.load(std::sync::atomic::Ordering::Relaxed) + 1, {
            std::sync::atomic::Ordering::Relaxed
        });
        assert_eq!(never.get(), 100);
        drop(entered);
        // What nobody records changes what the next recording begins with.
        shared.update(|shared| *shared += 1);
        let expected = [
            ("first_atomic".to_owned(), Value::Int(10 + 2 * run)),
            ("first_shared".to_owned(), Value::Int(1 + 3 * run)),
        ];
        assert_eq!(stream.initial_values(), expected);
    }
}
