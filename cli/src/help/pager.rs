//! Long texts, shown in a pager if the reader has one.

use std::{
    env,
    io::{self, IsTerminal, Write},
    process::{Command, Stdio},
};

use crate::terminal;

/// Prints a text; on a terminal through `$PAGER`, if that is set.
pub(super) fn show(text: &str) -> io::Result<()> {
    let pager = env::var("PAGER").ok().filter(|pager| !pager.is_empty());
    match pager {
        Some(pager) if io::stdout().is_terminal() => page(&pager, text),
        _ => terminal::print(text),
    }
}

fn page(pager: &str, text: &str) -> io::Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        // Keep colours, and do not wait if the text fits on the screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else {
        return terminal::print(text);
    };
    if let Some(mut stdin) = child.stdin.take() {
        // The reader may quit early, which closes the pipe.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait().map(drop)
}
