//! Which runs a search is for.

use portent_monitor_dsl::Verdict;

/// When a run counts as violated; see [`Options::complete`](crate::Options::complete).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Goal {
    /// The trace ended for good: a run that is pending at its end is violated.
    pub complete: bool,
}

impl Goal {
    /// Whether a run with this verdict, at the end of the trace or before, is looked for.
    pub fn is_bad(self, verdict: Verdict, at_end: bool) -> bool {
        verdict == Verdict::Violated || (self.complete && at_end && verdict == Verdict::Pending)
    }
}
