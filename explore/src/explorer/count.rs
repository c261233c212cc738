//! The running totals of a search, updated after each run.

use super::{KEPT, search::Search};
use crate::{
    confirm, describe,
    engine::State,
    error::Error,
    interleavings,
    predict::Looked,
    random::mix,
    report::{Failure, Report},
    strategy::End,
};

impl Search<'_> {
    /// Takes a run into account; whether it failed.
    pub(super) fn count(&mut self, end: End) -> bool {
        if end == End::Blocked {
            self.report.blocked += 1;
            return false;
        }
        self.report.executions += 1;
        self.report.deadlocks += u64::from(end == End::Deadlock);
        let engine = self.engine;
        engine.with_state(|state| {
            self.report.too_long += u64::from(std::mem::take(&mut state.too_long));
            self.count_class(state);
            let Looked { outcome, answer } = self.predictor.look(state);
            self.report.unknown += u64::from(outcome.unknown);
            self.report.gave_up += u64::from(outcome.gave_up);
            self.report.unchecked += u64::from(outcome.is_unchecked());
            for &race in state.run.data_races() {
                if self.races.insert(describe::race_key(state, race)) && self.has_room() {
                    self.report.failures.push(describe::race(state, race));
                }
            }
            let fault = state.faults.first();
            if let Some(fault) = fault
                && self.has_room()
            {
                self.report.failures.push(describe::failure(state, fault));
            }
            if let Some(answer) = answer
                && self.has_room()
            {
                let failure = self.failure_of(state, answer);
                self.report.failures.push(failure);
            }
            let races = state.run.data_races();
            let has_failed = fault.is_some() || !races.is_empty() || outcome.has_failed();
            self.report.failed += u64::from(has_failed);
            has_failed
        })
    }

    fn has_room(&self) -> bool {
        self.report.failures.len() < KEPT
    }

    /// The class of a run, where that has to be counted, and the interleavings that it stands for.
    fn count_class(&mut self, state: &State) {
        let is_new = { self.classes.as_mut() }.is_none_or(|classes| classes.insert(class(state)));
        if let Some(all) = &mut self.interleavings
            && is_new
        {
            let more = interleavings::count(&state.run, state.threads.len());
            *all = all.and_then(|all| all.checked_add(more?));
        }
    }

    /// What is wrong with the last run by its properties, and how to make that happen if it was only predicted.
    fn failure_of(
        &mut self,
        state: &State,
        answer: Result<portent_lattice::Report, Error>,
    ) -> Failure {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return describe::unanswered(state, &error),
        };
        let failure = describe::violation(state, answer);
        if failure.confirmation.is_none()
            && let Some(answer) = &failure.answer
            && let Some(plan) = confirm::plan(state, answer)
        {
            self.witnesses.push((self.report.failures.len(), plan));
        }
        failure
    }

    /// Nothing so far counts, for this reason.
    pub(super) fn begin_anew(&mut self, reason: &str) {
        let before = std::mem::take(&mut self.report);
        let mut notes = before.notes;
        notes.push(reason.to_owned());
        self.report = Report {
            notes,
            discarded: before.discarded + before.executions + before.blocked + 1,
            ..Report::default()
        };
        self.predictor.restart();
        self.witnesses.clear();
        self.races.clear();
        self.interleavings = self.interleavings.map(|_| Some(0));
        if let Some(classes) = &mut self.classes {
            classes.clear();
        }
        self.engine.with_state(|state| {
            state.too_long = false;
            state.kept_waiting = false;
        });
    }
}

/// A number for the class of the last run: which events come after which, whatever threads are called.
fn class(state: &State) -> u64 {
    let run = &state.run;
    let mut class = 0_u64;
    for (number, event) in run.events().iter().enumerate() {
        let mut row = mix(state.threads[usize::from(event.thread)].path);
        for (thread, &count) in state.threads.iter().zip(run.clock(number)) {
            row = row.wrapping_add(mix(thread.path ^ mix(u64::from(count))));
        }
        class = class.wrapping_add(mix(row));
    }
    for thread in &state.threads {
        class = class.wrapping_add(mix(thread.path ^ thread.choices));
    }
    class
}
