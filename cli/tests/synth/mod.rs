//! `portent synth` as a user meets it: what goes to which stream, exit codes, every format, and every way to go wrong.

use serde_json::Value;
use std::{
    fs,
    io::{Read, Write},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

const FILES: &str =
    "property file(f) {\n    event open(f), read(f), close(f)\n    ere: (open read* close)*\n}\n";
const TANK: &str = "property tank {\n    var w: int = 20\n    let high = w > 26\n    ltl: always (high -> eventually !high)\n}\n";

/// A directory of files for one test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), text).expect("a file to write");
        self.path(name)
    }

    /// Runs `portent synth` in the directory.
    fn synth(&self, arguments: &[&str]) -> Answer {
        let mut command = portent();
        command
            .current_dir(self.0.path())
            .arg("synth")
            .args(arguments);
        Answer::new(command.output().expect("portent runs"))
    }
}

fn portent() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portent"));
    command
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "100");
    command
}

fn synth(arguments: &[&str]) -> Answer {
    Files::new().synth(arguments)
}

#[derive(Debug)]
struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Answer {
    fn new(output: Output) -> Answer {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Answer {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The output of a success that had nothing to complain of.
    #[track_caller]
    fn quiet(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        assert!(!self.out.is_empty());
        self.out
    }

    /// The message of a refusal, which prints nothing else.
    #[track_caller]
    fn refused(self) -> String {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{self:?}");
        assert!(self.err.starts_with("error: "), "{self:?}");
        assert!(!self.err.contains('\u{1b}'), "colour in a pipe: {self:?}");
        self.err
    }
}

fn json(text: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    value["properties"]
        .as_array()
        .expect("a list of properties")
        .clone()
}

#[test]
fn the_table() {
    let out = synth(&["--property", "always (p -> eventually q)"]).quiet();
    for part in [
        "property always (p -> eventually q)  (ltl, 2 states",
        "propositions: p, q",
        "state  verdict",
        "pending",
        "note: not monitorable",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

#[test]
fn json_has_the_documented_keys() {
    let files = Files::new();
    files.write("files.portent", FILES);
    let out = files
        .synth(&[
            "--spec",
            "files.portent",
            "--property",
            "always (x > 3 -> once p)",
            "--format",
            "json",
        ])
        .quiet();
    let properties = json(&out);
    assert_eq!(properties.len(), 2);
    for property in &properties {
        let states = property["states"].as_u64().expect("a number") as usize;
        assert_eq!(property["initial"], 0);
        assert!(property["name"].is_string() && property["kind"].is_string());
        let strings = |key: &str| {
            property[key]
                .as_array()
                .expect(key)
                .iter()
                .all(Value::is_string)
        };
        assert!(strings("propositions") && strings("outputs"));
        assert_eq!(property["outputs"].as_array().map(Vec::len), Some(states));
        let transitions = property["transitions"].as_array().expect("a list");
        assert_eq!(transitions.len(), states);
        for edge in transitions
            .iter()
            .flat_map(|edges| edges.as_array().expect("a list"))
        {
            assert!(edge["when"].is_string());
            assert!((edge["to"].as_u64().expect("a state") as usize) < states);
        }
    }
    assert_eq!(
        (&properties[0]["name"], &properties[0]["kind"]),
        (&"file".into(), &"ere".into())
    );
    assert_eq!(
        properties[0]["propositions"],
        serde_json::json!(["open", "read", "close"])
    );
    assert_eq!(
        properties[1]["propositions"],
        serde_json::json!(["x > 3", "p"])
    );
}

#[test]
fn graphviz_reads_the_picture() {
    let out = synth(&[
        "--property",
        "always (\"a \\\"b\" -> next x > 3)",
        "--property",
        "ere: a*",
        "--format",
        "dot",
    ])
    .quiet();
    assert_eq!(out.matches("digraph ").count(), 2);
    assert!(out.contains("->") && out.trim_end().ends_with('}'));
    let dot = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut dot) = dot else {
        eprintln!("skipped: Graphviz is not installed, so that nobody has read the picture");
        return;
    };
    dot.stdin
        .take()
        .expect("a pipe")
        .write_all(out.as_bytes())
        .expect("dot reads");
    let drawn = dot.wait_with_output().expect("dot ends");
    assert!(drawn.status.success());
    assert!(String::from_utf8_lossy(&drawn.stdout).contains("<svg"));
}

#[test]
fn rust_is_one_module() {
    let out = synth(&["--property", "always !error", "--format", "rust"]).quiet();
    assert!(out.contains("pub struct Monitor") && out.contains("pub fn step("));
    let two = synth(&["--property", "p", "--property", "q", "--format", "rust"]).refused();
    assert!(two.contains("one property"), "{two}");
}

#[test]
fn three_verdicts() {
    let text = "always (p -> eventually q)";
    let outputs = |verdicts: &str| {
        let out = synth(&[
            "--property",
            text,
            "--format",
            "json",
            "--verdicts",
            verdicts,
        ])
        .quiet();
        json(&out)[0]["outputs"].clone()
    };
    assert_eq!(outputs("4"), serde_json::json!(["ok", "pending"]));
    assert_eq!(outputs("3"), serde_json::json!(["unknown"]));
    let wrong = synth(&["--property", text, "--verdicts", "5"]).refused();
    assert!(wrong.contains("expected 3 or 4"), "{wrong}");
}

#[test]
fn limits() {
    let large = "eventually r && always (p -> X X X X X X q)";
    let refused = synth(&["--property", large, "--max-states", "20"]).refused();
    for part in [
        "more than 20 states",
        "always (p -> X X X X X X q)",
        "--max-states",
    ] {
        assert!(refused.contains(part), "{part}\n{refused}");
    }
    synth(&["--property", large, "--max-states", "1000"]).quiet();
    let many = "always (a || b || c)";
    let refused = synth(&["--property", many, "--max-propositions", "2"]).refused();
    for part in ["3 propositions", "the limit is 2", "--max-propositions"] {
        assert!(refused.contains(part), "{part}\n{refused}");
    }
    synth(&["--property", many, "--max-propositions", "3"]).quiet();
    for wrong in ["-1", "x", "99999999999999999999999"] {
        synth(&["--property", many, &format!("--max-states={wrong}")]).refused();
    }
    // A limit of none is one state.
    let refused = synth(&["--property", many, "--max-states", "0"]).refused();
    assert!(refused.contains("more than 1 state"), "{refused}");
}

#[test]
fn several_specs_and_formulas_come_in_order() {
    let files = Files::new();
    files.write("a.portent", FILES);
    files.write("b.portent", TANK);
    let out = files
        .synth(&[
            "--property",
            "always p",
            "--spec",
            "b.portent",
            "--spec",
            "a.portent",
            "--property",
            "ere: q",
            "--format",
            "json",
        ])
        .quiet();
    let names: Vec<String> = json(&out)
        .iter()
        .map(|property| property["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(names, ["tank", "file", "always p", "ere: q"]);
    let table = files
        .synth(&["--spec", "a.portent", "--spec", "b.portent"])
        .quiet();
    assert!(
        table.find("property file").expect("first") < table.find("property tank").expect("second")
    );
}

#[test]
fn output_goes_to_a_file() {
    let files = Files::new();
    let answer = files.synth(&[
        "--property",
        "always p",
        "--format",
        "json",
        "--output",
        "out.json",
    ]);
    assert_eq!(
        (answer.code, answer.out.as_str(), answer.err.as_str()),
        (Some(0), "", "")
    );
    let written = fs::read_to_string(files.path("out.json")).expect("the output");
    assert_eq!(json(&written)[0]["states"], 2);
    let refused = files
        .synth(&["--property", "always p", "-o", "no/such/directory"])
        .refused();
    assert!(
        refused.contains("cannot write no/such/directory"),
        "{refused}"
    );
    files
        .synth(&["--property", "always (", "-o", "never.txt"])
        .refused();
    assert!(!files.path("never.txt").exists());
}

#[test]
fn errors_name_file_line_and_column() {
    let files = Files::new();
    files.write(
        "wrong.portent",
        "property tank {\n    var w: int = 20\n    ltl: always wq > 26\n}\n",
    );
    let refused = files.synth(&["--spec", "wrong.portent"]).refused();
    for part in ["unknown name `wq`", "wrong.portent:3:17", "always wq > 26"] {
        assert!(refused.contains(part), "{part}\n{refused}");
    }
    let missing = files.synth(&["--spec", "missing.portent"]).refused();
    assert!(missing.contains("cannot read missing.portent"), "{missing}");
    let directory = files.synth(&["--spec", "."]).refused();
    assert!(directory.contains("cannot read ."), "{directory}");
    files.write(
        "latin1.portent",
        b"// caf\xe9\nproperty p { event e ltl: e }\n",
    );
    let latin = files.synth(&["--spec", "latin1.portent"]).refused();
    for part in ["not UTF-8", "0xe9", "latin1.portent:1:7"] {
        assert!(latin.contains(part), "{part}\n{latin}");
    }
    files.write("empty.portent", "");
    let empty = files.synth(&["--spec", "empty.portent"]).refused();
    assert!(empty.contains("expected a property"), "{empty}");
    // One wrong property spoils the lot: nothing is printed.
    files.write("good.portent", TANK);
    files
        .synth(&["--spec", "good.portent", "--property", "p &&"])
        .refused();
}

#[test]
fn usage() {
    let none = synth(&[]).refused();
    assert!(
        none.contains("--property") && none.contains("--spec"),
        "{none}"
    );
    synth(&["--format", "yaml", "--property", "p"]).refused();
    synth(&["--colour", "--property", "p"]).refused();
    synth(&["--property"]).refused();
    let nothing = Answer::new(portent().output().expect("portent runs"));
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.err.contains("Usage: portent"), "{nothing:?}");
}

#[test]
fn warnings_are_no_errors() {
    let files = Files::new();
    files.write(
        "unused.portent",
        "property p {\n    event open, close\n    ltl: always open\n}\n",
    );
    let answer = files.synth(&["--spec", "unused.portent", "--format", "json"]);
    assert_eq!(answer.code, Some(0));
    assert!(
        answer
            .err
            .starts_with("warning: event `close` is declared but not used"),
        "{}",
        answer.err
    );
    assert!(answer.err.contains("unused.portent:2:17"), "{}", answer.err);
    assert_eq!(json(&answer.out)[0]["name"], "p");
}

#[test]
fn colour_only_where_it_is_wanted() {
    let coloured = synth(&["--property", "always (", "--color", "always"]);
    assert_eq!(coloured.code, Some(2));
    assert!(coloured.err.contains("\u{1b}["), "{coloured:?}");
    synth(&["--property", "always (", "--color", "never"]).refused();
    synth(&["--property", "always (", "--color", "auto"]).refused();
}

/// `portent synth ... | head -c 100`: the reader goes away in the middle, and that is no failure.
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = portent()
        .args([
            "synth",
            "--property",
            "F a & F b & F c & F d & F e & F f & F g & F h & F i & F j",
            "--format",
            "json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("portent runs");
    let mut first = [0; 100];
    let mut out = child.stdout.take().expect("a pipe");
    out.read_exact(&mut first)
        .expect("the beginning of the output");
    drop(out);
    assert_eq!(&first[..1], b"{");
    let answer = Answer::new(child.wait_with_output().expect("portent ends"));
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""));
}

#[test]
fn the_help_text() {
    let help = synth(&["--help"]).quiet();
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("synth_help", help);
    });
}
