//! What is known after each run of a search.

use super::{KEPT, search::Search};
use crate::{confirm, describe, engine::State, random::mix, strategy::End};

impl Search<'_> {
    /// Takes a run into account; whether it failed.
    pub(super) fn count(&mut self, end: End) -> bool {
        if end == End::Blocked {
            self.report.blocked += 1;
            return false;
        }
        self.report.executions += 1;
        self.report.deadlocks += u64::from(end == End::Deadlock);
        self.engine.with_state(|state| {
            self.too_long += u64::from(std::mem::take(&mut state.too_long));
            if let Some(classes) = &mut self.classes {
                classes.insert(class(state));
            }
            let predicted = self.predictor.look(state);
            let is_room = self.report.failures.len() < KEPT;
            let failures = &mut self.report.failures;
            let mut has_failed = false;
            if let Some(fault) = state.faults.first() {
                has_failed = true;
                if is_room {
                    failures.push(describe::failure(state, fault));
                }
            }
            match predicted {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    has_failed = true;
                    if is_room {
                        let failure = describe::violation(state, answer);
                        if failure.confirmation.is_none()
                            && let Some(answer) = &failure.answer
                            && let Some(schedule) = confirm::schedule(state, answer)
                        {
                            self.witnesses.push((failures.len(), schedule));
                        }
                        failures.push(failure);
                    }
                }
                Err(error) => {
                    has_failed = true;
                    if is_room {
                        failures.push(describe::unanswered(state, &error));
                    }
                }
            }
            self.report.failed += u64::from(has_failed);
            has_failed
        })
    }
}

/// A number for the class of the last run: which events come after which, whatever threads are called.
pub(super) fn class(state: &State) -> u64 {
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
