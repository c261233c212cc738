//! Makes a predicted violation happen: runs the program once more, along the witness.
//!
//! An explored run knows all of its events and their order. Each step of the witness is preceded by exactly those steps that it depends
//! on, in the order they were observed. So every prefix of the new schedule is closed under the order of the run, and can be executed.
//! After the violation the rest runs freely. Application events are steps of the schedule, too. For runs that were recorded elsewhere, see
//! [`Explorer::confirm`](crate::Explorer::confirm).

use std::fmt;

use portent_lattice::Report;

use crate::{
    describe,
    engine::State,
    relevance::RelevantStep,
    report::{Failure, TakenStep},
};

/// Whether a predicted violation could be made to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// The run itself violates the property: nothing had to be predicted.
    Observed,
    /// The violation happened when the program was run along the witness.
    Confirmed,
    /// The program did something else; where it first differed.
    NotReproduced(Difference),
}

/// Where a run first differed from its witness.
///
/// ```
/// use portent_explore::Difference;
///
/// let mut difference = Difference::default();
/// difference.step = 3;
/// difference.thread = Some("worker".to_owned());
/// difference.expected = Some("`write x` at src/a.rs:3:9".to_owned());
/// difference.did = Some("it did `read x` at src/a.rs:7:9".to_owned());
/// assert_eq!(
///     difference.to_string(),
///     "after 3 steps worker was expected to do `write x` at src/a.rs:3:9, but it did `read x` at src/a.rs:7:9",
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// How many steps followed the witness.
    pub step: usize,
    /// The thread of the next step.
    pub thread: Option<String>,
    /// The expected step and its place in the source; `None` if all steps were taken but had another effect.
    pub expected: Option<String>,
    /// What happened instead, and where, as a clause.
    pub did: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(expected) = &self.expected else {
            return f.write_str(
                "the program did all steps in that order, but wrote other values or had other events: something that is not \
                 hooked decides these",
            );
        };
        let thread = self.thread.as_deref().unwrap_or("a thread");
        let did = self.did.as_deref().unwrap_or("it could not go on");
        write!(
            f,
            "after {} steps {thread} was expected to do {expected}, but {did}",
            self.step
        )
    }
}

/// The result of an attempt to make a prediction from a recorded run happen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// Whether it happened.
    pub confirmation: Confirmation,
    /// How many times the program was run.
    pub runs: u64,
    /// The schedule of the run in which it happened, to replay it.
    pub token: Option<String>,
    /// The failure of that run.
    pub failure: Option<Failure>,
    /// If it did not happen: whether one run of every class was explored, so that it cannot happen at all.
    pub is_exhaustive: bool,
}

impl Attempt {
    /// Whether it happened.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        !matches!(self.confirmation, Confirmation::NotReproduced(_))
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = match self.runs {
            1 => String::from("1 run"),
            runs => format!("{runs} runs"),
        };
        match (&self.confirmation, &self.failure, &self.token) {
            (Confirmation::NotReproduced(difference), ..) if self.is_exhaustive => write!(
                f,
                "Not reproduced: {difference}. No run of this program does it: one of every class was looked at, {runs}."
            ),
            (Confirmation::NotReproduced(difference), ..) => {
                write!(f, "Not reproduced within {runs}: {difference}.")
            }
            (_, Some(failure), _) => {
                write!(
                    f,
                    "Confirmed: it happened under the scheduler, in {runs}.\n{failure}"
                )
            }
            (_, None, Some(token)) => write!(
                f,
                "Confirmed: it happened under the scheduler, in {runs}.\n  PORTENT_REPLAY={token} repeats this run"
            ),
            _ => write!(f, "Confirmed: it happened under the scheduler, in {runs}."),
        }
    }
}

/// How to execute a witness of an explored run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The choices, point by point. Threads are numbered as in the explored run.
    pub(crate) schedule: Vec<u32>,
    /// The expected events.
    pub(crate) steps: Vec<TakenStep>,
    /// For each thread of the explored run, a name that does not depend on when it was spawned.
    pub(crate) paths: Vec<u64>,
}

/// How to execute the witness of the first violated property; `None` if the report has no witness.
pub(crate) fn plan(state: &State, report: &Report) -> Option<Plan> {
    let property = { report.properties.iter() }.find(|one| one.predicted.violated)?;
    let witness = property.predicted.witness.as_ref()?;
    let steps = &state.relevance.as_ref()?.steps;
    let until = usize::try_from(property.predicted.violated_at?).ok()?;
    let wanted = witness.iter().take(until).map(|row| {
        let number = row.line?.get() as usize - 1;
        steps.get(number)
    });
    let wanted: Vec<&RelevantStep> = wanted.collect::<Option<_>>()?;
    let run = &state.run;
    let mut is_emitted = vec![false; run.events().len()];
    let first = { run.events().iter() }.find(|event| event.was_chosen());
    let first = first.map_or(state.schedule.len(), |event| event.point as usize);
    let mut plan = Plan {
        schedule: state.schedule[..first].to_vec(),
        steps: Vec::new(),
        paths: state.threads.iter().map(|thread| thread.path).collect(),
    };
    for step in wanted {
        for event in 0..=step.event {
            if !is_emitted[event as usize] && run.precedes(event, step.event) {
                is_emitted[event as usize] = true;
                let done = &run.events()[event as usize];
                plan.steps.push(describe::taken_step(state, event as usize));
                if done.was_chosen() {
                    plan.schedule
                        .extend_from_slice(choices_of(state, event as usize));
                } else {
                    plan.schedule.push(u32::from(done.thread));
                }
            }
        }
    }
    Some(plan)
}

/// The choices made for an event, and the values its thread chose after it before another thread ran.
fn choices_of(state: &State, event: usize) -> &[u32] {
    let events = state.run.events();
    let next = { events[event + 1..].iter() }.find(|event| event.was_chosen());
    let end = next.map_or(state.schedule.len(), |event| event.point as usize);
    &state.schedule[events[event].point as usize..end]
}
