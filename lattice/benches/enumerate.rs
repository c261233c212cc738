//! The engines beside the naive one (a hash map of cut vectors, no reduction), in the same run.
//!
//! `cargo bench -p portent-lattice --bench enumerate` prints four tables: merge enumeration by cuts
//! a second and bytes a cut in the frontier; a log that only intervals get through; nodes where half
//! of the kinds of events commute; a window of fixed width on ever longer traces. Where the naive
//! engine would take too long it is stopped after three million cuts, for its rate only. Real logs
//! are read where they are present.
//!
//! Two cores of a quiet virtual machine, one run:
//!
//! | | one core | naive | |
//! |---|---|---|---|
//! | chord, 530,195 cuts | 25.4 M cuts/s, 20.1 B/cut | 3.1 M/s | 8.1 × |
//! | simpledb, 1,541,953 cuts | 59.0 M/s, 10.3 B/cut | 4.1 M/s | 14.3 × |
//! | tsviz, 45,372,308 cuts | 72.8 M/s, 10.0 B/cut; two free cores 1.3 to 1.5 × | 3.6 M/s | 20.4 × |
//! | grid 4 × 100, 104,060,401 cuts | 123.8 M/s, 9.1 B/cut, 11 MiB; two free cores 1.6 to 1.9 × | 2.2 M/s | 55.2 × |
//! | voldemort, three questions | 0.1, 7.4, 13.3 ms | never ends | |
//! | half of the kinds commute | 721 nodes | 531,441 | 737 × fewer |
//! | window of 64, 10⁴ to 10⁶ events | 4.3 µs an event | | |
//!
//! What two free cores would save is computed from the time that all threads and the serial part took on the processors, in two runs
//! beside other work. When only levels of 32,768 cuts and more were divided, into 8 parts, it was 1.11 × and 1.79 × on the quiet
//! machine, where two cores were 1.60 × as fast on the grid by the clock.
//!
//! How much strips save depends on their length: 12 cuts on tsviz, 8 on simpledb, but 1.5 on chord, which is
//! therefore taken cut by cut.

#[path = "../tests/logs/mod.rs"]
mod logs;
mod naive;
#[path = "../tests/nesting/mod.rs"]
mod nesting;

use std::time::Instant;

use criterion::{Criterion, criterion_group};
use portent_lattice::{
    Counting, Engine, Options, Reductions,
    laboratory::{ActionId, Automaton, Poset, Problem, StateIndex, solve},
};
use portent_monitor_dsl::Verdict;

/// Where it would take too long, the naive engine visits this many cuts.
const STOPPED: u64 = 3_000_000;

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
    Options::default()
        .counting(Counting::Never)
        .engine(Engine::Enumerate)
        .reductions(Reductions::NONE)
        .parallel(parallel)
}

fn row(name: &str, problem: &Problem, naive_cuts: u64) {
    let start = Instant::now();
    let (visited, naive_bytes) = naive::cuts(problem, naive_cuts);
    let naive_rate = visited as f64 / start.elapsed().as_secs_f64();
    let mut alone = 0.0;
    for parallel in [false, true] {
        let (start, before) = (Instant::now(), Busy::now());
        let solution = solve(problem, &options(parallel));
        let seconds = start.elapsed().as_secs_f64();
        let busy = Busy::now().since(&before);
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
        if !parallel {
            alone = busy.all;
            continue;
        }
        println!(
            "{name:<28} on processors: {alone:.2} s with one core; {:.2} s with the pool, {:.2} s of them serial: two free cores are {:.2} x as fast",
            busy.all,
            busy.own,
            alone / (busy.own + (busy.all - busy.own) / 2.0),
        );
    }
}

/// Seconds on a processor: of this thread, which only does what is not done in parts while a pool is at work, and of all threads.
struct Busy {
    own: f64,
    all: f64,
}

impl Busy {
    fn now() -> Busy {
        let of = |path: &std::path::Path| {
            let told = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
            let nanoseconds = told.split(' ').next().and_then(|first| first.parse().ok());
            nanoseconds.unwrap_or(0.0) / 1e9
        };
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        Busy {
            own: of("/proc/thread-self".as_ref()),
            all: tasks.flatten().map(|task| of(&task.path())).sum(),
        }
    }

    fn since(&self, before: &Busy) -> Busy {
        Busy {
            own: self.own - before.own,
            all: self.all - before.all,
        }
    }
}

fn grid(threads: usize, each: u32) -> Poset {
    let mut poset = Poset::new(threads);
    for count in 1..=each {
        for chain in poset.chains() {
            let mut clock = vec![0; threads];
            clock[chain.index()] = count;
            poset.push(chain, &clock);
        }
    }
    poset
}

fn table() {
    println!("toggle property, every event relevant, no reduction");
    match logs::read::directory() {
        Some(directory) => {
            for (file, parser) in [logs::CHORD, logs::SIMPLEDB, logs::TSVIZ] {
                let path = directory.join(file);
                if path.exists() {
                    row(file, &toggle(logs::read::log(&path, parser).0), u64::MAX);
                }
            }
        }
        None => println!("SKIPPED: no real logs; set PORTENT_LOGS"),
    }
    row(
        "generated 4 x 5000",
        &toggle(logs::generated(4, 5000, 8, 42)),
        STOPPED,
    );
    row("grid 4 x 100", &toggle(grid(4, 100)), STOPPED);
}

/// Questions about a real log with 20 threads, whose lattice nobody has ever enumerated.
fn intervals() {
    println!("a log of 20 threads, three questions");
    let Some(log) = logs::questions::voldemort() else {
        return;
    };
    for (name, property) in &logs::questions::QUESTIONS[..3] {
        let problem = log.problem(property);
        let start = Instant::now();
        let solution = solve(&problem, &Options::default().counting(Counting::Never));
        let seconds = start.elapsed().as_secs_f64();
        let answer = match &solution.violation {
            Some(violation) => format!("violated after {}", violation.violated_at),
            None => "holds".to_owned(),
        };
        let start = Instant::now();
        let (visited, _) = naive::cuts(&problem, STOPPED);
        println!(
            "{name:<28} {:>9} {:>12} nodes {:>9.2} ms, {answer}, exhaustive: {} | naive: {visited} cuts in {:.1} s and not done",
            solution.engine,
            solution.nodes,
            seconds * 1e3,
            solution.limit.is_none(),
            start.elapsed().as_secs_f64(),
        );
    }
}

/// Where half of the kinds of events commute, most orders are never looked at.
fn commuting() {
    println!("half of the kinds of events commute");
    let problem = nesting::commuting();
    let reduced = options(false).reductions(Reductions::ALL);
    let solution = solve(&problem, &reduced);
    let (visited, _) = naive::cuts(&problem, u64::MAX);
    println!(
        "6 x 8 events {:>12} nodes | naive {visited} | {:.0} times fewer",
        solution.nodes,
        visited as f64 / solution.nodes as f64
    );
}

/// Time for a window of fixed width is linear in the length of the trace.
fn window() {
    println!("window of 64 cuts, 4 processes");
    for events in [10_000, 100_000, 1_000_000, 10_000_000] {
        let problem = toggle(logs::generated(4, events, 8, 42));
        let options = options(false).window(64);
        let start = Instant::now();
        let solution = solve(&problem, &options);
        let seconds = start.elapsed().as_secs_f64();
        let each = seconds * 1e9 / events as f64;
        let (visited, rate) = {
            let start = Instant::now();
            let (visited, _) = naive::cuts(&problem, STOPPED);
            (visited, visited as f64 / start.elapsed().as_secs_f64())
        };
        println!(
            "{events:>10} events {seconds:>8.3} s {each:>8.0} ns/event, {} nodes | naive {:.2} M/s, stopped after {visited}",
            solution.nodes,
            rate / 1e6
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
    intervals();
    commuting();
    window();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
