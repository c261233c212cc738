//! The input of everything here: an explicit automaton over actions.

use crate::verdict::Verdict;

portent_monitor_core::ids! {
    /// A state of an [`ActionTable`].
    pub struct State(pub u32);
    /// One of the things that a step can do to an [`ActionTable`].
    pub struct Action(pub u32);
}

/// What every action does in every state, with the verdict of each state.
///
/// Violated and satisfied are taken as absorbing, whatever the table says of them.
///
/// ```
/// use portent_monitor_dsl::{Verdict, shape::{ActionTable, BadPrefixes, Saturated, State}};
///
/// // `always (d -> [a, b))`: a, b, d are actions 0, 1, 2; the states are outside and inside of an
/// // interval, and violated.
/// let next = [1, 0, 2, 1, 0, 1, 2, 2, 2].map(State).to_vec();
/// let verdicts = vec![Verdict::Ok, Verdict::Ok, Verdict::Violated];
/// let table = ActionTable::new(vec![State(0)], 3, next, verdicts)?;
///
/// // Outside and inside alternate, and yet violations are chains: (not a)* d, or * b (not a)* d.
/// let saturated = Saturated::new(&BadPrefixes::new(&table)).expect("small");
/// assert!(saturated.is_chain());
/// # Ok::<(), portent_monitor_dsl::shape::MalformedTable>(())
/// ```
#[derive(Clone, Debug)]
pub struct ActionTable {
    pub(super) initial: Vec<State>,
    pub(super) actions: usize,
    /// The successor of state `s` on action `a` is at `s * actions + a`.
    pub(super) next: Vec<State>,
    pub(super) verdicts: Vec<Verdict>,
}

/// Why there is no such [`ActionTable`].
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

impl ActionTable {
    /// A table with the successor of state `s` on action `a` at `s * actions + a`. Several initial
    /// states are several questions: each is where some run may begin.
    ///
    /// # Errors
    ///
    /// If the table is not rectangular, or names states that it does not have.
    pub fn new(
        initial: Vec<State>,
        actions: usize,
        next: Vec<State>,
        verdicts: Vec<Verdict>,
    ) -> Result<Self, MalformedTable> {
        let states = verdicts.len();
        if states.checked_mul(actions) != Some(next.len()) {
            return Err(MalformedTable::WrongSize {
                states,
                actions,
                entries: next.len(),
            });
        }
        let missing = |state: &&State| state.0 as usize >= states;
        if let Some(state) = initial.iter().chain(&next).find(missing) {
            return Err(MalformedTable::NoSuchState(state.0));
        }
        Ok(ActionTable {
            initial,
            actions,
            next,
            verdicts,
        })
    }

    pub(super) fn row(&self, state: usize) -> &[State] {
        &self.next[state * self.actions..][..self.actions]
    }
}
