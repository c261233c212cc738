//! What reports say at the end: how much was searched, what was left out, and what is not modelled.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use portent_explore::{
    Explorer, Report, Stopped, choose,
    strategy::{Exhaustive, Optimal, Source},
};
use portent_hooks::{
    Shared, event,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};
use portent_monitor_dsl::{Monitor, Property};

use crate::programs;

fn monitor(text: &str) -> Monitor {
    Property::parse(text).unwrap().monitor().unwrap()
}

fn left_out(report: &Report, what: &str) {
    assert!(
        report.left_out().iter().any(|text| text.contains(what)),
        "{report}"
    );
    assert!(!report.is_proof(), "{report}");
}

#[test]
fn what_was_seen_before_a_search_began_anew_is_reported_after_it() {
    let program = || {
        let (number, lock) = (Arc::new(AtomicU32::new(0)), Mutex::new(()));
        let other = Arc::clone(&number);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        event!(a);
        // Not in the first run.
        if number.load(SeqCst) == 1 {
            drop(lock.try_lock());
        }
        thread.join().unwrap();
    };
    let report = Explorer::new()
        .keep_going()
        .property(monitor("always !a"))
        .check(program);
    assert!(report.discarded >= 2, "{report}");
    assert_eq!((report.executions, report.failed), (2, 2), "{report}");
    assert_eq!(report.failures.len(), 1, "they show the same");
    assert!(!report.is_proof());
    // What was only predicted before is no failure of what comes after.
    let report = Explorer::new()
        .keep_going()
        .property(monitor("always (a -> !once b)"))
        .check(|| {
            let (number, lock) = (Arc::new(AtomicU32::new(0)), Mutex::new(()));
            let other = Arc::clone(&number);
            let thread = thread::spawn(move || {
                event!(b);
                other.store(1, SeqCst);
            });
            event!(a);
            if number.load(SeqCst) == 1 {
                drop(lock.try_lock());
            }
            thread.join().unwrap();
        });
    assert_eq!((report.executions, report.failed), (2, 2), "{report}");
}

#[test]
fn the_same_steps_after_another_beginning_are_something_else() {
    let report = Explorer::new()
        .keep_going()
        .property(monitor("always x != 1"))
        .check(|| {
            let x = Shared::with_name("x", i64::from(choose(3)));
            x.set(5);
        });
    assert_eq!((report.executions, report.failed), (3, 1), "{report}");
    assert_eq!((report.posets, report.unchecked), (3, 0));
}

#[test]
fn what_a_variable_began_with_in_another_run_is_not_known_in_this_one() {
    let report = Explorer::new()
        .keep_going()
        .property(monitor("always x != 1"))
        .check(|| {
            let first = choose(2);
            let x = Shared::with_name("x", i64::from(first));
            if first == 0 {
                x.set(2);
            }
        });
    assert_eq!((report.executions, report.unchecked), (2, 1), "{report}");
    left_out(&report, "nobody knows what a variable of it begins with");
}

#[test]
fn a_property_that_cannot_be_answered_does_not_hide_the_next_one() {
    let report = Explorer::new()
        .keep_going()
        .property(monitor("always x != 1"))
        .property(monitor("always !a"))
        .check(|| {
            event!(a);
            let number = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&number);
            let thread = thread::spawn(move || other.store(1, SeqCst));
            number.store(2, SeqCst);
            thread.join().unwrap();
        });
    // Both runs show the same, and both have failed.
    assert_eq!((report.executions, report.posets), (2, 1));
    assert_eq!((report.failed, report.unchecked), (2, 2), "{report}");
    assert!(report.failures[0].message.contains("always !a"), "{report}");
}

#[test]
fn who_catches_a_panic_of_its_own_leaves_something_out() {
    struct Adds(Arc<AtomicU32>);
    impl Drop for Adds {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            self.0.fetch_add(1, SeqCst);
        }
    }
    let report = Explorer::new().keep_going().check(|| {
        let number = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&number);
        let thread = thread::spawn(move || other.fetch_add(1, SeqCst));
        let adds = Adds(Arc::clone(&number));
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            let _adds = adds;
            panic::resume_unwind(Box::new(()));
        }));
        assert!(caught.is_err());
        thread.join().unwrap();
    });
    assert_eq!((report.failed, report.stopped), (0, Stopped::Exhausted));
    left_out(&report, "while one unwinds");
    // Nobody else could have gone on.
    let report = Explorer::new().check(|| {
        let number = Arc::new(AtomicU32::new(0));
        let _ = panic::catch_unwind(AssertUnwindSafe(|| {
            let _adds = Adds(number);
            panic::resume_unwind(Box::new(()));
        }));
    });
    assert!(report.is_proof(), "{report}");
}

#[test]
fn a_thread_that_has_events_or_chooses_for_ever_is_stopped() {
    for wanted in ["a", "b"] {
        let report = Explorer::new()
            .property(monitor(&format!("eventually {wanted}")))
            .check(|| {
                loop {
                    event!(a);
                }
            });
        left_out(&report, "the bound on steps");
    }
    let report = Explorer::new().max_steps(60_000).max_runs(1).check(|| {
        loop {
            let _ = choose(2);
        }
    });
    left_out(&report, "the bound on steps");
}

#[test]
fn a_run_that_is_only_brought_to_its_end_is_stopped_too() {
    let program = || {
        let number = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&number);
        thread::spawn(move || other.store(1, SeqCst));
        if number.swap(2, SeqCst) == 1 {
            loop {
                event!(a);
            }
        }
    };
    let report = Explorer::new().max_steps(50).check(program);
    assert_eq!(report.too_long, 1, "{report}");
}

#[test]
fn optimal_says_that_values_are_chosen() {
    let report = Explorer::new().strategy(Optimal::new).check(|| {
        let _ = choose(3);
    });
    assert_eq!((report.executions, report.discarded), (3, 1), "{report}");
    assert!(report.notes[0].contains("runs choose values"), "{report}");
}

#[test]
fn classes_stand_for_all_interleavings() {
    let handover = || {
        let place = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&place);
        let thread = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut full = place.0.lock().unwrap();
        while !*full {
            full = place.1.wait(full).unwrap();
        }
        drop(full);
        thread.join().unwrap();
    };
    let programs: [(&str, &dyn Fn()); 6] = [
        ("updates", &|| programs::updates(2, 3)),
        ("loads and stores", &|| programs::loads_and_stores(2, 2)),
        ("sections", &|| programs::sections(3, 2)),
        ("philosophers", &|| {
            programs::philosophers(3);
        }),
        ("last zero", &|| programs::last_zero(3)),
        ("handover", &handover),
    ];
    for (name, program) in programs {
        let all = { Explorer::new().keep_going() }
            .strategy(Exhaustive::new)
            .check(program);
        for report in [
            { Explorer::new().keep_going().count_interleavings() }
                .strategy(Source::new)
                .check(program),
            { Explorer::new().keep_going().count_interleavings() }
                .strategy(Optimal::new)
                .check(program),
        ] {
            assert_eq!(
                report.interleavings,
                Some(u128::from(all.executions)),
                "{name}"
            );
        }
    }
    // One class: two threads of four steps that do not meet.
    let apart = { Explorer::new().count_interleavings() }.check(|| programs::indexer(2));
    assert_eq!((apart.executions, apart.interleavings), (1, Some(70)));
}

#[test]
fn what_is_not_modelled_is_said_if_the_program_uses_it() {
    let none = Explorer::new().check(|| programs::sections(2, 1));
    assert!(none.unmodelled.is_empty(), "{none}");
    let atomics = Explorer::new().check(|| programs::updates(2, 1));
    assert!(
        atomics
            .to_string()
            .contains("not modelled: atomics are sequentially consistent"),
        "{atomics}"
    );
    let wait = || {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        condition.notify_all();
        drop(mutex.lock());
    };
    assert!(Explorer::new().check(wait).unmodelled[0].contains("no reason"));
    let spurious = Explorer::new().spurious_wake_ups(1).check(wait);
    assert!(spurious.unmodelled.is_empty(), "{spurious}");
}

#[test]
fn progress_is_told_while_a_search_goes_on() {
    let told = Arc::new(AtomicU64::new(0));
    let last = Arc::clone(&told);
    let report = Explorer::new()
        .progress(move |progress| {
            assert!(progress.runs >= last.swap(progress.runs, Relaxed));
            assert!(progress.rate > 0.0 && progress.depth > 0);
            let part = progress.part.unwrap();
            assert!((0.0..=1.0).contains(&part), "{part}");
            assert!(progress.left().is_some_and(|left| left.as_secs() < 10_000));
        })
        .max_time(std::time::Duration::from_millis(700))
        .check(|| programs::sections(5, 3));
    assert_eq!(report.stopped, Stopped::Time);
    let told = told.load(Relaxed);
    assert!(told > 0 && told <= report.executions);
}
