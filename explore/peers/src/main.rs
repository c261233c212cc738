//! Runs a second of CPU time, and runs until nothing is left, of the same programs under Portent, shuttle and loom.
//!
//! `cargo run --release --manifest-path explore/peers/Cargo.toml`, about a minute. All of them run in one process, one after the other, and
//! time is that of the thread. A dash: not exhausted within a million runs, or within the given time.
//!
//! On two busy cores, 2026-11-18 (the machine had a load of 20; compare within the table):
//!
//! ```text
//! Runs until nothing is left
//!                   source   optimal   shuttle      loom
//! updates 2x3           20        20       251       315
//! sections 3x1           6         6     12786      6225
//! sections 3x2          90        90         -         -
//! sections 4x1          24        24         -         -
//! handover x2            8         8     13510       360
//!
//! Thousands of runs a second of CPU time
//!                   source    random sh. rand.   sh. dfs      loom
//! updates 2x3        647.2    1265.9     383.9     380.6      25.9
//! sections 3x1       333.7    1097.6     241.4     264.9      19.4
//! sections 3x2       712.5     890.1     195.2     235.4      19.2
//! sections 4x1       501.2     839.4     196.5     233.6      15.7
//! handover x2        304.0     919.0     212.7     251.4      26.3
//! ```

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use portent_explore::{
    Explorer, Stopped,
    strategy::{Optimal, Random, Source},
};

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
    loom: fn(),
}

macro_rules! row {
    ($name:literal, $program:ident($($argument:expr),*)) => {
        Row {
            name: $name,
            ours: || ours::$program($($argument),*),
            shuttle: || shuttles::$program($($argument),*),
            loom: || looms::$program($($argument),*),
        }
    };
}

/// Nanoseconds that this thread has had a processor; where the system does not tell, that have passed.
fn spent(start: Instant) -> u64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    told.and_then(|told| told.split(' ').next()?.parse().ok())
        .unwrap_or_else(|| start.elapsed().as_nanos() as u64)
}

/// Runs a second, the median of 7; `runs` makes some and says how many.
fn rate(mut runs: impl FnMut() -> u64) -> f64 {
    let start = Instant::now();
    let mut rates: Vec<f64> = (0..7)
        .map(|_| {
            let before = spent(start);
            let mut done = 0;
            while spent(start) - before < 30_000_000 {
                done += runs();
            }
            done as f64 * 1e9 / (spent(start) - before) as f64
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[3]
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

fn main() {
    let rows = [
        row!("updates 2x3", updates(2, 3)),
        row!("sections 3x1", sections(3, 1)),
        row!("sections 3x2", sections(3, 2)),
        row!("sections 4x1", sections(4, 1)),
        row!("handover x2", handover(2)),
    ];
    println!("Runs until nothing is left");
    println!(
        "{:14} {:>9} {:>9} {:>9} {:>9}",
        "", "source", "optimal", "shuttle", "loom"
    );
    for row in &rows {
        let source = Explorer::new().strategy(Source::new).check(row.ours);
        let optimal = Explorer::new().strategy(Optimal::new).check(row.ours);
        assert!(source.stopped == Stopped::Exhausted && optimal.stopped == Stopped::Exhausted);
        let shuttle = Some(shuttle_runs(row.shuttle, MOST)).filter(|runs| *runs < MOST);
        let (loom, exhausted) = loom_runs(row.loom, Duration::from_secs(20));
        let loom = exhausted.then_some(loom);
        let dash =
            |runs: Option<u64>| runs.map_or_else(|| String::from("-"), |runs| runs.to_string());
        println!(
            "{:14} {:>9} {:>9} {:>9} {:>9}",
            row.name,
            source.executions,
            optimal.executions,
            dash(shuttle),
            dash(loom)
        );
    }
    println!("\nThousands of runs a second of CPU time");
    println!(
        "{:14} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "source", "random", "sh. rand.", "sh. dfs", "loom"
    );
    for row in &rows {
        let source = rate(|| {
            let report = Explorer::new().check(row.ours);
            report.executions + report.blocked
        });
        let random = rate(|| {
            let walk = || Random::new(1, 1000);
            Explorer::new().strategy(walk).check(row.ours).executions
        });
        let shuttle_random = rate(|| {
            shuttle::check_random(row.shuttle, 1000);
            1000
        });
        let shuttle_dfs = rate(|| shuttle_runs(row.shuttle, 1000));
        let loom = rate(|| loom_runs(row.loom, Duration::from_secs(1)).0);
        let thousands = |rate: f64| format!("{:.1}", rate / 1000.0);
        println!(
            "{:14} {:>9} {:>9} {:>9} {:>9} {:>9}",
            row.name,
            thousands(source),
            thousands(random),
            thousands(shuttle_random),
            thousands(shuttle_dfs),
            thousands(loom)
        );
    }
}
