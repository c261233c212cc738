//! From one trace to its reports: reads it event by event and searches at its end.

use portent_lattice::{Checker, Error, Options, Report, report::PropertyReport};
use portent_monitor_core::Value;
use portent_monitor_dsl::Monitor;
use portent_trace::{Format, TraceReader};

use super::{
    news::News,
    progress::Progress,
    warning::{Unread, Warning},
};
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
    /// How many lines of a log belong to no record.
    pub(crate) unmatched: u64,
    /// What to know before trusting the report: all that it warns of, and what the reader does.
    pub(crate) warnings: Vec<Warning>,
    /// The initial values that the trace gives.
    pub(crate) initial: Vec<(String, Value)>,
    /// The violations that were left out because a baseline has them.
    pub(crate) known: Vec<PropertyReport>,
}

/// How many events are read to see what is wrong with a trace that has no initial values.
const LOOKED_AT: usize = 1000;

/// Checks every execution that a trace holds, and adds what became of each to `outcomes`: those
/// before an error are there, too.
pub(crate) fn check(
    reader: &mut TraceReader<'_>,
    monitors: &[Monitor],
    options: &Options,
    progress: &Progress,
    tells_news: bool,
    outcomes: &mut Vec<Outcome>,
) -> Result<(), Failure> {
    let file = reader.file().to_owned();
    let mut is_first = true;
    loop {
        let failed = |error| Failure::Check {
            place: file.clone(),
            error: Box::new(error),
        };
        let unread_before = if is_first {
            // The header may have been skipped before this.
            Unread::default()
        } else {
            Unread::so_far(reader)
        };
        is_first = false;
        let mut initial = initial_values(reader);
        let start = |initial: &[(String, Value)]| {
            let values = |name: &str| find(initial, name);
            // The reader refuses what no run can do, and says where it stands.
            let options = options.clone().admitted(true);
            Checker::new(monitors.iter().cloned(), values, options)
        };
        let mut checker = match start(&initial) {
            Err(error @ Error::WrongType { .. }) if !initial.is_empty() => {
                reader.refuse_header(error.to_string())?;
                initial.clear();
                start(&initial).map_err(failed)?
            }
            Err(error) => {
                // What is wrong with the trace itself may be the reason, and is to be mended first.
                for _ in 0..LOOKED_AT {
                    if reader.next_event()?.is_none() {
                        break;
                    }
                }
                return Err(failed(error));
            }
            Ok(checker) => checker,
        };
        let mut news = if tells_news {
            News::new(monitors, |name| find(&initial, name), options)
        } else {
            News::none()
        };
        while let Some(event) = reader.next_event()? {
            match checker.take(&event, reader.symbols()) {
                Ok(()) => {
                    progress.event();
                    news.take(&event, reader.symbols())
                        .map_err(Failure::Print)?;
                }
                Err(error) if is_of_the_event(&error) => reader.refuse(error.to_string())?,
                Err(error @ Error::StepsBeyondMemory { .. }) => {
                    return Err(Failure::Memory {
                        place: reader.last_place().to_string(),
                        error: Box::new(error),
                    });
                }
                Err(error) => {
                    return Err(Failure::Check {
                        place: reader.last_place().to_string(),
                        error: Box::new(error),
                    });
                }
            }
        }
        let report = checker.finish(&file, reader.symbols()).map_err(failed)?;
        let unread = Unread::so_far(reader).since(unread_before);
        let mut warnings = unread.warnings(reader);
        warnings.extend(report.warnings.iter().map(Warning::from));
        outcomes.push(Outcome {
            report,
            warnings,
            format: reader.format(),
            execution: reader.execution().map(str::to_owned),
            skipped: unread.skipped,
            unmatched: unread.unmatched,
            initial,
            known: Vec::new(),
        });
        if !reader.next_execution() {
            return Ok(());
        }
    }
}

/// Whether the line is bad, and not what it is asked about.
fn is_of_the_event(error: &Error) -> bool {
    matches!(
        error,
        Error::WrongType { .. } | Error::BadText { .. } | Error::NoValue { .. }
    )
}

/// The initial values that the header of a trace gives.
fn initial_values(reader: &TraceReader<'_>) -> Vec<(String, Value)> {
    let names = &reader.symbols().vars;
    let init = reader.header().init.iter();
    init.map(|(var, value)| (names.name(*var).to_owned(), value.clone()))
        .collect()
}

/// The value that a list of initial values gives a variable.
pub(crate) fn find(values: &[(String, Value)], name: &str) -> Option<Value> {
    let found = values.iter().find(|(other, _)| other == name);
    found.map(|(_, value)| value.clone())
}
