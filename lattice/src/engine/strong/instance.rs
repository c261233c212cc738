//! One instance of a property under the model `strong`.

use super::{
    closure::hold_together,
    guards::Guards,
    question::{Steps, StrongQuestion},
};
use crate::{
    automaton::{ActionId, Automaton, StateIndex, TransitionSystem},
    engine::{
        Answer, Task,
        conjunctive::Trajectory,
        maximal::{
            FeasibleSearched, NodeBudget, Room, Rules, SliceInTrace, TraceSearch, examine,
            examine_conflicts,
        },
    },
    options::Options,
};

/// The whole trace, whose runs may leave things out, and the position of a slice's events in it.
pub(crate) struct LeavingOut<'a> {
    pub(crate) guards: &'a Guards,
    pub(crate) slice: SliceInTrace<'a>,
}

/// The approximate size of a cut in bytes, without its numbers.
const NODE_BYTES: u64 = 112;

/// Looks for a violated run that leaves things out, for when happens-before has none, within the memory limit and the budget.
/// The run ends where it is violated.
///
/// # Errors
///
/// A defect: what is wrong with the run that was found.
pub(crate) fn find_leaving_out(
    task: &Task,
    origin: &LeavingOut<'_>,
    conjunctions: Option<Vec<Vec<Trajectory>>>,
    options: &Options,
    budget: &mut StrongBudget,
) -> Result<FeasibleSearched, String> {
    let mut search = SearchLeavingOut {
        origin,
        conjunctions,
        options,
        budget,
    };
    origin.slice.find(task, options, &mut search)
}

struct SearchLeavingOut<'a> {
    origin: &'a LeavingOut<'a>,
    /// The conditions whose conjunction is a violation, if the property has this form.
    conjunctions: Option<Vec<Vec<Trajectory>>>,
    options: &'a Options,
    budget: &'a mut StrongBudget,
}

impl TraceSearch for SearchLeavingOut<'_> {
    fn search<M: TransitionSystem<State = StateIndex>>(
        &mut self,
        actions: Vec<Option<ActionId>>,
        machine: &M,
        table: Option<&Automaton>,
    ) -> Result<FeasibleSearched, String> {
        let (LeavingOut { guards, slice }, options) = (self.origin, self.options);
        let steps = Steps { actions };
        let question = StrongQuestion::new(
            guards,
            &steps,
            machine,
            table,
            options.reductions,
            &options.progress,
            &options.stop,
        );
        let conjunctions = self.conjunctions.take();
        let together = conjunctions.and_then(|all| hold_together(guards, &slice.events, &all));
        if let Some(cut) = together {
            let answer = match cut.and_then(|cut| question.follow(&cut)) {
                Some(run) => {
                    examine_in_order(slice.rules, &run.order)?;
                    Answer::Violated(slice.violation(&run))
                }
                None => Answer::Safe,
            };
            return Ok(FeasibleSearched::in_full(answer, slice.events.len()));
        }
        let threads = guards.threads.len();
        let node = 4 * threads as u64 + NODE_BYTES;
        let room = Room {
            fits: usize::try_from(options.memory / node).unwrap_or(usize::MAX),
            affordable: self.budget.nodes.nodes(threads),
        };
        let (searched, work) = question.answer(room.nodes(), self.budget.work);
        self.budget
            .nodes
            .spend(threads, searched.nodes + searched.left);
        self.budget.work = self.budget.work.saturating_sub(work);
        slice.outcome(searched, &room, options, examine_in_order)
    }
}

/// Returns what is wrong with a run that leaves things out, and swaps nothing that conflicts.
fn examine_in_order(rules: &Rules, order: &[usize]) -> Result<(), String> {
    examine(rules, order)?;
    examine_conflicts(rules, order)
}

/// A budget for searching all instances that are reported together.
#[derive(Clone, Debug)]
pub(crate) struct StrongBudget {
    nodes: NodeBudget,
    /// How often the pass may examine an event with a choice, in all.
    work: u64,
}

/// The budget if no maximum number of nodes was requested.
const WORK: u64 = 400_000_000;
/// The part of it that is spent if this model was not requested.
const TRIAL: u64 = 20;

impl StrongBudget {
    pub(crate) fn new(options: &Options) -> StrongBudget {
        StrongBudget {
            nodes: NodeBudget::new(options),
            work: options.max_nodes.map_or(WORK, |_| u64::MAX),
        }
    }

    /// The budget if another model was requested.
    pub(crate) fn of_trial() -> StrongBudget {
        StrongBudget {
            nodes: NodeBudget::part(TRIAL),
            work: WORK / TRIAL,
        }
    }

    /// Whether the budget is used up.
    pub(crate) fn is_spent(&self) -> bool {
        self.nodes.is_spent() || self.work == 0
    }
}
