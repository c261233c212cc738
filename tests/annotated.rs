//! Annotated tests, as an application writes them, and what those say that fail.

mod macros;
mod reports;

use std::{
    cell::RefCell,
    env, panic,
    path::Path,
    process::Command,
    sync::{
        Arc, Barrier,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use portent::{Shared, event, sync, thread};

/// What a test fails with.
fn failure(test: fn()) -> String {
    let payload = panic::catch_unwind(test).expect_err("it fails");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().expect("a message")).to_owned(),
    }
}

/// One writer sets x, then another y: nothing but the scheduler keeps them in order, and that is kept by a barrier that hooks
/// do not see.
fn x_then_y() {
    let [x, y] = ["x", "y"].map(|name| Shared::with_name(name, 0));
    let x_is_set = Barrier::new(2);
    thread::scope(|s| {
        s.spawn(|| {
            x.set(2);
            x_is_set.wait();
        });
        s.spawn(|| {
            x_is_set.wait();
            y.set(1);
        });
    });
}

mod passing {
    use super::*;

    #[portent::test(property = "always (x >= y)", strict)]
    fn joined() {
        let [x, y] = ["x", "y"].map(|name| Shared::with_name(name, 0));
        thread::scope(|s| {
            s.spawn(|| x.set(2)).join().unwrap();
            s.spawn(|| y.set(1));
        });
    }

    #[portent::test(property = "always (x >= y)", expect_violation)]
    fn predicted() {
        x_then_y();
    }

    #[portent::test(
        property = "always (x >= y)",
        expect_violation,
        repeat = 5,
        window = 1000
    )]
    fn predicted_five_times() {
        x_then_y();
    }

    #[portent::test(property = "always (x >= y)")]
    #[should_panic(expected = "could have come before")]
    fn attributes_are_kept() {
        x_then_y();
    }

    #[portent::test(property = "always (x >= y)")]
    #[should_panic(expected = "the body's own")]
    fn a_panic_wins() {
        x_then_y();
        panic!("the body's own");
    }

    #[portent::test(property = "eventually parsed", complete, strict)]
    fn results_may_be_returned() -> Result<(), std::num::ParseIntError> {
        event!(parsed, "7".parse::<i64>()?);
        Ok(())
    }

    #[portent::test(spec = "tests/data/annotated/queue.portent", strict)]
    fn a_file_of_properties() {
        let (sender, receiver) = sync::mpsc::channel();
        thread::scope(|s| {
            s.spawn(move || {
                event!(put);
                sender.send(7).unwrap();
            });
            assert_eq!(receiver.recv(), Ok(7));
            event!(take);
        });
    }

    /// A thread whose queue is full waits until somebody empties it.
    #[portent::test(property = "always (count >= 0)", window = 100)]
    fn long_runs() {
        let count = Shared::with_name("count", 0);
        for _ in 0..40_000 {
            count.update(|count| *count += 1);
        }
    }
}

/// Two critical sections, in an order that only the maximal model takes for an accident.
pub(crate) fn critical_sections() {
    let lock = sync::Mutex::new(());
    let open_before = Barrier::new(2);
    thread::scope(|s| {
        s.spawn(|| {
            let held = lock.lock().unwrap();
            event!(open);
            drop(held);
            open_before.wait();
        });
        s.spawn(|| {
            open_before.wait();
            let _held = lock.lock().unwrap();
            event!(close);
        });
    });
}

#[portent::test(
    property = "always (close -> once open)",
    causality = "maximal",
    expect_violation
)]
fn critical_sections_may_be_swapped() {
    critical_sections();
}

#[portent::test(
    property = "always (close -> once open)",
    causality = "strong",
    expect_violation
)]
fn critical_sections_may_be_left_out() {
    critical_sections();
}

/// Two locks, one after the other, in one order and then in the other.
fn lock_orders() {
    let (a, b) = (
        sync::Mutex::with_name("a", ()),
        sync::Mutex::with_name("b", ()),
    );
    thread::scope(|s| {
        let there = s.spawn(|| a.lock().map(|_a| drop(b.lock())).unwrap());
        there.join().unwrap();
        let back = s.spawn(|| b.lock().map(|_b| drop(a.lock())).unwrap());
        back.join().unwrap();
    });
}

// The second thread waits for the first: the pattern is a warning, and no more.
#[portent::test(find = "races, deadlocks")]
fn a_lock_order_that_cannot_deadlock_is_a_warning() {
    lock_orders();
}

#[portent::test(find = "races, deadlocks", strict)]
fn nothing_is_found_where_there_is_nothing() {
    let total = sync::Mutex::with_name("total", 0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| *total.lock().unwrap() += 1);
        }
    });
}

/// Tests that fail; what they say is looked at below.
mod failing {
    use super::*;

    #[portent::test(find = "deadlocks", causality = "strong")]
    #[should_panic]
    pub(super) fn deadlock() {
        let (a, b) = (
            sync::Mutex::with_name("a", ()),
            sync::Mutex::with_name("b", ()),
        );
        let turn = std::sync::Barrier::new(2);
        thread::scope(|s| {
            s.spawn(|| {
                a.lock().map(|_a| drop(b.lock())).unwrap();
                // Not hooked, so that only this run knows of the order.
                turn.wait();
            });
            s.spawn(|| {
                turn.wait();
                b.lock().map(|_b| drop(a.lock())).unwrap();
            });
        });
    }

    #[portent::test(find = "races")]
    #[should_panic]
    pub(super) fn race() {
        let x = Shared::with_name("x", 0);
        thread::scope(|s| {
            s.spawn(|| x.set(1));
            s.spawn(|| x.set(2));
        });
    }

    #[portent::test(find = "atomicity", repeat = 2)]
    #[should_panic]
    pub(super) fn not_atomic() {
        let x = Shared::with_name("x", 0);
        thread::scope(|s| {
            let _block = portent::atomic_block("add");
            let read = x.get();
            s.spawn(|| x.set(5)).join().unwrap();
            x.set(read + 1);
        });
    }

    #[portent::test(property = "always (x >= y)")]
    #[should_panic]
    pub(super) fn predicted() {
        x_then_y();
    }

    #[portent::test(property = "always (x >= y)", repeat = 3)]
    #[should_panic]
    pub(super) fn predicted_in_the_first_of_three() {
        x_then_y();
    }

    #[portent::test(property = "always (x < y)", strict)]
    #[should_panic]
    pub(super) fn observed() {
        x_then_y();
    }

    #[portent::test(property = "always (x < 100)", expect_violation, repeat = 2)]
    #[should_panic]
    pub(super) fn expected() {
        x_then_y();
    }

    #[portent::test(property = "always (level_x >= y)")]
    #[should_panic]
    pub(super) fn misspelt() {
        let level_z = Shared::with_name("level_z", 0);
        level_z.set(1);
        x_then_y();
    }

    #[portent::test(property = "always (logout -> once login)", strict)]
    #[should_panic]
    pub(super) fn nothing_happens() {}

    #[portent::test(
        property = "property p { var x: int = 7  ltl: always (x < 100) }",
        strict
    )]
    #[should_panic]
    pub(super) fn declared_otherwise() {
        x_then_y();
    }

    #[portent::test(property = "always (request -> eventually response)", strict)]
    #[should_panic]
    pub(super) fn pending() {
        requests();
    }

    #[portent::test(property = "always (request -> eventually response)", complete)]
    #[should_panic]
    pub(super) fn complete() {
        requests();
    }
}

fn requests() {
    event!(request);
    event!(response);
    event!(request);
}

/// Where a write stands in this file.
fn place(code: &str) -> String {
    let mut lines = include_str!("annotated.rs").lines();
    let line = 1 + lines.position(|line| line.trim() == code).unwrap();
    format!("tests/annotated.rs:{line}:15")
}

#[test]
fn a_violation_is_told_with_both_places() {
    let (x, y) = (place("x.set(2);"), place("y.set(1);"));
    let message = failure(failing::predicted);
    let expected = [
        "suite::annotated::failing::predicted: 6 events, 3 threads",
        "always (x >= y) PREDICTED: 1 of 2 equivalent runs violates it (50 %); the observed run is ok",
        "A run that violates it (↑ comes earlier than observed):",
        &format!("y = 1 ↑ 0 1 1 violated at {y}"),
        &format!(": y = 1` (at {y}) could have come before `"),
        &format!(": x = 2` (at {x}); then it is violated after 1 step."),
        "Why: violated at step 1: `x >= y` is false there.",
        "Next: nothing in the trace makes `",
        "For a page, run the test again with PORTENT_REPORT=DIR",
    ];
    let words: Vec<&str> = message.split_whitespace().collect();
    let message = words.join(" ");
    for part in expected {
        assert!(message.contains(part), "{part:?} is not in\n{message}");
    }
}

/// What the guide shows.
mod guide {
    use super::*;

    #[portent::test(property = "always (ready > 0 -> result > 0)")]
    #[should_panic]
    pub(super) fn ready_means_that_there_is_a_result() {
        let result = Shared::with_name("result", 0);
        let ready = Shared::with_name("ready", 0);
        // The run that the guide speaks of is the one that goes well.
        let goes_well = Barrier::new(2);
        thread::scope(|s| {
            s.spawn(|| {
                result.set(42);
                goes_well.wait();
            });
            s.spawn(|| {
                goes_well.wait();
                ready.set(1)
            });
        });
    }
}

/// What the README shows.
mod readme {
    use super::*;
    use portent::sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    };

    #[portent::test(property = "always (collected -> always !stored)")]
    #[should_panic]
    pub(super) fn every_result_is_collected() {
        let left = AtomicUsize::new(2);
        let results = Mutex::new(Vec::new());
        // The run that the README speaks of is one that goes well.
        let goes_well = Barrier::new(3);
        thread::scope(|s| {
            for job in [3, 4] {
                let (left, results, goes_well) = (&left, &results, &goes_well);
                s.spawn(move || {
                    let result = job * job;
                    left.fetch_sub(1, SeqCst);
                    results.lock().unwrap().push(result);
                    event!(stored);
                    goes_well.wait();
                });
            }
            goes_well.wait();
            assert_eq!(left.load(SeqCst), 0);
            event!(collected);
            assert_eq!(results.lock().unwrap().len(), 2);
        });
    }
}

#[test]
fn the_guide_shows_what_is_said() {
    let guide = include_str!("../docs/live.md");
    assert_shown(guide, guide::ready_means_that_there_is_a_result);
}

#[test]
fn the_readme_shows_what_is_said() {
    assert_shown(
        include_str!("../README.md"),
        readme::every_result_is_collected,
    );
}

/// That the first text of a document is what a test fails with, but for what `[...]` leaves out.
fn assert_shown(document: &str, test: fn()) {
    // Numbers of threads and places are others.
    fn words(text: &str) -> Vec<&str> {
        let words = text.split_whitespace().map(|word| match word {
            word if word.trim_start_matches('`').starts_with("thread") => "a thread",
            word if word.contains(".rs:") => "a place",
            word if word.ends_with("every_result_is_collected") => "the test's thread",
            word if word.ends_with("every_result_is_collected:") => "the test's thread:",
            word if word.ends_with("the_readme_shows_what_is_said") => "the test's thread",
            word if word.ends_with("the_readme_shows_what_is_said:") => "the test's thread:",
            word if word.starts_with("suite::") || word.starts_with("program::") => "a test",
            word => word,
        });
        words.collect()
    }
    let message = failure(test);
    let shown = document.split("```text\n").nth(1).expect("a block");
    let shown = shown.split("```").next().expect("its end");
    let message_words = words(&message);
    let mut from = 0;
    for part in shown.split("[...]\n").map(words) {
        let rest = &message_words[from..];
        let found = rest.windows(part.len()).position(|words| words == part);
        let found = found.unwrap_or_else(|| panic!("not said: {part:?} in\n{message}"));
        from += found + part.len();
    }
}

#[test]
fn of_several_runs_the_message_says_which() {
    let message = failure(failing::predicted_in_the_first_of_three);
    assert!(message.contains("(run 1 of 3)"), "{message}");
}

#[test]
fn the_run_itself_may_be_violated() {
    let message = failure(failing::observed);
    let expected = "The run, as observed up to the violation:";
    assert!(message.contains(expected), "{message}");
    assert!(
        message.contains("OBSERVED: the initial values violate it"),
        "{message}"
    );
}

#[test]
fn a_violation_that_does_not_come() {
    let message = failure(failing::expected);
    let expected =
        "no run that is equivalent to any of the 2 runs was found to violate `always (x < 100)`";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_variable_that_nobody_writes() {
    let message = failure(failing::misspelt);
    assert!(
        message.contains("variable `level_x` has no initial value"),
        "{message}"
    );
    assert!(message.contains("did you mean `level_z`?"), "{message}");
}

#[test]
fn a_variable_that_is_declared_otherwise() {
    let message = failure(failing::declared_otherwise);
    let expected = "variable `x` began with 0, but the property declares 7, and that was taken";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn nothing_was_checked() {
    let message = failure(failing::nothing_happens);
    assert!(message.contains("saw no step"), "{message}");
    assert!(message.contains("The test is strict"), "{message}");
}

#[test]
fn what_is_pending_is_not_passed_over() {
    let message = failure(failing::pending);
    assert!(
        message.contains("runs are pending when the test ends"),
        "{message}"
    );
    let message = failure(failing::complete);
    assert!(message.contains("violates it"), "{message}");
}

#[test]
fn findings_are_told_with_their_places() {
    let message = failure(failing::deadlock);
    assert!(message.contains("deadlock: "), "{message}");
    assert!(
        message.contains(" and wants b at tests/annotated.rs:"),
        "{message}"
    );
    assert!(
        message.contains(" and wants a at tests/annotated.rs:"),
        "{message}"
    );
    let message = failure(failing::race);
    assert!(message.contains("data race on x: "), "{message}");
    let message = failure(failing::not_atomic);
    assert!(message.contains("block add is not atomic"), "{message}");
}

#[test]
fn an_error_wins() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let test = portent::annotated::Test {
        name: "an_error_wins",
        monitors: &[],
        window: None,
        find: None,
        causality: portent::annotated::Model::HappensBefore,
        complete: false,
        repeat: 3,
        expect_violation: true,
        strict: false,
    };
    let outcome = portent::annotated::run(&test, || match CALLS.fetch_add(1, Relaxed) {
        0 => Ok(()),
        _ => Err("no"),
    });
    assert_eq!((outcome, CALLS.load(Relaxed)), (Err("no"), 2));
}

/// Tests that can be made to meet in their bodies.
mod parallel {
    use super::*;

    thread_local! {
        pub(super) static MEETING: RefCell<Option<Arc<Barrier>>> = const { RefCell::new(None) };
    }

    fn meet() {
        let meeting = MEETING.with_borrow(Clone::clone);
        if let Some(meeting) = meeting {
            meeting.wait();
        }
    }

    fn write(before: i64, after: i64) {
        meet();
        let level = Shared::with_name("shared_level", before);
        meet();
        thread::scope(|s| {
            s.spawn(|| level.set(after));
        });
        meet();
    }

    #[portent::test(property = "always (shared_level < 10)", strict)]
    pub(super) fn small() {
        write(0, 1);
    }

    #[portent::test(property = "always (shared_level >= 10)", strict)]
    pub(super) fn large() {
        write(10, 11);
    }
}

#[test]
fn tests_that_run_together_do_not_see_each_other() {
    let meeting = Arc::new(Barrier::new(2));
    std::thread::scope(|s| {
        for test in [parallel::small, parallel::large] {
            let meeting = Arc::clone(&meeting);
            s.spawn(move || {
                parallel::MEETING.set(Some(meeting));
                test();
            });
        }
    });
}

/// Runs one of the tests here in a process of its own.
pub(crate) fn alone(test: &str, folder: Option<&Path>) -> String {
    let mut command = Command::new(env::current_exe().expect("a path"));
    command
        .args(["--exact", "--nocapture", test])
        .env_remove("PORTENT_REPORT");
    command.envs(folder.map(|folder| ("PORTENT_REPORT", folder)));
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("text")
}

#[portent::test(property = "always (logout -> once login)")]
fn nothing_is_checked() {}

#[test]
fn a_warning_is_not_captured() {
    let output = alone("annotated::nothing_is_checked", None);
    assert!(output.contains("test result: ok. 1 passed"), "{output}");
    assert!(
        output.contains("warning: suite::annotated::nothing_is_checked: "),
        "{output}"
    );
    assert!(output.contains("saw no step"), "{output}");
}
