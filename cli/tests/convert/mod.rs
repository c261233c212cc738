//! What `portent convert` writes, and what it says that it could not write.

use crate::common::{RESERVOIR, portent, portent_with};
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
    let said = "error: <stdin>:3:16: this cannot be written as std: it has no word for barriers";
    assert!(done.err.starts_with(said), "{}", done.err);
    let done = convert(lines, &["--lenient"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "1|w(x)|0\n"));
    let said = "1 event written, 1 skipped; the first that does not fit: <stdin>:3:16: this cannot";
    assert!(done.err.contains(said), "{}", done.err);
    assert!(
        done.err.contains("without 1 initial value, for"),
        "{}",
        done.err
    );
}

#[test]
fn initial_values_without_a_place_are_left_out_and_told() {
    let landing = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/landing/landing.jsonl"
    );
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let lines = fs::read_to_string(landing).unwrap().lines().count();
    for (format, initial) in [
        ("native", false),
        ("std", true),
        ("shiviz", true),
        ("rapid-binary", true),
    ] {
        for more in [&[][..], &["--lenient"]] {
            let done = portent(&[&["convert", "--to", format, landing, out], more].concat());
            assert_eq!(done.code, Some(0), "{format}: {}", done.err);
            let told = done.err.contains("without 3 initial values");
            assert_eq!(told, initial, "{format}: {}", done.err);
            assert!(!done.err.contains("skipped"), "{format}: {}", done.err);
            let back = portent(&["convert", "--to", "native", out, "-"]);
            // The header and the events.
            assert_eq!(back.out.lines().count(), lines, "{format}: {}", back.out);
        }
    }
}

#[test]
fn a_failed_conversion_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let good = "{\"t\": 1, \"op\": \"write\", \"var\": \"x\"}\n";
    let unfit = "{\"t\": 1, \"op\": \"barrier\", \"barrier\": \"b\", \"round\": 0}\n";
    fs::write(path("out.std"), "precious\n").unwrap();
    for bad in ["no trace\n", unfit] {
        // More than any buffer holds, so that some of it is written before the failure.
        let lines = good.repeat(50_000) + bad;
        for out in ["out.std", "new.std"] {
            let arguments = ["convert", "--from", "native", "-", &path(out)];
            let done = portent_with(&arguments, lines.as_bytes());
            assert_eq!(done.code, Some(2), "{}", done.err);
            assert!(done.err.contains("<stdin>:50001:"), "{}", done.err);
        }
    }
    assert_eq!(fs::read_to_string(path("out.std")).unwrap(), "precious\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let done = portent_with(&["convert", "-", &path("out.std")], good.as_bytes());
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(fs::read_to_string(path("out.std")).unwrap(), "1|w(x)|0\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_bad_execution_keeps_all_files_back() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run.jsonl");
    let out = out.to_str().unwrap();
    let log = "=== one ===\na {\"a\":1}\nhello\n=== two ===\na {\"a\":what}\nagain\n";
    fs::write(out, "precious\n").unwrap();
    let delimiter = ["convert", "--delimiter", "^=== (?<trace>.*) ===$"];
    let to_run = [&delimiter[..], &["-", out]].concat();
    let done = portent_with(&to_run, log.as_bytes());
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(done.err.starts_with("error: <stdin>:5:"), "{}", done.err);
    let kept = fs::read_to_string(out).unwrap();
    assert_eq!(kept, "precious\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn out_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("nowhere/out.std");
    let done = portent(&["convert", RESERVOIR[3], out.to_str().unwrap()]);
    assert_eq!(done.code, Some(2));
    let said = format!("error: cannot write {}: ", out.display());
    assert!(done.err.starts_with(&said), "{}", done.err);
    assert!(!done.err.contains(".portent-"), "{}", done.err);
    let done = portent(&[
        "convert",
        "--to",
        "std",
        RESERVOIR[3],
        folder.path().to_str().unwrap(),
    ]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.starts_with("error: cannot write"), "{}", done.err);
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("a.std"), folder.path().join("link.std"));
    fs::write(&file, "old\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a.std", &link).unwrap();
    let done = portent(&["convert", RESERVOIR[3], link.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("|w(w)|"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let done = portent(&["convert", "--to", "std", RESERVOIR[3], "/dev/null"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let null = fs::metadata("/dev/null").unwrap();
    assert!(null.file_type().is_char_device());
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

    let log = "=== one ===\na {\"a\":1}\nhello\n=== two ===\na {\"a\":1}\nagain\n";
    let (second, out) = (
        folder.path().join("run.2.log"),
        folder.path().join("run.log"),
    );
    fs::write(&second, log).unwrap();
    let names = [second.to_str().unwrap(), out.to_str().unwrap()];
    let delimiter = ["convert", "--delimiter", "^=== (?<trace>.*) ===$"];
    let done = portent(&[&delimiter[..], &names].concat());
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("another name"), "{}", done.err);
    assert_eq!(fs::read_to_string(&second).unwrap(), log);
    assert!(!out.exists());
}
