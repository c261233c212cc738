//! The result of an engine: a violated run or none, the work done, and what was left out.

use portent_monitor_dsl::Verdict;
use serde::Serialize;

use super::{
    Problem,
    enumerate::{LatticeSize, Peak, RunCounts},
};
use crate::{
    options::{Engine, Options},
    order::{EventIndex, Poset},
};

/// A violated run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// All events, in an order that respects causality; under the maximal model possibly only the events
    /// up to the violation.
    pub run: Vec<EventIndex>,
    /// The number of events after which the run is violated.
    pub violated_at: usize,
    /// Whether no equivalent run is violated after fewer events.
    pub is_shortest: bool,
}

/// The answer to "is some equivalent run violated?"
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this one.
    Violated(Violation),
    /// No.
    Safe,
    /// A limit was reached first.
    GaveUp,
}

/// The answer of an engine, and the work done for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Whether some equivalent run is violated.
    pub answer: Answer,
    /// The number of nodes examined: events, stretches between writes, or symbolic nodes.
    pub nodes: usize,
    /// The number of nodes still waiting when it gave up.
    pub left: usize,
    /// The savings of its reductions.
    pub saved: Savings,
}

impl Searched {
    /// An answer without limits.
    pub(crate) fn in_full(answer: Answer, nodes: usize) -> Searched {
        Searched {
            answer,
            nodes,
            left: 0,
            saved: Savings::default(),
        }
    }
}

impl Violation {
    /// Why this is not a violated run of a problem, if it is not: a check that is independent of
    /// how the run was found.
    pub fn refute(&self, problem: &Problem) -> Option<String> {
        let poset = &problem.poset;
        if self.run.len() != poset.len() {
            return Some("not every event occurs".to_owned());
        }
        let mut done = vec![0; poset.width()];
        for &event in &self.run {
            if event.index() >= poset.len() || !is_next(poset, &done, event) {
                return Some(format!("event {} comes too early or twice", event.0));
            }
            done[poset.chain_of(event).index()] += 1;
        }
        let mut state = problem.automaton.initial;
        for (step, event) in self.run.iter().enumerate() {
            if problem.automaton.verdict(state) == Verdict::Violated {
                let when = format!("violated after {step} events");
                return (step != self.violated_at).then_some(when);
            }
            state = problem
                .automaton
                .step(state, problem.actions[event.index()]);
        }
        let ends = problem.automaton.verdict(state) == Verdict::Violated;
        (!ends || self.violated_at != self.run.len()).then(|| "not violated there".to_owned())
    }
}

/// Whether an event can directly follow a cut.
fn is_next(poset: &Poset, cut: &[u32], event: EventIndex) -> bool {
    let chain = poset.chain_of(event).index();
    let clock = poset.clock(event);
    (0..poset.width()).all(|other| {
        if other == chain {
            clock[other] == cut[other] + 1
        } else {
            clock[other] <= cut[other]
        }
    })
}

/// Why a search was not exhaustive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The window that was requested.
    Window,
    /// The lookahead that was requested.
    Lookahead,
    /// A window forced by the memory limit.
    Memory,
    /// A window forced by the number of chains: threads that nothing orders.
    Chains,
    /// The search was [stopped](crate::Stop) before it was complete.
    Time,
    /// While watching a program: an event arrived that older ones, contrary to an earlier assumption, need not have preceded.
    History,
    /// While watching a program: only the most promising symbolic nodes were kept. Under the maximal model: the search reached
    /// the [largest number](crate::Options::max_nodes) of prefixes.
    Nodes,
    /// While watching a program: events were not examined, because other events that their clocks count never arrived.
    Missing,
}

/// The savings of the reductions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Savings {
    /// Events not added to a cut because they commute with those that were.
    pub commutation: u64,
    /// Events left out altogether because they change no state; part of commutation.
    pub invisible: u64,
    /// States or symbolic nodes dropped because others are violated whenever they are.
    pub subsumption: u64,
    /// States dropped because nothing violates them.
    pub absorption: u64,
    /// States or symbolic nodes dropped because no remaining event violates them.
    pub dead_ends: u64,
    /// Cuts not visited further because no state was left there.
    pub emptied: u64,
}

/// The answer to a problem.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// The engine that gave it.
    pub engine: Engine,
    /// A violated run, if there is one.
    pub violation: Option<Violation>,
    /// The number of nodes that the engine visited.
    pub nodes: u64,
    /// The number of cuts reached and dropped.
    pub dropped: u64,
    /// Why the search was not exhaustive.
    pub limit: Option<Limit>,
    /// The savings of the reductions.
    pub saved: Savings,
    /// The size of the lattice, if it was counted.
    pub shape: Option<LatticeSize>,
    /// The runs, if they were counted.
    pub runs: Option<RunCounts>,
    /// The memory of the frontier.
    pub peak: Peak,
}

impl Solution {
    /// Notes that the search was not exhaustive after all.
    pub(crate) fn give_up(&mut self, limit: Limit) {
        self.limit = Some(limit);
        self.shape = None;
        self.runs = None;
        if let Some(violation) = &mut self.violation {
            violation.is_shortest = false;
        }
    }

    pub(crate) fn new(engine: Engine, found: Searched, options: &Options) -> Solution {
        let (violation, limit) = match found.answer {
            Answer::Violated(violation) => (Some(violation), None),
            Answer::Safe => (None, None),
            Answer::GaveUp if options.stop.is_raised() => (None, Some(Limit::Time)),
            Answer::GaveUp => (None, Some(Limit::Memory)),
        };
        Solution {
            engine,
            violation,
            nodes: found.nodes as u64,
            // Nodes left when a violation was found are not missing from the answer.
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
