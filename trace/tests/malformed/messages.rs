//! What is said of bad traces. The messages are part of the interface: they are all a user has.

use std::fmt::Write;

use crate::common::read;
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
        b"Dear diary,\ntoday nothing happened\n",
        b"(?<host>\\S*) (?<clock>{.*})\nx",
        b"(?<host>\\S*) (?<clock>{.*}(\\n(?<event>.*)\nx",
        b"(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\nnothing\nmatches\n",
    ];
    insta::assert_snapshot!(errors(inputs, &Options::default()));
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
    let mut lines = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
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
