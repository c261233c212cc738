//! What an engine that looks for one violating run comes back with.

use crate::{
    poset::{EventIndex, Poset},
    problem::Problem,
    report::SavedReport,
};
use portent_monitor_dsl::Verdict;

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
    pub saved: SavedReport,
}

impl Searched {
    /// An answer without limits.
    pub(crate) fn in_full(answer: Answer, nodes: usize) -> Searched {
        Searched {
            answer,
            nodes,
            left: 0,
            saved: SavedReport::default(),
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
            done[poset.chain_of(event)] += 1;
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
    let chain = poset.chain_of(event);
    let clock = poset.clock(event);
    (0..poset.width()).all(|other| match other == chain {
        true => clock[other] == cut[other] + 1,
        false => clock[other] <= cut[other],
    })
}
