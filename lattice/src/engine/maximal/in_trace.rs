//! Shared by the models beyond happens-before: one instance of a property is searched for among the events of the whole trace.
//! Its slice says how they act on the automaton, and a violated run of the trace is translated back to the slice. The cost of
//! the searches is also counted here.

use super::{
    question::{FeasibilityAnswer, FeasibilitySearched, FeasibleRun},
    rules::Rules,
};
use crate::{
    automaton::{ActionId, Automaton, Numbered, StateIndex, TransitionSystem},
    engine::{Answer, CountingBudget, Limit, Problem, Searched, Task, Violation, solve_table},
    options::{Counting, Options},
    order::EventIndex,
};

/// Runs that respect only what each event needs are searched with a window of this many cuts.
const RELAXED_CUTS: usize = 4096;

/// Where the events of a slice are in the trace.
pub(crate) struct SliceInTrace<'a> {
    pub(crate) rules: &'a Rules,
    /// For each event of the slice, its index in the trace.
    pub(crate) events: Vec<u32>,
}

/// The result of a search, and the limit that ended it.
pub(crate) struct FeasibleSearched {
    pub(crate) found: Searched,
    pub(crate) limit: Option<Limit>,
}

impl FeasibleSearched {
    /// A search that was exhaustive.
    pub(in crate::engine) fn in_full(answer: Answer, nodes: usize) -> FeasibleSearched {
        FeasibleSearched {
            found: Searched::in_full(answer, nodes),
            limit: None,
        }
    }
}

/// A search of the trace. `actions` has the action of each event on the machine; `table` is the machine as a table, if there is
/// one.
pub(in crate::engine) trait TraceSearch {
    /// # Errors
    ///
    /// A defect: what is wrong with the run that was found.
    fn search<M: TransitionSystem<State = StateIndex>>(
        &mut self,
        actions: Vec<Option<ActionId>>,
        machine: &M,
        table: Option<&Automaton>,
    ) -> Result<FeasibleSearched, String>;
}

impl SliceInTrace<'_> {
    /// Searches the trace, unless it is already known that no run is violated.
    ///
    /// # Errors
    ///
    /// Those of the search.
    pub(in crate::engine) fn find(
        &self,
        task: &Task,
        options: &Options,
        search: &mut impl TraceSearch,
    ) -> Result<FeasibleSearched, String> {
        match task {
            Task::Table(problem) => {
                if let Some(nodes) = self.relaxed(problem, options) {
                    return Ok(FeasibleSearched::in_full(Answer::Safe, nodes));
                }
                let (automaton, numbers) = options.goal.automaton(&problem.automaton);
                let actions = problem.actions.iter();
                let actions = self.in_trace(actions.map(|action| numbers[action.0 as usize]));
                search.search(actions, &automaton, Some(&automaton))
            }
            Task::Open(_, actions, product) => {
                let actions = self.in_trace(actions.iter().copied());
                search.search(actions, &Numbered::new(product.as_ref()), None)
            }
        }
    }

    /// Whether not even the runs that respect only what each event needs are violated; if so, the number of nodes searched.
    fn relaxed(&self, problem: &Problem, options: &Options) -> Option<usize> {
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

    /// For each event of the trace its action, if it is in the slice.
    fn in_trace(&self, actions: impl Iterator<Item = ActionId>) -> Vec<Option<ActionId>> {
        let mut of_trace = vec![None; self.rules.len()];
        for (&event, action) in self.events.iter().zip(actions) {
            of_trace[event as usize] = Some(action);
        }
        of_trace
    }

    /// The result of a search of the trace. `examine` returns what is wrong with the run that was found.
    pub(in crate::engine) fn outcome(
        &self,
        searched: FeasibilitySearched,
        room: &Room,
        options: &Options,
        examine: impl FnOnce(&Rules, &[usize]) -> Result<(), String>,
    ) -> Result<FeasibleSearched, String> {
        let FeasibilitySearched {
            answer,
            nodes,
            left,
        } = searched;
        Ok(match answer {
            FeasibilityAnswer::Safe => FeasibleSearched::in_full(Answer::Safe, nodes),
            FeasibilityAnswer::GaveUp => FeasibleSearched {
                found: Searched {
                    left,
                    ..Searched::in_full(Answer::GaveUp, nodes)
                },
                limit: Some(if options.stop.is_raised() {
                    Limit::Time
                } else if room.affordable < room.fits {
                    Limit::Nodes
                } else {
                    Limit::Memory
                }),
            },
            FeasibilityAnswer::Violated(run) => {
                examine(self.rules, &run.order)?;
                FeasibleSearched::in_full(Answer::Violated(self.violation(&run)), nodes)
            }
        })
    }

    /// The run of the slice that corresponds to a run of the trace.
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

/// The number of nodes that a search may find.
pub(in crate::engine) struct Room {
    /// The number that fits in memory.
    pub(in crate::engine) fits: usize,
    /// The rest of the budget.
    pub(in crate::engine) affordable: usize,
}

impl Room {
    /// The number that may be found.
    pub(in crate::engine) fn nodes(&self) -> usize {
        self.fits.min(self.affordable)
    }
}

/// A budget for searching all instances that are reported together, so that they end in seconds. Costs are counted, not
/// timed: the same run gets the same report wherever it is checked.
#[derive(Clone, Debug)]
pub(crate) struct NodeBudget {
    left: u64,
    max_nodes: Option<usize>,
}

/// The budget if no maximum number of nodes was requested.
const NODES: u64 = 24_000_000;
/// The cost of a node, without its numbers.
const NODE: u64 = 32;

impl NodeBudget {
    pub(crate) fn new(options: &Options) -> NodeBudget {
        NodeBudget {
            left: NODES,
            max_nodes: options.max_nodes,
        }
    }

    /// This part of the available budget, if no number was requested.
    pub(in crate::engine) fn part(part: u64) -> NodeBudget {
        NodeBudget {
            left: NODES / part,
            max_nodes: None,
        }
    }

    /// Whether the budget is used up.
    pub(in crate::engine) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// The number of nodes with this many numbers that the next search may find.
    pub(in crate::engine) fn nodes(&self, numbers: usize) -> usize {
        let affordable = (self.left / (NODE + numbers as u64)) as usize;
        self.max_nodes.unwrap_or(affordable.max(1))
    }

    /// Deducts this many nodes.
    pub(in crate::engine) fn spend(&mut self, numbers: usize, nodes: usize) {
        let cost = (NODE + numbers as u64).saturating_mul(nodes as u64);
        self.left = self.left.saturating_sub(cost);
    }
}
