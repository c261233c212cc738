//! An earlier report, so that the same finding is not reported again on every commit.
//!
//! A finding is identified by its kind and its locations, or by names if it has none. A finding that was only possible before
//! and is now shown, or observed, is new.

use portent_findings::report::Finding;
use serde::Deserialize;
use std::{collections::HashMap, path::Path};

use super::trace::Found;
use crate::{failure::Failure, report::read_json};

/// The findings of an earlier report, and those of a still earlier one.
#[derive(Deserialize)]
pub(crate) struct EarlierFind {
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

/// From the least to the most certain.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum EarlierLabel {
    Possible,
    Shown,
    Observed,
}

/// The findings of earlier reports, and their certainty.
#[derive(Default)]
pub(crate) struct FindBaseline {
    findings: HashMap<(String, String), EarlierLabel>,
}

impl FindBaseline {
    /// Reads what `find --format json` wrote.
    pub(crate) fn read(path: &Path) -> Result<FindBaseline, Failure> {
        let mut baseline = FindBaseline::default();
        for report in read_json(path, "find")? {
            baseline.add(report);
        }
        Ok(baseline)
    }

    /// Adds the findings of a report.
    pub(crate) fn add(&mut self, report: EarlierFind) {
        for one in report.findings.into_iter().chain(report.known) {
            let label = { self.findings.entry((one.kind, one.key)) }.or_insert(one.label);
            *label = (*label).max(one.label);
        }
    }

    /// Removes known findings from a report.
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
