//! Data races: what is one and what is not, and random programs against every interleaving.
//!
//! `PORTENT_CASES=5000` asks for more random programs of each mix.

mod every_interleaving;
mod explored;
mod program;

use std::{
    collections::BTreeSet,
    env,
    sync::{Arc, atomic as native},
};

use portent_explore::{Explorer, FailureKind, Report, strategy::Random};
use portent_hooks::{
    Shared,
    control::Memory,
    sync::{
        Barrier, Condvar, Mutex, OnceLock, RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};
use portent_testing::Rng;

use self::{
    every_interleaving::races,
    explored::explore,
    program::{Mix, Program},
};

/// Programs with more interleavings are left out.
const MOST: usize = 10_000;

/// Two accesses: of each its thread, and how many accesses of plain variables that thread had before.
type Pair = [(usize, usize); 2];

#[test]
fn random_programs() {
    let told = env::var("PORTENT_CASES").ok();
    let cases = told.and_then(|told| told.parse().ok()).unwrap_or(120);
    for mix in Mix::ALL {
        let mut rng = Rng::new(mix as u64 + 11);
        let (mut programs, mut racy, mut pairs) = (0, 0, 0);
        while programs < cases {
            let program = Program::random(&mut rng, mix);
            let Some(expected) = races(&program, MOST) else {
                continue;
            };
            let found: BTreeSet<Pair> = explore(&program);
            assert_eq!(found, expected.unordered, "{program:?}");
            assert_eq!(
                !found.is_empty(),
                expected.some_adjacent,
                "two accesses are unordered somewhere, or next to each other nowhere: {program:?}"
            );
            programs += 1;
            racy += usize::from(!found.is_empty());
            pairs += found.len();
        }
        println!("{mix:?}: {programs} programs, {racy} with data races, {pairs} pairs");
        assert!(racy > 0 && racy < programs, "{mix:?}");
    }
}

/// Explores a program with two threads that share a variable.
fn explore_two<A>(first: fn(&A, &Shared<u32>), second: fn(&A, &Shared<u32>)) -> Report
where
    A: Default + Send + Sync + 'static,
{
    Explorer::new().races().check(move || {
        let both = Arc::new((A::default(), Shared::with_name("level", 0)));
        let other = thread::spawn({
            let both = Arc::clone(&both);
            move || second(&both.0, &both.1)
        });
        first(&both.0, &both.1);
        other.join().unwrap();
    })
}

fn assert_race(report: &Report) {
    assert_eq!(report.failures[0].kind, FailureKind::Race, "{report}");
}

#[test]
fn both_threads_and_places_are_named_and_the_run_is_repeated() {
    let program = || {
        let level = Arc::new(Shared::with_name("level", 0));
        let other = thread::Builder::new().name(String::from("filler"));
        let other = other.spawn({
            let level = Arc::clone(&level);
            move || level.set(1)
        });
        level.get();
        other.unwrap().join().unwrap();
    };
    let report = Explorer::new().races().check(program);
    let failure = &report.failures[0];
    assert_eq!(failure.kind, FailureKind::Race);
    assert!(
        failure
            .message
            .starts_with("data race on level: filler (write at explore/tests/main/races/mod.rs:"),
        "{report}"
    );
    assert!(
        failure
            .message
            .contains(" and main (read at explore/tests/main/races/mod.rs:")
    );
    let again = Explorer::new().races().replay(&failure.token).unwrap();
    let again = again.check(program);
    assert_eq!(again.failures[0].message, failure.message);
    assert_eq!(again.executions, 1);
    // Nobody asked.
    Explorer::new().check(program).assert_passed();
}

#[test]
fn what_synchronises_is_no_race() {
    explore_two::<Mutex<()>>(
        |lock, level| {
            let _guard = lock.lock().unwrap();
            level.set(1);
        },
        |lock, level| {
            let _guard = lock.lock().unwrap();
            level.set(2);
        },
    )
    .assert_passed();
    explore_two::<AtomicU32>(
        |flag, level| {
            level.set(1);
            flag.store(1, SeqCst);
        },
        |flag, level| {
            if flag.load(SeqCst) == 1 {
                level.get();
            }
        },
    )
    .assert_passed();
    explore_two::<OnceLock<()>>(
        |once, level| {
            once.get_or_init(|| level.set(1));
            level.get();
        },
        |once, level| {
            if once.get().is_some() {
                level.get();
            }
        },
    )
    .assert_passed();
    explore_two::<(Mutex<bool>, Condvar)>(
        |(lock, condition), level| {
            let mut ready = lock.lock().unwrap();
            while !*ready {
                ready = condition.wait(ready).unwrap();
            }
            level.set(1);
        },
        |(lock, condition), level| {
            level.set(2);
            *lock.lock().unwrap() = true;
            condition.notify_one();
        },
    )
    .assert_passed();
}

#[test]
fn what_does_not_synchronise_is_a_race() {
    // To share a lock is not to have it alone.
    assert_race(&explore_two::<RwLock<()>>(
        |lock, level| {
            let _guard = lock.read().unwrap();
            level.set(1);
        },
        |lock, level| {
            let _guard = lock.read().unwrap();
            level.set(2);
        },
    ));
    // Who stores does not come after who loaded.
    assert_race(&explore_two::<AtomicU32>(
        |flag, level| {
            level.set(1);
            flag.load(SeqCst);
        },
        |flag, level| {
            flag.store(1, SeqCst);
            level.set(2);
        },
    ));
    // An exchange that fails writes nothing.
    assert_race(&explore_two::<AtomicU32>(
        |flag, level| {
            level.set(1);
            let _ = flag.compare_exchange(7, 8, SeqCst, SeqCst);
        },
        |flag, level| {
            flag.fetch_add(1, SeqCst);
            level.set(2);
        },
    ));
    // Who wakes up by itself was not notified.
    assert_race(&explore_two::<(Mutex<()>, Condvar)>(
        |(lock, condition), level| {
            let guard = lock.lock().unwrap();
            let timeout = std::time::Duration::from_secs(1);
            drop(condition.wait_timeout(guard, timeout).unwrap());
            level.set(1);
        },
        |(_, condition), level| {
            level.set(2);
            condition.notify_one();
        },
    ));
}

#[test]
fn barriers_parking_and_rendezvous_order_both_ways() {
    let report = Explorer::new().races().check(|| {
        let all = Arc::new((Barrier::new(2), Shared::new(0), Shared::new(0)));
        let (sender, receiver) = mpsc::sync_channel(0);
        let main = thread::current();
        let other = thread::spawn({
            let all = Arc::clone(&all);
            move || {
                all.1.set(1);
                all.0.wait();
                all.2.set(1);
                receiver.recv().unwrap();
                all.1.set(3);
                main.unpark();
            }
        });
        all.0.wait();
        all.1.set(2);
        sender.send(()).unwrap();
        all.2.set(2);
        thread::park();
        all.1.set(4);
        other.join().unwrap();
    });
    // The receiver set the second variable before it received, so that is in order, too.
    report.assert_passed();
}

#[test]
fn memory_that_is_used_while_others_go_on() {
    struct Cell {
        memory: Memory,
        flag: AtomicU32,
    }
    let is_ordered = native::AtomicBool::new(true);
    let is_ordered = Arc::new(is_ordered);
    let report = Explorer::new().races().keep_going().check(|| {
        let cell = Arc::new(Cell {
            memory: Memory::new("Cell"),
            flag: AtomicU32::new(0),
        });
        let other = thread::spawn({
            let (cell, is_ordered) = (Arc::clone(&cell), Arc::clone(&is_ordered));
            move || {
                if cell.flag.load(SeqCst) == 1 {
                    let access = cell.memory.read();
                    is_ordered.fetch_and(cell.memory.end(access), native::Ordering::Relaxed);
                }
            }
        });
        let access = cell.memory.write();
        assert!(access.is_ordered());
        // The other one may read before this one is done.
        cell.flag.store(1, SeqCst);
        let _ = cell.memory.end(access);
        other.join().unwrap();
    });
    assert_race(&report);
    assert!(!is_ordered.load(native::Ordering::Relaxed));
    assert_eq!(report.failures.len(), 1, "{report}");
}

#[test]
fn a_strategy_that_needs_no_clocks_finds_them_too() {
    let strategy = || Random::new(5, 100);
    let explorer = Explorer::new().strategy(strategy).max_runs(100).races();
    let report = explorer.check(|| {
        let level = Arc::new(Shared::new(0));
        let other = Arc::clone(&level);
        let other = thread::spawn(move || other.set(1));
        level.set(2);
        other.join().unwrap();
    });
    assert_race(&report);
}

#[test]
fn several_that_search_together_tell_each_race_once() {
    let explorer = Explorer::new().races().keep_going();
    let report = explorer.check_in_parallel(2, || {
        let level = Arc::new((Shared::with_name("level", 0), AtomicU32::new(0)));
        let other = Arc::clone(&level);
        let other = thread::spawn(move || {
            other.1.fetch_add(1, SeqCst);
            other.0.set(1);
            other.1.fetch_add(1, SeqCst);
        });
        level.1.fetch_add(1, SeqCst);
        level.0.set(2);
        level.1.fetch_add(1, SeqCst);
        other.join().unwrap();
    });
    assert_eq!(report.failures.len(), 1, "{report}");
    assert!(report.failed > 1);
}

#[test]
fn a_search_that_begins_anew_tells_a_race_again() {
    let report = Explorer::new().races().keep_going().check(|| {
        let level = Arc::new((Shared::with_name("level", 0), Mutex::new(())));
        let other = Arc::clone(&level);
        let other = thread::spawn(move || {
            // In the first run nothing is tried.
            if other.0.get() == 0 {
                drop(other.1.try_lock());
            }
        });
        level.0.set(1);
        other.join().unwrap();
    });
    assert!(report.discarded > 1, "{report}");
    assert_race(&report);
}

/// A value was seen that nobody had stored yet, so that what came of it did not depend on what it seemed to.
#[test]
fn a_value_is_not_seen_before_it_is_stored() {
    let seen = Arc::new(native::AtomicU32::new(0));
    let report = Explorer::new().check({
        let seen = Arc::clone(&seen);
        move || {
            let once = Arc::new((OnceLock::new(), AtomicU32::new(0)));
            let other = thread::spawn({
                let once = Arc::clone(&once);
                move || {
                    once.0.get_or_init(|| once.1.load(SeqCst));
                    once.1.store(1, SeqCst);
                }
            });
            let stored = once.0.get().is_some();
            let told = once.1.load(SeqCst) == 1;
            seen.fetch_or(
                1 << (u32::from(stored) * 2 + u32::from(told)),
                native::Ordering::Relaxed,
            );
            other.join().unwrap();
        }
    });
    report.assert_passed();
    // All four but none of those that cannot be: what is told of is stored, but perhaps after somebody looked.
    assert_eq!(seen.load(native::Ordering::Relaxed), 0b1111);
    assert_eq!(report.executions, 3 + 1, "{report}");
}
