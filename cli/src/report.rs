//! Reports as `check` and `find` print them: their formats, JSON for programs, and earlier reports as baselines.

use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use crate::failure::Failure;

/// What a report is printed as.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// A page with drawings, in one file
    Html,
}

/// Writes one report, over several lines; or, if there are several, each on a line of its own. A report may be far larger as text
/// than in memory, so the text is never held as a whole.
pub(crate) fn write_json(
    out: &mut dyn Write,
    report: &impl Serialize,
    several: bool,
) -> io::Result<()> {
    if several {
        serde_json::to_writer(&mut *out, report)?;
    } else {
        serde_json::to_writer_pretty(&mut *out, report)?;
    }
    out.write_all(b"\n")
}

/// Reads the reports that `portent COMMAND --format json` wrote to a file.
pub(crate) fn read_json<R: DeserializeOwned>(
    path: &Path,
    command: &str,
) -> Result<Vec<R>, Failure> {
    let text = fs::read(path).map_err(|error| Failure::Read {
        path: path.to_owned(),
        error,
    })?;
    let reports = serde_json::Deserializer::from_slice(&text).into_iter();
    reports
        .map(|report| {
            report.map_err(|error| {
                let (line, column, path) = (error.line(), error.column(), path.display());
                let message = error.to_string();
                let place = format!(" at line {line} column {column}");
                let reason = message.strip_suffix(&place).unwrap_or(&message);
                Failure::Usage(format!(
                    "{path}:{line}:{column}: not a report of `portent {command} --format json`: {reason}"
                ))
            })
        })
        .collect()
}
