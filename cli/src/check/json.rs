//! The answer for programs: the report, together with the data that only the reader of the trace has.

use portent_answer::{
    Warning,
    text::{Finding, Style},
};
use portent_lattice::report::{PropertyReport, TraceInfo};
use portent_monitor_dsl::Monitor;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeSeq},
};
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::trace::Outcome;
use crate::{find::Findings, report::write_json};

#[derive(Serialize)]
struct Document<'a> {
    portent: u32,
    trace: Trace<'a>,
    vacuous: &'a [String],
    warnings: &'a [Warning],
    properties: PropertyEntries<'a>,
    /// The violations that a baseline already had, so that this report can be the next one.
    #[serde(skip_serializing_if = "<[PropertyReport]>::is_empty")]
    known: &'a [PropertyReport],
    /// The command that confirms a prediction, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm: Option<String>,
    /// The findings without a property, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    find: Option<Findings<'a>>,
}

/// The findings about a property, and their explanations.
#[derive(Serialize)]
struct PropertyEntry<'a> {
    #[serde(flatten)]
    report: &'a PropertyReport,
    /// The names that its body uses, with their definitions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    definitions: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    story: Option<Sentences>,
    /// A note that only locks keep some order, if they do and the property is not violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    locks: Option<String>,
}

/// The sentences below the table of the text.
#[derive(Serialize)]
struct Sentences {
    /// The relevant swapped pairs: the monitor ignores none of their steps.
    swapped: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    swap: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl<'a> PropertyEntry<'a> {
    fn new(finding: &Finding<'a>) -> PropertyEntry<'a> {
        let story = finding.story().map(|story| Sentences {
            swapped: story.swapped,
            swap: story.swap,
            why: story.why,
            observed: story.observed,
            next: story.next,
        });
        PropertyEntry {
            report: finding.property,
            definitions: finding.definitions().into_iter().collect(),
            story,
            locks: finding.locks(),
        }
    }
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

/// The answers. If there are several lines, those without a witness have one each: there may be thousands.
struct PropertyEntries<'a> {
    all: Vec<Finding<'a>>,
    on_lines: bool,
}

impl Serialize for PropertyEntries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.all.len()))?;
        for finding in &self.all {
            let PropertyReport {
                binding, predicted, ..
            } = finding.property;
            let entry = PropertyEntry::new(finding);
            if self.on_lines && !binding.is_empty() && predicted.witness.is_none() {
                let line = serde_json::value::to_raw_value(&entry);
                sequence.serialize_element(&line.map_err(S::Error::custom)?)?;
            } else {
                sequence.serialize_element(&entry)?;
            }
        }
        sequence.end()
    }
}

/// Writes one object; of several traces or executions, one each.
pub(crate) fn write(
    out: &mut dyn Write,
    outcomes: &[Outcome],
    monitors: &[Monitor],
    style: Style,
    several: bool,
) -> io::Result<()> {
    let several = several || outcomes.len() > 1;
    for outcome in outcomes {
        let report = &outcome.report;
        let object = Document {
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
            properties: PropertyEntries {
                all: Finding::all(outcome.answer(), monitors, style),
                on_lines: !several,
            },
            known: &outcome.known,
            confirm: outcome.confirm(),
            find: outcome.found.as_ref().map(Findings::new),
        };
        write_json(out, &object, several)?;
    }
    Ok(())
}
