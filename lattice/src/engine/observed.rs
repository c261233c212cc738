//! The observed run itself, which is always known.
//!
//! A limited search may give up, or leave out the very cuts that the observed run passes through, because others that commute
//! with them were meant to stand for them. The observed run is known nevertheless, and examining it takes one pass.

use super::{Solution, Violation};
use crate::{
    automaton::{ActionId, TransitionSystem},
    goal::Goal,
    order::EventIndex,
};

/// Makes the observed run the answer of a limited search, if that run is violated and the search found none that is violated
/// sooner.
pub(super) fn fall_back<M: TransitionSystem>(
    solution: &mut Solution,
    actions: &[ActionId],
    machine: &M,
    goal: Goal,
) {
    if solution.limit.is_none() {
        return;
    }
    let Some(violated_at) = violated_at(actions, machine, goal) else {
        return;
    };
    let found = solution.violation.as_ref();
    if found.is_some_and(|violation| violation.violated_at <= violated_at) {
        return;
    }
    solution.violation = Some(Violation {
        run: (0..actions.len() as u32).map(EventIndex).collect(),
        violated_at,
        is_shortest: violated_at == 0,
    });
}

/// The number of events after which the observed run is violated, if it is.
fn violated_at<M: TransitionSystem>(
    actions: &[ActionId],
    machine: &M,
    goal: Goal,
) -> Option<usize> {
    let mut state = machine.initial();
    for (done, &action) in actions.iter().enumerate() {
        if goal.is_bad(machine.verdict(&state), false) {
            return Some(done);
        }
        state = machine.step(&state, action);
    }
    goal.is_bad(machine.verdict(&state), true)
        .then_some(actions.len())
}
