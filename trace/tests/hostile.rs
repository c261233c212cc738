//! Traces made to exhaust memory or time: each ends in an answer or a clear error, in memory that
//! is measured. Nothing huge is stored anywhere: the traces are made while they are read.
//!
//! Without care most of these would run for hours, which is all that is asserted about time.
//!
//! These are a program of their own because its allocator counts every byte that is in use, and
//! other tests that ran beside them would be counted too.

use std::{
    io::{self, Read},
    sync::{Mutex, PoisonError},
};

use flate2::{Compression, read::GzEncoder};
use peak_alloc::PeakAlloc;
use portent_monitor_core::{Causality, Error as CoreError, Symbols};
use portent_trace::{Error, Format, Options, TraceReader};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
const MILLION: u64 = 1_000_000;

/// The most bytes that were in use at a time while `work` ran; one piece of work at a time.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = work();
    (result, MEMORY.peak_usage().saturating_sub(before))
}

/// A stream of `count` lines, made when they are asked for.
struct Made<F> {
    line: F,
    next: u64,
    count: u64,
    pending: io::Cursor<Vec<u8>>,
}

fn made<F: FnMut(u64) -> String + Send>(count: u64, line: F) -> Made<F> {
    Made {
        line,
        next: 0,
        count,
        pending: io::Cursor::default(),
    }
}

impl<F: FnMut(u64) -> String> Read for Made<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.pending.read(buffer)?;
            if n > 0 || self.next == self.count {
                return Ok(n);
            }
            let line = (self.line)(self.next) + "\n";
            self.pending = io::Cursor::new(line.into_bytes());
            self.next += 1;
        }
    }
}

/// Reads to the end and computes the causality with every or no event relevant.
fn run(input: impl Read + Send, options: &Options, relevant: bool) -> Result<u64, Stopped> {
    let mut reader = TraceReader::new("trace", input, options).map_err(Stopped::Trace)?;
    let mut symbols = Symbols::default();
    let mut causality = Causality::default();
    while let Some(event) = reader.next_event(&mut symbols).map_err(Stopped::Trace)? {
        causality
            .step(&event, relevant)
            .map_err(Stopped::Causality)?;
    }
    Ok(reader.events() + reader.skipped())
}

#[derive(Debug)]
enum Stopped {
    Trace(Error),
    Causality(CoreError),
}

/// The trace is read to its end, in this much memory.
fn fits(count: u64, limit: usize, line: impl FnMut(u64) -> String + Send) {
    let (result, used) = peak(|| run(made(count, line), &Options::default(), false));
    assert_eq!(result.unwrap(), count);
    assert!(used < limit, "{} MiB", used / MIB);
}

#[test]
fn a_line_of_a_gigabyte() {
    for (start, format) in [
        ("{\"t\": \"", Format::Native),
        ("T1|w(", Format::Std),
        ("a {\"a\":1} ", Format::ShiViz),
        ("{\"events\": [\"", Format::Poet),
    ] {
        let (result, used) = peak(|| {
            let input = start.as_bytes().chain(io::repeat(b'x').take(1 << 30));
            run(input, &Options::default().format(format), true)
        });
        let Err(Stopped::Trace(error)) = result else {
            panic!("{format}: {result:?}");
        };
        let error = error.to_string();
        assert!(error.starts_with("trace:1:1"), "{format}: {error}");
        assert!(
            error.contains("a line of more than 16777216 bytes"),
            "{format}: {error}"
        );
        assert!(error.contains("allow longer lines"), "{format}: {error}");
        assert!(used < 100 * MIB, "{format}: {} MiB", used / MIB);
    }
}

#[test]
fn a_line_of_a_gigabyte_is_skipped() {
    let good = "{\"t\": 1, \"op\": \"read\", \"var\": \"x\"}\n";
    let (result, used) = peak(|| {
        let input = good.as_bytes().chain(io::repeat(b'x').take(1 << 30));
        let input = input.chain(&b"\n"[..]).chain(good.as_bytes());
        run(input, &Options::default().lenient(true), true)
    });
    assert_eq!(result.unwrap(), 3);
    assert!(used < 100 * MIB, "{} MiB", used / MIB);
}

#[test]
fn a_compressed_line_of_a_gigabyte() {
    let (result, used) = peak(|| {
        // Compressed while it is read; the reader gives up long before the end.
        let line = b"T1|w(".chain(io::repeat(b'x').take(1 << 30));
        run(
            GzEncoder::new(line, Compression::fast()),
            &Options::default(),
            true,
        )
    });
    assert!(
        matches!(result, Err(Stopped::Trace(Error::LineTooLong { .. }))),
        "{result:?}"
    );
    assert!(used < 100 * MIB, "{} MiB", used / MIB);
}

#[test]
fn a_million_threads() {
    let operation = |i| format!("{{\"t\": {i}, \"op\": \"write\", \"var\": \"x{i}\"}}");
    let clock = |i| format!("{{\"t\": {i}, \"vc\": {{\"{i}\": 1}}}}");
    fits(MILLION, 800 * MIB, operation);
    fits(MILLION, 800 * MIB, clock);
    // With an event of each that matters, every clock would need a million components.
    for stamped in [false, true] {
        let line = move |i| if stamped { clock(i) } else { operation(i) };
        let (result, used) = peak(|| run(made(MILLION, line), &Options::default(), true));
        let Err(Stopped::Causality(error)) = result else {
            panic!("{result:?}");
        };
        assert_eq!(error, CoreError::TooManyChains { limit: 16384 });
        assert!(
            error
                .to_string()
                .contains("join the threads that have ended")
        );
        assert!(used < 800 * MIB, "{} MiB", used / MIB);
    }
}

#[test]
fn a_million_threads_one_after_the_other() {
    let line = |i: u64| match (i % 3, i / 3) {
        (0, task) => format!("{{\"t\": \"main\", \"op\": \"fork\", \"child\": {task}}}"),
        (1, task) => format!("{{\"t\": {task}, \"op\": \"write\", \"var\": \"x\"}}"),
        (_, task) => format!("{{\"t\": \"main\", \"op\": \"join\", \"child\": {task}}}"),
    };
    let (result, used) = peak(|| run(made(3 * MILLION, line), &Options::default(), true));
    assert_eq!(result.unwrap(), 3 * MILLION);
    assert!(used < 800 * MIB, "{} MiB", used / MIB);
}

#[test]
fn clocks_of_a_million_components() {
    let components =
        |from: u64| -> Vec<String> { (from..MILLION).map(|i| format!("\"{i}\":1")).collect() };
    let line = |i: u64| match i {
        0 => format!("{{\"t\":0,\"vc\":{{{}}}}}", components(0).join(",")),
        // All that the line before knew, but the last.
        1 => {
            let mut known = components(1);
            known.pop();
            format!("{{\"t\":0,\"vc\":{{\"0\":2,{}}}}}", known.join(","))
        }
        // A component twice.
        _ => format!("{{\"t\":1,\"vc\":{{{},\"7\":2}}}}", components(0).join(",")),
    };
    let (result, used) = peak(|| {
        let options = Options::default().lenient(true);
        let mut reader = TraceReader::new("trace", made(3, line), &options).unwrap();
        let mut symbols = Symbols::default();
        let mut causality = Causality::default();
        while let Some(event) = reader.next_event(&mut symbols).unwrap() {
            causality.step(&event, true).unwrap();
        }
        (
            reader.events(),
            reader.skipped(),
            reader.first_skipped().unwrap().to_string(),
        )
    });
    let (events, skipped, first) = result;
    assert_eq!((events, skipped), (1, 2));
    assert!(
        first.contains("goes backwards: component 999999 is 0, after 1"),
        "{first}"
    );
    assert!(used < 800 * MIB, "{} MiB", used / MIB);
}

#[test]
fn clocks_that_contradict_each_other() {
    // Each line has seen the next: an effect before its cause, as often as one likes.
    let line = |i: u64| format!("{{\"t\": {i}, \"vc\": {{\"{i}\": 1, \"{}\": 1}}}}", i + 1);
    let (result, used) = peak(|| {
        let options = Options::default().lenient(true);
        run(made(MILLION / 2, line), &options, false)
    });
    assert_eq!(result.unwrap(), MILLION / 2);
    assert!(used < 800 * MIB, "{} MiB", used / MIB);
    // In a log, lines wait for what they have seen; these wait in a circle.
    let line = |i: u64| match i % 2 {
        0 => format!("h{} {{\"h{}\":1, \"h{}\":1}}", i / 2, i / 2, (i / 2) ^ 1),
        _ => "text".to_owned(),
    };
    let (result, used) = peak(|| {
        let options = Options::default().lenient(true);
        run(made(400_000, line), &options, false)
    });
    assert_eq!(result.unwrap(), 200_000);
    assert!(used < 400 * MIB, "{} MiB", used / MIB);
}

#[test]
fn a_line_that_waits_for_a_million_others() {
    let line = |i: u64| match i {
        0 => {
            let clock: Vec<String> = (0..MILLION / 2).map(|i| format!("\"{i}\":1")).collect();
            format!("all {{\"all\":1, {}}}", clock.join(","))
        }
        i if i % 2 == 0 => format!("{} {{\"{}\":1}}", i / 2 - 1, i / 2 - 1),
        _ => "text".to_owned(),
    };
    // Its first line is longer than what is looked at to recognise a format.
    let options = Options::default().format(Format::ShiViz);
    let (result, used) = peak(|| run(made(MILLION + 2, line), &options, false));
    assert_eq!(result.unwrap(), MILLION / 2 + 1);
    assert!(used < 800 * MIB, "{} MiB", used / MIB);
}

#[test]
fn locks_that_are_never_released() {
    // By threads that wait, but for the last.
    fits(MILLION, 800 * MIB, |i| match i % 2 {
        0 => format!("{{\"t\": {i}, \"op\": \"lock\", \"lock\": 1}}"),
        _ => format!(
            "{{\"t\": {}, \"op\": \"waiting\", \"cond\": 1, \"lock\": 1}}",
            i - 1
        ),
    });
    fits(MILLION, 800 * MIB, |i| format!("T1|acq(m{i})|1"));
    fits(MILLION, 800 * MIB, |i| {
        format!("{{\"t\": {i}, \"op\": \"rlock\", \"lock\": 1}}")
    });
    // The same lock all over again takes nothing.
    fits(MILLION, 10 * MIB, |_| "T1|acq(m)|1".to_owned());
}

#[test]
fn messages_that_are_never_received() {
    fits(MILLION, 400 * MIB, |i| {
        format!("{{\"t\": 1, \"op\": \"send\", \"chan\": 1, \"msg\": {i}}}")
    });
    fits(MILLION, 400 * MIB, |i| {
        format!("{{\"t\": 1, \"op\": \"send\", \"chan\": {i}, \"msg\": 1}}")
    });
    fits(MILLION, 400 * MIB, |i| {
        format!("{{\"t\": 1, \"op\": \"notify\", \"cond\": {i}}}")
    });
}

#[test]
fn a_million_variables() {
    fits(MILLION, 400 * MIB, |i| format!("T1|w(x{i})|{i}"));
}

#[test]
fn rounds_of_a_barrier_are_forgotten() {
    fits(4 * MILLION, 10 * MIB, |i| {
        format!(
            "{{\"t\": {}, \"op\": \"barrier\", \"barrier\": 1, \"round\": {}}}",
            i % 4,
            i / 4
        )
    });
}

#[test]
fn one_event_of_ten_thousand_processes() {
    let names: Vec<String> = (1..=10_000).map(|i| format!("\"P{i}\"")).collect();
    let clock = vec!["1"; 10_000].join(",");
    let text = format!(
        "{{\"events\": [[\"e\", [{}], [], [{clock}]]]}}",
        names.join(",")
    );
    let (result, used) = peak(|| run(text.as_bytes(), &Options::default(), true));
    let Err(Stopped::Trace(error)) = result else {
        panic!("{result:?}");
    };
    let error = error.to_string();
    assert!(
        error.starts_with("trace:1:13: expected an event of fewer processes"),
        "{error}"
    );
    assert!(used < 100 * MIB, "{} MiB", used / MIB);
}

#[test]
fn a_binary_header_that_promises_too_much() {
    let header = [
        0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0x7f, 255, 255, 255, 255, 255, 255, 255,
    ];
    let (result, used) = peak(|| run(&header[..], &Options::default(), true));
    let Err(Stopped::Trace(error)) = result else {
        panic!("{result:?}");
    };
    let error = error.to_string();
    assert!(
        error.contains("expected 9223372036854775807 more records"),
        "{error}"
    );
    assert!(used < 10 * MIB, "{} MiB", used / MIB);
}

#[test]
fn an_expression_of_too_many_lines() {
    let parser = format!("(?<host>a)(?<clock>b)(?<event>c){}", "\\n.*".repeat(1000));
    let error = run(&b"x\n"[..], &Options::default().parser(parser), true).unwrap_err();
    let Stopped::Trace(error) = error else {
        panic!("{error:?}");
    };
    let error = error.to_string();
    assert!(
        error.contains("a record of 1001 lines; at most 16 can be"),
        "{error}"
    );
}
