//! Moore machines over an alphabet, before and after minimisation.
//!
//! Transitions are diagrams whose leaves are states, so that a machine over a million letters costs
//! what its structure costs. [`minimize`] merges equivalent states; [`table`] makes the dense table
//! that stepping uses.

mod minimize;
mod table;

pub(crate) use minimize::minimize;
pub(crate) use table::{DecisionNode, DecisionTrees, Table};

use crate::{
    diagram::{Diagram, Diagrams, Shortage},
    verdict::Verdict,
};

/// A deterministic machine; state 0 is the initial one.
pub(crate) struct Machine {
    pub(crate) diagrams: Diagrams,
    /// The output of every state.
    pub(crate) verdicts: Vec<Verdict>,
    /// For every state, a diagram from letters to states.
    pub(crate) transitions: Vec<Diagram>,
}

/// The synthesis met a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLarge {
    /// There are too many states.
    States,
    /// Finding the states costs too much.
    Short(Shortage),
}

impl From<Shortage> for TooLarge {
    fn from(shortage: Shortage) -> Self {
        TooLarge::Short(shortage)
    }
}

impl Machine {
    /// The states that some letter leads to from `state`.
    pub(crate) fn successors(&self, state: usize) -> Vec<u32> {
        let mut targets = Vec::new();
        self.diagrams
            .for_each_leaf(self.transitions[state], |target| targets.push(target));
        targets
    }
}
