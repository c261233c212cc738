//! Many posets whose events act on one automaton.

use super::{ActionId, Answer, Automaton, Poset, Problem, solve};
use crate::{
    engine::DenseSearch,
    options::{Counting, Options},
    witness::minimize_swaps,
};

/// Solves one poset after the other; what depends on the automaton is made once, and memory is used again.
///
/// For whoever has thousands of small computations to look at, such as one for every schedule of a test. A poset of a
/// few threads with a few events each takes well under a microsecond, and nothing is allocated but for a violated run. What is
/// larger is solved as [`solve`] does. Runs are never counted.
///
/// The automaton is given once. A poset is filled, solved, [cleared](Poset::clear) and filled again:
///
/// ```
/// use portent_lattice::{Options, laboratory::{ActionId, Answer, Automaton, Poset, Solver, StateIndex}};
/// use portent_monitor_core::ChainId;
/// use portent_monitor_dsl::Verdict;
///
/// // Action 1 must not come before action 0.
/// let mut solver = Solver::new(
///     Automaton {
///         initial: StateIndex(0),
///         actions: 2,
///         next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///         verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
///     },
///     Options::default(),
/// );
/// let (first, second) = (ChainId::from(0), ChainId::from(1));
/// let actions = [ActionId(0), ActionId(1)];
/// let mut poset = Poset::new(2);
///
/// // Two threads that know nothing of each other.
/// poset.push(first, &[1, 0]);
/// poset.push(second, &[0, 1]);
/// let Answer::Violated(violation) = solver.solve(&poset, &actions) else {
///     panic!("the second event can come first");
/// };
/// assert_eq!(violation.violated_at, 1);
///
/// // The second waits for the first.
/// poset.clear(2);
/// poset.push(first, &[1, 0]);
/// poset.push(second, &[1, 1]);
/// assert_eq!(solver.solve(&poset, &actions), Answer::Safe);
/// ```
#[derive(Clone, Debug)]
pub struct Solver {
    automaton: Automaton,
    options: Options,
    /// `None` if the automaton has too many states.
    dense: Option<DenseSearch>,
}

impl Solver {
    /// A solver of posets whose events act on this automaton.
    pub fn new(automaton: Automaton, options: Options) -> Solver {
        Solver {
            dense: DenseSearch::new(&automaton, options.goal),
            automaton,
            options: options.counting(Counting::Never),
        }
    }

    /// Whether some run of a poset is violated, where `actions` says for each event what it does.
    ///
    /// A violated run has no swap that can be taken back, and where the answer comes without limits none is violated after fewer events.
    ///
    /// # Panics
    ///
    /// If there is not one action for each event, or the automaton does not have it.
    pub fn solve(&mut self, poset: &Poset, actions: &[ActionId]) -> Answer {
        assert_eq!(actions.len(), poset.len(), "one action for each event");
        let dense = self.dense.as_mut();
        let Some(mut answer) = dense.and_then(|dense| dense.search(poset, actions)) else {
            return self.solve_large(poset, actions);
        };
        if let Answer::Violated(violation) = &mut answer {
            minimize_swaps(
                violation,
                poset,
                actions,
                &self.automaton,
                self.options.goal,
            );
        }
        answer
    }

    fn solve_large(&self, poset: &Poset, actions: &[ActionId]) -> Answer {
        let problem = Problem {
            poset: poset.clone(),
            actions: actions.to_vec(),
            automaton: self.automaton.clone(),
        };
        let solution = solve(&problem, &self.options);
        match (solution.violation, solution.limit) {
            (Some(violation), _) => Answer::Violated(violation),
            (None, Some(_)) => Answer::GaveUp,
            (None, None) => Answer::Safe,
        }
    }
}
