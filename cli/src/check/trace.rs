//! From one trace to its reports: reads it event by event and searches at its end.

use std::path::Path;

use portent_answer::{Answer, Warning, html};
use portent_findings::Finder;
use portent_lattice::{Checker, Error, Options, Report, report::PropertyReport};
use portent_monitor_core::{Symbols, suggest};
use portent_monitor_dsl::Monitor;
use portent_trace::{Format, Header, TraceReader};

use super::{news::News, progress::Progress, switches::SWITCHES, warning::Unread};
use crate::{
    failure::Failure,
    find::{Found, Origin},
};

/// The outcome of one execution.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The format that the trace is in.
    pub(crate) format: Format,
    /// The name of the execution, in a log that names several.
    pub(crate) execution: Option<String>,
    /// The number of bad lines skipped.
    pub(crate) skipped: u64,
    /// The number of lines of a log that belong to no record.
    pub(crate) unmatched: u64,
    /// Warnings to read before trusting the report: its own, and those of the reader.
    pub(crate) warnings: Vec<Warning>,
    /// The information in the trace before its first event.
    pub(crate) header: Header,
    /// The violations left out because a baseline has them.
    pub(crate) known: Vec<PropertyReport>,
    /// The findings without a property, if they were requested.
    pub(crate) found: Option<Found>,
}

impl Outcome {
    /// The options for its output.
    pub(crate) fn answer(&self) -> Answer<'_> {
        Answer {
            report: &self.report,
            execution: self.execution.as_deref(),
            warnings: &self.warnings,
            known: &self.known,
        }
    }
}

impl Outcome {
    /// The command that confirms predictions for a recording that names the test that left it.
    pub(crate) fn confirm(&self) -> Option<String> {
        let test = self
            .header
            .test
            .as_ref()
            .filter(|_| self.report.is_violated())?;
        // Tests run in the folder of their package.
        let file = Path::new(&self.report.trace.file).canonicalize().ok()?;
        let file = html::quoted(&file.display().to_string()).to_string();
        Some(format!(
            "PORTENT_CONFIRM={file} cargo test {}",
            html::quoted(test)
        ))
    }
}

/// The number of events to read to determine what is wrong with a trace without initial values.
const LOOKED_AT: usize = 1000;

/// Checks every execution of a trace, and adds each outcome to `outcomes`, including those
/// before an error.
pub(crate) fn check(
    reader: &mut TraceReader<'_>,
    monitors: &[Monitor],
    options: &Options,
    progress: &Progress,
    tells_news: bool,
    find: Option<&Finder>,
    outcomes: &mut Vec<Outcome>,
) -> Result<(), Failure> {
    let mut symbols = Symbols::default();
    // The header may have been skipped before this.
    let mut unread_before = Unread::default();
    loop {
        // A new one, because an old one keeps room for as many steps as it has seen. The names are those of all executions.
        let mut checker = start(reader, monitors, options, symbols)?;
        let mut news = if tells_news {
            News::new(monitors, |name| reader.header().initial(name), options)
        } else {
            News::none()
        };
        let mut finder = find.cloned();
        while let Some(event) = reader.next_event(checker.symbols_mut())? {
            match checker.take(&event) {
                Ok(()) => {
                    if let Some(finder) = &mut finder {
                        let taken = finder.take(&event);
                        let place = || reader.last_place().to_string();
                        taken.map_err(|error| Failure::find(place(), error))?;
                    }
                    progress.event();
                    let told = news.take(&event, checker.symbols());
                    told.map_err(Failure::Print)?;
                }
                Err(error) if is_of_the_event(&error) => {
                    let advice = advice(&error, reader.format());
                    reader.refuse(format!("{error}{advice}"))?;
                }
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
        let report = checker.finish(reader.file());
        let report = report.map_err(|error| failed(reader, error))?;
        let unread = Unread::so_far(reader).since(unread_before);
        let mut warnings = unread.warnings(reader, checker.symbols());
        warnings.extend(
            report
                .warnings
                .iter()
                .map(|one| Warning::new(one, &SWITCHES)),
        );
        let found = match finder {
            Some(mut finder) => {
                let caught_up = finder.symbols_mut().catch_up(checker.symbols());
                let found = { caught_up.map_err(portent_findings::Error::from) }
                    .and_then(|()| finder.finish())
                    .map_err(|error| Failure::find(reader.file().to_owned(), error))?;
                let origin = Origin::of(reader, unread.skipped);
                let found = Found::new(found, finder.options().model, origin, Vec::new());
                add_new(&mut warnings, &found.warnings);
                Some(found)
            }
            None => None,
        };
        outcomes.push(Outcome {
            report,
            warnings,
            format: reader.format(),
            execution: reader.execution().map(str::to_owned),
            skipped: unread.skipped,
            unmatched: unread.unmatched,
            header: reader.header().clone(),
            known: Vec::new(),
            found,
        });
        if !reader.next_execution() {
            return Ok(());
        }
        unread_before = Unread::so_far(reader);
        symbols = std::mem::take(checker.symbols_mut());
    }
}

/// Adds the finder's warnings, except those that the checker has already given: both detect an incomplete recording.
pub(super) fn add_new(warnings: &mut Vec<Warning>, of_finder: &[Warning]) {
    let has = |kind| move |one: &Warning| one.kind == kind && one.property.is_none();
    let new = { of_finder.iter() }.filter(|one| !warnings.iter().any(has(one.kind)));
    let new: Vec<Warning> = new.cloned().collect();
    warnings.extend(new);
}

/// A checker with the initial values of the trace, and with the names known so far.
fn start(
    reader: &mut TraceReader<'_>,
    monitors: &[Monitor],
    options: &Options,
    mut symbols: Symbols,
) -> Result<Checker, Failure> {
    let start = |header: &Header| {
        let initial = |name: &str| header.initial(name);
        // The reader refuses impossible events, and reports their place.
        let options = options.clone().admitted(true);
        Checker::new(monitors.iter().cloned(), initial, options)
    };
    let mut checker = match start(reader.header()) {
        Err(error @ Error::WrongType { .. }) if !reader.header().init.is_empty() => {
            reader.refuse_header(error.to_string())?;
            start(reader.header()).map_err(|error| failed(reader, error))?
        }
        Err(error) => {
            // An error in the trace itself may be the reason, and should be fixed first.
            let mut events = 0;
            while events < LOOKED_AT && reader.next_event(&mut symbols)?.is_some() {
                events += 1;
            }
            let searched = match events {
                LOOKED_AT => "its beginning",
                _ => "the trace",
            };
            return Err(match meant_variable(&error, &symbols) {
                Some(meant) => Failure::UnknownVariable {
                    place: reader.file().to_owned(),
                    error: Box::new(error),
                    searched,
                    meant,
                },
                None => failed(reader, error),
            });
        }
        Ok(checker) => checker,
    };
    *checker.symbols_mut() = symbols;
    Ok(checker)
}

/// The variable of the trace that was probably meant by one without a value that does not occur.
fn meant_variable(error: &Error, symbols: &Symbols) -> Option<String> {
    match error {
        Error::NoInitialValue { variable, .. } if symbols.vars.get(variable).is_none() => {
            suggest::closest(variable, symbols.vars.iter()).map(str::to_owned)
        }
        _ => None,
    }
}

/// The trace as a whole cannot be checked.
fn failed(reader: &TraceReader<'_>, error: Error) -> Failure {
    Failure::Check {
        place: reader.file().to_owned(),
        error: Box::new(error),
    }
}

/// Advice about a line, which depends on its format.
fn advice(error: &Error, format: Format) -> &'static str {
    match (error, format) {
        (Error::NoValue { .. }, Format::Native) => "; the key `val` has it",
        (Error::NoValue { .. }, _) => {
            "; this format has no values, use the native format for this property"
        }
        _ => "",
    }
}

/// Whether the line itself is bad, rather than the question about it.
fn is_of_the_event(error: &Error) -> bool {
    matches!(
        error,
        Error::WrongType { .. } | Error::BadText { .. } | Error::NoValue { .. }
    )
}
