//! An earlier report, so that the same finding is not reported again on every commit.
//!
//! Lines and orders change from run to run, so a finding is identified by its property and the binding
//! of its parameters. A property whose text has changed counts as a different one. A violation that was
//! only predicted before and is now observed is new.

use portent_lattice::report::PropertyReport;
use portent_monitor_dsl::Verdict;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::HashMap, path::Path};

use super::trace::Outcome;
use crate::{failure::Failure, find, report::read_json};

/// The parts of a report that identify findings.
#[derive(Deserialize)]
struct EarlierCheck {
    properties: Vec<BaselineEntry>,
    /// The findings of a still earlier report.
    #[serde(default)]
    known: Vec<BaselineEntry>,
    /// The findings without a property.
    find: Option<find::EarlierFind>,
}

#[derive(Deserialize)]
struct BaselineEntry {
    name: String,
    binding: Map<String, Value>,
    /// Reports written by older versions do not have it.
    #[serde(default)]
    text: Option<String>,
    observed: BaselineObserved,
    predicted: BaselinePredicted,
}

#[derive(Deserialize)]
struct BaselineObserved {
    verdict: Verdict,
}

#[derive(Deserialize)]
struct BaselinePredicted {
    violated: bool,
}

/// The identity of a finding.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    name: String,
    binding: String,
    /// The property, if the report has it.
    text: Option<String>,
}

/// The violations of an earlier report.
pub(crate) struct CheckBaseline {
    /// Whether the observed run was violated.
    violations: HashMap<Key, bool>,
    /// The findings without a property.
    found: find::FindBaseline,
}

impl CheckBaseline {
    /// Reads what `check --format json` wrote.
    pub(crate) fn read(path: &Path) -> Result<CheckBaseline, Failure> {
        let mut violations = HashMap::new();
        let mut found = find::FindBaseline::default();
        for report in read_json::<EarlierCheck>(path, "check")? {
            if let Some(earlier) = report.find {
                found.add(earlier);
            }
            for entry in report.properties.into_iter().chain(report.known) {
                if entry.predicted.violated {
                    let observed = entry.observed.verdict == Verdict::Violated;
                    let key = Key {
                        name: entry.name,
                        binding: Value::Object(entry.binding).to_string(),
                        text: entry.text,
                    };
                    *violations.entry(key).or_default() |= observed;
                }
            }
        }
        Ok(CheckBaseline { violations, found })
    }

    /// Removes known findings from the outcome of an execution.
    pub(crate) fn remove_known(&self, outcome: &mut Outcome) {
        let all = std::mem::take(&mut outcome.report.properties).into_iter();
        let (known, new) = all.partition(|property| self.knows(property));
        outcome.report.properties = new;
        outcome.known = known;
        if let Some(found) = &mut outcome.found {
            self.found.remove_known(found);
        }
    }

    fn knows(&self, property: &PropertyReport) -> bool {
        if !property.predicted.violated {
            return false;
        }
        let binding = property.binding.iter().map(|(name, value)| {
            let value = serde_json::to_value(value).expect("a value is plain data");
            (name.clone(), value)
        });
        let binding = Value::Object(binding.collect()).to_string();
        let found = [Some(property.text.clone()), None].map(|text| {
            let (name, binding) = (property.name.clone(), binding.clone());
            self.violations.get(&Key {
                name,
                binding,
                text,
            })
        });
        let is_observed = property.observed.verdict == Verdict::Violated;
        let mut found = found.into_iter().flatten();
        found.any(|&observed| observed || !is_observed)
    }
}
