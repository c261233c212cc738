//! Chooses an engine for a problem, and assembles its answer.
//!
//! Which engines can answer depends on the property: its class is known when it is compiled
//! ([`Monitor::engine_class`](portent_monitor_dsl::Monitor::engine_class)), and can only improve
//! once it is known which actions really occur. A small lattice is always enumerated: its
//! numbers are worth the time.

use super::{
    Answer, CountingBudget, Problem, Searched, Solution, Task, Violation,
    conjunctive::{self, Trajectory},
    enumerate::{self, LabelledPoset, LatticeSize, search_open, search_table},
    flow,
    interval::IntervalSearch,
    linear, observed,
};
use crate::{
    automaton::{ActionId, Automaton, AutomatonShape, Numbered, StateIndex, TransitionSystem},
    options::{Counting, Engine, Options},
    order::{Poset, Requirements},
};

/// A lattice with at most this many cuts is small.
const FEW_CUTS: usize = 100_000;

/// Solves the problem that an instance of a property reduces to. If the property is violated where certain conditions hold
/// together, `conjunctions` says how they change.
pub(crate) fn solve_task(
    task: &Task,
    conjunctions: impl FnOnce() -> Option<Vec<Vec<Trajectory>>>,
    options: &Options,
    budget: &mut CountingBudget,
) -> Solution {
    match task {
        Task::Table(problem) => solve_table(problem, conjunctions, options, budget),
        Task::Open(poset, actions, product) => {
            let mut solution = search_fast(poset, actions, None, conjunctions, options)
                .unwrap_or_else(|| search_open(poset, actions, product.as_ref(), options));
            observed::fall_back(&mut solution, actions, product.as_ref(), options.goal);
            let numbered = Numbered::new(product);
            count(poset, actions, &numbered, options, &mut solution, budget);
            solution
        }
    }
}

/// Solves a problem; the resulting run may contain unnecessary swaps.
pub(crate) fn solve_table(
    problem: &Problem,
    conjunctions: impl FnOnce() -> Option<Vec<Vec<Trajectory>>>,
    options: &Options,
    budget: &mut CountingBudget,
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
    observed::fall_back(&mut solution, &actions, &automaton, options.goal);
    count(
        poset,
        &problem.actions,
        &problem.automaton,
        options,
        &mut solution,
        budget,
    );
    solution
}

/// Searches without the lattice, if the property and the options allow it and the lattice is not small; `None` otherwise, or
/// if such a search grew too large.
fn search_fast(
    poset: &Poset,
    actions: &[ActionId],
    automaton: Option<&Automaton>,
    conjunctions: impl FnOnce() -> Option<Vec<Vec<Trajectory>>>,
    options: &Options,
) -> Option<Solution> {
    // A run that is bad only because it ended is not a bad prefix.
    if options.engine == Some(Engine::Enumerate) || options.goal.complete {
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
    // A bound permits leaving things out; it does not require it, so an answer that leaves out nothing is welcome. Without such
    // an answer, the bound says how to continue.
    let is_bounded = options.window.is_some() || options.lookahead.is_some();
    if is_bounded && found.answer == Answer::GaveUp {
        return None;
    }
    Some(Solution::new(engine, found, options))
}

/// Whether the lattice is small, whatever the order: a bound from the lengths of the chains.
fn has_few_cuts(poset: &Poset) -> bool {
    let cuts = poset.chains().try_fold(1usize, |cuts, chain| {
        cuts.checked_mul(poset.chain(chain).len() + 1)
            .filter(|&cuts| cuts <= FEW_CUTS)
    });
    cuts.is_some()
}

fn count(
    poset: &Poset,
    actions: &[ActionId],
    machine: &dyn TransitionSystem<State = StateIndex>,
    options: &Options,
    solution: &mut Solution,
    budget: &mut CountingBudget,
) {
    budget.allow(solution.nodes, poset);
    if options.counting == Counting::Never {
        return;
    }
    // A window or lookahead asks for only some of the runs, so they are not counted.
    if solution.limit.is_some() {
        return;
    }
    let requirements = Requirements::of_poset(poset);
    let labelled = LabelledPoset::new(poset, &requirements, actions);
    let most = options.counting.max_cuts();
    if solution.shape.is_none() {
        let most = most.min(budget.measurable(poset));
        solution.shape = enumerate::measure(labelled, most, options);
        budget.measured(solution.shape.map_or(most, |shape| shape.cuts), poset);
    }
    let fits = |shape: LatticeSize| shape.cuts <= most && budget.take(shape.cuts, poset);
    if solution.shape.is_some_and(fits) {
        solution.runs = enumerate::count_runs(labelled, machine, options);
    }
}

/// Where violations are chains, the interval search is given up after this many symbolic nodes.
const CHAIN_NODES: usize = 100_000;
/// Where they are not, it races the enumeration for this many.
const RACE_NODES: usize = 5_000;
/// Progress is reported after every batch of this many symbolic nodes.
const TOLD: usize = 1_000;
/// The approximate size of a symbolic node in bytes, without its two cuts.
const NODE_BYTES: u64 = 200;
/// The index of the search takes this many bytes for each event and chain.
const INDEX_BYTES: u64 = 8;

/// The question for the engines.
pub(crate) struct Question<'a> {
    pub(crate) poset: &'a Poset,
    pub(crate) actions: &'a [ActionId],
    /// The machine that the events act on, if there is a table of it.
    pub(crate) automaton: Option<&'a Automaton>,
    /// The conditions whose conjunction violates the property, if it is of that kind.
    pub(crate) conjunctions: Option<Vec<Vec<Trajectory>>>,
    pub(crate) options: &'a Options,
}

impl Question<'_> {
    /// The answer of the first engine that has one; `None` if the problem needs enumeration.
    pub(crate) fn ask_all(&self) -> Option<(Engine, Searched)> {
        let shape = self.shape();
        if let Some(found) = shape.as_ref().and_then(|shape| self.ask_linear(shape)) {
            return Some((Engine::Linear, found));
        }
        if let Some(found) = self.ask_conjunctive() {
            return Some((Engine::Conjunctive, found));
        }
        let shape = shape?;
        // Intervals find a shortest violation, but their number grows with the height that a counter must reach.
        let by_intervals = |nodes: usize| {
            let found = self.ask_intervals(&shape, nodes)?;
            (found.answer != Answer::GaveUp).then_some((Engine::Intervals, found))
        };
        by_intervals(RACE_NODES)
            .or_else(|| {
                let found = self.ask_flow()?;
                (found.answer != Answer::GaveUp).then_some((Engine::Flow, found))
            })
            .or_else(|| shape.is_chain().then(|| by_intervals(CHAIN_NODES))?)
    }

    /// The answer of one engine; `None` if it has none for this property and these events.
    pub(crate) fn ask(&self, engine: Engine) -> Option<Searched> {
        match engine {
            Engine::Linear => self.ask_linear(&self.shape()?),
            Engine::Conjunctive => self.ask_conjunctive(),
            Engine::Flow => self.ask_flow(),
            Engine::Intervals => self.ask_intervals(&self.shape()?, usize::MAX),
            Engine::Enumerate | Engine::Strong | Engine::Maximal => None,
        }
    }

    fn shape(&self) -> Option<AutomatonShape> {
        AutomatonShape::new(self.automaton?).ok()
    }

    /// The number of symbolic nodes that fit in the memory together with an index.
    fn most_nodes(&self) -> usize {
        let (events, width) = (self.poset.len() as u64, self.poset.width() as u64);
        let index = events.saturating_mul(width * INDEX_BYTES);
        let left = self.options.memory.saturating_sub(index);
        usize::try_from(left / (8 * width + NODE_BYTES)).unwrap_or(usize::MAX)
    }

    /// The observed run, if it decides for all equivalent ones; if it is violated, intervals may find a shorter violation.
    fn ask_linear(&self, shape: &AutomatonShape) -> Option<Searched> {
        let (poset, actions) = (self.poset, self.actions);
        let mut found = linear::search(poset, actions, self.automaton?, &shape.bad_prefixes)?;
        if let Answer::Violated(Violation {
            is_shortest: false, ..
        }) = found.answer
            && let Some(shorter) = self.ask_intervals(shape, CHAIN_NODES)
        {
            found.nodes += shorter.nodes;
            if let Answer::Violated(_) = shorter.answer {
                found.answer = shorter.answer;
            }
        }
        Some(found)
    }

    fn ask_conjunctive(&self) -> Option<Searched> {
        let conjunctions = self.conjunctions.as_ref()?;
        Some(conjunctive::search(self.poset, conjunctions))
    }

    fn ask_flow(&self) -> Option<Searched> {
        let Options { memory, stop, .. } = self.options;
        flow::search(self.poset, self.actions, self.automaton?, *memory, stop)
    }

    fn ask_intervals(&self, shape: &AutomatonShape, max_nodes: usize) -> Option<Searched> {
        let saturated = shape.saturated.as_ref()?;
        let most = self.most_nodes();
        if most == 0 {
            return None;
        }
        let mut search = IntervalSearch::new(self.poset, self.actions, saturated)
            .bounded(most, self.options.stop.clone());
        while search.nodes() < max_nodes && !search.is_given_up() {
            let before = search.nodes();
            let answer = search.advance(TOLD.min(max_nodes - before));
            self.options
                .progress
                .looked_at((search.nodes() - before) as u64);
            if answer.is_some() {
                break;
            }
        }
        Some(search.finish())
    }
}
