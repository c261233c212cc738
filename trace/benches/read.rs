//! How fast traces are read, next to the least that reading them can cost.
//!
//! `cargo bench -p portent-trace --bench read`; throughput is in events. Every group has a baseline
//! of its own: for STD text a bare pass over the lines, for the native format three bare passes of
//! `serde_json` over the same lines (each skipped unread, as `IgnoredAny`; each into a struct of
//! borrowed texts; each into a `Value`), for the causality a pass over events that were read before.
//!
//! Millions of events a second on a quiet virtual machine of two cores: STD text 8.1, STD text with zstd 7.0, RAPID binary 13.8,
//! native 6.0 to 7.7, beside 7.3 of the struct and 11.4 to 14.2 of the pass that keeps nothing. In turn, reading takes 1.01 to 1.18 of the time of the
//! struct's pass, which borrows every text and looks no name up; a struct whose fields are options, inside of which `serde` copies the text,
//! did 4.9.

use std::{
    borrow::Cow,
    fmt::Write,
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use portent_monitor_core::{Causality, Event, Symbols};
use portent_trace::{Compression, Format, Options, TraceReader, TraceWriter, convert};

const EVENTS: u64 = 200_000;

/// STD text as a lock-based program with 8 threads writes it: sections of a lock with some reads
/// and writes of a thousand variables.
fn std_text() -> String {
    let mut text = String::new();
    let mut random = 1u64;
    let mut below = |n: u64| {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (random >> 33) % n
    };
    let mut events = 0;
    while events < EVENTS {
        let (thread, lock) = (below(8), below(16));
        writeln!(text, "T{thread}|acq(L{lock})|{}", below(3000)).unwrap();
        let accesses = below(9).min(EVENTS - events);
        for _ in 0..accesses {
            let op = if below(4) == 0 { "w" } else { "r" };
            writeln!(text, "T{thread}|{op}(V{})|{}", below(1000), below(3000)).unwrap();
        }
        writeln!(text, "T{thread}|rel(L{lock})|{}", below(3000)).unwrap();
        events += 2 + accesses;
    }
    text
}

/// The keys that the lines of this bench have, as a program without this crate would read them.
#[derive(serde::Deserialize)]
struct Typed<'a> {
    // Not options of these: inside of an option `serde` would copy the text.
    #[serde(borrow, default)]
    t: Cow<'a, str>,
    #[serde(borrow, default)]
    op: Cow<'a, str>,
    #[serde(borrow, default)]
    var: Cow<'a, str>,
    #[serde(borrow, default)]
    lock: Cow<'a, str>,
    #[serde(borrow, default)]
    loc: Cow<'a, str>,
}

/// Reads every line of a native trace into a struct, and counts them.
fn typed(text: &str) -> usize {
    let is_event = |line: &&str| {
        // The keys of an event, borrowed where the text allows it.
        let line: Result<Typed<'_>, _> = serde_json::from_str(line);
        line.is_ok_and(|line| black_box(line.length()) > 0)
    };
    text.lines().filter(is_event).count()
}

impl Typed<'_> {
    fn length(&self) -> usize {
        let parts = [&self.t, &self.op, &self.var, &self.lock, &self.loc];
        parts.into_iter().map(|part| part.len()).sum()
    }
}

fn convert_to(text: &[u8], format: Format, compression: Compression) -> Vec<u8> {
    let mut reader = TraceReader::new("bench", text, &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    let mut writer = TraceWriter::new("bench", Vec::new(), format, compression).unwrap();
    convert(&mut reader, &mut writer, &mut symbols).unwrap();
    writer.finish(&symbols).unwrap()
}

fn read(trace: &[u8]) -> u64 {
    let mut reader = TraceReader::new("bench", trace, &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    while let Some(event) = reader.next_event(&mut symbols).unwrap() {
        black_box(&event);
    }
    reader.events()
}

fn all(trace: &[u8]) -> Vec<Event> {
    let mut reader = TraceReader::new("bench", trace, &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    std::iter::from_fn(|| reader.next_event(&mut symbols).unwrap()).collect()
}

fn formats(c: &mut Criterion) {
    let text = std_text();
    let events = read(text.as_bytes());
    let binary = convert_to(text.as_bytes(), Format::RapidBinary, Compression::None);
    let packed = convert_to(text.as_bytes(), Format::Std, Compression::Zstd);
    let native = convert_to(text.as_bytes(), Format::Native, Compression::None);

    let mut group = c.benchmark_group("std");
    group.throughput(Throughput::Elements(events));
    group.bench_function("baseline: lines", |b| {
        b.iter(|| {
            text.as_bytes()
                .split(|&byte| byte == b'\n')
                .filter(|line| !line.is_empty())
                .count()
        });
    });
    group.bench_function("text", |b| b.iter(|| read(text.as_bytes())));
    group.bench_function("text, zstd", |b| b.iter(|| read(&packed)));
    group.bench_function("binary", |b| b.iter(|| read(&binary)));
    group.finish();

    let mut group = c.benchmark_group("native");
    group.throughput(Throughput::Elements(events));
    group.bench_function("baseline: serde_json, nothing kept", |b| {
        let text = std::str::from_utf8(&native).unwrap();
        b.iter(|| {
            text.lines()
                .filter(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok())
                .count()
        });
    });
    group.bench_function("baseline: serde_json, a typed struct", |b| {
        let text = std::str::from_utf8(&native).unwrap();
        b.iter(|| typed(text));
    });
    group.bench_function("baseline: serde_json::Value", |b| {
        let text = std::str::from_utf8(&native).unwrap();
        b.iter(|| {
            text.lines()
                .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok())
                .count()
        });
    });
    group.bench_function("read", |b| b.iter(|| read(&native)));
    group.finish();
}

/// Prints the time of the reader as a part of that of the typed pass. The two take turns, and the
/// fastest of each counts, so that whatever else the machine does hardly matters.
fn ratio(_: &mut Criterion) {
    // Criterion runs everything once to test it.
    let rounds = if std::env::args().any(|arg| arg == "--test") {
        1
    } else {
        60
    };
    let native = convert_to(std_text().as_bytes(), Format::Native, Compression::None);
    let text = std::str::from_utf8(&native).unwrap();
    let time = |pass: &dyn Fn() -> u64| {
        let start = Instant::now();
        black_box(pass());
        start.elapsed().as_secs_f64()
    };
    let mut fastest = [f64::INFINITY; 2];
    for _ in 0..rounds {
        fastest[0] = fastest[0].min(time(&|| read(&native)));
        fastest[1] = fastest[1].min(time(&|| typed(text) as u64));
    }
    let [reader, baseline] = fastest;
    println!(
        "native/read: {:.2} of the time of the typed struct",
        reader / baseline
    );
}

fn causality(c: &mut Criterion) {
    let text = std_text();
    let events = all(text.as_bytes());
    let mut group = c.benchmark_group("causality");
    group.throughput(Throughput::Elements(events.len() as u64));
    group.bench_function("baseline: the events", |b| {
        b.iter(|| {
            events
                .iter()
                .filter(|event| black_box(event).writes().next().is_some())
                .count()
        });
    });
    for (name, one_in) in [
        ("1 in 1000 relevant", 1000),
        ("1 in 10 relevant", 10),
        ("all relevant", 1),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut causality = Causality::default();
                for (i, event) in events.iter().enumerate() {
                    black_box(causality.step(event, i % one_in == 0).unwrap());
                }
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(2));
    targets = formats, ratio, causality
}
criterion_main!(benches);
