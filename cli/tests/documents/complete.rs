//! The documents leave nothing out: they mention every operator, word, operation, key and
//! option.

use serde_json::Value;
use std::{collections::BTreeSet, fs};

use super::root;
use crate::common::{RESERVOIR, portent, portent_with};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The words of a document that stand in backquotes outside of its blocks.
fn code(document: &str) -> BTreeSet<String> {
    let mut text = String::new();
    for (number, part) in read(document).split("\n```").enumerate() {
        if number % 2 == 0 {
            text += part;
        }
    }
    let text = text.replace("\\|", "|");
    let spans = text.split('`').skip(1).step_by(2);
    let words = spans.flat_map(|span| span.split([' ', ',', ':', '(', ')', '"']));
    words.map(str::to_owned).collect()
}

/// Asserts that a document mentions these words, of which there are at least `least`.
fn assert_mentions(document: &str, least: usize, words: &BTreeSet<String>) {
    let mentioned = code(document);
    let missing: Vec<&String> = words.difference(&mentioned).collect();
    assert_eq!(missing, [""; 0], "{document} does not mention these");
    assert!(words.len() >= least, "{words:?}");
}

/// The texts in quotes of the rules of the grammar whose names have some ending.
fn terminals(grammar: &str, ending: &str) -> BTreeSet<String> {
    let rules = grammar.split("\n}").flat_map(|rules| rules.split("}\n"));
    let ours = rules.filter_map(|rule| {
        let (name, body) = rule.trim().rsplit_once("= @{")?;
        let name = name.lines().last()?.trim();
        name.ends_with(ending).then_some(body)
    });
    let texts = ours.flat_map(|body| body.split('"').skip(1).step_by(2));
    texts.map(str::to_owned).collect()
}

#[test]
fn operators_and_words_of_properties() {
    let grammar = read("monitor-dsl/src/grammar.pest");
    let rules = ["fix", "sign", "temporal"];
    let mut operators: BTreeSet<String> = rules
        .into_iter()
        .flat_map(|ending| terminals(&grammar, ending))
        .collect();
    // In the grammar for the sake of its message only.
    assert!(operators.remove("="));
    assert_mentions("docs/properties.md", 40, &operators);
    let mut words = terminals(&grammar, "_word");
    words.retain(|word| word.chars().all(char::is_alphabetic));
    assert_mentions("docs/properties.md", 40, &words);
}

#[test]
fn operations_and_keys_of_traces() {
    let done = portent_with(
        &["check", "--property", "a", "-"],
        b"{\"t\": 1, \"op\": \"?\"}\n",
    );
    let (_, list) = done.err.split_once("an operation (").unwrap();
    let (list, _) = list.split_once(')').unwrap();
    let operations = list.split(", ").map(str::to_owned).collect();
    assert_mentions("docs/traces.md", 18, &operations);
    let fields = read("trace/src/native/fields.rs");
    let (_, keys) = fields.split_once("\nkeys! {").unwrap();
    let (keys, _) = keys.split_once("\n}").unwrap();
    let keys = keys
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    assert_mentions("docs/traces.md", 20, &keys);
}

/// The keys of objects, but not those that are names of a program.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        Value::Object(entries) => {
            for (key, value) in entries {
                found.insert(key.clone());
                if !["binding", "definitions", "set", "values", "extra"].contains(&key.as_str()) {
                    keys(value, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn keys_of_reports() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let file = file.to_str().unwrap();
    portent(&[&RESERVOIR[..], &["--format", "json", "--output", file]].concat());
    let mut found = BTreeSet::new();
    let known = [&RESERVOIR[..], &["--format", "json", "--baseline", file]].concat();
    keys(&portent(&known).json(), &mut found);
    keys(
        &serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap(),
        &mut found,
    );
    // A run that stops at the violation, an event that never occurs, and a line that tells more.
    let trace = "\
{\"t\": \"A\", \"op\": \"lock\", \"lock\": \"m\"}
{\"t\": \"A\", \"op\": \"event\", \"name\": \"a\"}
{\"t\": \"A\", \"op\": \"unlock\", \"lock\": \"m\"}
{\"t\": \"B\", \"op\": \"lock\", \"lock\": \"m\"}
{\"t\": \"B\", \"op\": \"event\", \"name\": \"b\", \"loc\": \"x\", \"time\": 1, \"text\": \"y\", \"z\": 1}
";
    let arguments = [
        "check",
        "--format",
        "json",
        "--causality",
        "maximal",
        "--property",
        "always ((b -> once a) && !c)",
        "-",
    ];
    keys(
        &portent_with(&arguments, trace.as_bytes()).json(),
        &mut found,
    );
    for key in ["left_out", "known", "extra", "property"] {
        assert!(found.contains(key), "{key}");
    }
    assert_mentions("docs/reports.md", 50, &found);
}

#[test]
fn keys_of_findings() {
    let mut found = BTreeSet::new();
    for (trace, kinds) in [("transfer", "deadlocks"), ("settings", "races,atomicity")] {
        let trace = format!("examples/{trace}/{trace}.jsonl");
        let model = ["--causality", "strong", "--format", "json"];
        let arguments = [&["find", "--only", kinds], &model[..], &[&trace]].concat();
        keys(&portent(&arguments).json(), &mut found);
    }
    // Those of the trace itself are on the page of reports.
    for key in ["file", "format", "skipped", "threads"] {
        assert!(found.remove(key), "{key}");
    }
    assert_mentions("docs/findings.md", 30, &found);
}

#[test]
fn options() {
    let mentioned: BTreeSet<String> = ["properties", "traces", "reports", "findings"]
        .iter()
        .flat_map(|name| code(&format!("docs/{name}.md")))
        .collect();
    for command in ["check", "find", "synth", "convert"] {
        let help = portent(&[command, "--help"]).out;
        let lines = help.lines().map(str::trim_start);
        let options =
            lines.filter_map(|line| line.strip_prefix("-o, ").unwrap_or(line).split(' ').next());
        let options: Vec<&str> = options.filter(|word| word.starts_with("--")).collect();
        assert!(options.len() > 5, "{options:?}");
        for option in options {
            assert!(
                mentioned.contains(option),
                "no document mentions {command} {option}"
            );
        }
    }
}

/// The README is where users look for documents.
#[test]
fn documents_of_the_folder() {
    let readme = read("README.md");
    for document in super::documents() {
        let name = document.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            name == "README.md" || readme.contains(&format!("](docs/{name})")),
            "README.md does not list docs/{name}"
        );
    }
}
