//! `portent help`, the completions and the manual pages.

use std::{fs, process::Command};

use crate::common::{Done, portent, portent_with};

const TOPICS: [&str; 6] = [
    "properties",
    "traces",
    "reports",
    "cookbook",
    "findings",
    "live",
];

/// What a command prints that must succeed.
fn printed(arguments: &[&str]) -> String {
    let Done { out, err, code } = portent(arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

#[test]
fn a_topic_is_its_document() {
    for topic in TOPICS {
        let text = printed(&["help", topic]);
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let document = fs::read_to_string(format!("{root}/docs/{topic}.md")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut headings = 0;
        for heading in document.lines().filter(|line| line.starts_with("## ")) {
            assert!(lines.contains(&&heading[3..]), "{topic}: {heading}");
            headings += 1;
        }
        assert!(headings >= 5, "{topic}");
        for mark in ["```", "](", "|---", "**", "\u{1b}"] {
            assert!(!text.contains(mark), "{topic}: {mark}");
        }
    }
}

#[test]
fn a_topic_in_colour() {
    let text = printed(&["help", "traces", "--color", "always"]);
    assert!(text.contains("\u{1b}[1mTraces\u{1b}[0m\n"), "{text}");
    assert!(text.contains("\u{1b}[36munlock\u{1b}[0m"), "{text}");
}

#[test]
fn help_of_a_command_is_its_long_help() {
    assert_eq!(printed(&["help"]), printed(&["--help"]));
    for command in [
        "check",
        "find",
        "synth",
        "convert",
        "demo",
        "help",
        "completions",
        "man",
    ] {
        assert_eq!(printed(&["help", command]), printed(&[command, "--help"]));
    }
}

#[test]
fn the_list_of_commands_names_the_topics() {
    let list = printed(&["help"]);
    for topic in TOPICS {
        assert!(list.contains(&format!("portent help {topic}  ")), "{list}");
    }
}

#[test]
fn an_unknown_subject() {
    let done = portent(&["help", "trace"]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    insta::assert_snapshot!(done.err);
    let done = portent_with(&["help", "\u{1b}[2J"], b"");
    assert!(
        done.code == Some(2) && !done.err.contains('\u{1b}'),
        "{}",
        done.err
    );
}

#[test]
fn completions_of_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for word in ["causality", "convert", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(portent(&["completions", "tcsh"]).code, Some(2));
}

#[test]
fn bash_takes_its_completions() {
    let script = printed(&["completions", "bash"]);
    let ask = "\nCOMP_WORDS=(portent check --caus) COMP_CWORD=2\n_portent portent --caus check\necho \"${COMPREPLY[@]}\"";
    match Command::new("bash").args(["-c", &(script + ask)]).output() {
        Ok(done) => assert_eq!(String::from_utf8_lossy(&done.stdout), "--causality\n"),
        Err(error) => eprintln!("skipped, as there is no bash: {error}"),
    }
}

#[test]
fn a_manual_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_eq!(printed(&["man", pages.to_str().unwrap()]), "");
    let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    for command in [
        "check",
        "find",
        "synth",
        "convert",
        "demo",
        "help",
        "completions",
        "man",
    ] {
        let text = page(&format!("portent-{command}.1"));
        assert!(text.contains(&format!(".TH portent-{command} 1")), "{text}");
    }
    assert!(page("portent.1").contains("portent help cookbook"));
    assert!(page("portent-check.1").contains(r"\-\-causality"));
    let done = portent(&["man", "Cargo.toml"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.starts_with("error: cannot write Cargo.toml: "),
        "{}",
        done.err
    );
}
