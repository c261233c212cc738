//! From one trace to its findings.

use portent_answer::Warning;
use portent_findings::{Finder, Model, Report, report::Finding};
use portent_monitor_core::Symbols;
use portent_trace::{Format, TraceReader};

use crate::{check::warning::Unread, failure::Failure};

/// The origin of the events.
pub(crate) struct Origin {
    pub(crate) file: String,
    /// The format that the trace is in.
    pub(crate) format: Format,
    /// The name of the execution, in a log that names several.
    pub(crate) execution: Option<String>,
    /// The number of bad lines skipped.
    pub(crate) skipped: u64,
}

impl Origin {
    /// The result of reading.
    pub(crate) fn of(reader: &TraceReader<'_>, skipped: u64) -> Origin {
        Origin {
            file: reader.file().to_owned(),
            format: reader.format(),
            execution: reader.execution().map(str::to_owned),
            skipped,
        }
    }
}

/// The findings of one execution.
pub(crate) struct Found {
    pub(crate) report: Report,
    pub(crate) model: Model,
    /// Whether a model was asked for that allows more runs.
    pub(crate) is_asked_for_more: bool,
    pub(crate) origin: Origin,
    pub(crate) warnings: Vec<Warning>,
    /// The number of findings suppressed by a file.
    pub(crate) suppressed: u64,
    /// The findings left out because a baseline has them.
    pub(crate) known: Vec<Finding>,
}

impl Found {
    /// `warnings` are those of the trace reader.
    pub(crate) fn new(
        report: Report,
        model: Model,
        origin: Origin,
        mut warnings: Vec<Warning>,
    ) -> Found {
        let own = report.warnings.iter();
        let suppressed = report.suppressed;
        warnings.extend(own.map(|one| Warning::of_trace(one.kind, one.text.clone())));
        Found {
            report,
            model,
            is_asked_for_more: false,
            origin,
            warnings,
            suppressed,
            known: Vec::new(),
        }
    }
}

/// Searches every execution of a trace, and adds the findings of each, including those before an error.
pub(crate) fn find(
    reader: &mut TraceReader<'_>,
    finder: &Finder,
    found: &mut Vec<Found>,
) -> Result<(), Failure> {
    let mut symbols = Symbols::default();
    let mut unread_before = Unread::default();
    loop {
        let mut finder = finder.clone();
        *finder.symbols_mut() = std::mem::take(&mut symbols);
        while let Some(event) = reader.next_event(finder.symbols_mut())? {
            let taken = finder.take(&event);
            taken.map_err(|error| Failure::find(reader.last_place().to_string(), error))?;
        }
        let report = finder.finish();
        let report = report.map_err(|error| Failure::find(reader.file().to_owned(), error))?;
        let unread = Unread::so_far(reader).since(unread_before);
        let warnings = unread.warnings(reader, finder.symbols());
        let origin = Origin::of(reader, unread.skipped);
        found.push(Found::new(report, finder.options().model, origin, warnings));
        if !reader.next_execution() {
            return Ok(());
        }
        unread_before = Unread::so_far(reader);
        symbols = std::mem::take(finder.symbols_mut());
    }
}
