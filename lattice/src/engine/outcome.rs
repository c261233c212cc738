//! What engines return: a violated run or none, how much work that took, and what was left out.

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
    /// All events, in an order that respects causality; under the maximal model maybe only those
    /// up to the violation.
    pub run: Vec<EventIndex>,
    /// After how many of them the run is violated.
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
    /// A limit was met first.
    GaveUp,
}

/// What an engine says, and after how much work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Whether some equivalent run is violated.
    pub answer: Answer,
    /// How many nodes were looked at: events, stretches between writes, or symbolic nodes.
    pub nodes: usize,
    /// How many were waiting to be looked at when it gave up.
    pub left: usize,
    /// What its reductions saved.
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
    /// Why this is not a violated run of a problem, if it is not: a check that knows nothing of
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

/// Whether an event can come right after a cut.
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

/// Why a search did not look everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The window that was asked for.
    Window,
    /// The lookahead that was asked for.
    Lookahead,
    /// A window that was made necessary by the memory limit.
    Memory,
    /// A window that was made necessary by the number of chains: threads that nothing orders.
    Chains,
    /// The search was [ended](crate::Stop) before it had looked everywhere.
    Time,
    /// Of a program that is watched: an event came that older ones need not have come before, but they were taken to.
    History,
    /// Of a program that is watched: only the most promising symbolic nodes were kept. Under the maximal model: as many
    /// prefixes were found as [may be](crate::Options::max_nodes).
    Nodes,
    /// Of a program that is watched: events were not looked at, as others never came that their clocks count.
    Missing,
}

/// What the reductions saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Savings {
    /// Events that were not added to a cut, as they commute with those that were.
    pub commutation: u64,
    /// Events that were left out altogether, as they change no state; part of commutation.
    pub invisible: u64,
    /// States or symbolic nodes that were dropped for others that are violated whenever they are.
    pub subsumption: u64,
    /// States that were dropped because nothing violates them.
    pub absorption: u64,
    /// States or symbolic nodes that were dropped because no remaining event violates them.
    pub dead_ends: u64,
    /// Cuts that were not visited further, as no state was left there.
    pub emptied: u64,
}

/// The answer to a problem.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// Which engine gave it.
    pub engine: Engine,
    /// A violated run, if there is one.
    pub violation: Option<Violation>,
    /// How many nodes the engine visited.
    pub nodes: u64,
    /// How many cuts were reached and dropped.
    pub dropped: u64,
    /// Why not everything was searched.
    pub limit: Option<Limit>,
    /// What the reductions saved.
    pub saved: Savings,
    /// The size of the lattice, if it was counted.
    pub shape: Option<LatticeSize>,
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
