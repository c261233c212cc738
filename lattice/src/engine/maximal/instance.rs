//! One instance of a property under the maximal model.

use super::{
    examine::examine,
    in_trace::{FeasibleSearched, NodeBudget, Room, SliceInTrace, TraceSearch},
    question::FeasibilityQuestion,
};
use crate::{
    automaton::{ActionId, Automaton, StateIndex, TransitionSystem},
    engine::Task,
    options::Options,
};

/// Looks for a violated run that is feasible, within the memory limit and the budget. The run may end where
/// it is violated.
///
/// # Errors
///
/// A defect: what is wrong with the run that was found.
pub(crate) fn find_feasible(
    task: &Task,
    origin: &SliceInTrace<'_>,
    options: &Options,
    budget: &mut NodeBudget,
) -> Result<FeasibleSearched, String> {
    let mut search = FeasibleSearch {
        origin,
        options,
        budget,
    };
    origin.find(task, options, &mut search)
}

struct FeasibleSearch<'a> {
    origin: &'a SliceInTrace<'a>,
    options: &'a Options,
    budget: &'a mut NodeBudget,
}

impl TraceSearch for FeasibleSearch<'_> {
    fn search<M: TransitionSystem<State = StateIndex>>(
        &mut self,
        actions: Vec<Option<ActionId>>,
        machine: &M,
        table: Option<&Automaton>,
    ) -> Result<FeasibleSearched, String> {
        let (rules, options) = (self.origin.rules, self.options);
        let question = FeasibilityQuestion {
            rules,
            actions: &actions,
            machine,
            table,
            goal: options.goal,
            reductions: options.reductions,
            progress: &options.progress,
            stop: &options.stop,
        };
        let numbers = rules.threads.len() + rules.contended;
        let room = Room {
            fits: question.nodes_in(options.memory),
            affordable: self.budget.nodes(numbers),
        };
        let searched = question.answer(room.nodes());
        self.budget.spend(numbers, searched.nodes + searched.left);
        self.origin.outcome(searched, &room, options, examine)
    }
}
