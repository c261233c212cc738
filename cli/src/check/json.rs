//! The answer for programs: the report, with what only the reader of the trace knows.

use portent_lattice::report::{PropertyReport, TraceInfo};
use serde::Serialize;

use super::{trace::Outcome, warning::Warning};

#[derive(Serialize)]
struct Object<'a> {
    portent: u32,
    trace: Trace<'a>,
    vacuous: &'a [String],
    warnings: &'a [Warning],
    properties: &'a [PropertyReport],
    /// The violations that a baseline had already: so that this report can be the next one.
    #[serde(skip_serializing_if = "<[PropertyReport]>::is_empty")]
    known: &'a [PropertyReport],
}

#[derive(Serialize)]
struct Trace<'a> {
    #[serde(flatten)]
    info: &'a TraceInfo,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<&'a str>,
    skipped: u64,
    /// Lines of a log that belong to no record.
    #[serde(skip_serializing_if = "is_zero")]
    unmatched: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One object, over several lines; or, of several traces or executions, each on a line of its own.
pub(crate) fn render(outcomes: &[Outcome], several: bool) -> String {
    let several = several || outcomes.len() > 1;
    let print = |outcome: &Outcome| {
        let report = &outcome.report;
        let object = Object {
            portent: report.portent,
            trace: Trace {
                info: &report.trace,
                format: outcome.format.name(),
                execution: outcome.execution.as_deref(),
                skipped: outcome.skipped,
                unmatched: outcome.unmatched,
            },
            vacuous: &report.vacuous,
            warnings: &outcome.warnings,
            properties: &report.properties,
            known: &outcome.known,
        };
        let text = match several {
            false => serde_json::to_string_pretty(&object),
            true => serde_json::to_string(&object),
        };
        text.expect("a report is plain data") + "\n"
    };
    outcomes.iter().map(print).collect()
}
