//! Which runs are looked for.

use portent_monitor_dsl::Verdict;

use crate::{ActionId, Automaton, RunCounts};

/// When a run counts as violated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// The trace ended for good: a run that is pending at its end is violated.
    pub complete: bool,
}

impl Goal {
    /// Whether a run with this verdict, at the end of the trace or before, is looked for.
    pub fn is_bad(self, verdict: Verdict, at_end: bool) -> bool {
        verdict == Verdict::Violated || (self.complete && at_end && verdict == Verdict::Pending)
    }

    /// The counts of runs with those that are looked for counted as violated.
    pub(crate) fn count(self, mut counts: RunCounts) -> RunCounts {
        if self.complete {
            counts.violated += std::mem::take(&mut counts.pending);
        }
        counts
    }

    /// The automaton with only the verdicts that matter told apart, and for each action its number
    /// in it. It is smaller, and more of its actions commute.
    pub(crate) fn automaton(self, automaton: &Automaton) -> (Automaton, Vec<ActionId>) {
        automaton.minimal(|verdict| match verdict {
            Verdict::Violated => 0,
            Verdict::Pending if self.complete => 1,
            _ => 2,
        })
    }
}
