//! The blocks of code in a Markdown document.
//!
//! A fence stands at the start of its line and names a language. If the line above the block ends
//! in a name in backquotes and a colon, the block is also that file, for the commands that follow.

use std::ops::Range;

/// A block of code.
pub(crate) struct Block {
    pub(crate) language: String,
    /// The file that it is.
    pub(crate) file: Option<String>,
    /// Its lines, counted from 0, without the fences.
    pub(crate) lines: Range<usize>,
}

/// The blocks of a document in their order, or the line of a fence that has no language or is
/// indented.
pub(crate) fn blocks(lines: &[String]) -> Result<Vec<Block>, usize> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].trim_start().starts_with("```") {
            at += 1;
            continue;
        }
        let language = lines[at].strip_prefix("```").unwrap_or_default().trim();
        if language.is_empty() {
            return Err(at);
        }
        let length = lines[at + 1..].iter().position(|line| line == "```");
        let end = at + 1 + length.ok_or(at)?;
        blocks.push(Block {
            language: language.to_owned(),
            file: file_name(&lines[..at]),
            lines: at + 1..end,
        });
        at = end + 1;
    }
    Ok(blocks)
}

/// The name in backquotes with which the text above a block ends.
fn file_name(above: &[String]) -> Option<String> {
    let line = above.iter().rev().find(|line| !line.is_empty())?;
    let (_, name) = line.strip_suffix("`:")?.rsplit_once('`')?;
    name.contains('.').then(|| name.to_owned())
}

/// A command of a console block, and what it prints.
pub(crate) struct Call {
    pub(crate) command: String,
    /// The lines of the document that show its output.
    pub(crate) output: Range<usize>,
}

/// The commands of a console block: lines that begin with `$ `, continued by a backslash.
pub(crate) fn calls(lines: &[String], block: &Block) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut at = block.lines.start;
    while at < block.lines.end {
        let first = lines[at].strip_prefix("$ ");
        let mut command = first
            .expect("a console block begins with a command")
            .to_owned();
        at += 1;
        while command.ends_with('\\') {
            command = command + "\n" + &lines[at];
            at += 1;
        }
        let rest = &lines[at..block.lines.end];
        let length = rest.iter().position(|line| line.starts_with("$ "));
        let end = at + length.unwrap_or(rest.len());
        calls.push(Call {
            command,
            output: at..end,
        });
        at = end;
    }
    calls
}
