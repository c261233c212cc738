//! Guided runs on programs that fail in few of their runs, beside random walks and random priorities.
//!
//! `cargo test -p portent-explore --test main guided -- --nocapture` prints the table: of 100 seeds how many find the failure, and in how many
//! steps of the program altogether, the observed first run included. Random walks and priorities have as many runs as the slowest guided search.

use std::sync::{
    Arc,
    atomic::{
        AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
};

use portent_explore::{
    Explorer,
    strategy::{Guided, Pct, Random, Steered, Strategy, Target},
};
use portent_hooks::{
    Shared,
    sync::{Mutex, atomic::AtomicU32},
    thread,
};
use portent_monitor_dsl::{Monitor, Property, automaton::Product};

use crate::benchmarks::{self, place};

const SEEDS: u64 = 100;

/// What the seeds of one strategy came to.
#[derive(Debug)]
struct Hunt {
    found: u64,
    /// Steps of the program until the failure, or the end, summed up and at most.
    steps: u64,
    most_steps: u64,
    runs: u64,
    most_runs: u64,
}

fn hunt<S: Strategy + 'static>(
    explorer: impl Fn() -> Explorer,
    program: fn(),
    strategy: impl Fn(u64) -> S + Clone + 'static,
) -> Hunt {
    let mut hunt = Hunt {
        found: 0,
        steps: 0,
        most_steps: 0,
        runs: 0,
        most_runs: 0,
    };
    for seed in 1..=SEEDS {
        let steps = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&steps);
        let strategy = strategy.clone();
        let report = explorer()
            .strategy(move || strategy(seed))
            .repeat_runs(0)
            .max_shrinking_runs(0)
            .each(move |execution| {
                counted.fetch_add(execution.schedule().len() as u64, Relaxed);
            })
            .check(program);
        let steps = steps.load(Relaxed);
        hunt.found += u64::from(report.failed > 0);
        hunt.steps += steps;
        hunt.most_steps = hunt.most_steps.max(steps);
        hunt.runs += report.executions;
        hunt.most_runs = hunt.most_runs.max(report.executions);
    }
    hunt
}

/// Whether guided runs always find it; how many steps they need on average.
fn compare(name: &str, program: fn(), target: Target) -> Hunt {
    compare_with(name, Explorer::new, program, "guided", move |seed| {
        Guided::new(seed, 1_000, target.clone())
    })
}

fn compare_with<S: Strategy + 'static>(
    name: &str,
    explorer: impl Fn() -> Explorer,
    program: fn(),
    called: &str,
    strategy: impl Fn(u64) -> S + Clone + 'static,
) -> Hunt {
    let guided = hunt(&explorer, program, strategy);
    let runs = guided.most_runs;
    let random = hunt(&explorer, program, move |seed| Random::new(seed, runs));
    let priorities = hunt(&explorer, program, move |seed| Pct::new(seed, runs, 3));
    for (strategy, hunt) in [(called, &guided), ("random", &random), ("pct", &priorities)] {
        println!(
            "{name:22} {strategy:7} {:>3} of {SEEDS}, steps: mean {:>6}, most {:>6}; runs: mean {:.2}, most {}",
            hunt.found,
            hunt.steps / SEEDS,
            hunt.most_steps,
            hunt.runs as f64 / SEEDS as f64,
            hunt.most_runs
        );
    }
    guided
}

#[test]
fn a_guided_search_finds_each_failure_by_every_seed() {
    // The steps are those of the thesis (its states), on average.
    type Program = (&'static str, fn(), &'static str, u64);
    let programs: [Program; 3] = [
        (
            "reorder(10,1)",
            || benchmarks::reorder(10, 1),
            "reorder: looks",
            271,
        ),
        (
            "two_stage(10,1)",
            || benchmarks::two_stage(10, 1),
            "two_stage: looks",
            333,
        ),
        (
            "airline(20,1)",
            || benchmarks::airline(20, 1),
            "airline: looks",
            2_670,
        ),
    ];
    for (name, program, looks, steps) in programs {
        let hunt = compare(name, program, Target::place(place(looks)));
        assert_eq!(hunt.found, SEEDS, "{name}: {hunt:?}");
        assert!(hunt.steps / SEEDS <= steps, "{name}: {hunt:?}");
    }
}

#[test]
fn a_suspected_pair_is_confirmed_in_few_runs() {
    type Program = (&'static str, fn(), [&'static str; 2]);
    let programs: [Program; 4] = [
        (
            "reorder(10,1)",
            || benchmarks::reorder(10, 1),
            ["reorder: first", "reorder: begins"],
        ),
        (
            "two_stage(10,1)",
            || benchmarks::two_stage(10, 1),
            ["two_stage: stages", "two_stage: looks"],
        ),
        (
            "wrong_lock(1,20)",
            || benchmarks::wrong_lock(1, 20),
            ["wrong_lock: disturbs", "wrong_lock: looks"],
        ),
        (
            "account_subtype(20,1)",
            || benchmarks::account_subtype(20, 1),
            ["account: adds", "account: careless"],
        ),
    ];
    for (name, program, [one, other]) in programs {
        let hunt = compare(name, program, Target::race(place(one), place(other)));
        assert_eq!(hunt.found, SEEDS, "{name}: {hunt:?}");
        assert!(hunt.runs <= 3 * SEEDS, "{name}: {hunt:?}");
    }
}

#[test]
fn a_cycle_of_locks_is_closed() {
    let looks = place("dining: second");
    let cycle = Target::together([&looks; 6]);
    let hunt = compare("dining(6)", || benchmarks::dining(6), cycle);
    assert_eq!(hunt.found, SEEDS, "{hunt:?}");
    assert!(hunt.runs <= 2 * SEEDS, "{hunt:?}");
}

const STAGES: i64 = 5;

/// Each thread has some work to do, and then sets its own stage under a lock that all of them need.
fn stages() {
    let stage = Arc::new((Mutex::new(()), Shared::with_name("stage", 0)));
    let work = |number| {
        let stage = Arc::clone(&stage);
        thread::spawn(move || {
            let done = AtomicU32::new(0);
            for _ in 0..number {
                done.fetch_add(1, SeqCst);
            }
            let _inside = stage.0.lock().unwrap();
            stage.1.set(number);
        })
    };
    let threads: Vec<_> = (1..=STAGES).map(work).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Violated only where the threads come in exactly one of 120 orders: those with more to do before those with less.
fn not_in_reverse() -> Monitor {
    let reverse = (2..=STAGES).rev().fold(None, |inner, number| {
        let now = format!("stage == {number}");
        Some(match inner {
            None => format!("once ({now})"),
            Some(inner) => format!("once ({now} && {inner})"),
        })
    });
    let property = format!(
        "property in_reverse {{ var stage: int = 0 ltl: always !(stage == 1 && {}) }}",
        reverse.unwrap()
    );
    Property::parse(&property).unwrap().monitor().unwrap()
}

#[test]
fn a_monitor_is_steered_to_a_violation() {
    let explorer = || Explorer::new().property(not_in_reverse());
    let hunt = compare_with("stages(5)", explorer, stages, "steered", |seed| {
        Steered::new(seed, 1_000, not_in_reverse())
    });
    assert_eq!(hunt.found, SEEDS, "{hunt:?}");
    assert!(hunt.runs <= 3 * SEEDS, "{hunt:?}");
}

#[test]
fn a_monitor_is_steered_to_any_of_its_states() {
    let monitor = not_in_reverse();
    let stage = monitor.alphabet().variable("stage").unwrap();
    let mut product = Product::new(monitor.clone(), &[0.into()]);
    let states = [5, 4, 3].map(|number: i64| product.act(None, &[(stage, number.into())]));
    let last = { states.iter() }.fold(product.initial(), |state, &act| product.step(&state, act));
    let (state, _) = product.read(&last);
    for seed in 1..=20 {
        let monitor = monitor.clone();
        let report = Explorer::new()
            .property(monitor.clone())
            .strategy(move || Steered::new(seed, 100, monitor.clone()).to(state))
            .check(stages);
        let text = report.to_string();
        assert!(text.contains("the last run got there"), "{text}");
        assert!(report.executions <= 5, "{text}");
    }
}

#[test]
fn whose_property_nobody_checks_is_told() {
    let report = Explorer::new()
        .strategy(|| Steered::new(1, 3, not_in_reverse()))
        .check(stages);
    assert_eq!((report.failed, report.executions), (0, 3));
    assert!(
        report.to_string().contains("none of its steps was seen"),
        "{report}"
    );
}
