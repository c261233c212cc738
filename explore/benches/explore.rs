//! Controlled runs a second of processor time on small programs, and how a larger search scales with the number of workers.
//!
//! `cargo bench -p portent-explore` measures source sets, wake-up trees and random walks; source sets with a property that is checked on
//! every run; the time to exhaust three threads with two critical sections each; and for two larger searches the processor time
//! of the busiest worker, which does not depend on what else the machine does, beside the wall clock, which does.
//!
//! On two cores with nothing else running, 2026-11-19:
//!
//! ```text
//! program              runs     source/s    optimal/s     random/s
//! updates 2x3            20       689890       640002      1143691
//! sections 3x1            6       385895       383991       941399
//! sections 3x2           90       640005       575999       728312
//! sections 4x1           24       472614       438863       727269
//! sections 4x2         2520       530528       504005       571434
//! indexer 12              8        64000        60235       117645
//!
//! with a property      runs   orders    without/s       with/s
//! updates 2x3            20       20       682670       394037
//! sections 3x2           90       90       547660       360300
//! sections 4x2         2520     2520       479998       314996
//!
//! sections 3x2 exhausted: 0.141 ms
//!
//! in parallel       workers busiest, CPU s   ratio wall clock s   ratio
//! sections 5x2            1          0.252    1.00        0.253    1.00
//! sections 5x2            2          0.135    1.87        0.137    1.85
//! sections 5x2            4          0.072    3.51        0.142    1.78
//! indexer 16              1          0.376    1.00        0.378    1.00
//! indexer 16              2          0.222    1.69        0.235    1.61
//! indexer 16              4          0.106    3.55        0.226    1.67
//! ```

use std::{
    cell::Cell,
    collections::HashMap,
    hint::black_box,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, ThreadId},
    time::Instant,
};

use portent_explore::{
    Explorer, Report, Stopped,
    strategy::{Optimal, Random, Source},
};

mod checked;
#[path = "../tests/main/programs.rs"]
#[allow(dead_code)]
mod programs;
mod timing;

/// How many runs an exploration makes, and how many are made a second.
fn rate(mut explore: impl FnMut() -> Report) -> (u64, f64) {
    let report = explore();
    let runs = report.executions + report.blocked;
    let time = timing::per_call(|| {
        black_box(explore());
    });
    (runs, runs as f64 * 1e9 / time)
}

fn small_programs() {
    let programs: [(&str, fn()); 6] = [
        ("updates 2x3", || programs::updates(2, 3)),
        ("sections 3x1", || programs::sections(3, 1)),
        ("sections 3x2", || programs::sections(3, 2)),
        ("sections 4x1", || programs::sections(4, 1)),
        ("sections 4x2", || programs::sections(4, 2)),
        ("indexer 12", || programs::indexer(12)),
    ];
    println!(
        "{:16} {:>8} {:>12} {:>12} {:>12}",
        "program", "runs", "source/s", "optimal/s", "random/s"
    );
    for (name, program) in programs {
        let (runs, source) = rate(|| Explorer::new().strategy(Source::new).check(program));
        let (_, optimal) = rate(|| Explorer::new().strategy(Optimal::new).check(program));
        let (_, random) = rate(|| {
            Explorer::new()
                .strategy(|| Random::new(1, 1000))
                .check(program)
        });
        println!("{name:16} {runs:>8} {source:>12.0} {optimal:>12.0} {random:>12.0}");
    }
}

fn properties() {
    println!(
        "\n{:16} {:>8} {:>8} {:>12} {:>12}",
        "with a property", "runs", "orders", "without/s", "with/s"
    );
    let monitor = checked::monitor();
    for (name, program) in checked::PROGRAMS {
        let orders = checked::explore(&monitor, program).posets;
        let (_, without) = rate(|| Explorer::new().check(program));
        let (runs, with) = rate(|| checked::explore(&monitor, program));
        println!("{name:16} {runs:>8} {orders:>8} {without:>12.0} {with:>12.0}");
    }
}

fn exhausted() {
    let time = timing::per_call(|| {
        let report = Explorer::new().check(|| programs::sections(3, 2));
        assert!(report.executions == 90 && report.stopped == Stopped::Exhausted);
    });
    println!("\nsections 3x2 exhausted: {:.3} ms", time / 1e6);
}

/// The processor time of the busiest of several who search together, and the time that passes, in seconds.
fn together(workers: usize, program: fn(), runs: u64) -> (f64, f64) {
    thread_local! {
        static RUNS: Cell<u64> = const { Cell::new(0) };
    }
    let start = Instant::now();
    let before = timing::used();
    let times = Arc::new(Mutex::new(HashMap::<ThreadId, u64>::new()));
    let told = Arc::clone(&times);
    let report = Explorer::new()
        .each(move |_| {
            RUNS.set(RUNS.get() + 1);
            if RUNS.get().is_multiple_of(256) {
                let mut times = told.lock().unwrap_or_else(PoisonError::into_inner);
                times.insert(thread::current().id(), timing::used());
            }
        })
        .check_in_parallel(workers, program);
    assert_eq!(report.executions, runs, "{report}");
    let passed = start.elapsed().as_secs_f64();
    let times = times.lock().unwrap_or_else(PoisonError::into_inner);
    let mine = thread::current().id();
    let busiest = times.iter().map(|(thread, time)| {
        // One who searches alone is this thread.
        time - if *thread == mine { before } else { 0 }
    });
    (busiest.max().unwrap_or_default() as f64 / 1e9, passed)
}

fn parallel() {
    println!(
        "\n{:16} {:>8} {:>14} {:>7} {:>12} {:>7}",
        "in parallel", "workers", "busiest, CPU s", "ratio", "wall clock s", "ratio"
    );
    let programs: [(&str, fn(), u64); 2] = [
        ("sections 5x2", || programs::sections(5, 2), 113_400),
        ("indexer 16", || programs::indexer(16), 32_768),
    ];
    for (name, program, runs) in programs {
        let mut alone = None;
        for workers in [1, 2, 4] {
            let mut tries: Vec<(f64, f64)> =
                (0..3).map(|_| together(workers, program, runs)).collect();
            tries.sort_by(|one, other| one.0.total_cmp(&other.0));
            let (busiest, passed) = tries[0];
            let (one, clock) = *alone.get_or_insert((busiest, passed));
            println!(
                "{name:16} {workers:>8} {busiest:>14.3} {:>7.2} {passed:>12.3} {:>7.2}",
                one / busiest,
                clock / passed
            );
        }
    }
}

fn main() {
    small_programs();
    properties();
    exhausted();
    parallel();
}
