//! A finite automaton that events act on, as a table.

use crate::verdict::Verdict;

portent_monitor_core::ids! {
    /// A state of an [`Automaton`].
    pub struct StateIndex(pub u32);
    /// Something an event does to an [`Automaton`].
    pub struct ActionId(pub u32);
}

/// A finite automaton that events act on: the monitor, together with what its gauges show where the
/// property reads variables. An action then is "this event, and these variables get these values",
/// so that what an event does no longer depends on the cut.
///
/// ```
/// use portent_monitor_dsl::{
///     Verdict,
///     automaton::{Automaton, StateIndex},
///     shape::{BadPrefixes, Saturated},
/// };
///
/// // `always (d -> [a, b))`: a, b, d are actions 0, 1, 2; the states are outside and inside of an
/// // interval, and violated.
/// let automaton = Automaton {
///     initial: StateIndex(0),
///     actions: 3,
///     next: [1, 0, 2, 1, 0, 1, 2, 2, 2].map(StateIndex).to_vec(),
///     verdicts: vec![Verdict::Ok, Verdict::Ok, Verdict::Violated],
/// };
///
/// // Outside and inside alternate, and yet violations are chains: (not a)* d, or * b (not a)* d.
/// let saturated = Saturated::new(&BadPrefixes::new(&automaton)?).expect("small");
/// assert!(saturated.is_chain());
/// # Ok::<(), portent_monitor_dsl::automaton::MalformedTable>(())
/// ```
#[derive(Clone, Debug)]
pub struct Automaton {
    /// The state at the empty cut; the letter for initial values has been read.
    pub initial: StateIndex,
    /// The number of actions.
    pub actions: usize,
    /// The successor of state `s` on action `a` is at `s * actions + a`.
    pub next: Vec<StateIndex>,
    /// The verdict in each state; violated and satisfied are absorbing.
    pub verdicts: Vec<Verdict>,
}

/// Why a table is no [`Automaton`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedTable {
    /// There is not one successor for every state and action.
    #[error("a table of {states} states and {actions} actions cannot have {entries} entries")]
    WrongSize {
        /// The number of states.
        states: usize,
        /// The number of actions.
        actions: usize,
        /// The number of successors that were given.
        entries: usize,
    },
    /// A state that does not exist is named.
    #[error("state {0} is not one of the table")]
    NoSuchState(u32),
}

impl Automaton {
    /// Whether there is one successor for every state and action.
    ///
    /// # Errors
    ///
    /// If the table is not rectangular, or names states that it does not have.
    pub fn validate(&self) -> Result<(), MalformedTable> {
        let states = self.verdicts.len();
        if states.checked_mul(self.actions) != Some(self.next.len()) {
            return Err(MalformedTable::WrongSize {
                states,
                actions: self.actions,
                entries: self.next.len(),
            });
        }
        let mut named = self.next.iter().chain([&self.initial]);
        match named.find(|state| state.index() >= states) {
            Some(state) => Err(MalformedTable::NoSuchState(state.0)),
            None => Ok(()),
        }
    }

    /// The successors of a state, one for each action.
    pub fn row(&self, state: usize) -> &[StateIndex] {
        &self.next[state * self.actions..][..self.actions]
    }

    /// The state after an action.
    pub fn step(&self, state: StateIndex, action: ActionId) -> StateIndex {
        self.next[state.index() * self.actions + action.index()]
    }

    /// The verdict in a state.
    pub fn verdict(&self, state: StateIndex) -> Verdict {
        self.verdicts[state.index()]
    }

    /// For each state, whether some actions lead from it to a verdict that is wanted.
    pub fn may_become(&self, wanted: impl Fn(Verdict) -> bool) -> Vec<bool> {
        let mut from = vec![Vec::new(); self.verdicts.len()];
        for (place, to) in self.next.iter().enumerate() {
            from[to.index()].push(place / self.actions);
        }
        let mut may: Vec<bool> = self
            .verdicts
            .iter()
            .map(|&verdict| wanted(verdict))
            .collect();
        let mut open: Vec<usize> = (0..may.len()).filter(|&state| may[state]).collect();
        while let Some(state) = open.pop() {
            for &before in &from[state] {
                if !std::mem::replace(&mut may[before], true) {
                    open.push(before);
                }
            }
        }
        may
    }
}
