//! One instance of a property under the maximal model: from its slice to the events of the whole
//! trace, and from a violated prefix of those back to a run of the slice.

use super::{
    examine::examine,
    question::{FeasibilityAnswer, FeasibilityQuestion, FeasibilitySearched, FeasibleRun},
    rules::Rules,
};
use crate::{
    automaton::{ActionId, Automaton, Numbered, StateIndex, TransitionSystem},
    engine::{Answer, CountingBudget, Limit, Problem, Searched, Task, Violation, solve_table},
    options::{Counting, Options},
    order::EventIndex,
};

/// The runs that respect no more than what events need are searched with a window of this many cuts.
const RELAXED_CUTS: usize = 4096;

/// Where the events of a slice are in the trace.
pub(crate) struct SliceInTrace<'a> {
    pub(crate) rules: &'a Rules,
    /// For each event of the slice its index in the trace.
    pub(crate) events: Vec<u32>,
}

/// What became of a search, and the limit that ended it.
pub(crate) struct FeasibleSearched {
    pub(crate) found: Searched,
    pub(crate) limit: Option<Limit>,
}

/// Looks for a violated run that is feasible, within the memory limit and the budget. The run may end where
/// it is violated.
///
/// # Errors
///
/// What is wrong with the run that was found: a defect.
pub(crate) fn find_feasible(
    task: &Task,
    origin: &SliceInTrace<'_>,
    options: &Options,
    budget: &mut FeasibilityBudget,
) -> Result<FeasibleSearched, String> {
    match task {
        Task::Table(problem) => {
            if let Some(nodes) = origin.relaxed(problem, options) {
                return Ok(FeasibleSearched {
                    found: Searched::in_full(Answer::Safe, nodes),
                    limit: None,
                });
            }
            let (automaton, numbers) = options.goal.automaton(&problem.automaton);
            let actions = problem.actions.iter();
            let actions = actions.map(|action| numbers[action.0 as usize]);
            origin.search(actions, &automaton, Some(&automaton), options, budget)
        }
        Task::Open(_, actions, product) => {
            let actions = actions.iter().copied();
            let numbered = Numbered::new(product.as_ref());
            origin.search(actions, &numbered, None, options, budget)
        }
    }
}

impl SliceInTrace<'_> {
    /// Whether even the runs that respect no more than what each event needs are not violated; then after how many nodes.
    pub(in crate::engine) fn relaxed(&self, problem: &Problem, options: &Options) -> Option<usize> {
        let needs = self.rules.prerequisites.as_ref()?;
        let poset = needs.order(self.rules, &self.events);
        let relaxed = Problem {
            poset,
            actions: problem.actions.clone(),
            automaton: problem.automaton.clone(),
        };
        let options = options
            .clone()
            .counting(Counting::Never)
            .engine(None)
            .window(RELAXED_CUTS)
            .lookahead(None);
        let mut uncounted = CountingBudget::new(&options);
        let solution = solve_table(&relaxed, || None, &options, &mut uncounted);
        let is_safe = solution.violation.is_none() && solution.limit.is_none();
        is_safe.then_some(solution.nodes as usize)
    }

    fn search<M: TransitionSystem<State = StateIndex>>(
        &self,
        actions: impl Iterator<Item = ActionId>,
        machine: &M,
        table: Option<&Automaton>,
        options: &Options,
        budget: &mut FeasibilityBudget,
    ) -> Result<FeasibleSearched, String> {
        let mut of_trace = vec![None; self.rules.len()];
        for (&event, action) in self.events.iter().zip(actions) {
            of_trace[event as usize] = Some(action);
        }
        let question = FeasibilityQuestion {
            rules: self.rules,
            actions: &of_trace,
            machine,
            table,
            goal: options.goal,
            reductions: options.reductions,
            progress: &options.progress,
            stop: &options.stop,
        };
        let (fits, allowed) = (question.nodes_in(options.memory), budget.nodes(self.rules));
        let FeasibilitySearched {
            answer,
            nodes,
            left,
        } = question.answer(fits.min(allowed));
        budget.spend(self.rules, nodes + left);
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
            FeasibilityAnswer::Violated(run) => {
                examine(self.rules, &run.order)?;
                let violation = self.violation(&run);
                FeasibleSearched {
                    found: Searched::in_full(Answer::Violated(violation), nodes),
                    limit: None,
                }
            }
        })
    }

    /// The run of the slice that a run of the trace is.
    pub(in crate::engine) fn violation(&self, run: &FeasibleRun) -> Violation {
        let mut index = vec![None; self.rules.len()];
        for (number, &event) in self.events.iter().enumerate() {
            index[event as usize] = Some(EventIndex(number as u32));
        }
        let steps = run.order[..run.violated_at].iter();
        Violation {
            violated_at: steps.filter(|&&event| index[event].is_some()).count(),
            run: run.order.iter().filter_map(|&event| index[event]).collect(),
            is_shortest: run.is_shortest,
        }
    }
}

/// What searches of all instances that are reported together may cost, so that they end in seconds. Costs are counted and not
/// timed: the same run gets the same report wherever it is checked.
#[derive(Clone, Debug)]
pub(crate) struct FeasibilityBudget {
    left: u64,
    max_nodes: Option<usize>,
}

/// What is spent if nobody says how many nodes there may be.
const WORK: u64 = 24_000_000;
/// What a node costs besides its threads and variables.
const NODE: u64 = 32;

impl FeasibilityBudget {
    pub(crate) fn new(options: &Options) -> FeasibilityBudget {
        FeasibilityBudget {
            left: WORK,
            max_nodes: options.max_nodes,
        }
    }

    fn cost(rules: &Rules) -> u64 {
        NODE + (rules.threads.len() + rules.contended) as u64
    }

    /// How many nodes the next search may find.
    fn nodes(&self, rules: &Rules) -> usize {
        let affordable = (self.left / Self::cost(rules)) as usize;
        self.max_nodes.unwrap_or(affordable.max(1))
    }

    fn spend(&mut self, rules: &Rules, nodes: usize) {
        let cost = Self::cost(rules).saturating_mul(nodes as u64);
        self.left = self.left.saturating_sub(cost);
    }
}
