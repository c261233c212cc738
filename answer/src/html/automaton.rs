//! The monitor of a property as a graph, or as much of it as can be drawn.

use portent_monitor_dsl::{Monitor, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;

use super::clip;

/// At most this many states are drawn; those that the runs visit come first.
const STATES: usize = 16;
/// A longer condition is clipped.
const CONDITION: usize = 400;

#[derive(Serialize)]
pub(super) struct Automaton {
    /// The initial state.
    initial: usize,
    states: Vec<State>,
    edges: Vec<Edge>,
    /// The number of states not shown.
    omitted: usize,
}

#[derive(Serialize)]
struct State {
    state: usize,
    verdict: Verdict,
}

#[derive(Serialize)]
struct Edge {
    from: usize,
    to: usize,
    when: String,
}

impl Automaton {
    /// The automaton with the states that some run visits, and others as far as there is room.
    pub(super) fn new(monitor: &Monitor, visited: impl IntoIterator<Item = usize>) -> Automaton {
        let mut chosen = BTreeSet::from([monitor.initial().index()]);
        for state in visited.into_iter().chain(0..monitor.states()) {
            if chosen.len() >= STATES.min(monitor.states()) {
                break;
            }
            chosen.insert(state);
        }
        let shown = monitor
            .state_ids()
            .filter(|state| chosen.contains(&state.index()));
        let mut states = Vec::new();
        let mut edges = Vec::new();
        for state in shown {
            states.push(State {
                state: state.index(),
                verdict: monitor.verdict(state),
            });
            for (to, when) in monitor.edges(state) {
                if chosen.contains(&to.index()) {
                    edges.push(Edge {
                        from: state.index(),
                        to: to.index(),
                        when: clip(&monitor.spell(&when), CONDITION),
                    });
                }
            }
        }
        Automaton {
            initial: monitor.initial().index(),
            omitted: monitor.states() - states.len(),
            states,
            edges,
        }
    }
}
