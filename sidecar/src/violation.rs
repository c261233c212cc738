//! What callbacks are told.

use std::fmt;

use portent_lattice::report::PropertyReport;
use portent_monitor_core::Value;
use portent_monitor_dsl::Verdict;

use crate::Lost;

/// Some run that is causally equivalent to what has happened so far violates a property.
///
/// It is shown as one line for a log; the report has the witness.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// The property, its binding, and a run that is violated.
    pub report: PropertyReport,
    /// What was lost until then. If events are missing, or an order, it need not be real.
    pub lost: Lost,
    /// For how many events the observed order was taken to be the only one, as they were seen through `tracing` alone.
    pub assumed: u64,
}

impl Violation {
    /// Whether the run that was observed is violated itself, and not only another.
    pub fn is_observed(&self) -> bool {
        self.report.observed.verdict == Verdict::Violated
    }
}

/// The values of parameters, as people read them.
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
