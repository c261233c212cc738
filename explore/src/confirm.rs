//! A predicted violation is made to happen: the program is run once more, along the witness.
//!
//! A run knows all of its events and their order. Before each step of the witness comes all that this step comes after, as it was
//! observed, and nothing else; so every beginning of the new schedule is closed under what orders the run, and can be carried out. What
//! is left once the violation has happened goes on as it likes. Application events are steps of their own in it.

use portent_lattice::Report;

use crate::{engine::State, relevance::RelevantStep};

/// Whether a predicted violation could be made to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// The run itself is violated: nothing had to be predicted.
    Observed,
    /// It happened when the program was run along the witness.
    Confirmed,
    /// The program did something else; in a sentence, where first.
    NotReproduced(String),
}

/// The schedule that carries out the witness of the first violated property: what is to be chosen, point by point. `None` if the report
/// has no witness.
pub(crate) fn schedule(state: &State, report: &Report) -> Option<Vec<u32>> {
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
    let mut schedule = Vec::with_capacity(state.schedule.len());
    let first = { run.events().iter() }.find(|event| event.was_chosen());
    let first = first.map_or(state.schedule.len(), |event| event.point as usize);
    schedule.extend_from_slice(&state.schedule[..first]);
    for step in wanted {
        for event in 0..=step.event {
            if !is_emitted[event as usize] && run.precedes(event, step.event) {
                is_emitted[event as usize] = true;
                let done = &run.events()[event as usize];
                if done.was_chosen() {
                    schedule.extend_from_slice(choices_of(state, event as usize));
                } else {
                    schedule.push(u32::from(done.thread));
                }
            }
        }
    }
    Some(schedule)
}

/// What was chosen for an event, and after it, before another thread could go on: the values that its thread took.
fn choices_of(state: &State, event: usize) -> &[u32] {
    let events = state.run.events();
    let next = { events[event + 1..].iter() }.find(|event| event.was_chosen());
    let end = next.map_or(state.schedule.len(), |event| event.point as usize);
    &state.schedule[events[event].point as usize..end]
}
