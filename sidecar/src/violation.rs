//! What callbacks receive.

use std::fmt;

use portent_lattice::report::PropertyReport;
use portent_monitor_core::Value;
use portent_monitor_dsl::Verdict;

use crate::Lost;

/// Some run that is causally equivalent to what has happened so far violates a property.
///
/// Its `Display` is one line for a log; the report has the witness.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// The property, its binding, and a run that violates it.
    pub report: PropertyReport,
    /// What had been lost by then. If events or parts of the order are missing, the violation need not be real.
    pub lost: Lost,
    /// The number of events seen only through `tracing`, for which only the observed order was considered possible.
    pub assumed: u64,
}

impl Violation {
    /// Whether the observed run itself violates the property, and not only an equivalent one.
    pub fn is_observed(&self) -> bool {
        self.report.observed.verdict == Verdict::Violated
    }
}

/// The values of parameters, for people to read.
pub(crate) fn spelled(binding: &[(String, Value)]) -> String {
    let values = binding.iter();
    let values: Vec<String> = { values.map(|(name, value)| format!("{name} = {value}")) }.collect();
    values.join(", ")
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "property `{}`", self.report.name)?;
        if !self.report.binding.is_empty() {
            write!(f, " with {}", spelled(&self.report.binding))?;
        }
        f.write_str(if self.is_observed() {
            " was violated"
        } else {
            " can be violated"
        })?;
        if self.assumed > 0 {
            f.write_str(" (no order but the observed one was looked at)")?;
        }
        if !self.lost.is_nothing() {
            write!(
                f,
                ", unless that is because of what was lost: {}",
                self.lost
            )?;
        }
        Ok(())
    }
}
