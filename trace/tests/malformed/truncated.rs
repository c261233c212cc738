//! Traces that end too early, in every format and at every byte, and traces with garbage between
//! their lines: an error or what was there, never a panic and never something else.

use crate::common::{convert_to, data, read};
use portent_monitor_core::{Event, Spelling, Symbols};
use portent_trace::{Compression, Format, Options, TraceReader};

const SAMPLES: [&str; 8] = [
    "every-operation.jsonl",
    "own-clocks.jsonl",
    "dialects.std",
    "two-hosts.clock-first.log",
    "two-hosts.text-first.log",
    "expression-inside.log",
    "actors.log",
    "joint.poet.json",
];

fn binary() -> Vec<u8> {
    let text = b"T0|fork(T7)|3\nT7|acq(L2)|4\nT7|w(V9)|32767\nT7|rel(L2)|1\nT0|join(T7)|3\n";
    convert_to(
        text,
        &Options::default(),
        Format::RapidBinary,
        Compression::None,
    )
    .unwrap()
}

fn spelled(events: &[Event], symbols: &Symbols) -> Vec<String> {
    let spelling = |event| Spelling::new(event, symbols).to_string();
    events.iter().map(spelling).collect()
}

/// Reads as far as it goes: the events, and whether there was an error.
fn read_on(input: &[u8], options: &Options) -> (Vec<String>, bool) {
    let Ok(mut reader) = TraceReader::new("trace", input, options) else {
        return (Vec::new(), true);
    };
    let (mut events, mut symbols) = (Vec::new(), Symbols::default());
    loop {
        match reader.next_event(&mut symbols) {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (spelled(&events, &symbols), false),
            Err(error) => {
                assert!(error.to_string().starts_with("trace"), "{error}");
                return (spelled(&events, &symbols), true);
            }
        }
    }
}

#[test]
fn every_prefix_of_every_format() {
    let mut samples: Vec<(&str, Vec<u8>)> = SAMPLES.map(|name| (name, data(name))).into();
    samples.push(("binary", binary()));
    let parser =
        r"\[\w+\] \[[^\]]*\] [^ ]+ \[akka://Demo/user/(?<host>\w+)\] (?<clock>.*\}) (?<event>.*)";
    for (name, whole) in samples {
        let options = match name {
            "actors.log" => Options::default().parser(parser),
            _ => Options::default(),
        };
        let format = TraceReader::new("trace", &whole[..], &options)
            .unwrap()
            .format();
        let (all, failed) = read_on(&whole, &options.clone().format(format));
        assert!(!failed && !all.is_empty(), "{name}");
        let mut errors = 0;
        for length in 0..whole.len() {
            let part = &whole[..length];
            // By looking, it may seem to be of another format; it ends all the same.
            read_on(part, &options);
            let (events, failed) = read_on(part, &options.clone().format(format));
            errors += usize::from(failed);
            assert!(events.len() <= all.len(), "{name}: {length} bytes");
            // The last line may be cut inside a number or a name and still be a line. A log without
            // its end is put in order differently.
            let sure = events.len().saturating_sub(1);
            if format != Format::ShiViz {
                assert_eq!(events[..sure], all[..sure], "{name}: {length} bytes");
            }
        }
        assert!(errors > 0, "{name}");
    }
}

#[test]
fn every_prefix_of_compressed_files() {
    let text = data("every-operation.jsonl");
    let (all, _) = read_on(&text, &Options::default());
    for compression in [Compression::Gzip, Compression::Zstd] {
        let packed = convert_to(&text, &Options::default(), Format::Native, compression).unwrap();
        for length in 1..packed.len() {
            let (events, failed) = read_on(&packed[..length], &Options::default());
            assert!(
                failed,
                "{compression:?}: {length} of {} bytes",
                packed.len()
            );
            assert_eq!(
                events,
                all[..events.len()],
                "{compression:?}: {length} bytes"
            );
        }
    }
}

#[test]
fn a_cut_in_a_large_compressed_file_is_told_with_its_line() {
    let line = b"{\"t\": 1, \"op\": \"write\", \"var\": \"x\"}\n";
    let text = line.repeat(100_000);
    for compression in [Compression::Gzip, Compression::Zstd] {
        let packed = convert_to(&text, &Options::default(), Format::Native, compression).unwrap();
        let mut reader =
            TraceReader::new("trace", &packed[..packed.len() - 12], &Options::default()).unwrap();
        let mut symbols = Symbols::default();
        let error = loop {
            match reader.next_event(&mut symbols) {
                Ok(event) => assert!(event.is_some(), "{compression:?}: not a whole trace"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(
            reader.events() > 1_000,
            "{compression:?}: {}",
            reader.events()
        );
        // The first line is the header that the conversion wrote.
        let place = format!("trace:{}:", reader.events() + 2);
        assert!(error.starts_with(&place), "{error}");
        assert!(error.contains("cannot be read further"), "{error}");
    }
}

#[test]
fn garbage_between_the_lines() {
    let garbage: [&[u8]; 6] = [
        b"%%% 7 %%%",
        b"\xff\xfe\x00",
        b"{\"t\": \"T1\"",
        b"[[[[[[",
        b"{\"t\": null, \"op\": \"read\", \"var\": \"x\"}",
        b"T1|",
    ];
    for name in ["every-operation.jsonl", "own-clocks.jsonl", "dialects.std"] {
        let whole = data(name);
        let (events, symbols) = read(&whole, &Options::default()).unwrap();
        let expected = spelled(&events, &symbols);
        let mut dirty = Vec::new();
        let mut added = 0;
        for (i, line) in whole.split(|&byte| byte == b'\n').enumerate() {
            dirty.extend(line);
            dirty.push(b'\n');
            dirty.extend(garbage[i % garbage.len()]);
            dirty.push(b'\n');
            added += 1;
        }
        let strict = read(&dirty, &Options::default()).unwrap_err().to_string();
        assert!(strict.starts_with("trace:2:"), "{name}: {strict}");
        let options = Options::default().lenient(true);
        let mut reader = TraceReader::new("trace", &dirty[..], &options).unwrap();
        let mut symbols = Symbols::default();
        let mut found = Vec::new();
        while let Some(event) = reader.next_event(&mut symbols).unwrap() {
            found.push(event);
        }
        assert_eq!(spelled(&found, &symbols), expected, "{name}");
        assert_eq!(reader.skipped(), added, "{name}");
    }
}
