//! Findings for programs.

use portent_findings::{
    Model,
    report::{AtomicityCounts, DeadlockCounts, Finding, RaceCounts},
};
use serde::Serialize;
use std::io::{self, Write};

use super::trace::Found;
use crate::report::write_json;
use portent_answer::Warning;

#[derive(Serialize)]
struct Document<'a> {
    portent: u32,
    trace: Trace<'a>,
    warnings: &'a [Warning],
    #[serde(flatten)]
    findings: Findings<'a>,
}

#[derive(Serialize)]
struct Trace<'a> {
    file: &'a str,
    events: u64,
    threads: u64,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<&'a str>,
    skipped: u64,
}

/// The findings of one execution.
#[derive(Serialize)]
pub(crate) struct Findings<'a> {
    causality: Model,
    findings: &'a [Finding],
    #[serde(skip_serializing_if = "Option::is_none")]
    races: &'a Option<RaceCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadlocks: &'a Option<DeadlockCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    atomicity: &'a Option<AtomicityCounts>,
    suppressed: u64,
    /// The findings that a baseline already had, so that this report can be the next one.
    #[serde(skip_serializing_if = "<[Finding]>::is_empty")]
    known: &'a [Finding],
}

impl<'a> Findings<'a> {
    pub(crate) fn new(found: &'a Found) -> Findings<'a> {
        let report = &found.report;
        Findings {
            causality: found.model,
            findings: &report.findings,
            races: &report.races,
            deadlocks: &report.deadlocks,
            atomicity: &report.atomicity,
            suppressed: found.suppressed,
            known: &found.known,
        }
    }
}

/// Writes one object; of several traces or executions, one each.
pub(crate) fn write(out: &mut dyn Write, found: &[Found], several: bool) -> io::Result<()> {
    for one in found {
        let document = Document {
            portent: 1,
            trace: Trace {
                file: &one.origin.file,
                events: one.report.events,
                threads: one.report.threads,
                format: one.origin.format.name(),
                execution: one.origin.execution.as_deref(),
                skipped: one.origin.skipped,
            },
            warnings: &one.warnings,
            findings: Findings::new(one),
        };
        write_json(out, &document, several)?;
    }
    Ok(())
}
