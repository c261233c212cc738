//! One instance of a property under the model `strong`: from its slice to the events of the whole trace, and back.

use super::{
    closure::hold_together,
    guards::Guards,
    question::{Steps, StrongQuestion},
};
use crate::{
    automaton::{ActionId, Automaton, Numbered, StateIndex, TransitionSystem},
    engine::{
        Answer, Limit, Searched, Task,
        conjunctive::Trajectory,
        maximal::{
            FeasibilityAnswer, FeasibilitySearched, FeasibleRun, FeasibleSearched, SliceInTrace,
            examine, examine_conflicts,
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
    match task {
        Task::Table(problem) => {
            if let Some(nodes) = origin.slice.relaxed(problem, options) {
                return Ok(FeasibleSearched {
                    found: Searched::in_full(Answer::Safe, nodes),
                    limit: None,
                });
            }
            let (automaton, numbers) = options.goal.automaton(&problem.automaton);
            let actions = problem.actions.iter();
            let actions = actions.map(|action| numbers[action.0 as usize]);
            let table = Some(&automaton);
            origin.search(actions, &automaton, table, conjunctions, options, budget)
        }
        Task::Open(_, actions, product) => {
            let actions = actions.iter().copied();
            let numbered = Numbered::new(product.as_ref());
            origin.search(actions, &numbered, None, conjunctions, options, budget)
        }
    }
}

impl LeavingOut<'_> {
    fn search<M: TransitionSystem<State = StateIndex>>(
        &self,
        actions: impl Iterator<Item = ActionId>,
        machine: &M,
        table: Option<&Automaton>,
        conjunctions: Option<Vec<Vec<Trajectory>>>,
        options: &Options,
        budget: &mut StrongBudget,
    ) -> Result<FeasibleSearched, String> {
        let mut of_trace = vec![None; self.guards.len()];
        for (&event, action) in self.slice.events.iter().zip(actions) {
            of_trace[event as usize] = Some(action);
        }
        let steps = Steps { actions: of_trace };
        let question = StrongQuestion::new(
            self.guards,
            &steps,
            machine,
            table,
            options.reductions,
            &options.progress,
            &options.stop,
        );
        let together =
            conjunctions.and_then(|all| hold_together(self.guards, &self.slice.events, &all));
        if let Some(cut) = together {
            let answer = match cut.and_then(|cut| question.follow(&cut)) {
                Some(run) => Answer::Violated(self.violation(&run)?),
                None => Answer::Safe,
            };
            return Ok(FeasibleSearched {
                found: Searched::in_full(answer, self.slice.events.len()),
                limit: None,
            });
        }
        let node = 4 * self.guards.threads.len() as u64 + NODE_BYTES;
        let fits = usize::try_from(options.memory / node).unwrap_or(usize::MAX);
        let allowed = budget.nodes(self.guards);
        let (searched, work) = question.answer(fits.min(allowed), budget.work);
        let FeasibilitySearched {
            answer,
            nodes,
            left,
        } = searched;
        budget.spend(self.guards, nodes + left, work);
        Ok(match answer {
            FeasibilityAnswer::Safe => FeasibleSearched {
                found: Searched::in_full(Answer::Safe, nodes),
                limit: None,
            },
            FeasibilityAnswer::GaveUp => FeasibleSearched {
                found: Searched {
                    left,
                    ..Searched::in_full(Answer::GaveUp, nodes)
                },
                limit: Some(if options.stop.is_raised() {
                    Limit::Time
                } else if allowed < fits {
                    Limit::Nodes
                } else {
                    Limit::Memory
                }),
            },
            FeasibilityAnswer::Violated(run) => FeasibleSearched {
                found: Searched::in_full(Answer::Violated(self.violation(&run)?), nodes),
                limit: None,
            },
        })
    }

    /// The run of the slice that a run of the trace is, once that was examined.
    fn violation(&self, run: &FeasibleRun) -> Result<crate::engine::Violation, String> {
        examine(self.slice.rules, &run.order)?;
        examine_conflicts(self.slice.rules, &run.order)?;
        Ok(self.slice.violation(run))
    }
}

/// What searches of all instances that are reported together may cost. Costs are counted and not timed: the same run gets the same
/// report wherever it is checked.
#[derive(Clone, Debug)]
pub(crate) struct StrongBudget {
    left: u64,
    /// How often the pass may look at an event with a choice.
    work: u64,
    max_nodes: Option<usize>,
}

/// What is spent if nobody says how many nodes there may be.
const NODES: u64 = 24_000_000;
const WORK: u64 = 400_000_000;
/// What is spent if nobody asked for this model.
const TRIAL: u64 = 20;
/// What a node costs besides its threads.
const NODE: u64 = 32;

impl StrongBudget {
    pub(crate) fn new(options: &Options) -> StrongBudget {
        StrongBudget {
            left: NODES,
            work: options.max_nodes.map_or(WORK, |_| u64::MAX),
            max_nodes: options.max_nodes,
        }
    }

    /// For those who asked for another model.
    pub(crate) fn of_trial() -> StrongBudget {
        StrongBudget {
            left: NODES / TRIAL,
            work: WORK / TRIAL,
            max_nodes: None,
        }
    }

    /// Whether there is nothing left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0 || self.work == 0
    }

    fn cost(guards: &Guards) -> u64 {
        NODE + guards.threads.len() as u64
    }

    /// How many nodes the next search may find.
    fn nodes(&self, guards: &Guards) -> usize {
        let affordable = (self.left / Self::cost(guards)) as usize;
        self.max_nodes.unwrap_or(affordable.max(1))
    }

    fn spend(&mut self, guards: &Guards, nodes: usize, work: u64) {
        let cost = Self::cost(guards).saturating_mul(nodes as u64);
        self.left = self.left.saturating_sub(cost);
        self.work = self.work.saturating_sub(work);
    }
}
