//! What is said of bad traces. The messages are part of the interface: they are all a user has.

use std::fmt::Write;

use crate::common::read;
use portent_monitor_core::Symbols;
use portent_trace::{Format, Options, TraceReader};

/// One line for each input: the error, or that there was none.
fn errors(inputs: &[&[u8]], options: &Options) -> String {
    let mut out = String::new();
    for input in inputs {
        let shown = String::from_utf8_lossy(&input[..input.len().min(90)]).replace('\n', "⏎");
        writeln!(out, "{shown}").unwrap();
        match read(input, options) {
            Ok((events, _)) => writeln!(out, "  fine, {} events", events.len()).unwrap(),
            Err(error) => writeln!(out, "  {error}").unwrap(),
        }
    }
    out
}

#[test]
fn native() {
    let inputs: &[&[u8]] = &[
        b"{\"t\": \"T1\", \"op\": \"read\", \"var\": \"x\"",
        b"{\"t\": \"T1\" \"op\": \"read\"}",
        b"[1, 2]",
        b"{\"t\": \"T1\", \"op\": \"read\", \"var\": \"x\"} trailing",
        b"{\"op\": \"read\", \"var\": \"x\"}",
        b"{\"t\": \"T1\"}",
        b"{\"t\": \"T1\", \"op\": \"raed\", \"var\": \"x\"}",
        b"{\"t\": \"T1\", \"op\": 3}",
        b"{\"t\": \"T1\", \"op\": \"read\"}",
        b"{\"t\": 1.5, \"op\": \"read\", \"var\": \"x\"}",
        b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"val\": null}",
        b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"val\": 9223372036854775808}",
        b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"val\": 1e999}",
        b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"val\": [1]}",
        b"{\"t\": \"T1\", \"op\": \"barrier\", \"barrier\": \"b\", \"round\": -1}",
        b"{\"t\": \"T1\", \"op\": \"event\"}",
        b"{\"t\": \"T1\", \"op\": \"event\", \"name\": \"e\", \"args\": 3}",
        b"{\"t\": \"T1\", \"op\": \"event\", \"name\": \"e\", \"set\": [3]}",
        b"{\"t\": \"T1\", \"op\": \"event\", \"name\": \"e\", \"set\": {\"x\": 1, \"x\": 2}}",
        b"{\"t\": \"T1\", \"t\": \"T2\", \"op\": \"read\", \"var\": \"x\"}",
        b"{\"t\": \"T1\", \"op\": \"read\", \"var\": \"x\", \"time\": \"noon\"}",
        b"{\"t\": \"T1\", \"vc\": [1]}",
        b"{\"t\": \"T1\", \"vc\": {\"T1\": -1}}",
        b"{\"t\": \"T1\", \"vc\": {\"T1\": 4294967296}}",
        b"{\"t\": \"T1\", \"vc\": {\"T1\": 1}, \"op\": \"event\"}",
        b"{\"t\": \"T1\", \"op\": \"wirte\", \"var\": \"x\"}",
        b"{\"t\": \"T1\", \"op\": \"aquire\", \"lock\": \"m\"}",
        b"{\"t\": \"T1\", \"op\": \"acquire\", \"lock\": \"m\"}",
        b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"value\": 3}",
        b"{\"t\": \"T1\", \"op\": \"update\", \"var\": \"x\", \"Val\": 3}",
        b"{\"t\": \"T1\", \"op\": \"read\", \"var\": \"x\", \"value\": 3}",
        b"{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"val\": 3, \"value\": 3}",
        b"{\"t\": \"T1\", \"op\": \"lock\", \"mutex\": \"m\"}",
        b"{\"t\": \"T1\", \"op\": \"fork\", \"chlid\": \"T2\"}",
        b"{\"T\": \"T1\", \"op\": \"read\", \"var\": \"x\"}",
        b"{\"thread\": \"T1\", \"op\": \"read\", \"var\": \"x\"}",
        b"{\"t\": \"T1\", \"operation\": \"read\", \"var\": \"x\"}",
        b"{\"t\": \"T1\", \"clock\": {\"T1\": 1}}",
        b"{\"t\": \"T1\", \"Op\": \"read\", \"var\": \"x\", \"text\": \"hello\"}",
        b"{\"t\": \"T1\", \"kind\": \"info\", \"text\": \"hello\"}",
        b"{\"t\": \"T1\", \"op\": \"event\", \"name\": \"e\", \"seq\": 3}",
        b"{\"portnet\": 1, \"init\": {\"x\": 1}}",
        b"{\"portent\": 1, \"initial\": {\"x\": 1}}",
        b"{\"portent\": 2}",
        b"{\"portent\": 1, \"init\": {\"x\": null}}",
        b"{\"portent\": 1}\n\n{\"t\": \"T\xc3\xa9\", \"op\": \"read\", \"var\": \"\xff\"}",
        "{\"text\": \"éé\", \"t\": \"T1\", \"op\": \"nothing\"}".as_bytes(),
    ];
    insta::assert_snapshot!(errors(inputs, &Options::default().format(Format::Native)));
}

#[test]
fn contradictions() {
    let inputs: &[&[u8]] = &[
        b"{\"t\": \"T1\", \"op\": \"lock\", \"lock\": \"m\"}\n{\"t\": \"T2\", \"op\": \"unlock\", \"lock\": \"m\"}",
        b"{\"t\": \"T1\", \"op\": \"join\", \"child\": \"T2\"}",
        b"{\"t\": \"T1\", \"op\": \"recv\", \"chan\": \"c\", \"msg\": 7}",
        b"{\"t\": \"T1\", \"vc\": {\"T1\": 2}}\n{\"t\": \"T1\", \"vc\": {\"T1\": 1}}",
        b"{\"t\": \"T1\", \"vc\": {\"T1\": 2}}\n{\"t\": \"T1\", \"op\": \"read\", \"var\": \"x\"}",
        b"{\"t\": \"T1\", \"vc\": {\"T2\": 2}}",
        b"{\"t\": \"T1\", \"vc\": {\"T1\": 0}}",
    ];
    insta::assert_snapshot!(errors(inputs, &Options::default()));
}

#[test]
fn std_text() {
    let inputs: &[&[u8]] = &[
        b"T1 w(x) 3",
        b"|w(x)|3",
        b"T1|write(x)|3",
        b"T1|w(x|3",
        b"T1|w()|3",
        b"T1|w|3",
        b"T1|w(x)|3\n  T2 |  rel(m) | 4\n",
        b"T1|w(\xff)|3",
        b"T1|begin|3\nT1|end()|",
    ];
    insta::assert_snapshot!(errors(inputs, &Options::default().format(Format::Std)));
}

#[test]
fn binary() {
    let header = [0u8, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2];
    let with = |record: [u8; 8]| [&header[..], &record[..]].concat();
    let cases = [
        header[..10].to_vec(),
        with([0, 5, 0, 0, 0, 0, 0xc8, 7]),
        with([0, 5, 0, 0, 0, 0, 0x24, 7]),
        with([0x80, 5, 0, 0, 0, 0, 0xc8, 7]),
        [&header[..10], &[0xff; 8]].concat(),
    ];
    let mut out = String::new();
    for case in cases {
        let error = read(&case, &Options::default().format(Format::RapidBinary)).unwrap_err();
        writeln!(out, "{error}").unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn logs() {
    let inputs: &[&[u8]] = &[
        b"alice {\"alice\":1}\nhello\nalice {\"alice\":x}\nagain",
        b"alice {\"alice\":1}\nhello\nalice {\"alice\":1}\nagain",
        b"alice {\"alice\":1}\nhello\nbob {\"alice\":1}\nagain",
        b"alice {\"alice\":1, \"bob\":1}\nhello\nbob {\"alice\":1, \"bob\":1}\nagain",
        b"alice {\"alice\":1}\nhello\nalice {\"alice\":2\nagain\nalice {\"alice\":3}\nbye",
        b"hello\nalice {\"alice\":1}\nagain\nalice {\"ali",
        b"alice {\"alice\":1}\nhello\nalice {\"alice\":2}",
        b"a {\"a\":1}\nstart\na {\"a\":2, \"b\":1}\none\nb {\"b\":1, \"c\":1}\ntwo\nc {\"a\":2, \"c\":1}\nthree",
        b"alice {\"alice\":1, \"bob\":3}\nhello\nbob {\"bob\":1}\nhey",
        b"alice {\\\"alice\\\":1}\nhello\nalice {\\\"alice\\\":x}\nagain",
        b"Dear diary,\ntoday nothing happened\n",
        b"(?<host>\\S*) (?<clock>{.*})\nx",
        b"(?<host>\\S*) (?<clock>{.*}(\\n(?<event>.*)\nx",
        b"(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\nnothing\nmatches\n",
    ];
    insta::assert_snapshot!(errors(inputs, &Options::default()));
}

#[test]
fn expressions_and_delimiters() {
    let log = b"=== a\nalice {\"alice\":1}\nhello\n=== b\nalice {\"alice\":1}\nhello\n";
    let mut out = String::new();
    for options in [
        Options::default().delimiter("^### "),
        Options::default().delimiter(".*"),
        Options::default().delimiter("("),
        Options::default().parser("(?<host>.*)"),
        Options::default().parser("(?<clock>.*) (?<event>.*)"),
    ] {
        let error = read(log, &options).unwrap_err();
        writeln!(out, "{error}").unwrap();
    }
    insta::assert_snapshot!(out);
}

#[test]
fn what_is_no_error_and_yet_worth_a_warning() {
    let parser = |regex: &str| Options::default().parser(regex);
    let mut out = String::new();
    for (text, options) in [
        (
            "{\"t\": 1, \"op\": \"event\", \"name\": \"a\", \"arg\": [1]}\n\
             {\"t\": 1, \"op\": \"read\", \"var\": \"x\", \"Loc\": \"a.rs:3\"}",
            Options::default(),
        ),
        (
            "{\"t\": 1, \"vc\": {\"1\": 1}, \"sets\": {\"x\": 1}}",
            Options::default(),
        ),
        (
            "{\"t\": 1, \"vc\": {\"1\": 1, \"2\": 3, \"3\": 1}}",
            Options::default(),
        ),
        ("a: hello\nb: hi", parser("(?<host>\\w): (?<event>.*)")),
        ("hello\n\nhi", parser("(?<event>.*)")),
        (
            "{\"t\": 1, \"text\": \"hello\"}",
            Options::default().delimiter("---"),
        ),
        // These are fine.
        (
            "{\"t\": 1, \"op\": \"event\", \"name\": \"a\", \"seq\": 1, \"value\": 2, \"type\": 3}",
            Options::default(),
        ),
    ] {
        let mut reader = TraceReader::new("trace", text.as_bytes(), &options).unwrap();
        let mut symbols = Symbols::default();
        while reader.next_event(&mut symbols).unwrap().is_some() {}
        writeln!(out, "{}", text.replace('\n', "⏎")).unwrap();
        for warning in reader.warnings(&symbols) {
            writeln!(out, "  {}: {warning}", warning.kind()).unwrap();
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn kairos() {
    let header = "eid,processes,vc,props\n";
    let rows = [
        "a,PA",
        "\"a,PA,PA:1,p",
        "a,|,PA:1,p",
        "a,PA|PA,PA:1,p",
        "a,PA,PA:1;PA:2,p",
        "a,PA,PA,p",
        "a,PA,PA:99999999999,p",
        "a,PA,PA:2,p\nb,PA,PA:1,q",
    ];
    let files: Vec<String> = rows.iter().map(|row| format!("{header}{row}")).collect();
    let mut inputs: Vec<&[u8]> = files.iter().map(|file| file.as_bytes()).collect();
    inputs.push(b"eid,vc\na,PA:1");
    insta::assert_snapshot!(errors(&inputs, &Options::default().format(Format::Kairos)));
}

#[test]
fn poet() {
    let inputs: &[&[u8]] = &[
        b"{\"events\": [[\"a\", [\"P1\"], [], [1]], [\"b\", [], [], [1]]]}",
        b"{\"events\": [[\"a\", [\"P1\"], [1]]]}",
        b"{\"events\": 3}",
        b"{\"events\": [",
        b"{\"processes\" 3, \"events\": []}",
        b"{\"events\": [\n  [\"a\", [\"P1\"], [], [1]],\n  [\"b\", [\"P1\"], [], [1]]]}",
    ];
    insta::assert_snapshot!(errors(inputs, &Options::default().format(Format::Poet)));
}

#[test]
fn long_lines() {
    let long = [&b"T1|w("[..], &[b'x'; 5000], b")|3\n"].concat();
    let inputs: &[&[u8]] = &[&long];
    insta::assert_snapshot!(errors(
        inputs,
        &Options::default().max_line(1000).format(Format::Std)
    ));
}

#[test]
fn a_lenient_reader_skips_and_counts() {
    let long = [b'y'; 3000];
    let text = [
        &b"T1|w(x)|1\nT1|oops(x)|2\n"[..],
        &long,
        b"\nT1|rel(m)|3\nT2|r(x)|4\n",
    ]
    .concat();
    let options = Options::default().lenient(true).max_line(1000);
    let mut reader = TraceReader::new("trace", &text[..], &options).unwrap();
    let mut symbols = Symbols::default();
    let mut lines = Vec::new();
    while let Some(event) = reader.next_event(&mut symbols).unwrap() {
        lines.push(event.line.unwrap().get());
    }
    assert_eq!(lines, [1, 5]);
    assert_eq!((reader.events(), reader.skipped()), (2, 3));
    assert!(
        reader
            .first_skipped()
            .unwrap()
            .to_string()
            .starts_with("trace:2:4: expected an op")
    );
}

#[test]
fn damaged_compression_is_an_error_even_if_lenient() {
    let mut damaged = vec![0x28, 0xb5, 0x2f, 0xfd];
    damaged.extend([0xff; 40]);
    let result = read(&damaged, &Options::default().lenient(true));
    assert!(result.unwrap_err().to_string().starts_with("trace: "));
}
