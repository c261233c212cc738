//! The automaton that a goal asks for.

use portent_monitor_dsl::Verdict;

use super::{ActionId, Automaton};
use crate::goal::Goal;

impl Goal {
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
