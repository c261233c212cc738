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

/// The whole trace, of which runs may leave things out, and where the events of a slice are in it.
pub(crate) struct LeavingOut<'a> {
    pub(crate) guards: &'a Guards,
    pub(crate) slice: SliceInTrace<'a>,
}

/// About how many bytes a cut takes besides its numbers.
const NODE_BYTES: u64 = 112;

/// Looks for a violated run that leaves things out, where happens-before has none, within the memory limit and the budget. The run ends
/// where it is violated.
///
/// # Errors
///
/// What is wrong with the run that was found: a defect.
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
    /// What has to hold together for a violation, if the property says that.
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

/// Says what is wrong with a run that leaves things out, and swaps nothing that conflicts.
fn examine_in_order(rules: &Rules, order: &[usize]) -> Result<(), String> {
    examine(rules, order)?;
    examine_conflicts(rules, order)
}

/// What searches of all instances that are reported together may cost.
#[derive(Clone, Debug)]
pub(crate) struct StrongBudget {
    nodes: NodeBudget,
    /// How often the pass may look at an event with a choice.
    work: u64,
}

/// What is spent if nobody says how many nodes there may be.
const WORK: u64 = 400_000_000;
/// The part of that which is spent if nobody asked for this model.
const TRIAL: u64 = 20;

impl StrongBudget {
    pub(crate) fn new(options: &Options) -> StrongBudget {
        StrongBudget {
            nodes: NodeBudget::new(options),
            work: options.max_nodes.map_or(WORK, |_| u64::MAX),
        }
    }

    /// For those who asked for another model.
    pub(crate) fn of_trial() -> StrongBudget {
        StrongBudget {
            nodes: NodeBudget::part(TRIAL),
            work: WORK / TRIAL,
        }
    }

    /// Whether there is nothing left.
    pub(crate) fn is_spent(&self) -> bool {
        self.nodes.is_spent() || self.work == 0
    }
}
