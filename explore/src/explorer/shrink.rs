//! A failure is shown by a run that interrupts threads as seldom as could be found.
//!
//! A schedule is what it does otherwise than the simplest one, in which whoever runs goes on, and else the first who can. Of these deviations one
//! after the other is left out, as long as the same goes wrong. Then every run with fewer interruptions than are left is searched: only if that came to
//! its end are they called the fewest.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use portent_hooks::control::Ended;
use portent_monitor_dsl::Verdict;

use super::search::Search;
use crate::{
    describe::{self, RaceKey},
    engine::{Engine, Fault, State},
    report::{Failure, Shrunk},
    run::Run,
    strategy::{Choice, End, Next, Point, Preemption, Strategy},
    token::{Chosen, Token},
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

/// What a run did otherwise than the simplest one: what was chosen, by point.
type Deviations = BTreeMap<usize, u32>;

/// How a run went.
#[derive(Clone, Debug, Default)]
struct Course {
    deviations: Deviations,
    /// How often somebody was interrupted who could have gone on.
    preemptions: u32,
}

impl Course {
    /// What is to be small: interruptions first.
    fn size(&self) -> (u32, usize) {
        (self.preemptions, self.deviations.len())
    }
}

/// One run that deviates where it is to, and tells where it did.
struct Deviating {
    wanted: Deviations,
    course: Rc<RefCell<Course>>,
}

impl Strategy for Deviating {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let stay = at.stay(at.enabled).unwrap_or_default();
        let chosen = match self.wanted.get(&at.step).map(|entry| Chosen::of(*entry)) {
            Some(Chosen::Thread(thread)) if at.enabled.has(thread) => thread as usize,
            _ => stay,
        };
        if chosen != stay {
            let course = &mut *self.course.borrow_mut();
            course.deviations.insert(at.step, chosen as u32);
            course.preemptions += u32::from(at.enabled.contains(at.current));
        }
        Choice::Run(chosen)
    }

    fn pick(&mut self, at: usize, values: u32) -> u32 {
        match self.wanted.get(&at).map(|entry| Chosen::of(*entry)) {
            Some(Chosen::Value(value)) if 0 < value && value < values => {
                let entry = Chosen::Value(value).entry();
                self.course.borrow_mut().deviations.insert(at, entry);
                value
            }
            _ => 0,
        }
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        Next::Enough
    }

    fn wants_clocks(&self) -> bool {
        false
    }

    fn restart(&mut self) {}
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
        let original = failure.clone();
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
        let shown = engine.with_state(|state| self.describe(state, &original));
        self.report.failures = vec![Failure {
            shrunk: Some(shrunk),
            ..shown
        }];
    }

    /// What is wrong with the last run.
    fn symptom(&mut self, state: &State) -> Option<Symptom> {
        if let Some(&race) = state.run.data_races().first() {
            return Some(Symptom::Race(describe::race_key(state, race)));
        }
        match state.faults.first() {
            Some(Fault::Panicked(_, message)) => {
                let place = message.place.clone();
                Some(Symptom::Panic(
                    place.unwrap_or_else(|| message.text.clone()),
                ))
            }
            Some(Fault::Deadlock(_)) => Some(Symptom::Deadlock),
            Some(_) => None,
            None => {
                state.relevance.as_ref()?;
                let answer = self.predictor.answer(state).ok()?;
                let violated = answer.properties.iter();
                let violated =
                    violated.filter(|property| property.observed.verdict == Verdict::Violated);
                let names: Vec<String> = violated.map(|property| property.name.clone()).collect();
                (!names.is_empty()).then_some(Symptom::Violated(names))
            }
        }
    }

    /// The last run as a failure.
    fn describe(&mut self, state: &State, original: &Failure) -> Failure {
        if let Some(&race) = state.run.data_races().first() {
            return describe::race(state, race);
        }
        match state.faults.first() {
            Some(fault) => describe::failure(state, fault),
            None => match self.predictor.answer(state) {
                Ok(answer) => Failure {
                    confirmation: original.confirmation.clone(),
                    ..describe::violation(state, answer)
                },
                Err(_) => original.clone(),
            },
        }
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
    fn run(&mut self, wanted: Deviations) -> Option<(Course, Symptom)> {
        self.left = self.left.checked_sub(1)?;
        self.run_at_last(wanted)
    }

    /// The same, whatever is left.
    fn run_at_last(&mut self, wanted: Deviations) -> Option<(Course, Symptom)> {
        let course = Rc::new(RefCell::new(Course::default()));
        let strategy = Deviating {
            wanted,
            course: Rc::clone(&course),
        };
        self.engine()
            .with_state(|state| state.set_strategy(Box::new(strategy)));
        self.engine().run(self.main, 0);
        let symptom = self.symptom()?;
        Some((course.take(), symptom))
    }

    fn symptom(&mut self) -> Option<Symptom> {
        let engine = self.search.engine;
        engine.with_state(|state| self.search.symptom(state))
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

    /// Searches all runs with fewer interruptions. The deviations of one of them, if that was found; and whether there are none with even fewer.
    fn search_below(&mut self, preemptions: u32, symptom: &Symptom) -> (Option<Deviations>, bool) {
        for bound in 0..preemptions {
            self.engine()
                .with_state(|state| state.set_strategy(Box::new(Preemption::new(bound))));
            let mut keep = 0;
            loop {
                let Some(left) = self.left.checked_sub(1) else {
                    return (None, false);
                };
                self.left = left;
                let next = self.engine().run(self.main, keep).next;
                if self.symptom().as_ref() == Some(symptom) {
                    let schedule = self.engine().with_state(|state| state.schedule.clone());
                    return (Some(schedule.into_iter().enumerate().collect()), true);
                }
                match next {
                    Next::Keep(points) => keep = points,
                    Next::Restart(_) => keep = 0,
                    Next::Exhausted | Next::Bounded => break,
                    Next::Enough => return (None, false),
                }
            }
        }
        (None, true)
    }
}
