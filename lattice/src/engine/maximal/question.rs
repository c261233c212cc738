//! The question whether some feasible run is violated: its input, its answer, and how it is found. Rules
//! are relaxed first, since a violation depends on few of them; if that does not lead to an answer, all feasible prefixes
//! are searched.

use super::{
    complete::complete,
    relax::Enforced,
    rules::Rules,
    search::Search,
    state::{Prefix, PrefixPacking},
};
use crate::{
    automaton::{ActionId, Automaton, StateIndex, TransitionSystem},
    goal::Goal,
    options::Reductions,
    progress::Progress,
    stop::Stop,
};

/// The approximate size of a prefix in bytes, without its numbers.
const NODE_BYTES: u64 = 112;

/// Whether some feasible run is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeasibilityAnswer {
    /// Yes, this one.
    Violated(FeasibleRun),
    /// No.
    Safe,
    /// A limit was met first.
    GaveUp,
}

/// A violated run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeasibleRun {
    /// Indices of events of the trace: all of them, or those up to the violation, if no way to the end was found.
    pub order: Vec<usize>,
    /// The number of events after which it is violated.
    pub violated_at: usize,
    /// Whether no feasible prefix is violated after fewer relevant events.
    pub is_shortest: bool,
}

/// The result of [`search`].
#[derive(Clone, Debug)]
pub struct FeasibilitySearched {
    /// Whether some feasible run is violated.
    pub answer: FeasibilityAnswer,
    /// The number of prefixes examined, where prefixes that differ only irrelevantly count as one.
    pub nodes: usize,
    /// The number of prefixes that were found but not examined when the search ended.
    pub left: usize,
}

/// Looks for a violated feasible prefix, giving up after `max_nodes` nodes. For each event of the trace, `actions` has its
/// action on the automaton, or `None` if it is not a step of the property.
///
/// ```
/// use portent_lattice::{Reductions, laboratory::{ActionId, Automaton, StateIndex, maximal::{self, FeasibilityAnswer, Rules}}};
/// use portent_monitor_core::{Event, Op, Symbols};
/// use portent_monitor_dsl::Verdict;
///
/// // Two critical sections of one lock; a step in each.
/// let mut s = Symbols::default();
/// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
/// let (m, x, y) = (s.locks.intern("m")?, s.vars.intern("x")?, s.vars.intern("y")?);
/// let trace = [
///     Event::new(t1, Op::Lock(m)),
///     Event::new(t1, Op::Write(x, None)),
///     Event::new(t1, Op::Unlock(m)),
///     Event::new(t2, Op::Lock(m)),
///     Event::new(t2, Op::Write(y, None)),
///     Event::new(t2, Op::Unlock(m)),
/// ];
/// // Violated if the second step comes first, which happens-before does not allow.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 2,
///     next: [1, 2, 1, 1, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Satisfied, Verdict::Violated],
/// };
/// let actions = [None, Some(ActionId(0)), None, None, Some(ActionId(1)), None];
/// let found = maximal::search(&Rules::new(&trace), &actions, &automaton, 1_000, Reductions::ALL);
/// let FeasibilityAnswer::Violated(run) = found.answer else { unreachable!() };
/// assert_eq!(run.order, [3, 4, 5, 0, 1, 2]);
/// assert_eq!(run.violated_at, 2);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
pub fn search(
    rules: &Rules,
    actions: &[Option<ActionId>],
    automaton: &Automaton,
    max_nodes: usize,
    reductions: Reductions,
) -> FeasibilitySearched {
    let question = FeasibilityQuestion {
        rules,
        actions,
        machine: automaton,
        table: Some(automaton),
        goal: Goal::default(),
        reductions,
        progress: &Progress::default(),
        stop: &Stop::default(),
    };
    question.answer(max_nodes)
}

/// The input of a search.
pub(super) struct FeasibilityQuestion<'a, M> {
    pub(super) rules: &'a Rules,
    /// The action of each event of the trace, if it is a step of the property.
    pub(super) actions: &'a [Option<ActionId>],
    pub(super) machine: &'a M,
    /// The machine as a table, if there is one.
    pub(super) table: Option<&'a Automaton>,
    pub(super) goal: Goal,
    pub(super) reductions: Reductions,
    pub(super) progress: &'a Progress,
    pub(super) stop: &'a Stop,
}

impl<M: TransitionSystem<State = StateIndex>> FeasibilityQuestion<'_, M> {
    /// The number of nodes that fit in this many bytes.
    pub(super) fn nodes_in(&self, memory: u64) -> usize {
        let node = PrefixPacking::new(self.rules).key_bytes() as u64 + NODE_BYTES;
        usize::try_from(memory / node).unwrap_or(usize::MAX)
    }

    /// The answer, from relaxed rules if these have one.
    pub(super) fn answer(&self, max_nodes: usize) -> FeasibilitySearched {
        let mut spent = 0;
        if self.reductions.commutation
            && let Some(answer) = self.refine(max_nodes / 2, &mut spent)
        {
            return FeasibilitySearched {
                answer,
                nodes: spent,
                left: 0,
            };
        }
        let mut found = self.search((max_nodes - spent).max(1));
        found.nodes += spent;
        found
    }

    /// Searches with relaxed rules, and enforces the rules that infeasible violations break, until there are none, or until a
    /// violation is part of a whole run.
    fn refine(&self, max_nodes: usize, spent: &mut usize) -> Option<FeasibilityAnswer> {
        let mut enforced = Enforced::nothing(self.rules);
        while !enforced.is_everything() && *spent < max_nodes {
            let rules = &enforced.rules(self.rules)?;
            let found = FeasibilityQuestion { rules, ..*self }.search(max_nodes - *spent);
            *spent += found.nodes + found.left;
            match found.answer {
                FeasibilityAnswer::Safe => return Some(FeasibilityAnswer::Safe),
                FeasibilityAnswer::GaveUp => return None,
                FeasibilityAnswer::Violated(mut run) => {
                    run.order.truncate(run.violated_at);
                    if !enforced.enforce(self.rules, &run.order) {
                        run.order = complete(self.rules, &run.order)?;
                        return Some(FeasibilityAnswer::Violated(run));
                    }
                }
            }
        }
        None
    }

    /// Looks for a violated prefix with these rules.
    fn search(&self, max_nodes: usize) -> FeasibilitySearched {
        let mut search = Search::new(self);
        let answer = search.run(max_nodes);
        let left = search.left();
        FeasibilitySearched {
            answer,
            nodes: search.found() - left,
            left,
        }
    }

    pub(super) fn is_violated(&self, state: StateIndex) -> bool {
        self.goal.is_bad(self.machine.verdict(&state), false)
    }

    pub(super) fn is_bad(&self, prefix: &Prefix) -> bool {
        let verdict = self.machine.verdict(&prefix.state);
        self.goal.is_bad(verdict, false)
            || (self.goal.is_bad(verdict, true) && prefix.is_whole(self.rules))
    }

    pub(super) fn happen(&self, prefix: &mut Prefix, event: u32) {
        prefix.happen(self.rules, event);
        if let Some(action) = self.actions[event as usize] {
            prefix.state = self.machine.step(&prefix.state, action);
        }
    }
}
