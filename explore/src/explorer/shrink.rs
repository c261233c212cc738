//! Looks for a schedule of the same failure with the fewest preemptions.
//!
//! In the simplest schedule the current thread runs as long as it can, and then the first one that can. A schedule is stored as its deviations
//! from that. They are left out one by one as long as the same failure occurs. Then all runs with fewer preemptions are searched; only if
//! that search finishes is the number called the fewest.

use std::{cell::RefCell, rc::Rc};

use portent_hooks::control::Ended;
use portent_lattice::Report as Answer;
use portent_monitor_dsl::Verdict;

use super::search::Search;
use crate::{
    describe::{self, RaceKey},
    engine::{Engine, Fault, State},
    report::{Failure, Shrunk},
    run::DataRace,
    strategy::{Course, Next, Preemption, Replay, Wanted},
    token::Token,
};

/// What goes wrong in a run; of two runs with the same one is as good as the other.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Symptom {
    /// Somebody panics there.
    Panic(String),
    Deadlock,
    /// These two accesses are not in order.
    Race(RaceKey),
    /// These properties are violated by the run itself.
    Violated(Vec<String>),
}

impl Course {
    /// What is to be small: interruptions first.
    fn size(&self) -> (u32, usize) {
        (self.preemptions, self.deviations.len())
    }
}

/// What is wrong with a run, or the first of that.
enum Wrong<'a> {
    Race(DataRace),
    Fault(&'a Fault),
    /// The run itself violates a property.
    Violation(Box<Answer>),
}

impl Wrong<'_> {
    fn symptom(&self, state: &State) -> Option<Symptom> {
        Some(match self {
            Wrong::Race(race) => Symptom::Race(describe::race_key(state, *race)),
            Wrong::Fault(Fault::Panicked(_, message)) => {
                let place = message.place.clone();
                Symptom::Panic(place.unwrap_or_else(|| message.text.clone()))
            }
            Wrong::Fault(Fault::Deadlock(_)) => Symptom::Deadlock,
            Wrong::Fault(_) => return None,
            Wrong::Violation(answer) => {
                let violated = answer.properties.iter();
                let violated =
                    violated.filter(|property| property.observed.verdict == Verdict::Violated);
                Symptom::Violated(violated.map(|property| property.name.clone()).collect())
            }
        })
    }

    fn failure(self, state: &State) -> Failure {
        match self {
            Wrong::Race(race) => describe::race(state, race),
            Wrong::Fault(fault) => describe::failure(state, fault),
            Wrong::Violation(answer) => describe::violation(state, *answer),
        }
    }
}

impl Search<'_> {
    /// Looks for a run with fewer interruptions in which the same goes wrong as in the one that ended the search.
    pub(super) fn shrink(&mut self, main: &dyn Fn() -> Ended) {
        if self.settings.keep_going || self.replay.is_some() || self.settings.shrinking == 0 {
            return;
        }
        let [failure] = self.report.failures.as_slice() else {
            return;
        };
        let Ok(token) = Token::read(&failure.token) else {
            return;
        };
        let confirmation = failure.confirmation.clone();
        let engine = self.engine;
        engine.with_state(|state| state.chooses_events = token.chooses_events);
        let mut shrinking = Shrinking {
            left: self.settings.shrinking,
            search: self,
            main,
        };
        let schedule = token.schedule.iter().copied().enumerate().collect();
        let Some((course, symptom)) = shrinking.run(schedule) else {
            return;
        };
        let from = course.preemptions;
        let course = shrinking.leave_out(course, &symptom);
        // What earlier runs left out was told already.
        shrinking.left_something_out();
        let (preemptions, is_fewest) = shrinking.search_below(course.preemptions, &symptom);
        // The last run is to be the one that is shown.
        let schedule = match preemptions {
            Some(schedule) => schedule,
            None => course.deviations,
        };
        let runs = shrinking.search.settings.shrinking - shrinking.left;
        let Some((course, again)) = shrinking.run_at_last(schedule) else {
            return;
        };
        if again != symptom {
            return;
        }
        let shrunk = Shrunk {
            from,
            to: course.preemptions,
            runs,
            is_fewest,
        };
        let shown = engine.with_state(|state| Some(self.wrong(state)?.failure(state)));
        self.report.failures = vec![Failure {
            shrunk: Some(shrunk),
            confirmation,
            ..shown.expect("the same was wrong with it a moment ago")
        }];
    }

    /// What is wrong with the last run.
    fn wrong<'s>(&mut self, state: &'s State) -> Option<Wrong<'s>> {
        if let Some(&race) = state.run.data_races().first() {
            return Some(Wrong::Race(race));
        }
        if let Some(fault) = state.faults.first() {
            return Some(Wrong::Fault(fault));
        }
        state.relevance.as_ref()?;
        let answer = self.predictor.answer(state).ok();
        let violates = answer.filter(describe::is_observed)?;
        Some(Wrong::Violation(Box::new(violates)))
    }
}

/// Runs that look for a smaller one.
struct Shrinking<'a, 'b> {
    search: &'a mut Search<'b>,
    main: &'a dyn Fn() -> Ended,
    /// How many runs there may still be.
    left: u64,
}

impl Shrinking<'_, '_> {
    fn engine(&self) -> &Engine {
        self.search.engine
    }

    /// How a run with these deviations goes, and what goes wrong in it, if something does.
    fn run(&mut self, wanted: Wanted) -> Option<(Course, Symptom)> {
        self.left = self.left.checked_sub(1)?;
        self.run_at_last(wanted)
    }

    /// The same, whatever is left.
    fn run_at_last(&mut self, wanted: Wanted) -> Option<(Course, Symptom)> {
        let course = Rc::new(RefCell::new(Course::default()));
        let strategy = Replay::deviating(wanted, Rc::clone(&course));
        self.engine()
            .with_state(|state| state.set_strategy(Box::new(strategy)));
        self.engine().run(self.main, 0);
        let symptom = self.symptom()?;
        Some((course.take(), symptom))
    }

    fn symptom(&mut self) -> Option<Symptom> {
        let engine = self.search.engine;
        engine.with_state(|state| self.search.wrong(state)?.symptom(state))
    }

    /// Leaves out one deviation after the other, the last ones first, as long as that changes nothing.
    fn leave_out(&mut self, mut best: Course, symptom: &Symptom) -> Course {
        let mut tried = usize::MAX;
        while let Some((&point, _)) = best.deviations.range(..tried).next_back() {
            tried = point;
            let mut fewer = best.deviations.clone();
            fewer.remove(&point);
            match self.run(fewer) {
                Some((course, same)) if same == *symptom && course.size() < best.size() => {
                    best = course;
                    // What could not be left out before may now be.
                    tried = usize::MAX;
                }
                None if self.left == 0 => break,
                _ => {}
            }
        }
        best
    }

    /// Searches all runs with fewer interruptions. What one of them did, if that was found; and whether there are none with even fewer.
    fn search_below(&mut self, preemptions: u32, symptom: &Symptom) -> (Option<Wanted>, bool) {
        let mut is_complete = true;
        for bound in 0..preemptions {
            self.engine()
                .with_state(|state| state.set_strategy(Box::new(Preemption::new(bound))));
            let mut is_bound_complete = true;
            let mut keep = 0;
            loop {
                let Some(left) = self.left.checked_sub(1) else {
                    return (None, false);
                };
                self.left = left;
                let next = self.engine().run(self.main, keep).next;
                if self.symptom().as_ref() == Some(symptom) {
                    let schedule = self.engine().with_state(|state| state.schedule.clone());
                    let wanted = schedule.into_iter().enumerate().collect();
                    return (Some(wanted), is_complete);
                }
                is_bound_complete &= !self.left_something_out();
                match next {
                    Next::Keep(points) => keep = points,
                    Next::Restart(_) => keep = 0,
                    Next::Exhausted | Next::Bounded => break,
                    Next::Enough => return (None, false),
                }
            }
            is_complete &= is_bound_complete;
        }
        (None, is_complete)
    }

    /// Whether there is more to the last run than was searched: it had too many steps, or others had to wait while a thread unwound.
    fn left_something_out(&mut self) -> bool {
        self.engine().with_state(|state| {
            let was_too_long = std::mem::take(&mut state.too_long);
            std::mem::take(&mut state.kept_waiting) || was_too_long
        })
    }
}
