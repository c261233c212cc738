//! The maximal model on lock-heavy programs of 4 to 8 threads: all that a check costs, beside the same search without
//! reductions, in the same run.
//!
//! `cargo bench -p portent-lattice --bench maximal` asks seven questions of eight runs of each size. It prints the slowest of
//! the eight with the default bound, and the answers: `h` happens-before has a violation, `V` only the maximal model has, as a whole run,
//! `v` one that stops there, `-` the property holds, `?` the bound was met. Without reductions a search ends at 100,000 nodes.
//! With `PORTENT_TRACES=DIR` the runs are left there as native traces.
//!
//! Seconds for the slowest of the eight, with one other process on the two cores; the last column are the answers without
//! reductions:
//!
//! | threads | events | question | slowest | answers | without |
//! |---|---|---|---|---|---|
//! | 4 | 110 | inside | 0.005 | `VV-v-vV-` | `VV-v-vV-` |
//! | 4 | 203 | exclusion | 0.007 | `--------` | `--?--???` |
//! | 6 | 230 | swap | 0.10 | `hVVh--hh` | `h??h--hh` |
//! | 6 | 230 | between | 0.07 | `-V-h-vV-` | `-?-h-v?-` |
//! | 6 | 230 | exclusion | 0.45 | `--------` | `????????` |
//! | 6 | 230 | together | 0.02 | `---hh-v-` | `---hh-?-` |
//! | 8 | 268 | swap | 2.2 | `VhhhV--V` | `?hhh?--?` |
//! | 8 | 268 | rotate | 1.7 | `VV--V---` | `??--?---` |
//! | 8 | 268 | between | 3.7 | `vVV-v--v` | `???-?--?` |
//! | 8 | 489 | swap | 4.6 | `V--Vhh-V` | `?--?hh-?` |
//! | 8 | 489 | exclusion | 3.1 | `-?????--` | `????????` |

#[path = "../tests/programs/mod.rs"]
mod programs;

use std::{path::Path, time::Instant};

use portent_lattice::{Checker, Engine, Model, Options, Reductions};
use portent_monitor_core::{Event, Symbols, Value};
use portent_monitor_dsl::{Monitor, Property};
use portent_testing::Rng;
use portent_trace::{Format, Header, TraceWriter};
use programs::Size;

/// What is asked of a run. `p`, `q` and `r` were observed in this order.
const QUESTIONS: &[(&str, &str)] = &[
    ("swap", "property p { event p, q  never: .* q .* p }"),
    (
        "rotate",
        "property p { event p, q, r  never: .* r .* q .* p }",
    ),
    ("between", "property p { event p, r, a  never: .* r r* p }"),
    (
        "exclusion",
        "property p { event enter, leave  never: .* enter enter }",
    ),
    (
        "parity",
        "property p { event a, b, q  never: (b* a b* a)* b* q b* a b* q }",
    ),
    ("together", "always !(x0 == 1 && x1 == 3)"),
    (
        "inside",
        "property p { event enter, leave, p, r  never: .* r enter p }",
    ),
];

/// Threads, locks, sections of each thread.
const SIZES: &[(usize, usize, usize)] = &[(4, 2, 4), (4, 3, 8), (6, 3, 6), (8, 3, 5), (8, 4, 10)];
const SEEDS: u64 = 8;
/// Where a search without reductions ends.
const PLAIN_NODES: usize = 100_000;

fn main() {
    println!("threads events question    slowest  plain     answers");
    for &(threads, locks, sections) in SIZES {
        let size = Size {
            threads,
            locks,
            sections,
        };
        let runs: Vec<(Vec<Event>, Symbols)> = (0..SEEDS)
            .map(|seed| programs::run(&mut Rng::new(seed), size))
            .collect();
        if let Ok(folder) = std::env::var("PORTENT_TRACES") {
            for (seed, (events, symbols)) in runs.iter().enumerate() {
                let name = format!("{threads}-{locks}-{sections}-{seed}.jsonl");
                leave(&Path::new(&folder).join(name), events, symbols);
            }
        }
        let events = runs.iter().map(|(events, _)| events.len()).max();
        for &(name, text) in QUESTIONS {
            let property = Property::parse(text).expect("a property");
            let monitor = property.monitor().expect("small");
            let (reduced, answers) = slowest(&monitor, &runs, Options::default());
            let options = Options::default().reductions(Reductions::NONE);
            let (plain, plain_answers) = slowest(&monitor, &runs, options.max_nodes(PLAIN_NODES));
            println!(
                "{threads:>7} {:>6} {name:<10} {reduced:>6.3} s {plain:>6.3} s {answers} {plain_answers}",
                events.unwrap_or(0)
            );
        }
    }
}

fn slowest(monitor: &Monitor, runs: &[(Vec<Event>, Symbols)], options: Options) -> (f64, String) {
    let (mut slowest, mut answers) = (0f64, String::new());
    for (events, symbols) in runs {
        let start = Instant::now();
        answers.push(ask(monitor, events, symbols, options.clone()));
        slowest = slowest.max(start.elapsed().as_secs_f64());
    }
    (slowest, answers)
}

fn ask(monitor: &Monitor, events: &[Event], symbols: &Symbols, options: Options) -> char {
    let options = options.causality(Model::Maximal);
    let zero = |_: &str| Some(Value::from(0));
    let mut checker = Checker::new([monitor.clone()], zero, options).expect("initial values");
    *checker.symbols_mut() = symbols.clone();
    for event in events {
        checker.take(event).expect("events fit");
    }
    let report = checker.finish("run").expect("a report");
    let Some(property) = report.properties.first() else {
        return '-';
    };
    let predicted = &property.predicted;
    match (predicted.violated, property.lattice.engine) {
        (true, Engine::Maximal) if predicted.left_out.is_empty() => 'V',
        (true, Engine::Maximal) => 'v',
        (true, _) => 'h',
        (false, _) if property.lattice.exhaustive => '-',
        (false, _) => '?',
    }
}

fn leave(path: &Path, events: &[Event], symbols: &Symbols) {
    let mut writer = TraceWriter::create(path, Format::Native).expect("a file");
    writer.header(&Header::default()).expect("written");
    for event in events {
        writer.event(event, symbols).expect("written");
    }
    writer.finish(symbols).expect("written");
}
