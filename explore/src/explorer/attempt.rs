//! Makes happen, under the scheduler, what was predicted from a recorded run.
//!
//! If everything was recorded, one run suffices: it follows the recording in the order of the witness. If only relevant events were
//! recorded, or the witness does not respect the recorded order, random runs hold each thread whose next relevant step is not due. If
//! these do not succeed either, all classes of runs are searched, within a bound.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Explorer, search::Settings};
use crate::{
    confirm::{Attempt, Confirmation, Difference},
    describe,
    error::Error,
    execution::Execution,
    recorded::{RecordedRun, Witness},
    relevance::Relevance,
    report::{FailureKind, Report, Stopped},
    strategy::{Follow, Hold, Script, SharedOutcome, Source, Strategy},
};

/// How many runs hold threads back before all classes of runs are searched.
const HELD: u64 = 50;
/// How many runs of that search there are, if nothing else is said.
const SEARCHED: u64 = 1_000;

impl Explorer {
    /// Makes happen what was predicted from a recorded run: the program is run along the witness.
    ///
    /// It is confirmed if the run violates one of the properties; without properties, if the steps of the witness happened in their
    /// order. The recording has to be of this program. The strategy is not asked; [`max_runs`](Explorer::max_runs) bounds the search
    /// where one run is not enough.
    ///
    /// ```
    /// use portent_explore::{Explorer, RecordedRun, Witness};
    /// use portent_hooks::{Recording, Shared, thread};
    ///
    /// fn program() {
    ///     let ready = Shared::with_name("ready", 0);
    ///     let result = Shared::with_name("result", 0);
    ///     thread::scope(|scope| {
    ///         scope.spawn(|| result.set(42));
    ///         scope.spawn(|| ready.set(1));
    ///     });
    /// }
    ///
    /// let (recording, mut stream) = Recording::everything().start();
    /// let entered = recording.enter();
    /// program();
    /// drop(entered);
    /// let events: Vec<_> = stream.finish().into_iter().map(|recorded| recorded.event).collect();
    /// let run = RecordedRun::new(events, portent_hooks::symbols());
    ///
    /// // The other way round: what was written last comes first.
    /// let writes = (0..run.events().len()).filter(|&event| run.events()[event].writes().next().is_some());
    /// let mut backwards: Vec<usize> = writes.collect();
    /// backwards.reverse();
    /// let attempt = Explorer::new().confirm(&run, &Witness::new(backwards), program)?;
    /// assert!(attempt.is_confirmed());
    /// assert_eq!(attempt.runs, 1);
    /// # Ok::<(), portent_explore::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the witness is not one of this recording, or a property is not about what an exploration sees.
    ///
    /// # Panics
    ///
    /// If it is called by a program that is explored.
    pub fn confirm(
        &self,
        run: &RecordedRun,
        witness: &Witness,
        program: impl Fn(),
    ) -> Result<Attempt, Error> {
        let relevance = Relevance::new(&self.monitors)?;
        let order = run.order(witness)?;
        let mut attempt = Attempt::none();
        if run.has_operations() && order.is_possible {
            let script = Script::new(run, &order, |event| relevance.wants(event));
            self.follow(run, script, &mut attempt, &program);
        }
        if !attempt.is_confirmed() {
            self.hold(run, witness, &mut attempt, &program);
        }
        if !attempt.is_confirmed() && !self.monitors.is_empty() {
            let runs = self.bound(SEARCHED);
            let report = self.attempt(Box::new(Source::new()), false, runs, &|_| {}, &program);
            attempt.is_exhaustive = report.stopped == Stopped::Exhausted;
            attempt.add(report);
        }
        Ok(attempt)
    }

    /// One run in the order of the script.
    fn follow(&self, run: &RecordedRun, script: Script, attempt: &mut Attempt, program: &dyn Fn()) {
        let outcome = SharedOutcome::default();
        let seen = Mutex::new((None, None));
        let look = |execution: &Execution<'_>| {
            let deviation = locked(&outcome).deviation.clone();
            let difference =
                deviation.map(|deviation| describe::deviation(execution.state(), run, &deviation));
            *locked(&seen) = (difference, Some(execution.token()));
        };
        let strategy = Box::new(Follow::new(script, Arc::clone(&outcome)));
        let report = self.attempt(strategy, true, 1, &look, program);
        attempt.add(report);
        let (difference, token) = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.monitors.is_empty() && locked(&outcome).is_complete {
            attempt.has_happened(token);
        } else if let Confirmation::NotReproduced(known) = &mut attempt.confirmation {
            *known = difference.unwrap_or_default();
        }
    }

    /// Random runs in which relevant steps come in the order of the witness.
    fn hold(
        &self,
        run: &RecordedRun,
        witness: &Witness,
        attempt: &mut Attempt,
        program: &dyn Fn(),
    ) {
        let outcome = SharedOutcome::default();
        let token = Mutex::new(None);
        let look = |execution: &Execution<'_>| {
            if locked(&outcome).is_complete {
                *locked(&token) = Some(execution.token());
            }
        };
        let runs = self.bound(HELD);
        let strategy = Hold::new(run, witness, runs, Arc::clone(&outcome));
        // With a property, what counts is its violation, not whether the order was kept.
        let strategy = Box::new(strategy.for_its_own_sake(self.monitors.is_empty()));
        let report = self.attempt(strategy, true, runs, &look, program);
        attempt.add(report);
        if self.monitors.is_empty() && locked(&outcome).is_complete {
            attempt.has_happened(token.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Runs a program with a strategy of our own until something fails. `chooses_events`: application events are steps, too.
    fn attempt(
        &self,
        strategy: Box<dyn Strategy>,
        chooses_events: bool,
        runs: u64,
        look: &(dyn Fn(&Execution<'_>) + Send + Sync),
        program: &dyn Fn(),
    ) -> Report {
        let mut settings = Settings {
            runs,
            keep_going: false,
            each: Some(look),
            file: None,
            saved: None,
            // The number of runs is reported, so there must be no additional ones.
            shrinking: 0,
            counts_interleavings: false,
            chooses_events,
            ..self.settings()
        };
        settings.limits.repeated = 0;
        settings.search(strategy, None, None, program).report
    }

    /// This many runs, or the user's limit if that is lower.
    fn bound(&self, runs: u64) -> u64 {
        runs.min(self.runs).max(1)
    }
}

impl Attempt {
    fn none() -> Attempt {
        Attempt {
            confirmation: Confirmation::NotReproduced(Difference::default()),
            runs: 0,
            token: None,
            failure: None,
            is_exhaustive: false,
        }
    }

    /// Confirmed by the order of the steps alone, without a property.
    fn has_happened(&mut self, token: Option<String>) {
        self.confirmation = Confirmation::Confirmed;
        self.token = token;
    }

    /// Adds the result of further runs.
    fn add(&mut self, report: Report) {
        self.runs += report.executions + report.blocked;
        let violated = { report.failures.iter() }.find(|one| one.kind == FailureKind::Property);
        match violated.and_then(|failure| failure.confirmation.as_ref()) {
            Some(Confirmation::Observed) => self.confirmation = Confirmation::Confirmed,
            Some(Confirmation::Confirmed) => {
                self.runs += 1;
                self.confirmation = Confirmation::Confirmed;
            }
            Some(Confirmation::NotReproduced(_)) => self.runs += 1,
            None => {}
        }
        let failure = violated.or(report.failures.first());
        self.token = failure.map(|failure| failure.token.clone());
        self.failure = failure.cloned();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
