//! The README and `docs/` show nothing that does not work: every command is run and its output
//! compared, every property, trace and log is read. After a change of what Portent says,
//! `UPDATE_DOCS=1 cargo test -p portent-cli documents` writes the new output into the documents; read
//! the diff.
//!
//! A line `[...]` of an output stands for lines that are left out.
//!
//! The Rust of the README, of `explore.md`, of `live.md` and of `findings.md` is compiled and run as doc tests of the façade. What `loom.md`
//! shows is compared by the tests of the package `loom`.

mod block;
mod complete;
mod links;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use block::{Block, blocks, calls};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The documents that users read.
fn documents() -> Vec<PathBuf> {
    let mut documents = vec![root().join("README.md")];
    let folder = fs::read_dir(root().join("docs")).unwrap();
    let files = folder.map(|entry| entry.unwrap().path());
    documents.extend(files.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    documents.sort();
    documents
}

/// Traces that are not ours to pass on are beside the repository, if they are at hand.
const SHARED: &str = "../shared";

/// A document and the folder in which its commands run.
struct Trial {
    path: PathBuf,
    lines: Vec<String>,
    /// Removed in the end.
    _outer: tempfile::TempDir,
    folder: PathBuf,
    /// The files that blocks have become, and whether a command has used them.
    files: Vec<(String, bool)>,
    /// What is wrong.
    complaints: Vec<String>,
}

impl Trial {
    fn new(path: PathBuf) -> Trial {
        let text = fs::read_to_string(&path).unwrap();
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("portent");
        fs::create_dir(&folder).unwrap();
        copy(&root().join("examples"), &folder.join("examples"));
        #[cfg(unix)]
        if let Ok(shared) = root().join(SHARED).canonicalize() {
            std::os::unix::fs::symlink(shared, folder.join(SHARED)).unwrap();
        }
        Trial {
            path,
            lines: text.lines().map(str::to_owned).collect(),
            _outer: outer,
            folder,
            files: Vec::new(),
            complaints: Vec::new(),
        }
    }

    /// Tries every block. If asked to, puts the true outputs in the places of those shown, from last
    /// to first.
    fn run(&mut self) {
        let blocks = match blocks(&self.lines) {
            Ok(blocks) => blocks,
            Err(line) => {
                let complaint = "a fence at the start of a line, a language and an end are needed";
                return self.complain(line, complaint);
            }
        };
        let mut outputs = Vec::new();
        for block in &blocks {
            match block.language.as_str() {
                "console" => outputs.extend(self.console(block)),
                "portent" => self.file(block, &["synth", "--spec"], &[]),
                "jsonl" => self.file(
                    block,
                    &["convert", "--from", "native", "--to", "native"],
                    &["-"],
                ),
                "std" => self.file(
                    block,
                    &["convert", "--from", "std", "--to", "native"],
                    &["-"],
                ),
                // How a log or another text is read, the command says.
                "log" | "text" if block.file.is_some() => self.save(block),
                "rust"
                    if ["README.md", "explore.md", "live.md", "findings.md"]
                        .iter()
                        .any(|name| self.path.ends_with(name)) => {}
                "rust" | "text" | "toml" if self.path.ends_with("loom.md") => {}
                // What a test says that fails: the tests of the façade compare it.
                "text"
                    if ["README.md", "explore.md", "live.md"]
                        .iter()
                        .any(|name| self.path.ends_with(name)) => {}
                other => {
                    let complaint = format!("nothing tests a block of `{other}` here");
                    self.complain(block.lines.start, &complaint);
                }
            }
        }
        for (name, used) in std::mem::take(&mut self.files) {
            if !used {
                self.complaints.push(format!("no command uses `{name}`"));
            }
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            for (place, output) in outputs.into_iter().rev() {
                self.lines.splice(place, output);
            }
            fs::write(&self.path, self.lines.join("\n") + "\n").unwrap();
        }
    }

    fn complain(&mut self, line: usize, complaint: &str) {
        let path = self.path.file_name().unwrap().to_string_lossy();
        self.complaints
            .push(format!("{path}:{}: {complaint}", line + 1));
    }

    /// Runs the commands of a block; returns the outputs that are not shown, and where they belong.
    fn console(&mut self, block: &Block) -> Vec<(std::ops::Range<usize>, Vec<String>)> {
        let mut outputs = Vec::new();
        for call in calls(&self.lines, block) {
            for (name, used) in &mut self.files {
                *used |= call.command.contains(name.as_str());
            }
            if call.command.contains(SHARED) && !self.folder.join(SHARED).exists() {
                println!("skipped: there is no {SHARED} for `{}`", call.command);
                continue;
            }
            let output = self.shell(&call.command);
            let shown = &self.lines[call.output.clone()];
            if is_shown(shown, &output) {
                continue;
            }
            if std::env::var_os("UPDATE_DOCS").is_none() {
                let complaint = format!(
                    "`{}` prints\n{}\n-- but shown is\n{}",
                    call.command,
                    output.join("\n"),
                    shown.join("\n")
                );
                self.complain(call.output.start, &complaint);
            }
            outputs.push((call.output, output));
        }
        outputs
    }

    /// What a command prints on both streams, as lines without blanks at their ends.
    fn shell(&self, command: &str) -> Vec<String> {
        let command = command.replace("cargo run -q -- ", "portent ");
        let program = Path::new(env!("CARGO_BIN_EXE_portent"));
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let done = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(&self.folder)
            .env("PATH", path)
            .env_remove("COLUMNS")
            .output()
            .unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        text.trim_end().lines().map(str::to_owned).collect()
    }

    /// Keeps a block as the file that it is named, or as one without a name.
    fn save(&mut self, block: &Block) {
        let text = self.lines[block.lines.clone()].join("\n") + "\n";
        let file = block.file.as_deref().unwrap_or("unnamed");
        fs::write(self.folder.join(file), text).unwrap();
        if let Some(file) = &block.file {
            self.files.push((file.clone(), false));
        }
    }

    /// A block that the command must be able to read.
    fn file(&mut self, block: &Block, before: &[&str], after: &[&str]) {
        self.save(block);
        let file = block.file.as_deref().unwrap_or("unnamed");
        let done = Command::new(env!("CARGO_BIN_EXE_portent"))
            .args([before, &[file], after].concat())
            .current_dir(&self.folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        if !done.status.success() || !said.is_empty() {
            self.complain(block.lines.start, &said);
        }
    }
}

/// Whether what is shown is an output, but for what `[...]` leaves out.
fn is_shown(shown: &[String], output: &[String]) -> bool {
    let mut parts = shown.split(|line| line == "[...]");
    let begin = parts.next().unwrap_or_default();
    let Some(mut rest) = output.strip_prefix(begin) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let found = (0..rest.len()).find(|&from| rest[from..].starts_with(part));
        match found {
            Some(from) => rest = &rest[from + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn what_is_left_out_of_an_output_is_only_what_is_said_to_be() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let output = lines("a\nb\nc\nd");
    for shown in [
        "a\nb\nc\nd",
        "a\n[...]\nd",
        "a\n[...]",
        "[...]\nb\n[...]\nd",
        "[...]",
    ] {
        assert!(is_shown(&lines(shown), &output), "{shown}");
    }
    for shown in [
        "a\nb\nc",
        "a\n[...]\nc",
        "b\n[...]",
        "[...]\nc\n[...]\nb\n[...]",
        "",
    ] {
        assert!(!is_shown(&lines(shown), &output), "{shown}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn every_block_is_true() {
    let mut complaints = Vec::new();
    for path in documents() {
        let mut trial = Trial::new(path);
        trial.run();
        complaints.append(&mut trial.complaints);
    }
    assert!(
        complaints.is_empty(),
        "{}\n\nUPDATE_DOCS=1 puts what is printed in place of what is shown.",
        complaints.join("\n\n")
    );
}
