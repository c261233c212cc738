//! Answers without a lattice, where the property allows one.
//!
//! The engines in the order in which they are tried, the cheapest first: one linearisation, local
//! conditions that hold together, intervals. Where violations are no chains the interval search
//! races the enumeration: it may look at so many symbolic nodes as cost next to nothing beside a
//! large lattice, and if it has an answer by then, the lattice is never made.

use portent_monitor_dsl::EngineClass;

use crate::{
    ActionId, Automaton, Poset,
    automaton_shape::AutomatonShape,
    conjunctive::{self, Trajectory},
    interval::IntervalSearch,
    linear,
    options::Options,
    violation::{Answer, Searched, Violation},
};

/// Where violations are chains, the interval search is given up after so many symbolic nodes.
const CHAIN_NODES: usize = 100_000;
/// Where they are not, it races the enumeration for so many.
const RACE_NODES: usize = 5_000;
/// Progress is told whenever so many symbolic nodes were looked at.
const TOLD: usize = 1_000;
/// About so many bytes a symbolic node takes beside its two cuts.
const NODE_BYTES: u64 = 96;

/// What the engines are asked.
pub(crate) struct Question<'a> {
    pub(crate) poset: &'a Poset,
    pub(crate) actions: &'a [ActionId],
    /// What the events act on, if there is a table of it.
    pub(crate) automaton: Option<&'a Automaton>,
    /// The conditions that violate the property where they hold together, if it is of that kind.
    pub(crate) conjunctions: Option<Vec<Vec<Trajectory>>>,
    pub(crate) options: &'a Options,
}

impl Question<'_> {
    /// The answer of the first engine that has one; `None` if it is for enumeration.
    pub(crate) fn ask_all(&self) -> Option<(EngineClass, Searched)> {
        let shape = self.shape();
        if let Some(found) = shape.as_ref().and_then(|shape| self.ask_linear(shape)) {
            return Some((EngineClass::Linear, found));
        }
        if let Some(found) = self.ask_conjunctive() {
            return Some((EngineClass::Conjunctive, found));
        }
        let shape = shape?;
        let nodes = match shape.is_chain() {
            true => CHAIN_NODES,
            false => RACE_NODES,
        };
        let found = self.ask_intervals(&shape, nodes.min(self.most_nodes()))?;
        (found.answer != Answer::GaveUp).then_some((EngineClass::Intervals, found))
    }

    /// The answer of one engine; `None` if it has none for this property and these events.
    pub(crate) fn ask(&self, engine: EngineClass) -> Option<Searched> {
        match engine {
            EngineClass::Linear => self.ask_linear(&self.shape()?),
            EngineClass::Conjunctive => self.ask_conjunctive(),
            EngineClass::Intervals => self.ask_intervals(&self.shape()?, self.most_nodes()),
            EngineClass::Enumerate => None,
        }
    }

    fn shape(&self) -> Option<AutomatonShape> {
        AutomatonShape::new(self.automaton?).ok()
    }

    /// The symbolic nodes that fit in the memory.
    fn most_nodes(&self) -> usize {
        let node = 8 * self.poset.width() as u64 + NODE_BYTES;
        usize::try_from(self.options.memory / node).unwrap_or(usize::MAX)
    }

    /// The observed run, if it speaks for all; a shorter violation than its own by intervals.
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

    fn ask_intervals(&self, shape: &AutomatonShape, max_nodes: usize) -> Option<Searched> {
        let saturated = shape.saturated.as_ref()?;
        let mut search = IntervalSearch::new(self.poset, self.actions, saturated);
        while search.nodes() < max_nodes {
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
