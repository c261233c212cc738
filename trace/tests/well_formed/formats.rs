//! Our own small traces in every shape, and what they become.

use crate::common::{convert_to, data, read, to_native};
use portent_monitor_core::{Causality, Event, Op, Spelling, Symbols};
use portent_trace::{Compression, Error, Format, Options, TraceReader, TraceWriter};

#[test]
fn native_traces_come_back_as_they_were() {
    for name in ["every-operation.jsonl", "own-clocks.jsonl"] {
        let text = String::from_utf8(data(name)).unwrap();
        assert_eq!(to_native(text.as_bytes(), &Options::default()), text);
    }
}

#[test]
fn an_integer_is_the_name_that_it_spells() {
    let text = r#"{"t": 1, "op": "send", "chan": 2, "msg": "7"}
{"t": "1", "op": "recv", "chan": "2", "msg": 7}"#;
    let (events, symbols) = read(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!((symbols.threads.len(), symbols.chans.len()), (1, 1));
}

#[test]
fn std_dialects() {
    insta::assert_snapshot!(to_native(&data("dialects.std"), &Options::default()));
}

#[test]
fn std_text_and_binary_come_back_as_they_were() {
    let text = "T0|fork(T7)|3\nT7|acq(L2)|4\nT7|req(L0)|5\nT7|w(V9)|32767\nT7|begin(2)|0\n\
                T7|end(2)|0\nT7|rel(L2)|1\nT0|r(V0)|2\nT0|join(T7)|3\n";
    let options = Options::default();
    let binary = convert_to(
        text.as_bytes(),
        &options,
        Format::RapidBinary,
        Compression::None,
    )
    .unwrap();
    assert_eq!(binary.len(), 18 + 8 * 9);
    assert_eq!(&binary[10..18], [0, 0, 0, 0, 0, 0, 0, 9]);
    assert_eq!(Format::detect(&binary), Some(Format::RapidBinary));
    let back = convert_to(&binary, &options, Format::Std, Compression::None).unwrap();
    assert_eq!(String::from_utf8(back).unwrap(), text);
    // T7 reads V3 at location 5: 5 << 48 | 3 << 14 | 2 << 10 | 7, by hand.
    let mut by_hand = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
    by_hand.extend([0, 5, 0, 0, 0, 0, 0xc8, 7]);
    let back = convert_to(&by_hand, &options, Format::Std, Compression::None).unwrap();
    assert_eq!(String::from_utf8(back).unwrap(), "T7|r(V3)|5\n");
}

#[test]
fn compressed_files_are_recognised() {
    let text = data("every-operation.jsonl");
    for compression in [Compression::Zstd, Compression::Gzip] {
        let options = Options::default();
        let packed = convert_to(&text, &options, Format::Native, compression).unwrap();
        assert!(packed.len() < text.len());
        assert_eq!(to_native(&packed, &options).as_bytes(), text);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.std.zst");
    let mut writer = portent_trace::TraceWriter::create(&path, Format::Std).unwrap();
    let mut from = TraceReader::new("in", &b"T1|w(x)|1\n"[..], &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    portent_trace::convert(&mut from, &mut writer, &mut symbols).unwrap();
    writer.finish(&symbols).unwrap();
    let mut reader = TraceReader::open(&path, &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    assert_eq!(reader.format(), Format::Std);
    assert!(reader.next_event(&mut symbols).unwrap().is_some());
    assert!(
        std::fs::read(&path)
            .unwrap()
            .starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
    );
}

#[test]
fn logs_are_put_in_an_order_that_their_clocks_allow() {
    insta::assert_snapshot!(to_native(
        &data("two-hosts.clock-first.log"),
        &Options::default()
    ));
}

#[test]
fn text_before_its_clock() {
    let log = data("two-hosts.text-first.log");
    let mut reader = TraceReader::new("log", &log[..], &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    let mut texts = Vec::new();
    while let Some(event) = reader.next_event(&mut symbols).unwrap() {
        texts.push(event.text().unwrap().to_owned());
    }
    assert_eq!(
        texts,
        ["Starting", "Listening", "Sending hello", "Got hello"]
    );
    assert_eq!((reader.unmatched(), reader.skipped()), (1, 0));
}

#[test]
fn a_log_whose_first_line_is_very_long() {
    let clock: Vec<String> = (0..20_000)
        .map(|host| format!("\"host{host}\":1"))
        .collect();
    let clock = format!("host0 {{{}}}", clock.join(", "));
    assert!(clock.len() > 4 * 64 * 1024);
    for log in [format!("{clock}\nhello\n"), format!("hello\n{clock}\n")] {
        for options in [
            Options::default(),
            Options::default().format(Format::ShiViz),
        ] {
            let mut reader = TraceReader::new("log", log.as_bytes(), &options).unwrap();
            let mut symbols = Symbols::default();
            assert_eq!(reader.format(), Format::ShiViz);
            let event = reader.next_event(&mut symbols).unwrap().unwrap();
            assert_eq!(event.text(), Some("hello"));
        }
    }
    // Beyond the longest line there is nothing to look for.
    let options = Options::default().max_line(1000);
    let refused = TraceReader::new("log", clock.as_bytes(), &options);
    assert!(matches!(refused.err(), Some(Error::UnknownFormat { .. })));
}

#[test]
fn an_expression_of_the_user() {
    let parser = r"\[\w+\] \[(?<date>([^ ]+ [^ ]+))\] [^ ]+ \[akka://Demo/user/(?<host>\w+)\] (?<clock>.*\}) (?<event>.*)";
    insta::assert_snapshot!(to_native(
        &data("actors.log"),
        &Options::default().parser(parser)
    ));
}

#[test]
fn an_expression_on_the_first_line_and_several_executions() {
    let log = data("expression-inside.log");
    let mut reader = TraceReader::new("log", &log[..], &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    let mut seen = Vec::new();
    loop {
        while let Some(event) = reader.next_event(&mut symbols).unwrap() {
            let label = reader.execution().map(str::to_owned);
            seen.push((label, event.time, event.text().unwrap().to_owned()));
        }
        if !reader.next_execution() {
            break;
        }
    }
    let expected = [
        ("first", 100, "Read flags"),
        ("first", 101, "Write flags"),
        ("second", 200, "Read count"),
    ];
    let expected = expected.map(|(l, t, e)| (Some(l.to_owned()), Some(t), e.to_owned()));
    assert_eq!(seen, expected);
    // A conversion copies one, and leaves the reader at the next.
    let mut reader = TraceReader::new("log", &log[..], &Options::default()).unwrap();
    let mut symbols = Symbols::default();
    for (events, more) in [(2, true), (1, false)] {
        let mut writer =
            TraceWriter::new("out", Vec::new(), Format::Native, Compression::None).unwrap();
        let converted = portent_trace::convert(&mut reader, &mut writer, &mut symbols).unwrap();
        assert_eq!((converted.events, reader.next_execution()), (events, more));
    }
}

#[test]
fn a_log_may_begin_with_a_delimiter() {
    let log = "=== a ===\nalice {\"alice\":1}\nhello\nalice {\"alice\":2}\nworld\n\
               === b ===\nbob {\"bob\":1}\nbye\n";
    let texts = |options: &Options| {
        let mut reader = TraceReader::new("log", log.as_bytes(), options).unwrap();
        let mut symbols = Symbols::default();
        let mut texts = Vec::new();
        loop {
            while let Some(event) = reader.next_event(&mut symbols).unwrap() {
                texts.push(event.text().unwrap().to_owned());
            }
            if !reader.next_execution() {
                return (texts, reader.unmatched());
            }
            texts.push("|".to_owned());
        }
    };
    let told = texts(&Options::default().delimiter("^==="));
    assert_eq!(
        told,
        (["hello", "world", "|", "bye"].map(str::to_owned).into(), 0)
    );
    let untold = texts(&Options::default());
    assert_eq!(
        untold,
        (["hello", "world", "bye"].map(str::to_owned).into(), 2)
    );
}

#[test]
fn a_log_gets_the_clocks_that_operations_imply() {
    // T3 comes after T2 was joined and so is on its chain; T1's second write knows of both.
    let trace = r#"{"t": "T1", "op": "fork", "child": "T2"}
{"t": "T2", "op": "write", "var": "x", "val": 1}
{"t": "T1", "op": "join", "child": "T2"}
{"t": "T1", "op": "fork", "child": "T3"}
{"t": "T3", "op": "write", "var": "x", "val": 2, "text": "x is 2"}
{"t": "T4", "op": "event", "name": "alone", "args": [1]}
{"t": "T1", "op": "write", "var": "x", "val": 3, "loc": "a.rs:1"}
"#;
    let convert = |to| convert_to(trace.as_bytes(), &Options::default(), to, Compression::None);
    let log = convert(Format::ShiViz).unwrap();
    insta::assert_snapshot!(String::from_utf8(log.clone()).unwrap());
    // The log tells the same order as the operations do.
    let stamps = |input: &[u8]| {
        let (events, _) = read(input, &Options::default()).unwrap();
        let mut causality = Causality::default();
        let stamp = |event| causality.step(event, true).unwrap().unwrap();
        events.iter().map(stamp).collect::<Vec<_>>()
    };
    let (by_operations, by_clocks) = (stamps(trace.as_bytes()), stamps(&log));
    assert_eq!(by_clocks.len(), 7);
    for i in 0..7 {
        for j in 0..7 {
            assert_eq!(
                by_clocks[i].precedes(&by_clocks[j]),
                by_operations[i].precedes(&by_operations[j]),
                "{i} and {j}"
            );
        }
    }
}

#[test]
fn a_log_without_a_delimiter_may_begin_on_the_second_line() {
    let log = "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\na {\"a\":1}\nhello\n";
    let (events, _) = read(log.as_bytes(), &Options::default()).unwrap();
    assert_eq!(events.len(), 1);
}

#[test]
fn lost_lines_delay_but_do_not_stop() {
    let log = "a {\"a\":1}\none\na {\"a\":3}\nthree\nb {\"b\":1, \"a\":2}\nafter two\na {\"a\":4, \"b\":1}\nfour\n";
    let (events, _) = read(log.as_bytes(), &Options::default()).unwrap();
    let texts: Vec<_> = events.iter().map(|event| event.text().unwrap()).collect();
    assert_eq!(texts, ["one", "three", "after two", "four"]);
}

#[test]
fn logs_of_clocks_that_are_ours() {
    let log = convert_to(
        &data("two-hosts.text-first.log"),
        &Options::default(),
        Format::ShiViz,
        Compression::None,
    )
    .unwrap();
    insta::assert_snapshot!(String::from_utf8(log).unwrap());
}

#[test]
fn poet_events_of_several_processes() {
    let (events, symbols) = read(&data("joint.poet.json"), &Options::default()).unwrap();
    insta::assert_snapshot!(to_native(&data("joint.poet.json"), &Options::default()));
    // Only named events are relevant; the joint one is seen by both who come after it.
    let mut causality = Causality::default();
    let stamps: Vec<_> = events
        .iter()
        .filter_map(|event| {
            let name = event.action().unwrap().name;
            let stamp = causality.step(event, name.is_some()).unwrap()?;
            Some((symbols.names.name(name.unwrap()).to_owned(), stamp))
        })
        .collect();
    let precedes = |a: &str, b: &str| {
        let find = |name: &str| &stamps.iter().find(|(n, _)| n == name).unwrap().1;
        find(a).precedes(find(b))
    };
    assert!(precedes("a1", "ab3") && precedes("b2", "ab3") && precedes("ab3", "b5"));
    assert!(!precedes("a1", "b2") && !precedes("c4", "b5") && !precedes("b5", "c4"));
}

#[test]
fn what_a_format_cannot_say_is_refused_or_skipped() {
    let text = data("every-operation.jsonl");
    let options = Options::default();
    let error = convert_to(&text, &options, Format::Std, Compression::None).unwrap_err();
    assert!(
        error.to_string().contains("cannot be written as std"),
        "{error}"
    );
    let lenient = Options::default().lenient(true);
    let std = convert_to(&text, &lenient, Format::Std, Compression::None).unwrap();
    insta::assert_snapshot!(String::from_utf8(std).unwrap());
}

#[test]
fn formats_are_recognised() {
    for (name, format) in [
        ("every-operation.jsonl", Format::Native),
        ("own-clocks.jsonl", Format::Native),
        ("dialects.std", Format::Std),
        ("two-hosts.clock-first.log", Format::ShiViz),
        ("two-hosts.text-first.log", Format::ShiViz),
        ("expression-inside.log", Format::ShiViz),
        ("joint.poet.json", Format::Poet),
    ] {
        assert_eq!(Format::detect(&data(name)), Some(format), "{name}");
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert_eq!(Format::detect(b""), Some(Format::Native));
    assert!("yaml".parse::<Format>().is_err());
}

#[test]
fn an_empty_file_is_a_trace_without_events() {
    assert!(read(b"", &Options::default()).unwrap().0.is_empty());
    assert!(
        read(b"\n\n", &Options::default().format(Format::Std))
            .unwrap()
            .0
            .is_empty()
    );
}

#[test]
fn values_keep_their_types() {
    let text = r#"{"t": "T", "op": "event", "name": "e", "args": [1, 1.0, true, "1", 1e2, -0]}"#;
    let (events, _) = read(text.as_bytes(), &Options::default()).unwrap();
    let Op::Event(action) = &events[0].op else {
        panic!()
    };
    let types: Vec<_> = action
        .args
        .iter()
        .map(|v| v.type_of().to_string())
        .collect();
    assert_eq!(types, ["int", "float", "bool", "string", "float", "int"]);
}

#[test]
fn a_begin_of_every_thread_may_come_before_the_forks_and_an_end_after_the_joins() {
    let text = "T0|begin|0\nT1|begin()|0\nT0|fork(T1)|1\nT1|begin|0\nT1|w(V1)|2\nT0|join(T1)|3\n\
                T1|end|0\nT0|end|0\n";
    let (events, symbols) = read(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(events.len(), 8);
    for format in [Format::Native, Format::RapidBinary] {
        let other = convert_to(
            text.as_bytes(),
            &Options::default(),
            format,
            Compression::None,
        );
        let (again, names) = read(&other.unwrap(), &Options::default()).unwrap();
        let spelled = |event: &Event, names: &Symbols| Spelling::new(event, names).to_string();
        let expected: Vec<String> = events.iter().map(|e| spelled(e, &symbols)).collect();
        let found: Vec<String> = again.iter().map(|e| spelled(e, &names)).collect();
        assert_eq!(found, expected, "{format}");
    }
    // What is more than a mark is still held to the life of its thread.
    for bad in ["T1|begin(a)|0\nT0|fork(T1)|1\n", "T0|join(T1)|1\n"] {
        assert!(read(bad.as_bytes(), &Options::default()).is_err(), "{bad}");
    }
    assert!(read(b"T1|begin|0\nT0|join(T1)|1\n", &Options::default()).is_ok());
}

#[test]
fn logs_without_clocks_know_the_order_of_each_host() {
    let log = "10 a hello\n11 b hi\n\n12 a bye\n";
    let hosts = Options::default().parser(r"(?<time>\d+) (?<host>\w+) (?<event>.*)");
    let lines = "{\"portent\": 1}\n\
                 {\"t\": \"a\", \"op\": \"event\", \"text\": \"hello\", \"time\": 10}\n\
                 {\"t\": \"b\", \"op\": \"event\", \"text\": \"hi\", \"time\": 11}\n\
                 {\"t\": \"a\", \"op\": \"event\", \"text\": \"bye\", \"time\": 12}\n";
    assert_eq!(to_native(log.as_bytes(), &hosts), lines);
    assert_eq!(to_native(lines.as_bytes(), &Options::default()), lines);
    let one = Options::default().parser("(?<event>.*)");
    let (events, symbols) = read(log.as_bytes(), &one).unwrap();
    let texts: Vec<_> = events.iter().map(|event| event.text().unwrap()).collect();
    assert_eq!(texts, ["10 a hello", "11 b hi", "12 a bye"]);
    assert_eq!(symbols.threads.iter().collect::<Vec<_>>(), ["log"]);
}

#[test]
fn a_line_may_be_a_text_alone() {
    let text = "{\"t\": \"T\", \"text\": \"hello\"}\n\
                {\"t\": \"T\", \"op\": \"event\", \"text\": \"hello\"}\n";
    let (events, _) = read(text.as_bytes(), &Options::default()).unwrap();
    let [first, second] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!((&first.op, first.text()), (&second.op, second.text()));
    assert_eq!(first.text(), Some("hello"));
    assert!(first.action().unwrap().name.is_none());
}

#[test]
fn clocks_with_escaped_quotes() {
    let plain = "a {\"a\":1}\nhello\nb {\"a\":1, \"b\":1}\nhi\n";
    let escaped = plain.replace('"', "\\\"");
    let expected = to_native(plain.as_bytes(), &Options::default());
    assert_eq!(to_native(escaped.as_bytes(), &Options::default()), expected);
    let parser = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";
    for text in [
        format!("{parser}\n\n{escaped}"),
        format!("{parser}\n{escaped}"),
    ] {
        assert_eq!(to_native(text.as_bytes(), &Options::default()), expected);
    }
}

#[test]
fn what_a_log_sets_may_be_left_out_where_its_clocks_tell_the_order() {
    let line = |thread: &str, clock: &str| {
        format!("{{\"t\": \"{thread}\", \"vc\": {clock}, \"set\": {{\"x\": 1}}}}\n")
    };
    let told = line("a", "{\"a\": 1}") + &line("b", "{\"a\": 1, \"b\": 1}");
    let free = line("a", "{\"a\": 1}") + &line("b", "{\"b\": 1}");
    let to_log = |text: &str| {
        let options = Options::default();
        convert_to(text.as_bytes(), &options, Format::ShiViz, Compression::None)
    };
    assert!(to_log(&told).is_ok());
    assert!(matches!(to_log(&free), Err(Error::Unsupported { .. })));
}

#[test]
fn a_mark_at_the_start_is_not_part_of_the_text() {
    for name in [
        "joint.poet.json",
        "joint.kairos.csv",
        "every-operation.jsonl",
        "dialects.std",
    ] {
        let text = data(name);
        let marked = [b"\xef\xbb\xbf", &text[..]].concat();
        let options = Options::default();
        assert_eq!(
            to_native(&marked, &options),
            to_native(&text, &options),
            "{name}"
        );
    }
}
