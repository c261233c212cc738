//! Text that is legal or nearly so but that nobody expects: other line ends, marks, zero bytes, deep
//! nesting, keys that are given twice, numbers that no machine holds.

use crate::common::{convert_to, read, to_native};
use portent_monitor_core::{Symbols, Value};
use portent_trace::{Compression, Format, Options, TraceReader};

fn problem(text: &str) -> String {
    let options = Options::default().format(Format::Native);
    read(text.as_bytes(), &options).unwrap_err().to_string()
}

#[test]
fn marks_and_ends_of_lines() {
    let plain = "{\"t\": 1, \"op\": \"read\", \"var\": \"x\"}\n{\"t\": 1, \"op\": \"read\", \"var\": \"y\"}\n";
    let expected = to_native(plain.as_bytes(), &Options::default());
    let windows = format!("\u{feff}{}\r\n\r\n", plain.replace('\n', "\r\n"));
    assert_eq!(to_native(windows.as_bytes(), &Options::default()), expected);
    let options = Options::default();
    for (text, format) in [
        ("\u{feff}T1|w(x)|1\r\nT2|r(x)|2\r\n", Format::Std),
        (
            "\u{feff}a {\"a\":1}\r\nhello\r\na {\"a\":2}\r\nbye\r\n",
            Format::ShiViz,
        ),
        (
            "\u{feff}hello\r\na {\"a\":1}\r\nbye\r\na {\"a\":2}\r\n",
            Format::ShiViz,
        ),
    ] {
        let reader = TraceReader::new("trace", text.as_bytes(), &options).unwrap();
        assert_eq!(reader.format(), format, "{text:?}");
        let (events, _) = read(text.as_bytes(), &options).unwrap();
        assert_eq!(events.len(), 2, "{text:?}");
        assert!(
            events[0].text().is_none_or(|text| text == "hello"),
            "{text:?}"
        );
    }
}

#[test]
fn nothing_in_it() {
    for text in [
        "",
        "\n",
        " \r\n\t\n",
        "\u{feff}",
        "{\"portent\": 1}",
        "{\"portent\": 1}\n\n",
    ] {
        let (events, _) = read(text.as_bytes(), &Options::default()).unwrap();
        assert!(events.is_empty(), "{text:?}");
    }
    let only_initial = b"{\"portent\": 1, \"init\": {\"x\": 1.5}}\n";
    let reader = TraceReader::new("trace", &only_initial[..], &Options::default()).unwrap();
    assert_eq!(reader.header().init[0].1, Value::Float(1.5));
}

#[test]
fn zero_bytes() {
    // In the middle of a text they are a bad byte of that text, and do not make it a binary trace.
    let error = problem("{\"t\": \"T\0\", \"op\": \"read\", \"var\": \"x\"}");
    assert!(
        error.starts_with("trace:1:9: not a JSON object: control character"),
        "{error}"
    );
    let error = read(b"{\"t\": \"T\0\"", &Options::default()).unwrap_err();
    assert!(error.to_string().starts_with("trace:1:9: "), "{error}");
    let escaped = "{\"t\": \"T\\u0000\", \"op\": \"read\", \"var\": \"x\"}";
    let (_, symbols) = read(escaped.as_bytes(), &Options::default()).unwrap();
    assert_eq!(symbols.threads.iter().collect::<Vec<_>>(), ["T\0"]);
    let (_, symbols) = read(b"T1|w(x\0y)|1\n", &Options::default()).unwrap();
    assert_eq!(symbols.vars.iter().collect::<Vec<_>>(), ["x\0y"]);
    let (events, _) = read(&[0; 18], &Options::default()).unwrap();
    assert!(events.is_empty(), "a binary header that promises no events");
    let error = read(&[0; 1000], &Options::default()).unwrap_err();
    let expected = "trace:1:1: expected the end of the file after the 0 events";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn nesting() {
    const DEEP: usize = 100_000;
    let nested = format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP));
    // A key that is not known keeps its value, whatever that is.
    let line = format!("{{\"t\": \"1\", \"op\": \"read\", \"var\": \"x\", \"more\": {nested}}}\n");
    assert!(to_native(line.as_bytes(), &Options::default()).ends_with(&line));
    for key in ["val", "time", "t", "var", "loc", "text"] {
        let line = format!("{{\"{key}\": {nested}, \"t\": 1, \"op\": \"write\", \"var\": \"x\"}}");
        assert!(problem(&line).starts_with("trace:1:"), "{key}");
    }
    for value in [&nested, &nested[..DEEP], "[[1]]", "{\"a\": {}}"] {
        for key in ["args", "set"] {
            let line = format!("{{\"t\": 1, \"op\": \"event\", \"name\": 1, \"{key}\": {value}}}");
            assert!(
                problem(&line).starts_with("trace:1:"),
                "{key}: {}",
                value.len()
            );
        }
        let line = format!("{{\"t\": 1, \"vc\": {value}}}");
        assert!(
            problem(&line).starts_with("trace:1:"),
            "a clock of {}",
            value.len()
        );
    }
    let document = format!("{{\"events\": [{nested}]}}");
    let error = read(
        document.as_bytes(),
        &Options::default().format(Format::Poet),
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("trace:1:13: expected [name")
    );
    let log = format!("a {{\"a\":{nested}}}\nhello\n");
    let error = read(log.as_bytes(), &Options::default().format(Format::ShiViz));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("trace:1:8: expected a number")
    );
}

#[test]
fn keys_that_stand_twice() {
    for (line, column) in [
        ("{\"t\": 1, \"t\": 2, \"op\": \"read\", \"var\": \"x\"}", 15),
        (
            "{\"t\": 1, \"op\": \"read\", \"var\": \"x\", \"more\": 1, \"more\": 2}",
            55,
        ),
        // The same key, once written with an escape.
        (
            "{\"t\": 1, \"op\": \"read\", \"var\": \"x\", \"v\\u0061r\": 2}",
            48,
        ),
        ("{\"t\": 1, \"vc\": {\"1\": 1, \"1\": 2}}", 30),
    ] {
        let error = problem(line);
        assert!(
            error.starts_with(&format!("trace:1:{column}: the key ")),
            "{error}"
        );
        assert!(error.contains("is given twice"), "{error}");
    }
    let many: String = (0..100).map(|i| format!("\"k{i}\": 1, ")).collect();
    let error = problem(&format!("{{{many}\"k7\": 2}}"));
    assert!(
        error.contains("the key `k7` is given twice, found `2`"),
        "{error}"
    );
}

#[test]
fn numbers() {
    let with = |key: &str, number: &str| {
        let op = if key == "round" { "barrier" } else { "write" };
        problem(&format!(
            "{{\"{key}\": {number}, \"t\": 1, \"op\": \"{op}\", \"var\": \"x\", \"barrier\": 1}}"
        ))
    };
    let huge = "9".repeat(400);
    for number in ["18446744073709551616", "-1", "1.5", "1e3", &huge] {
        assert!(
            with("time", number).starts_with("trace:1:10: expected an integer"),
            "{number}"
        );
        assert!(
            with("round", number).starts_with("trace:1:11: expected an integer"),
            "{number}"
        );
    }
    for number in ["9223372036854775808", "-9223372036854775809", &huge] {
        assert!(
            with("val", number).starts_with("trace:1:9: expected an integer"),
            "{number}"
        );
    }
    for number in ["1e400", "-1e400", "1.0E+309"] {
        assert!(
            with("val", number).starts_with("trace:1:9: expected a number"),
            "{number}"
        );
    }
    for text in [
        "01", "1.", ".5", "+1", "1e", "0x10", "NaN", "Infinity", "--1",
    ] {
        assert!(with("val", text).contains("not a JSON object"), "{text}");
    }
    // A name is its spelling, whatever its size.
    let line = format!("{{\"t\": {huge}, \"op\": \"send\", \"chan\": -{huge}, \"msg\": {huge}}}");
    let (_, symbols) = read(line.as_bytes(), &Options::default()).unwrap();
    assert_eq!(symbols.threads.iter().next(), Some(huge.as_str()));
}

#[test]
fn columns_count_characters() {
    let line = "{\"text\": \"日本語\", \"t\": \"T1\", \"op\": \"unlock\", \"lock\": \"m\"}";
    let error = problem(line);
    assert!(
        error.starts_with("trace:1:34: thread T1 releases"),
        "{error}"
    );
    let error = read("日本|rel(é)|1\n".as_bytes(), &Options::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("trace:1:4: thread 日本 releases"),
        "{error}"
    );
    let log = "hello\nü {\"ü\":1}\nagain\nü {\"ü\":1}\n";
    let error = read(log.as_bytes(), &Options::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("trace:4:3: the clock of ü"),
        "{error}"
    );
}

#[test]
fn keys_that_are_not_known_are_kept_in_their_order() {
    let line = "{\"t\": \"1\", \"op\": \"read\", \"var\": \"x\", \"zz\": {\"a\": [1]}, \"round\": 3, \"é\": null}\n";
    assert!(to_native(line.as_bytes(), &Options::default()).ends_with(line));
    let binary = convert_to(
        line.as_bytes(),
        &Options::default(),
        Format::RapidBinary,
        Compression::None,
    );
    assert_eq!(binary.unwrap().len(), 26);
}

/// The keys of application events that are a slip away from another are warned of; a program's own are not.
#[test]
fn keys_that_were_probably_meant_to_be_others() {
    let misspelt_in = |line: &str| {
        let text = format!("{{\"t\": \"A\", {line}}}");
        let mut reader = TraceReader::new("run", text.as_bytes(), &Options::default()).unwrap();
        let mut symbols = Symbols::default();
        while reader.next_event(&mut symbols).unwrap().is_some() {}
        let warnings = reader.warnings(&symbols);
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let misspelt =
        |entry: &str| misspelt_in(&format!("\"op\": \"event\", \"name\": \"login\", {entry}"));
    for (entry, key, meant) in [
        (r#""agrs": ["bob"]"#, "agrs", "args"),
        (r#""argz": ["bob"]"#, "argz", "args"),
        (r#""arg": ["bob"]"#, "arg", "args"),
        (r#""ste": {"x": 1}"#, "ste", "set"),
        (r#""txt": "bob came""#, "txt", "text"),
        (r#""Loc": "a.rs:3""#, "Loc", "loc"),
    ] {
        let said = misspelt(entry);
        let expected = format!("the key `{key}` is unknown; did you mean `{meant}`?");
        assert!(
            said.len() == 1 && said[0].ends_with(&expected),
            "{entry}: {said:?}"
        );
    }
    for (line, key, meant) in [
        (
            r#""op": "write", "var": "x", "Atomic": true"#,
            "Atomic",
            "atomic",
        ),
        (
            r#""op": "read", "var": "x", "atomci": true"#,
            "atomci",
            "atomic",
        ),
        (r#""op": "lock", "lock": "m", "TRY": true"#, "TRY", "try"),
        (
            r#""op": "send", "chan": "c", "msg": 1, "fiffo": true"#,
            "fiffo",
            "fifo",
        ),
        (
            r#""op": "send", "chan": "c", "msg": 1, "capcity": 0"#,
            "capcity",
            "capacity",
        ),
        (r#""op": "waiting", "cond": "c", "lok": "m""#, "lok", "lock"),
        (r#""op": "read", "var": "x", "lco": "a.rs:3""#, "lco", "loc"),
        (
            r#""op": "read", "var": "x", "txet": "read""#,
            "txet",
            "text",
        ),
    ] {
        let said = misspelt_in(line);
        let expected = format!("the key `{key}` is unknown; did you mean `{meant}`?");
        assert!(
            said.len() == 1 && said[0].ends_with(&expected),
            "{line}: {said:?}"
        );
    }
    for entry in [
        r#""seq": 3"#,
        r#""final": true"#,
        r#""get": {"x": 1}"#,
        r#""tags": "a""#,
        r#""level": [1]"#,
    ] {
        assert_eq!(misspelt(entry), [] as [String; 0], "{entry}");
    }
}
