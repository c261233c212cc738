//! What a search comes to, by one thread of the operating system or several.

use super::{KEPT, search::Search};
use crate::{
    describe,
    report::{Report, Stopped},
};

/// What several found together.
pub(super) fn merged(reports: impl Iterator<Item = Report>) -> Report {
    let mut all = Report::default();
    let mut classes = 0;
    for report in reports {
        all.executions += report.executions;
        all.blocked += report.blocked;
        all.deadlocks += report.deadlocks;
        all.failed += report.failed;
        all.unchecked += report.unchecked;
        all.posets += report.posets;
        classes += report.classes.unwrap_or_default();
        if report.stopped != Stopped::Exhausted && all.stopped != Stopped::Failure {
            all.stopped = report.stopped;
        }
        all.failures.extend(report.failures);
        for note in report.notes {
            if !all.notes.contains(&note) {
                all.notes.push(note);
            }
        }
    }
    // In an order that does not depend on who was faster.
    all.failures
        .sort_by(|one, other| one.token.cmp(&other.token));
    all.failures.truncate(KEPT);
    all.classes = Some(classes);
    all
}

impl Search<'_> {
    /// What there is to say at the end.
    pub(super) fn sum_up(&mut self) {
        let executions = self.report.executions;
        self.engine.with_state(|state| {
            self.report.classes = match &self.classes {
                Some(classes) => Some(classes.len() as u64),
                None => state.visits_classes_once().then_some(executions),
            };
            let notes = &mut self.report.notes;
            if let Some(token) = &self.replay {
                let same = describe::fingerprint(&describe::steps(state)) == token.fingerprint;
                notes.push(String::from(if same {
                    "this is a run that was repeated, and it did the same"
                } else {
                    "this is a run that was to be repeated, but it did something else: the program has changed, or does not always do the \
                     same"
                }));
            }
            if self.too_long > 0 {
                notes.push(format!(
                    "{} runs were stopped: too many steps",
                    self.too_long
                ));
            }
            if state.abandoned > 0 {
                notes.push(format!(
                    "{} threads could not be ended; their stacks are lost",
                    state.abandoned
                ));
            }
            if state.pauses {
                notes.push(String::from(
                    "a thread that looked again and again waited until something had changed",
                ));
            }
            self.report.posets = self.predictor.searched;
            self.report.unchecked = self.predictor.unchecked + self.predictor.gave_up;
            if let Some(relevance) = &state.relevance {
                notes.extend(relevance.missing());
                if self.predictor.unchecked > 0 {
                    notes.push(format!(
                        "{} runs were not checked: nobody knows what a variable of a property begins with, which has to be declared",
                        self.predictor.unchecked
                    ));
                }
                if self.predictor.gave_up > 0 {
                    notes.push(String::from(
                        "not every run that is equivalent to those that were seen was checked: a limit of the analyzer was met",
                    ));
                }
            }
            if state.survivors > 0 {
                notes.push(String::from(
                    "some objects are older than a run: what they hold is kept from run to run",
                ));
            }
        });
        if self.too_long > 0 && self.report.stopped == Stopped::Exhausted {
            self.report.stopped = Stopped::Steps;
        }
    }
}
