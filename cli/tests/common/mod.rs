//! Runs the command and takes what it prints.

use serde_json::Value;
use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The property of the reservoir, and a run of it.
pub(crate) const RESERVOIR: [&str; 4] = [
    "check",
    "--spec",
    "examples/reservoir/reservoir.portent",
    "examples/reservoir/reservoir.jsonl",
];

/// What a command did.
pub(crate) struct Done {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Done {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.err))
    }
}

/// The command, in the root of the repository.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portent"));
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    command.args(arguments).current_dir(root);
    // Pages tell when they were made.
    command.env("SOURCE_DATE_EPOCH", "1700000000");
    command
}

pub(crate) fn portent(arguments: &[&str]) -> Done {
    portent_with(arguments, b"")
}

/// With something on standard input.
pub(crate) fn portent_with(arguments: &[&str], input: &[u8]) -> Done {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // In a thread of its own, because both pipes may fill up.
    let writer = std::thread::spawn(move || {
        // A command that has seen enough does not read on.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Done {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}
