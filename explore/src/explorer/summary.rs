//! The combined result of a search, on one OS thread or several.

use std::collections::HashSet;

use super::{KEPT, search::Search};
use crate::{
    describe,
    engine::Options,
    report::{FailureKind, Report, Stopped},
};

/// What several found together.
pub(super) fn merged(reports: impl Iterator<Item = Report>) -> Report {
    let mut all = Report::default();
    let mut classes = 0;
    for (number, report) in reports.enumerate() {
        all.executions += report.executions;
        all.blocked += report.blocked;
        all.deadlocks += report.deadlocks;
        all.failed += report.failed;
        all.unchecked += report.unchecked;
        all.unknown += report.unknown;
        all.gave_up += report.gave_up;
        all.too_long += report.too_long;
        all.kept_waiting |= report.kept_waiting;
        all.posets += report.posets;
        classes += report.classes.unwrap_or_default();
        all.interleavings = match number {
            0 => report.interleavings,
            _ => { all.interleavings.zip(report.interleavings) }
                .and_then(|(one, other)| one.checked_add(other)),
        };
        if report.stopped != Stopped::Exhausted && all.stopped != Stopped::Failure {
            all.stopped = report.stopped;
        }
        all.failures.extend(report.failures);
        add(&mut all.unmodelled, report.unmodelled);
        add(&mut all.notes, report.notes);
    }
    // In an order that does not depend on who was faster.
    all.failures
        .sort_by(|one, other| one.token.cmp(&other.token));
    // Each of them may have found the same data race.
    let mut races = HashSet::new();
    { &mut all.failures }
        .retain(|one| one.kind != FailureKind::Race || races.insert(one.message.clone()));
    all.failures.truncate(KEPT);
    all.classes = Some(classes);
    all
}

/// Those that are not there yet.
fn add<T: PartialEq>(to: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !to.contains(&one) {
            to.push(one);
        }
    }
}

impl Search<'_> {
    /// What there is to say at the end.
    pub(super) fn sum_up(&mut self, options: Options) {
        let executions = self.report.executions;
        self.engine.with_state(|state| {
            self.report.classes = match &self.classes {
                Some(classes) => Some(classes.len() as u64),
                None => state.visits_classes_once().then_some(executions),
            };
            self.report.interleavings = self.interleavings.flatten();
            self.report.kept_waiting |= state.kept_waiting;
            self.report.unmodelled = state.used.unmodelled(options);
            self.report.posets = self.predictor.searched;
            let notes = &mut self.report.notes;
            notes.extend(state.remark());
            if let Some(token) = &self.replay {
                let same = describe::fingerprint(&describe::steps(state)) == token.fingerprint;
                notes.push(String::from(if same {
                    "this is a run that was repeated, and it did the same"
                } else {
                    "this is a run that was to be repeated, but it did something else: the program has changed, or does not always do the \
                     same"
                }));
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
            if state.waits_again {
                notes.push(String::from(
                    "where a thread waited for some time again before it had changed anything, that time was over only when nobody else \
                     could go on",
                ));
            }
            if let Some(relevance) = &state.relevance {
                notes.extend(relevance.missing());
            }
            if state.survivors > 0 {
                notes.push(String::from(
                    "some objects are older than a run: what they hold is kept from run to run",
                ));
            }
        });
        if self.report.too_long > 0 && self.report.stopped == Stopped::Exhausted {
            self.report.stopped = Stopped::Steps;
        }
    }
}
