//! Merge enumeration beside the naive engine, in the same run.
//!
//! `cargo bench -p portent-lattice` prints a table: cuts a second and bytes a cut in the frontier.
//! On generated logs the naive engine is stopped after three million cuts, for its rate only. Real
//! logs are read where they are present.

#[path = "../tests/logs/mod.rs"]
mod logs;
mod naive;

use std::time::Instant;

use criterion::{Criterion, criterion_group};
use portent_lattice::{
    ActionId, Automaton, Counting, Options, Poset, Problem, Reductions, StateIndex, solve,
};
use portent_monitor_dsl::{EngineClass, Verdict};

/// One kind of event flips the state, the other resets it, and a third, which would tell the states
/// apart, never occurs: nothing is violated, nothing commutes, every cut is visited.
fn toggle(poset: Poset) -> Problem {
    let actions = (0..poset.len() as u32)
        .map(|event| ActionId(event % 2))
        .collect();
    let automaton = Automaton {
        initial: StateIndex(0),
        actions: 3,
        next: [1, 0, 0, 0, 0, 2, 2, 2, 2].map(StateIndex).to_vec(),
        verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
    };
    Problem {
        poset,
        actions,
        automaton,
    }
}

fn options(parallel: bool) -> Options {
    Options {
        counting: Counting::Never,
        engine: Some(EngineClass::Enumerate),
        reductions: Reductions::NONE,
        parallel,
        ..Options::default()
    }
}

fn row(name: &str, problem: &Problem, naive_cuts: u64) {
    let start = Instant::now();
    let (visited, naive_bytes) = naive::cuts(problem, naive_cuts);
    let naive_rate = visited as f64 / start.elapsed().as_secs_f64();
    for parallel in [false, true] {
        let start = Instant::now();
        let solution = solve(problem, &options(parallel));
        let seconds = start.elapsed().as_secs_f64();
        let rate = solution.nodes as f64 / seconds;
        let bytes = solution.peak.bytes as f64 / solution.peak.cuts.max(1) as f64;
        println!(
            "{name:<28} {:>6} {:>12} cuts {seconds:>7.2} s {:>8.2} M/s {bytes:>6.1} B/cut {:>6} MiB | naive {:>6.2} M/s ~{naive_bytes:.0} B/cut | {:>5.1} x",
            if parallel { "pool" } else { "1 core" },
            solution.nodes,
            rate / 1e6,
            solution.peak.bytes >> 20,
            naive_rate / 1e6,
            rate / naive_rate,
        );
    }
}

fn grid(threads: usize, each: u32) -> Poset {
    let mut poset = Poset::new(threads);
    for count in 1..=each {
        for chain in 0..threads {
            let mut clock = vec![0; threads];
            clock[chain] = count;
            poset.push(chain, &clock);
        }
    }
    poset
}

fn table() {
    println!("toggle property, every event relevant, no reduction");
    match logs::directory() {
        Some(directory) => {
            for (file, parser) in [logs::CHORD, logs::SIMPLEDB, logs::TSVIZ] {
                let path = directory.join(file);
                if path.exists() {
                    row(file, &toggle(logs::read(&path, parser).0), u64::MAX);
                }
            }
        }
        None => println!("SKIPPED: no real logs; set PORTENT_LOGS"),
    }
    row(
        "generated 4 x 5000",
        &toggle(logs::generated(4, 5000, 8, 42)),
        3_000_000,
    );
    row("grid 4 x 100", &toggle(grid(4, 100)), 3_000_000);
}

/// Time for a window of fixed width is linear in the length of the trace; `PORTENT_LONG` adds ten
/// million events, which take a minute.
fn window() {
    println!("window of 64 cuts, 4 processes");
    let mut lengths = vec![10_000, 100_000, 1_000_000];
    if std::env::var_os("PORTENT_LONG").is_some() {
        lengths.push(10_000_000);
    }
    for events in lengths {
        let problem = toggle(logs::generated(4, events, 8, 42));
        let options = Options {
            window: Some(64),
            ..options(false)
        };
        let start = Instant::now();
        let solution = solve(&problem, &options);
        let seconds = start.elapsed().as_secs_f64();
        let each = seconds * 1e9 / events as f64;
        println!(
            "{events:>10} events {seconds:>8.3} s {each:>8.0} ns/event, {} nodes",
            solution.nodes
        );
    }
}

fn small(criterion: &mut Criterion) {
    let problem = toggle(logs::generated(5, 509, 4, 42));
    criterion.bench_function("generated 5 x 509, 1.75 M cuts", |bencher| {
        bencher.iter(|| solve(&problem, &options(false)).nodes);
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = small
}

fn main() {
    table();
    window();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
