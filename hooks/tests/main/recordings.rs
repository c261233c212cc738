//! What a recording promises: who takes part in it, what happens when nobody takes events out, what things are called.

use std::time::Duration;

use portent_hooks::{
    Full, Recording, Shared, Stream, event, symbols,
    sync::{Mutex, atomic::AtomicU64},
    thread,
};
use portent_monitor_core::{Op, Value};

use super::traps::{ordered, record, stamp, step};

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
