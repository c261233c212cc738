//! From one trace to its reports: reads it event by event and searches at its end.

use portent_lattice::{Checker, Options, Report};
use portent_monitor_core::Value;
use portent_monitor_dsl::Monitor;
use portent_trace::{Format, TraceReader};
use std::{io, path::Path};

use super::progress::Progress;
use crate::failure::Failure;

/// What became of one execution.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The format that the trace is in.
    pub(crate) format: Format,
    /// The name of the execution, in a log that names several.
    pub(crate) execution: Option<String>,
    /// How many bad lines were skipped.
    pub(crate) skipped: u64,
    /// What was wrong with the first of them.
    pub(crate) first_skipped: Option<String>,
    /// The initial values that the trace gives.
    pub(crate) initial: Vec<(String, Value)>,
    /// How many violations were left out because a baseline has them.
    pub(crate) known: usize,
}

/// Opens a trace, or standard input.
pub(crate) fn open(
    path: &Path,
    options: &portent_trace::Options,
) -> Result<TraceReader<'static>, Failure> {
    Ok(match path.as_os_str() == "-" {
        true => TraceReader::new("<stdin>", io::stdin(), options)?,
        false => TraceReader::open(path, options)?,
    })
}

/// Checks every execution that a trace holds.
pub(crate) fn check(
    reader: &mut TraceReader<'_>,
    monitors: &[Monitor],
    options: &Options,
    progress: &Progress,
) -> Result<Vec<Outcome>, Failure> {
    let file = reader.file().to_owned();
    let initial: Vec<(String, Value)> = reader
        .header()
        .init
        .iter()
        .map(|(var, value)| (reader.symbols().vars.name(*var).to_owned(), value.clone()))
        .collect();
    let mut outcomes = Vec::new();
    loop {
        let failed_at = |place: String, error| Failure::Check {
            place,
            error: Box::new(error),
        };
        let failed = |error| failed_at(file.clone(), error);
        let skipped_before = reader.skipped();
        let mut checker = Checker::new(
            monitors.iter().cloned(),
            |name| find(&initial, name),
            options.clone(),
        )
        .map_err(failed)?;
        while let Some(event) = reader.next_event()? {
            checker
                .take(&event, reader.symbols())
                .map_err(|error| match event.line {
                    Some(line) => failed_at(format!("{file}:{line}:1"), error),
                    None => failed(error),
                })?;
            progress.event();
        }
        let report = checker.finish(&file, reader.symbols()).map_err(failed)?;
        outcomes.push(Outcome {
            report,
            format: reader.format(),
            execution: reader.execution().map(str::to_owned),
            skipped: reader.skipped() - skipped_before,
            first_skipped: reader.first_skipped().map(ToString::to_string),
            initial: initial.clone(),
            known: 0,
        });
        if !reader.next_execution() {
            return Ok(outcomes);
        }
    }
}

/// The value that a list of initial values gives a variable.
pub(crate) fn find(values: &[(String, Value)], name: &str) -> Option<Value> {
    let found = values.iter().find(|(other, _)| other == name);
    found.map(|(_, value)| value.clone())
}
