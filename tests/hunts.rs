//! The programs of `examples/` that are explored: what is wrong is found, and what is right is explored to its end without it. And the hunt
//! of the guide to exploring.

#[path = "../examples/buffer/buffer.rs"]
mod buffer;
#[path = "../examples/philosophers/philosophers.rs"]
mod philosophers;
#[path = "../examples/pool/pool.rs"]
mod pool;

use crate::programs::{
    self,
    cache::{self, Fill},
    words,
};
use buffer::Wakes;
use philosophers::First;
use pool::Head;
use portent::explore::{Explorer, FailureKind};

/// That a program goes wrong in this way.
#[track_caller]
fn goes_wrong(program: fn(), kind: FailureKind, message: &str) {
    let report = Explorer::new().check(program);
    let found = report.failures.first().expect("a failure");
    assert_eq!(found.kind, kind, "{report}");
    assert!(found.message.contains(message), "{report}");
}

/// That no run of a program goes wrong, and all have been looked at.
#[track_caller]
fn is_right(program: fn()) {
    let report = Explorer::new().check(program);
    assert!(report.is_proof(), "{report}");
    assert!(report.executions > 1, "{report}");
}

#[test]
fn a_buffer_that_wakes_one_loses_a_wake_up() {
    goes_wrong(|| buffer::run(Wakes::One), FailureKind::Deadlock, "changed");
}

#[test]
fn a_buffer_that_wakes_all_loses_none() {
    is_right(|| buffer::run(Wakes::All));
}

#[test]
fn philosophers_who_take_the_left_fork_first_starve() {
    goes_wrong(
        || philosophers::dine(First::Left),
        FailureKind::Deadlock,
        "fork 0",
    );
}

#[test]
fn philosophers_who_take_the_lower_fork_first_eat() {
    is_right(|| philosophers::dine(First::Lower));
}

#[test]
fn a_cache_that_always_fills_keeps_an_old_value() {
    goes_wrong(
        || cache::is_up_to_date(Fill::Always),
        FailureKind::Panic,
        "the cache keeps an old value",
    );
}

#[test]
fn a_cache_that_looks_again_keeps_none() {
    is_right(|| cache::is_up_to_date(Fill::IfFresh));
}

#[test]
fn a_pool_that_compares_slots_gives_one_to_two() {
    goes_wrong(
        || pool::run(Head::Slot),
        FailureKind::Panic,
        "each slot is taken once",
    );
}

#[test]
fn a_pool_that_counts_changes_does_not() {
    is_right(|| pool::run(Head::Counted));
}

/// What the guide shows of the hunt: a command and what it prints, but for what `[...]` leaves out.
fn steps() -> Vec<(&'static str, Vec<&'static str>)> {
    let guide = include_str!("../docs/explore.md");
    let blocks = guide.split("```text\n$ ").skip(1);
    let steps = blocks.map(|block| {
        let mut lines = block.lines().take_while(|line| *line != "```");
        (lines.next().expect("a command"), lines.collect())
    });
    steps.collect()
}

#[test]
fn the_hunt_says_what_the_guide_shows() {
    let steps = steps();
    assert_eq!(steps.len(), 5);
    for (command, shown) in steps {
        let (variable, command) = match command.strip_prefix("PORTENT_REPLAY=") {
            Some(rest) => rest.split_once(' ').expect("a command"),
            None => ("", command),
        };
        let variables = [("PORTENT_REPLAY", variable)];
        let variables = if variable.is_empty() {
            &[][..]
        } else {
            &variables
        };
        let arguments = command.strip_prefix("cargo test -q --example hunt ");
        let arguments: Vec<&str> = arguments.expect(command).split(' ').collect();
        let (out, errors) = programs::test("hunt", &arguments, variables);
        // What a test says that passes is not captured.
        let said = words(&out.lines().chain(errors.lines()).collect::<Vec<_>>());
        let mut from = 0;
        for part in shown
            .split(|line| *line == "[...]")
            .filter(|part| !part.is_empty())
        {
            let part = words(part);
            let found = said[from..]
                .windows(part.len())
                .position(|lines| lines == part);
            let found =
                found.unwrap_or_else(|| panic!("{command} does not say {part:#?}\n{out}{errors}"));
            from += found + part.len();
        }
    }
}

/// The program that the guide shows is the one that says so.
#[test]
fn the_hunt_is_in_the_guide() {
    let guide = include_str!("../docs/explore.md");
    let (_, program) = guide
        .split_once("`examples/hunt`:\n\n```rust\n")
        .expect("a block");
    let (program, _) = program.split_once("```").expect("its end");
    assert!(
        include_str!("../examples/hunt/main.rs").contains(program.trim_end()),
        "{program}"
    );
}
