//! A finite automaton that events act on, as a table.

use portent_monitor_dsl::Verdict;

portent_monitor_core::ids! {
    /// A state of an [`Automaton`].
    pub struct StateIndex(pub u32);
    /// Something an event does to an [`Automaton`].
    pub struct ActionId(pub u32);
}

/// A finite automaton that events act on: the monitor, together with what its gauges show where the
/// property reads variables. An action then is "this event, and these variables get these values",
/// so that what an event does no longer depends on the cut.
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

impl Automaton {
    /// The state after an action.
    pub fn step(&self, state: StateIndex, action: ActionId) -> StateIndex {
        self.next[state.0 as usize * self.actions + action.0 as usize]
    }

    /// The verdict in a state.
    pub fn verdict(&self, state: StateIndex) -> Verdict {
        self.verdicts[state.0 as usize]
    }

    /// For each state, whether some actions lead from it to a verdict that is wanted.
    pub(crate) fn may_become(&self, wanted: impl Fn(Verdict) -> bool) -> Vec<bool> {
        let mut from = vec![Vec::new(); self.verdicts.len()];
        for (place, to) in self.next.iter().enumerate() {
            from[to.0 as usize].push(place / self.actions);
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
