//! The engines without properties and traces: posets whose events act on automata.
//!
//! For measuring, for comparing engines with each other, and for those who bring their own automaton.
//! Applications use [`Checker`](crate::Checker) and [`Watch`](crate::Watch).

mod solver;

pub use self::solver::Solver;
pub use crate::{
    automaton::{ActionId, Automaton, AutomatonShape, StateIndex},
    engine::{
        Answer, Problem, Searched, Solution, Violation, conjunctive,
        enumerate::{LatticeSize, RunCounts, shape},
        flow, interval, linear, maximal,
    },
    order::{EventIndex, Poset, covered},
    report::picture::{graph, widths},
};
use crate::{
    engine::{CountingBudget, solve_table},
    options::Options,
    witness::minimize_swaps,
};

/// Searches for a violated run of a problem, and counts runs if that is asked for.
///
/// ```
/// use portent_lattice::{Options, laboratory::{ActionId, Automaton, Poset, Problem, StateIndex, solve}};
/// use portent_monitor_core::ChainId;
/// use portent_monitor_dsl::Verdict;
///
/// // Two threads with one event each; the second event must not come first.
/// let mut poset = Poset::new(2);
/// poset.push(ChainId::from(0), &[1, 0]);
/// poset.push(ChainId::from(1), &[0, 1]);
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
    let mut solution = solve_table(problem, || None, options, &mut CountingBudget::new(options));
    if let Some(violation) = &mut solution.violation {
        let Problem {
            poset,
            actions,
            automaton,
        } = problem;
        minimize_swaps(violation, poset, actions, automaton, options.goal);
        debug_assert!(options.goal.complete || violation.refute(problem).is_none());
    }
    solution
}
