//! Answers without a lattice, where the shape of the automaton allows one.

use portent_monitor_dsl::EngineClass;

use crate::{
    automaton_shape::AutomatonShape,
    interval, linear,
    problem::Problem,
    violation::{Answer, Violation},
};

/// An answer that needed no enumeration.
#[derive(Clone, Debug)]
pub struct FastAnswer {
    /// The engine that gave it.
    pub engine: EngineClass,
    /// Whether some run is violated; [`Answer::GaveUp`] if the search grew too large after all.
    pub answer: Answer,
    /// How many events or symbolic nodes were looked at.
    pub nodes: usize,
}

/// Solves a problem by its observed run alone, or by intervals if violations are chains; `None`
/// if it is for enumeration. At most `max_nodes` symbolic nodes are looked at.
///
/// An interval search also looks for a shorter violation than the observed run's.
///
/// ```
/// use portent_lattice::{ActionId, Answer, Automaton, AutomatonShape, Poset, Problem, StateIndex, solve_fast};
/// use portent_monitor_dsl::{EngineClass, Verdict};
///
/// // Violated by action 1 before action 0.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let shape = AutomatonShape::new(&automaton)?;
/// let mut problem = Problem { poset: Poset::new(2), actions: vec![ActionId(0), ActionId(1)], automaton };
/// problem.poset.push(0, &[1, 0]);
/// problem.poset.push(1, &[1, 1]);
///
/// // The second event comes after the first, so there is only one run.
/// let found = solve_fast(&problem, &shape, 1_000).expect("needs no enumeration");
/// assert_eq!((found.engine, found.answer), (EngineClass::Linear, Answer::Safe));
/// # Ok::<(), portent_monitor_dsl::shape::MalformedTable>(())
/// ```
pub fn solve_fast(
    problem: &Problem,
    shape: &AutomatonShape,
    max_nodes: usize,
) -> Option<FastAnswer> {
    let by_intervals = || {
        let saturated = shape.saturated.as_ref()?;
        let (poset, actions) = (&problem.poset, &problem.actions);
        Some(interval::search(poset, actions, saturated, max_nodes))
    };
    if let Some(mut answer) = linear::search(problem, &shape.bad_prefixes) {
        let mut nodes = problem.poset.len();
        if let Answer::Violated(Violation {
            is_shortest: false, ..
        }) = answer
            && let Some(found) = by_intervals()
        {
            nodes += found.nodes;
            if let Answer::Violated(_) = found.answer {
                answer = found.answer;
            }
        }
        return Some(FastAnswer {
            engine: EngineClass::Linear,
            answer,
            nodes,
        });
    }
    if !shape.is_chain() {
        return None;
    }
    let found = by_intervals()?;
    Some(FastAnswer {
        engine: EngineClass::Intervals,
        answer: found.answer,
        nodes: found.nodes,
    })
}
