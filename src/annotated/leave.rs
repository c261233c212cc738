//! Recordings that are left for `portent check`: with `PORTENT_REPORT=DIR` each test leaves a trace and a property file there.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::{Model, Test, check::declared, record::Record};
use crate::{
    Error, Monitor, Symbols,
    trace::{Format, Header, TraceWriter},
};

/// Where recordings are left.
const FOLDER: &str = "PORTENT_REPORT";

/// What was left.
pub(super) struct Left {
    /// The command that makes a page of it; `None` if nothing was asked for.
    command: Option<String>,
}

impl Left {
    /// How to get a page.
    pub(super) fn hint(&self) -> String {
        match &self.command {
            Some(command) => format!("For a page, run\n    {command}"),
            None => format!(
                "For a page, run the test again with {FOLDER}=DIR: it leaves its recording there, and says what to do with it."
            ),
        }
    }
}

/// Leaves what was recorded, if that is asked for.
pub(super) fn leave(
    test: &Test,
    monitors: &[Monitor],
    round: u32,
    record: &Record,
) -> Result<Left, String> {
    let Some(folder) = env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
        return Ok(Left { command: None });
    };
    let folder = PathBuf::from(folder);
    write(test, monitors, round, record, &folder)
        .map(|command| Left {
            command: Some(command),
        })
        .map_err(|error| {
            let folder = folder.display();
            format!("{}\n{FOLDER}={folder}: {error}", test.name)
        })
}

fn write(
    test: &Test,
    monitors: &[Monitor],
    round: u32,
    record: &Record,
    folder: &Path,
) -> Result<String, Box<dyn std::error::Error>> {
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let mut name = test.name.replace("::", "-");
    if test.repeat > 1 {
        name += &format!("-{round}");
    }
    let path = |ending: &str| folder.join(format!("{name}.{ending}"));
    let (spec, trace, page) = (path("portent"), path("jsonl"), path("html"));
    write_trace(&trace, monitors, record)?;
    if monitors.is_empty() {
        let [page, trace] = [&page, &trace].map(|path| quoted(path));
        let model = match test.causality {
            Model::HappensBefore => "",
            _ => " --causality strong",
        };
        return Ok(format!(
            "portent find --format html{model} --output {page} {trace}"
        ));
    }
    let texts: Vec<String> = monitors.iter().map(spec_text).collect();
    fs::write(&spec, texts.join("\n\n") + "\n")?;

    let mut command = "portent check --format html".to_owned();
    match test.causality {
        Model::Strong => command += " --causality strong",
        Model::Maximal => command += " --causality maximal",
        _ => {}
    }
    if test.complete {
        command += " --complete";
    }
    if let Some(window) = test.window {
        command += &format!(" --window {window}");
    }
    let [page, spec, trace] = [&page, &spec, &trace].map(|path| quoted(path));
    Ok(format!("{command} --output {page} --spec {spec} {trace}"))
}

/// A property as a file has it: one with a name.
fn spec_text(monitor: &Monitor) -> String {
    let property = monitor.property();
    // What has no name is called as it is written.
    let is_bare = property
        .full_text()
        .split_whitespace()
        .eq(property.name().split_whitespace());
    if is_bare {
        let (kind, text) = (property.kind(), property.text());
        format!("property checked {{\n    {kind}: {text}\n}}")
    } else {
        property.full_text().to_owned()
    }
}

fn write_trace(path: &Path, monitors: &[Monitor], record: &Record) -> Result<(), Error> {
    let mut symbols = Symbols::default();
    record.stream.names(&mut symbols)?;
    let mut writer = TraceWriter::create(path, Format::Native)?;
    // A trace would go before what a property declares.
    let init = { record.initial.iter() }
        .filter(|(name, _)| declared(monitors, name).is_none())
        .cloned()
        .collect();
    let header = Header { init };
    writer.header(&header)?;
    for recorded in &record.events {
        writer.event(&recorded.event, &symbols)?;
    }
    writer.finish(&symbols)?;
    Ok(())
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-\\:".contains(c);
    if path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
