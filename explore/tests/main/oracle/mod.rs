//! Random small programs: what the explorer finds against every interleaving, by an interpreter that shares no code with it.
//!
//! | file | |
//! |---|---|
//! | `program` | what threads may do, and random programs |
//! | `interpreter` | every interleaving, by copying states; classes from the definition |
//! | `explored` | the same programs on the hooks, under the explorer |
//!
//! `PORTENT_CASES=5000` asks for more programs of each mix.

mod explored;
mod interpreter;
mod program;

use std::{collections::BTreeMap, env};

use portent_explore::{
    Explorer, Report,
    strategy::{Optimal, Source, Strategy},
};
use portent_testing::Rng;

use self::{
    explored::explore,
    interpreter::{Class, enumerate},
    program::{Mix, Program},
};

/// Programs with more interleavings are left out.
const MOST: usize = 30_000;

fn cases() -> usize {
    let told = env::var("PORTENT_CASES").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(300)
}

/// What was seen of one mix.
#[derive(Debug, Default)]
struct Totals {
    programs: usize,
    interleavings: usize,
    classes: u64,
    deadlocked: usize,
    blocked: u64,
}

fn compare(mix: Mix, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut totals = Totals::default();
    while totals.programs < cases() {
        let program = Program::random(&mut rng, mix);
        let Some((expected, interleavings)) = enumerate(&program, MOST) else {
            continue;
        };
        totals.programs += 1;
        totals.interleavings += interleavings;
        totals.classes += expected.len() as u64;
        totals.deadlocked += expected.values().filter(|deadlock| **deadlock).count();
        totals.blocked += check(&program, &expected, false, Source::new);
        if totals.programs % 3 == 0 {
            check_in_parallel(&program, &expected);
        }
        let in_vain = check(&program, &expected, true, Optimal::new);
        assert_eq!(in_vain, 0, "{program}");
    }
    println!("{mix:?}: {totals:?}");
    assert!(totals.deadlocked > 0 || !mix.can_deadlock(), "{totals:?}");
    assert!(
        totals.blocked * 50 <= totals.classes,
        "more than 2 % of runs are in vain: {totals:?}"
    );
}

/// Compares what a strategy finds with what there is; how many runs were in vain.
fn check<S: Strategy + 'static>(
    program: &Program,
    expected: &BTreeMap<Class, bool>,
    is_named: bool,
    strategy: impl Fn() -> S + 'static,
) -> u64 {
    let name = if is_named { "optimal" } else { "source" };
    let explorer = Explorer::new().strategy(strategy);
    let (found, report) = explore(program, is_named, 1, explorer);
    compare_with(program, expected, name, found, &report);
    report.blocked
}

/// The same by several who search together.
fn check_in_parallel(program: &Program, expected: &BTreeMap<Class, bool>) {
    let (found, report) = explore(program, false, 3, Explorer::new());
    compare_with(program, expected, "in parallel", found, &report);
}

fn compare_with(
    program: &Program,
    expected: &BTreeMap<Class, bool>,
    name: &str,
    found: Vec<(Class, bool)>,
    report: &Report,
) {
    let mut seen: BTreeMap<Class, bool> = BTreeMap::new();
    for (class, deadlock) in found {
        let known = expected.get(&class);
        assert_eq!(
            known,
            Some(&deadlock),
            "{name}: there is no such run\n{program}\n{class:?}\n{report}"
        );
        assert!(
            seen.insert(class, deadlock).is_none(),
            "{name}: twice\n{program}\n{report}"
        );
    }
    for class in expected.keys() {
        assert!(
            seen.contains_key(class),
            "{name}: {} of {} classes\n{program}\n{class:?}\n{report}",
            seen.len(),
            expected.len()
        );
    }
}

#[test]
fn variables() {
    compare(Mix::VARIABLES, 1);
}

#[test]
fn mutexes() {
    compare(Mix::VARIABLES.and_mutexes(), 2);
}

#[test]
fn tried_mutexes() {
    compare(Mix::VARIABLES.and_mutexes().and_tries(), 7);
}
