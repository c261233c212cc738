//! What `portent convert` writes, and what it says that it could not write.

mod common;

use common::{RESERVOIR, portent, portent_with};
use std::fs;

#[test]
fn there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = "T1|acq(m)|1\nT1|w(x)|2\nT1|rel(m)|3\nT2|r(x)|4\n";
    fs::write(path("a.std"), text).unwrap();
    for (from, to) in [("a.std", "b.jsonl"), ("b.jsonl", "d.std.gz")] {
        let done = portent(&["convert", &path(from), &path(to)]);
        assert_eq!(
            (done.code, done.err.as_str()),
            (Some(0), ""),
            "{from} to {to}"
        );
    }
    let back = portent(&["convert", "--to", "std", &path("d.std.gz"), "-"]);
    assert_eq!(back.out, text);
    let unknown = portent(&["convert", &path("a.std"), &path("e.what")]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("--to"), "{}", unknown.err);
}

#[test]
fn several_executions() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let log = "=== one ===\na {\"a\":1}\nhello\n=== two ===\na {\"a\":1}\nagain\n=== three ===\n";
    fs::write(path("runs.log"), log).unwrap();
    let delimiter = ["--delimiter", "^=== (?<trace>.*) ===$"];
    let arguments = |input| [&["convert"][..], &delimiter, &[input]].concat();
    let (input, output) = (path("runs.log"), path("run.jsonl"));
    let done = portent(&[&arguments(&input)[..], &[&output]].concat());
    assert_eq!(done.code, Some(0), "{}", done.err);
    let (second, third) = (path("run.2.jsonl"), path("run.3.jsonl"));
    let said = format!("execution 2 (two): {second}\nexecution 3 (three): {third}\n");
    assert_eq!(done.err, said);
    let texts = [
        (&output, "hello"),
        (&second, "again"),
        (&third, "{\"portent\": 1}"),
    ];
    for (file, text) in texts {
        let written = fs::read_to_string(file).unwrap();
        assert!(written.contains(text), "{file}: {written}");
    }
    let to_stdout = [&arguments(&input)[..], &["-", "--to", "native"]].concat();
    let done = portent(&to_stdout);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("several executions"), "{}", done.err);
}

#[test]
fn operations_to_a_log() {
    let done = portent(&["convert", "--to", "shiviz", RESERVOIR[3], "-"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(
        done.out.starts_with("T2 {\"T2\":1}\nT2|w(w)\n"),
        "{}",
        done.out
    );
    let as_log = portent_with(
        &[
            "check",
            "--property",
            "always !(never_seen)",
            "-",
            "--format",
            "json",
        ],
        done.out.as_bytes(),
    );
    assert_eq!(as_log.json()["trace"]["events"], 6, "{}", as_log.err);
}

#[test]
fn what_a_format_has_no_place_for_is_told() {
    let lines = "{\"t\": \"A\", \"op\": \"write\", \"var\": \"x\", \"val\": 1, \"time\": 5, \"loc\": \"a.rs:1\"}\n\
                 {\"t\": \"A\", \"op\": \"write\", \"var\": \"x\", \"val\": 2, \"text\": \"two\", \"loc\": \"a.rs:2\"}\n\
                 {\"t\": \"B\", \"op\": \"read\", \"var\": \"x\", \"weather\": \"fair\"}\n";
    let cases = [
        ("native", ""),
        (
            "std",
            "without 2 written values, 1 text, 1 time and 1 other key, for which std",
        ),
        (
            "shiviz",
            "without 2 written values, 1 location, 1 time and 1 other key, for which shiviz",
        ),
        (
            "rapid-binary",
            "without 2 written values, 1 text, 1 time, 1 other key and the names of threads, \
             variables and locations, for which rapid-binary",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (format, lost) in cases {
        let arguments = ["convert", "--to", format, "-", out.to_str().unwrap()];
        let done = portent_with(&arguments, lines.as_bytes());
        assert_eq!(done.code, Some(0), "{format}: {}", done.err);
        assert!(done.err.contains(lost), "{format}: {}", done.err);
        let warnings = done.err.matches("warning").count();
        assert_eq!(warnings, usize::from(format != "native"), "{}", done.err);
        assert_eq!(done.err.contains("native keeps"), format != "native");
    }
}

#[test]
fn what_cannot_be_written_has_a_place() {
    let lines = "{\"portent\": 1, \"init\": {\"x\": 0}}\n\
                 {\"t\": 1, \"op\": \"write\", \"var\": \"x\"}\n\
                 {\"t\": 1, \"op\": \"barrier\", \"barrier\": \"b\", \"round\": 0}\n";
    let convert = |lines: &str, more: &[&str]| {
        let arguments = [&["convert", "--to", "std", "-", "-"], more].concat();
        portent_with(&arguments, lines.as_bytes())
    };
    let done = convert(lines, &[]);
    assert_eq!(done.code, Some(2));
    let said = "error: <stdin>:1:24: this cannot be written as std: it has no place for initial";
    assert!(done.err.starts_with(said), "{}", done.err);
    let done = convert(lines.split_once('\n').unwrap().1, &[]);
    assert_eq!(done.code, Some(2));
    let said = "error: <stdin>:2:16: this cannot be written as std: it has no word for barriers";
    assert!(done.err.starts_with(said), "{}", done.err);
    let done = convert(lines, &["--lenient"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "1|w(x)|0\n"));
    let said = "1 event written, 2 skipped; the first that does not fit: <stdin>:1:24: this cannot";
    assert!(done.err.contains(said), "{}", done.err);
}

#[test]
fn a_trace_is_not_written_over_itself() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("run.std");
    fs::write(&trace, "T1|w(x)|1\n").unwrap();
    let name = trace.to_str().unwrap();
    let done = portent(&["convert", name, name]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("another name"), "{}", done.err);
    assert_eq!(fs::read_to_string(&trace).unwrap(), "T1|w(x)|1\n");
}
