//! Annotated tests that are explored, or whose predictions are made to happen.

use std::{env, fs, process::Command, sync::Arc};

use portent::{
    Shared, event,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

/// Two threads that add one each, in two steps.
fn lost_update() {
    let count = Arc::new(AtomicU32::new(0));
    let other = thread::spawn({
        let count = Arc::clone(&count);
        move || count.store(count.load(SeqCst) + 1, SeqCst)
    });
    count.store(count.load(SeqCst) + 1, SeqCst);
    other.join().unwrap();
    assert_eq!(count.load(SeqCst), 2, "an update is lost");
}

/// The result is there before somebody says so, but nothing keeps it that way.
fn told_too_early() {
    let result = Shared::with_name("result", 0);
    let ready = Arc::new(Shared::with_name("ready", 0));
    let teller = thread::spawn({
        let ready = Arc::clone(&ready);
        move || ready.set(1)
    });
    result.set(42);
    teller.join().unwrap();
}

#[portent::test(explore = "source")]
fn an_explored_test_passes() {
    let total = Arc::new(Mutex::new(0));
    let other = thread::spawn({
        let total = Arc::clone(&total);
        move || *total.lock().unwrap() += 1
    });
    *total.lock().unwrap() += 1;
    other.join().unwrap();
    assert_eq!(*total.lock().unwrap(), 2);
}

#[portent::test(explore = "optimal", property = "always (b -> once a)", strict)]
fn an_order_that_is_kept() {
    event!(a);
    thread::spawn(|| event!(b)).join().unwrap();
}

#[portent::test(
    explore = "pct",
    max_runs = 100,
    property = "always (ready > 0 -> result > 0)",
    expect_violation
)]
fn a_violation_that_is_expected() {
    told_too_early();
}

#[portent::test(explore = "source")]
#[should_panic(expected = "an update is lost")]
fn a_failure_names_its_run() {
    lost_update();
}

#[portent::test(explore = "source", find = "races, deadlocks")]
#[should_panic(expected = "data race on result")]
fn a_data_race_fails_a_test_that_asks_for_it() {
    let result = Arc::new(Shared::with_name("result", 0));
    let other = thread::spawn({
        let result = Arc::clone(&result);
        move || result.set(1)
    });
    result.get();
    other.join().unwrap();
}

#[portent::test(explore = "exhaustive", property = "always (ready > 0 -> result > 0)")]
#[should_panic(expected = "is violated by this run")]
fn a_property_is_violated_by_a_run_that_happened() {
    told_too_early();
}

#[portent::test(confirm, property = "always (ready > 0 -> result > 0)")]
#[should_panic(expected = "Confirmed: it happened under the scheduler, in 1 run.")]
fn what_was_predicted_is_made_to_happen() {
    told_too_early();
}

#[portent::test(
    confirm = "tests/data/told_too_early.jsonl",
    property = "always (ready > 0 -> result > 0)"
)]
#[should_panic(
    expected = "told_too_early.jsonl: Confirmed: it happened under the scheduler, in 1 run."
)]
fn what_was_predicted_from_a_recording_that_was_left_is_made_to_happen() {
    told_too_early();
}

/// What was recorded had a bug that is no longer there.
#[portent::test(
    confirm = "tests/data/told_too_early.jsonl",
    property = "always (ready > 0 -> result > 0)"
)]
fn what_is_repaired_is_not_reproduced() {
    let result = Shared::with_name("result", 0);
    let ready = Arc::new(Shared::with_name("ready", 0));
    result.set(42);
    let teller = thread::spawn({
        let ready = Arc::clone(&ready);
        move || ready.set(1)
    });
    teller.join().unwrap();
}

#[portent::test(
    confirm = "tests/data/nowhere.jsonl",
    property = "always (ready > 0 -> result > 0)"
)]
#[should_panic(expected = "tests/data/nowhere.jsonl")]
fn a_recording_that_is_not_there_is_named() {
    told_too_early();
}

#[portent::test(
    confirm = "tests/data/told_too_early.jsonl",
    property = "always (result > 0 -> result > 41)"
)]
#[should_panic(expected = "nothing is to be confirmed")]
fn a_recording_from_which_nothing_is_predicted_is_no_proof() {
    told_too_early();
}

#[portent::test(explore = "guided", target = "tests/explored.rs:23", max_runs = 100)]
#[should_panic(expected = "an update is lost")]
fn a_search_is_guided_to_an_assertion() {
    lost_update();
}

#[portent::test(explore = "source", property = "always (b -> once a)")]
#[should_panic(expected = "PORTENT_REPLAY=")]
fn a_failure_says_how_to_see_it_again() {
    let other = thread::spawn(|| event!(b));
    event!(a);
    other.join().unwrap();
}

/// This test program, with one test and these variables.
fn alone(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]);
    command
        .env_remove("PORTENT_REPORT")
        .env_remove("PORTENT_REPLAY");
    let output = command
        .envs(variables.iter().copied())
        .output()
        .expect("it runs");
    [output.stdout, output.stderr]
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .concat()
}

#[test]
fn a_failure_leaves_a_page_and_is_repeated_by_its_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a name of letters");
    let test = "explored::a_failure_names_its_run";
    let output = alone(test, &[("PORTENT_REPORT", path)]);
    assert!(output.contains("test result: ok. 1 passed"), "{output}");
    let page = folder
        .path()
        .join("suite-explored-a_failure_names_its_run.html");
    let page = fs::read_to_string(page).expect("a page");
    assert!(
        page.contains("an update is lost") && page.contains("tests/explored.rs"),
        "{page}"
    );
    let (_, rest) = page.split_once("PORTENT_REPLAY=").expect("a command");
    let (token, rest) = rest.split_once(' ').expect("more of it");
    assert!(rest.starts_with(&format!("cargo test {test}")), "{rest}");
    let again = alone(test, &[("PORTENT_REPLAY", token)]);
    assert!(again.contains("it did the same"), "{again}");
    assert!(again.contains("1 executions"), "{again}");
}

#[test]
fn a_run_that_was_confirmed_is_repeated_by_its_text() {
    let test = "explored::what_was_predicted_is_made_to_happen";
    let output = alone(test, &[]);
    let (_, rest) = output.split_once("PORTENT_REPLAY=").expect("a command");
    let (token, _) = rest.split_once(' ').expect("more of it");
    let again = alone(test, &[("PORTENT_REPLAY", token)]);
    assert!(again.contains("it did the same"), "{again}");
    assert!(!again.contains("PREDICTED"), "{again}");
}
