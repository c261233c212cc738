//! The same programs under Portent, shuttle and loom: how many runs until nothing is left, and how many a second.
//!
//! `cargo run --release --manifest-path explore/peers/Cargo.toml` takes about two minutes. All of them run in one process, one after the
//! other, and time is the processor time of the thread. A dash: not exhausted within a million runs of shuttle or 20 seconds of
//! loom, or more threads than loom allows.
//!
//! On two cores with nothing else running, 2026-11-19:
//!
//! ```text
//! Runs until nothing is left
//!                   source   optimal   shuttle      loom  source, ms
//! updates 2x3           20        20       251       315      0.0273
//! sections 3x1           6         6     12786      6225      0.0146
//! sections 3x2          90        90         -    116319      0.1406
//! sections 4x1          24        24         -         -      0.0488
//! handover x2            8         8     13510       360      0.0254
//! indexer 12             8         8         -         -      0.1250
//!
//! Thousands of runs a second of CPU time
//!                   source   optimal    random sh. rand.   sh. dfs      loom
//! updates 2x3        731.4     640.0    1142.9     347.9     365.1      26.3
//! sections 3x1       409.6     409.6     941.2     250.0     285.7      19.6
//! sections 3x2       640.0     606.4     800.0     200.0     250.0      18.9
//! sections 4x1       498.0     457.9     736.3     200.0     222.3      15.2
//! handover x2        327.8     292.7     842.1     222.3     250.0      25.8
//! indexer 12          64.0      60.3     125.0      55.6      71.5         -
//!
//! The same, with a property that is checked in every run
//! updates 2x3        393.9
//! sections 3x2       360.0
//! sections 4x2       296.5
//! ```

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use portent_explore::{
    Explorer, Report, Stopped,
    strategy::{Optimal, Random, Source},
};

#[path = "../../benches/checked/mod.rs"]
mod checked;
#[path = "../../tests/main/programs.rs"]
#[allow(dead_code)]
mod programs;
#[path = "../../benches/timing/mod.rs"]
mod timing;

/// A program in terms of somebody's `sync` and `thread`.
macro_rules! programs {
    ($module:ident, $sync:path, $thread:path, $arc:path) => {
        mod $module {
            use $arc as Arc;
            use $sync as sync;
            use $thread as thread;

            use sync::{
                Condvar, Mutex,
                atomic::{AtomicU32, Ordering::SeqCst},
            };

            fn threads(count: usize, body: impl Fn(usize) + Send + Sync + 'static) {
                let body = Arc::new(body);
                let spawned: Vec<_> = (0..count)
                    .map(|number| {
                        let body = body.clone();
                        thread::spawn(move || body(number))
                    })
                    .collect();
                for thread in spawned {
                    thread.join().unwrap();
                }
            }

            pub(crate) fn updates(count: usize, times: usize) {
                let number = AtomicU32::new(0);
                threads(count, move |_| {
                    for _ in 0..times {
                        number.fetch_add(1, SeqCst);
                    }
                });
            }

            pub(crate) fn sections(count: usize, times: usize) {
                let number = Mutex::new(0);
                threads(count, move |_| {
                    for _ in 0..times {
                        *number.lock().unwrap() += 1;
                    }
                });
            }

            pub(crate) fn indexer(count: usize) {
                let table: Vec<AtomicU32> = (0..128).map(|_| AtomicU32::new(0)).collect();
                threads(count, move |number| {
                    for turn in 1..=4 {
                        let word = (turn * 11 + number) as u32;
                        let mut place = word as usize * 7 % 128;
                        while table[place]
                            .compare_exchange(0, word, SeqCst, SeqCst)
                            .is_err()
                        {
                            place = (place + 1) % 128;
                        }
                    }
                });
            }

            pub(crate) fn handover(times: usize) {
                let place = (Mutex::new(false), Condvar::new());
                threads(2, move |number| {
                    for _ in 0..times {
                        let mut full = place.0.lock().unwrap();
                        while *full == (number == 0) {
                            full = place.1.wait(full).unwrap();
                        }
                        *full = number == 0;
                        place.1.notify_one();
                    }
                });
            }
        }
    };
}

programs!(
    ours,
    portent_hooks::sync,
    portent_hooks::thread,
    std::sync::Arc
);
programs!(shuttles, shuttle::sync, shuttle::thread, std::sync::Arc);
programs!(looms, loom::sync, loom::thread, loom::sync::Arc);

struct Row {
    name: &'static str,
    ours: fn(),
    shuttle: fn(),
    loom: Option<fn()>,
}

macro_rules! row {
    ($name:literal, $program:ident($($argument:expr),*)) => {
        Row {
            name: $name,
            ours: || ours::$program($($argument),*),
            shuttle: || shuttles::$program($($argument),*),
            loom: Some(|| looms::$program($($argument),*)),
        }
    };
}

const MOST: u64 = 1_000_000;

static RUNS: AtomicU64 = AtomicU64::new(0);

/// The same program, and its runs are counted.
fn counted(program: fn()) -> impl Fn() + Send + Sync + 'static {
    RUNS.store(0, Relaxed);
    move || {
        RUNS.fetch_add(1, Relaxed);
        program();
    }
}

/// How many runs loom made in that time, and whether nothing was left.
fn loom_runs(program: fn(), time: Duration) -> (u64, bool) {
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(time);
    let start = Instant::now();
    builder.check(counted(program));
    (RUNS.load(Relaxed), start.elapsed() < time)
}

fn shuttle_runs(program: fn(), most: u64) -> u64 {
    shuttle::check_dfs(counted(program), Some(most as usize));
    RUNS.load(Relaxed)
}

/// Thousands of runs a second, where each call makes equally many and says how many.
fn rate(mut call: impl FnMut() -> u64) -> String {
    let runs = call();
    let time = timing::per_call(|| assert_eq!(call(), runs));
    format!("{:.1}", runs as f64 * 1e6 / time)
}

fn exhaust(rows: &[Row]) {
    println!("Runs until nothing is left");
    println!(
        "{:14} {:>9} {:>9} {:>9} {:>9} {:>11}",
        "", "source", "optimal", "shuttle", "loom", "source, ms"
    );
    for row in rows {
        let source = Explorer::new().strategy(Source::new).check(row.ours);
        let optimal = Explorer::new().strategy(Optimal::new).check(row.ours);
        assert!(source.stopped == Stopped::Exhausted && optimal.stopped == Stopped::Exhausted);
        assert!(optimal.blocked == 0);
        let time = timing::per_call(|| {
            Explorer::new().strategy(Source::new).check(row.ours);
        });
        let shuttle = Some(shuttle_runs(row.shuttle, MOST)).filter(|runs| *runs < MOST);
        let loom = row.loom.and_then(|program| {
            let (runs, exhausted) = loom_runs(program, Duration::from_secs(20));
            exhausted.then_some(runs)
        });
        let dash =
            |runs: Option<u64>| runs.map_or_else(|| String::from("-"), |runs| runs.to_string());
        println!(
            "{:14} {:>9} {:>9} {:>9} {:>9} {:>11.4}",
            row.name,
            source.executions,
            optimal.executions,
            dash(shuttle),
            dash(loom),
            time / 1e6
        );
    }
}

fn rates(rows: &[Row]) {
    println!("\nThousands of runs a second of CPU time");
    println!(
        "{:14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "source", "optimal", "random", "sh. rand.", "sh. dfs", "loom"
    );
    let made = |report: Report| report.executions + report.blocked;
    for row in rows {
        let source = rate(|| made(Explorer::new().strategy(Source::new).check(row.ours)));
        let optimal = rate(|| made(Explorer::new().strategy(Optimal::new).check(row.ours)));
        let random = rate(|| {
            let walk = || Random::new(1, 1000);
            made(Explorer::new().strategy(walk).check(row.ours))
        });
        let shuttle_random = rate(|| {
            shuttle::check_random(row.shuttle, 1000);
            1000
        });
        let shuttle_dfs = rate(|| shuttle_runs(row.shuttle, 1000));
        let loom = row.loom.map(|program| {
            rate(|| {
                let mut builder = loom::model::Builder::new();
                builder.max_permutations = Some(200);
                builder.check(counted(program));
                RUNS.load(Relaxed)
            })
        });
        println!(
            "{:14} {source:>9} {optimal:>9} {random:>9} {shuttle_random:>9} {shuttle_dfs:>9} {:>9}",
            row.name,
            loom.as_deref().unwrap_or("-"),
        );
    }
    println!("\nThe same, with a property that is checked in every run");
    let monitor = checked::monitor();
    for (name, program) in checked::PROGRAMS {
        let source = rate(|| made(checked::explore(&monitor, program)));
        println!("{name:14} {source:>9}");
    }
}

fn main() {
    let rows = [
        row!("updates 2x3", updates(2, 3)),
        row!("sections 3x1", sections(3, 1)),
        row!("sections 3x2", sections(3, 2)),
        row!("sections 4x1", sections(4, 1)),
        row!("handover x2", handover(2)),
        Row {
            loom: None, // which has at most five threads
            ..row!("indexer 12", indexer(12))
        },
    ];
    exhaust(&rows);
    rates(&rows);
}
