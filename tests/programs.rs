//! The programs of `examples/` that are recorded while they run, once: what is wrong is predicted, and what is right is silent.

#[path = "../examples/cache/cache.rs"]
pub(crate) mod cache;
#[path = "../examples/queue/queue.rs"]
mod queue;

use std::process::Command;

use cache::{Fill, LATER};
use queue::First;

/// How often a program is run that nobody watches.
const RUNS: u64 = 1000;

#[portent::test(property = "always (collected -> always !stored)", expect_violation)]
fn a_queue_that_counts_too_early() {
    queue::run(8, First::CountDown);
}

#[portent::test(property = "always (collected -> always !stored)", strict)]
fn a_queue() {
    assert_eq!(queue::run(8, First::Store), 8);
}

#[portent::test(
    spec = "examples/cache/cache.portent",
    causality = "maximal",
    expect_violation
)]
fn a_cache_that_keeps_old_values() {
    cache::run(Fill::Always, LATER);
}

#[portent::test(spec = "examples/cache/cache.portent", causality = "maximal", strict)]
fn a_cache() {
    assert_eq!(cache::run(Fill::IfFresh, LATER), (2, 2));
}

#[test]
fn plain_runs_do_not_show_it() {
    assert_eq!(queue::lost(RUNS, 8, First::CountDown), 0);
    assert_eq!(cache::stale(RUNS, Fill::Always), 0);
}

/// The lines of a document that follow a command, up to the end of the block, but for `...`.
fn shown<'d>(document: &'d str, command: &str) -> Vec<&'d str> {
    let (_, after) = document
        .split_once(&format!("$ {command}\n"))
        .expect(command);
    let lines = after.lines().take_while(|line| *line != "```");
    lines.filter(|line| *line != "...").collect()
}

/// Lines, without the numbers of threads, which depend on the tests beside.
pub(crate) fn words(lines: &[&str]) -> Vec<String> {
    let word = |word: &str| {
        if word.trim_start_matches('`').starts_with("thread") {
            "thread".to_owned()
        } else {
            word.to_owned()
        }
    };
    { lines.iter() }
        .map(|line| {
            line.split_whitespace()
                .map(word)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

/// What the tests of an example say, with the features with which this test was built, so that hardly anything has to be.
pub(crate) fn test(example: &str, tests: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let arguments = ["test", "-q", "--offline", "--workspace", "--example"];
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).arg(example).args(tests);
    // A backtrace would be in the middle of what is shown.
    command.env("RUST_BACKTRACE", "0");
    let done = command.envs(variables.iter().copied()).output().unwrap();
    let [out, errors] = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
    (out, errors)
}

/// The examples have tests that fail, and the guide shows what they say.
#[test]
fn tests_of_the_examples_fail_as_the_guide_shows() {
    let guide = include_str!("../docs/live.md");
    let run = |example: &str| {
        let (out, errors) = test(example, &[], &[]);
        let told = "test result: FAILED. 1 passed; 1 failed";
        assert!(out.contains(told), "{out}{errors}");
        out
    };
    let out = run("cache");
    let said = words(&out.lines().collect::<Vec<_>>());
    let shown = words(&shown(guide, "cargo test -q --example cache"));
    assert!(shown.len() > 5, "{shown:?}");
    let mut parts = said.windows(shown.len());
    assert!(parts.any(|part| *part == shown), "{shown:#?}\n{out}");
    let property = "always (collected -> always !stored)  PREDICTED: ";
    let out = run("queue");
    assert!(out.contains(property), "{out}");
}
