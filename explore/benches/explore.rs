//! Controlled runs a second of CPU time, on small programs.
//!
//! `cargo bench -p portent-explore`: for each program the runs and the rate, the median of 7, of source sets and of random walks.

use std::{fs, hint::black_box, time::Instant};

use portent_explore::{
    Explorer, Report,
    strategy::{Random, Source},
};

#[path = "../tests/main/programs.rs"]
#[allow(dead_code)]
mod programs;

/// Nanoseconds that this thread has had a processor; where the system does not tell, that have passed.
fn spent(start: Instant) -> u64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    told.and_then(|told| told.split(' ').next()?.parse().ok())
        .unwrap_or_else(|| start.elapsed().as_nanos() as u64)
}

/// Runs a second, the median of 7.
fn rate(mut explore: impl FnMut() -> Report) -> (u64, f64) {
    let start = Instant::now();
    let mut rates = Vec::new();
    let mut runs = 0;
    for _ in 0..7 {
        let before = spent(start);
        let mut done = 0;
        while spent(start) - before < 50_000_000 {
            let report = black_box(explore());
            runs = report.executions + report.blocked;
            done += runs;
        }
        rates.push(done as f64 * 1e9 / (spent(start) - before) as f64);
    }
    rates.sort_by(f64::total_cmp);
    (runs, rates[3])
}

fn main() {
    let programs: [(&str, fn()); 6] = [
        ("updates 2x3", || programs::updates(2, 3)),
        ("sections 3x1", || programs::sections(3, 1)),
        ("sections 3x2", || programs::sections(3, 2)),
        ("sections 4x1", || programs::sections(4, 1)),
        ("sections 4x2", || programs::sections(4, 2)),
        ("indexer 12", || programs::indexer(12)),
    ];
    println!(
        "{:16} {:>8} {:>12} {:>12}",
        "program", "runs", "source/s", "random/s"
    );
    for (name, program) in programs {
        let (runs, source) = rate(|| Explorer::new().strategy(Source::new).check(program));
        let (_, random) = rate(|| {
            Explorer::new()
                .strategy(|| Random::new(1, 1000))
                .check(program)
        });
        println!("{name:16} {runs:>8} {source:>12.0} {random:>12.0}");
    }
}
