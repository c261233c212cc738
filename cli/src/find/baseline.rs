//! An earlier report, so that the same finding does not come back on every commit.
//!
//! A finding is known by its kind and its locations, or names where there are none. If it was only possible and now is shown, or now is
//! observed, that is new.

use portent_findings::report::Finding;
use serde::Deserialize;
use std::{collections::HashMap, fs, path::Path};

use super::trace::Found;
use crate::failure::Failure;

/// The findings of an earlier report, and what a still earlier one had.
#[derive(Deserialize)]
pub(crate) struct Earlier {
    findings: Vec<EarlierFinding>,
    #[serde(default)]
    known: Vec<EarlierFinding>,
}

#[derive(Deserialize)]
struct EarlierFinding {
    kind: String,
    key: String,
    label: EarlierLabel,
}

/// From the least sure to the surest.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum EarlierLabel {
    Possible,
    Shown,
    Observed,
}

/// The findings of earlier reports, and how sure they were.
#[derive(Default)]
pub(crate) struct Baseline {
    findings: HashMap<(String, String), EarlierLabel>,
}

impl Baseline {
    /// Reads what `find --format json` wrote.
    pub(crate) fn read(path: &Path) -> Result<Baseline, Failure> {
        let text = fs::read(path).map_err(|error| Failure::Read {
            path: path.to_owned(),
            error,
        })?;
        let mut baseline = Baseline::default();
        for report in serde_json::Deserializer::from_slice(&text).into_iter::<Earlier>() {
            let report = report.map_err(|error| {
                let (line, column, path) = (error.line(), error.column(), path.display());
                Failure::Usage(format!(
                    "{path}:{line}:{column}: not a report of `portent find --format json`: {error}"
                ))
            })?;
            baseline.add(report);
        }
        Ok(baseline)
    }

    /// Adds what a report has.
    pub(crate) fn add(&mut self, report: Earlier) {
        for one in report.findings.into_iter().chain(report.known) {
            let label = { self.findings.entry((one.kind, one.key)) }.or_insert(one.label);
            *label = (*label).max(one.label);
        }
    }

    /// Takes the findings that are known out of a report.
    pub(crate) fn remove_known(&self, found: &mut Found) {
        let all = std::mem::take(&mut found.report.findings).into_iter();
        let (known, new) = all.partition(|finding| self.knows(finding));
        found.report.findings = new;
        found.known = known;
    }

    fn knows(&self, finding: &Finding) -> bool {
        let key = (finding.kind.name().to_owned(), finding.key.clone());
        let label = match finding.label.name() {
            "observed" => EarlierLabel::Observed,
            "shown" => EarlierLabel::Shown,
            _ => EarlierLabel::Possible,
        };
        self.findings
            .get(&key)
            .is_some_and(|&earlier| earlier >= label)
    }
}
