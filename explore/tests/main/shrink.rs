//! A failure is shown by a run with few interruptions: the same goes wrong in it, and "fewest" is what an exhaustive search says, too.

use std::sync::Arc;

use portent_explore::{
    Explorer, Failure, FailureKind, Stopped,
    strategy::{Preemption, Random},
};
use portent_hooks::{
    Shared,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};
use portent_monitor_dsl::Property;

use crate::programs;

/// Threads that each add one so often, in two steps.
fn lost_update(threads: usize, times: u32) {
    let number = Arc::new(AtomicU32::new(0));
    let add = || {
        let number = Arc::clone(&number);
        thread::spawn(move || {
            for _ in 0..times {
                number.store(number.load(SeqCst) + 1, SeqCst);
            }
        })
    };
    let threads: Vec<_> = (0..threads).map(|_| add()).collect();
    let expected = threads.len() as u32 * times;
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(number.load(SeqCst), expected, "an update is lost");
}

/// Only two of three updates each are left in the worst case, which takes more than one interruption.
fn two_are_left() {
    let number = Arc::new(AtomicU32::new(0));
    let add = || {
        let number = Arc::clone(&number);
        thread::spawn(move || {
            for _ in 0..3 {
                number.store(number.load(SeqCst) + 1, SeqCst);
            }
        })
    };
    let (one, other) = (add(), add());
    one.join().unwrap();
    other.join().unwrap();
    assert_ne!(number.load(SeqCst), 2, "two are left");
}

/// That a run was shrunk as far as the report says, according to a search that knows nothing of shrinking.
fn assert_shrunk(failure: &Failure, program: fn()) {
    let shrunk = failure.shrunk.expect("it was shrunk");
    assert!(shrunk.to <= shrunk.from, "{failure}");
    let again = Explorer::new()
        .replay(&failure.token)
        .unwrap()
        .check(program);
    assert_eq!(again.failures[0].message, failure.message);
    if !shrunk.is_fewest {
        return;
    }
    if let Some(fewer) = shrunk.to.checked_sub(1) {
        let report = Explorer::new()
            .strategy(move || Preemption::new(fewer))
            .check(program);
        let same = report.failures.iter().any(|one| one.kind == failure.kind);
        assert!(!same, "{report}");
        assert_eq!(report.stopped, Stopped::Bound, "{report}");
    }
}

#[test]
fn the_fewest_interruptions_are_the_fewest() {
    let programs: [fn(); 4] = [
        || lost_update(3, 2),
        || lost_update(2, 3),
        two_are_left,
        programs::crossed_locks,
    ];
    let mut shorter = 0;
    for program in programs {
        for seed in 0..25 {
            let report = Explorer::new()
                .strategy(move || Random::new(seed, 10_000))
                .max_shrinking_runs(50_000)
                .check(program);
            let failure = &report.failures[0];
            assert_shrunk(failure, program);
            let shrunk = failure.shrunk.unwrap();
            assert!(shrunk.is_fewest, "{report}");
            shorter += usize::from(shrunk.to < shrunk.from);
        }
    }
    assert!(shorter > 50, "{shorter}");
}

#[test]
fn two_threads_have_to_interrupt_each_other_four_times() {
    let report = Explorer::new()
        .max_shrinking_runs(50_000)
        .check(two_are_left);
    let shrunk = report.failures[0].shrunk.unwrap();
    assert_eq!((shrunk.to, shrunk.is_fewest), (4, true), "{report}");
    let text = report.to_string();
    assert!(
        text.contains("threads are interrupted 4 times in it"),
        "{text}"
    );
    assert!(text.contains("it takes no fewer"), "{text}");
}

#[test]
fn fewest_is_only_said_of_a_search_that_ended() {
    let report = Explorer::new()
        .strategy(|| Random::new(3, 10_000))
        .max_shrinking_runs(5)
        .check(two_are_left);
    let shrunk = report.failures[0].shrunk.unwrap();
    assert!(!shrunk.is_fewest && shrunk.to > 0, "{report}");
    assert_eq!(shrunk.runs, 5);
    assert!(report.to_string().contains("is open"), "{report}");
}

/// One thread writes twice, which others can only see if it is interrupted; `looks` is told what was seen.
fn between_two_writes(looks: impl Fn(u32) + Send + 'static) {
    let number = Arc::new(AtomicU32::new(0));
    let writer = Arc::clone(&number);
    let writer = thread::spawn(move || {
        writer.store(1, SeqCst);
        writer.store(2, SeqCst);
    });
    let reader = thread::spawn(move || {
        let seen = number.load(SeqCst);
        looks(seen);
        assert_ne!(seen, 1, "between two writes");
    });
    writer.join().unwrap();
    reader.join().unwrap();
}

#[test]
fn fewest_is_not_said_where_runs_with_fewer_are_too_long() {
    let report = Explorer::new().max_steps(50).check(|| {
        between_two_writes(|seen| {
            // Whoever is not in between never comes to an end.
            let other = AtomicU32::new(0);
            while seen != 1 && other.fetch_add(1, SeqCst) < 1_000 {}
        });
    });
    let shrunk = report.failures[0].shrunk.unwrap();
    assert_eq!((shrunk.to, shrunk.is_fewest), (1, false), "{report}");
    assert!(report.to_string().contains("is open"), "{report}");
}

#[test]
fn fewest_is_not_said_where_others_wait_while_a_thread_unwinds() {
    /// Does something when it is dropped.
    struct Dropped(AtomicU32);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(1, SeqCst);
        }
    }
    let report = Explorer::new().check(|| {
        between_two_writes(|seen| {
            let unwound = std::panic::catch_unwind(|| {
                let _dropped = Dropped(AtomicU32::new(0));
                assert_eq!(seen, 1, "not in between");
            });
            assert_eq!(unwound.is_ok(), seen == 1);
        });
    });
    let shrunk = report.failures[0].shrunk.unwrap();
    assert_eq!((shrunk.to, shrunk.is_fewest), (1, false), "{report}");
    assert!(report.to_string().contains("is open"), "{report}");
    // The same without that.
    let report = Explorer::new().check(|| between_two_writes(|_| {}));
    let shrunk = report.failures[0].shrunk.unwrap();
    assert_eq!((shrunk.to, shrunk.is_fewest), (1, true), "{report}");
}

#[test]
fn who_does_not_want_it_or_goes_on_gets_the_run_that_was_found() {
    let report = Explorer::new().max_shrinking_runs(0).check(two_are_left);
    assert_eq!(report.failures[0].shrunk, None);
    let report = Explorer::new().keep_going().check(|| lost_update(2, 1));
    assert!(report.failures.iter().all(|one| one.shrunk.is_none()));
}

#[test]
fn a_violation_is_shrunk_and_stays_one() {
    let program = || {
        let x = Arc::new(Shared::with_name("x", 0));
        let gate = Arc::new(Mutex::new(()));
        let write = |value: i32| {
            let (x, gate) = (Arc::clone(&x), Arc::clone(&gate));
            thread::spawn(move || {
                for _ in 0..2 {
                    let _inside = gate.lock().unwrap();
                    x.set(value);
                    x.set(0);
                }
            })
        };
        let (one, other) = (write(1), write(2));
        one.join().unwrap();
        other.join().unwrap();
    };
    let property = "property p { var x: int = 0 ltl: always (x == 2 -> !once (x == 1)) }";
    let monitor = Property::parse(property).unwrap().monitor().unwrap();
    let report = Explorer::new()
        .property(monitor)
        .strategy(|| Random::new(7, 1_000))
        .check(program);
    let failure = &report.failures[0];
    assert_eq!(failure.kind, FailureKind::Property);
    let shrunk = failure.shrunk.unwrap();
    assert_eq!((shrunk.to, shrunk.is_fewest), (0, true), "{report}");
    assert!(
        report.to_string().contains("nobody is interrupted in it"),
        "{report}"
    );
}
