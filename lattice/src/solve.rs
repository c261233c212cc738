//! Chooses an engine for a problem and puts its answer together.
//!
//! Which engines can answer is a matter of the property: its class is known when it is compiled
//! ([`Monitor::engine_class`](portent_monitor_dsl::Monitor::engine_class)), and can only get better
//! when it is known which actions really occur. A small lattice is enumerated in any case: its
//! numbers are worth more than the time.

use portent_monitor_dsl::EngineClass;

use crate::{
    ActionId, Automaton, Poset, Problem,
    conjunctive::Trajectory,
    enumerate::{self, Limit, Needs, Peak, RunCounts, Shape, search_open, search_table},
    fast::Question,
    instance::Task,
    options::{Counting, Options},
    product::Machine,
    report::SavedReport,
    unswap::unswap,
    violation::{Answer, Searched, Violation},
};

/// A lattice with at most so many cuts is small.
const FEW_CUTS: usize = 100_000;

/// The answer to a problem.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// Which engine gave it.
    pub engine: &'static str,
    /// A violated run, if there is one.
    pub violation: Option<Violation>,
    /// How many nodes the engine visited.
    pub nodes: u64,
    /// How many cuts were reached and let go.
    pub dropped: u64,
    /// Why not everything was searched.
    pub limit: Option<Limit>,
    /// What the reductions saved.
    pub saved: SavedReport,
    /// The size of the lattice, if it was counted.
    pub shape: Option<Shape>,
    /// The runs, if they were counted.
    pub runs: Option<RunCounts>,
    /// The memory of the frontier.
    pub peak: Peak,
}

impl Solution {
    /// Not everything was searched after all.
    pub(crate) fn give_up(&mut self, limit: Limit) {
        self.limit = Some(limit);
        self.shape = None;
        self.runs = None;
        if let Some(violation) = &mut self.violation {
            violation.is_shortest = false;
        }
    }

    pub(crate) fn new(engine: &'static str, found: Searched) -> Solution {
        let (violation, limit) = match found.answer {
            Answer::Violated(violation) => (Some(violation), None),
            Answer::Safe => (None, None),
            Answer::GaveUp => (None, Some(Limit::Memory)),
        };
        Solution {
            engine,
            violation,
            nodes: found.nodes as u64,
            // What was left when a violation was found is not missing from the answer.
            dropped: if limit.is_some() {
                found.left as u64
            } else {
                0
            },
            limit,
            saved: found.saved,
            ..Solution::default()
        }
    }
}

/// Searches for a violated run of a problem, and counts runs if that is asked for.
///
/// ```
/// use portent_lattice::{ActionId, Automaton, Options, Poset, Problem, StateIndex, solve};
/// use portent_monitor_dsl::Verdict;
///
/// // Two threads with one event each; the second event must not come first.
/// let mut poset = Poset::new(2);
/// poset.push(0, &[1, 0]);
/// poset.push(1, &[0, 1]);
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let problem = Problem { poset, actions: vec![ActionId(0), ActionId(1)], automaton };
/// let solution = solve(&problem, &Options::default());
/// assert_eq!(solution.violation.unwrap().violated_at, 1);
/// assert_eq!(solution.runs.unwrap().total, 2u32.into());
/// ```
pub fn solve(problem: &Problem, options: &Options) -> Solution {
    solve_table(problem, || None, options)
}

/// Solves what an instance of a property comes down to; `conjunctions` tells how the conditions
/// change that violate it where they hold together, if there are such.
pub(crate) fn solve_task(
    task: &Task,
    conjunctions: impl FnOnce() -> Option<Vec<Vec<Trajectory>>>,
    options: &Options,
) -> Solution {
    match task {
        Task::Table(problem) => solve_table(problem, conjunctions, options),
        Task::Open(poset, actions, product) => {
            let mut solution = search_fast(poset, actions, None, conjunctions, options)
                .unwrap_or_else(|| search_open(poset, actions, product.as_ref(), options));
            if let Some(violation) = &mut solution.violation {
                unswap(violation, poset, actions, product.as_ref(), options.goal);
            }
            count(poset, actions, product.as_ref(), options, &mut solution);
            solution
        }
    }
}

fn solve_table(
    problem: &Problem,
    conjunctions: impl FnOnce() -> Option<Vec<Vec<Trajectory>>>,
    options: &Options,
) -> Solution {
    let (automaton, numbers) = options.goal.automaton(&problem.automaton);
    let actions: Vec<ActionId> = problem
        .actions
        .iter()
        .map(|action| numbers[action.0 as usize])
        .collect();
    let poset = &problem.poset;
    let mut solution = search_fast(poset, &actions, Some(&automaton), conjunctions, options)
        .unwrap_or_else(|| search_table(poset, &actions, &automaton, options));
    if let Some(violation) = &mut solution.violation {
        unswap(violation, poset, &actions, &automaton, options.goal);
        debug_assert!(options.goal.complete || violation.refute(problem).is_none());
    }
    count(
        poset,
        &problem.actions,
        &problem.automaton,
        options,
        &mut solution,
    );
    solution
}

/// Searches without the lattice, where the property and the options allow that and the lattice is
/// not small anyway; `None` otherwise, or if such a search grew too large.
fn search_fast(
    poset: &Poset,
    actions: &[ActionId],
    automaton: Option<&Automaton>,
    conjunctions: impl FnOnce() -> Option<Vec<Vec<Trajectory>>>,
    options: &Options,
) -> Option<Solution> {
    let cut_off = options.window.is_some() || options.lookahead.is_some();
    // A run that is bad only because it ended is no bad prefix.
    if options.engine == Some(EngineClass::Enumerate) || cut_off || options.goal.complete {
        return None;
    }
    if options.engine.is_none() && has_few_cuts(poset) {
        return None;
    }
    let question = Question {
        poset,
        actions,
        automaton,
        conjunctions: conjunctions(),
        options,
    };
    let (engine, found) = match options.engine {
        Some(engine) => (engine, question.ask(engine)?),
        None => question.ask_all()?,
    };
    Some(Solution::new(engine.as_str(), found))
}

/// Whether the lattice is small, whatever the order: a bound from the lengths of the chains.
fn has_few_cuts(poset: &Poset) -> bool {
    let cuts = (0..poset.width()).try_fold(1usize, |cuts, chain| {
        cuts.checked_mul(poset.chain(chain).len() + 1)
            .filter(|&cuts| cuts <= FEW_CUTS)
    });
    cuts.is_some()
}

fn count<M: Machine>(
    poset: &Poset,
    actions: &[ActionId],
    machine: &M,
    options: &Options,
    solution: &mut Solution,
) {
    if options.counting == Counting::Never {
        return;
    }
    // A window or lookahead says that not all runs are wanted; then none are counted.
    if solution.limit.is_some() {
        return;
    }
    let needs = Needs::of_poset(poset);
    let ground = needs.ground(poset, actions);
    let most = options.counting.max_cuts();
    if solution.shape.is_none() {
        solution.shape = enumerate::measure(ground, most, options);
    }
    if solution.shape.is_some_and(|shape| shape.cuts <= most) {
        solution.runs = enumerate::count_runs(ground, machine, options);
    }
}
