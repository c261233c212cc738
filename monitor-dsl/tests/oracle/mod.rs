//! Independent oracles for the monitors: their own syntax, their own decision procedures, nothing shared with the crate.
//!
//! | module | what it knows |
//! |---|---|
//! | `formula` | syntax trees of LTL and ERE, shrinking |
//! | `print` | both as text, with random spellings |
//! | `case` | a whole property: variables, events, propositions, body; the letters that can occur |
//! | `float` | floating-point expressions, and values that are hard to compare |
//! | `random` | seeded generators |
//! | `finite` | finite-trace truth, by the definitions on positions |
//! | `lasso` | truth on an ultimately periodic word, by the definitions; checks the tableau |
//! | `tableau` | exact LTL3 verdicts: closure tableau with fair components |
//! | `backtrack` | ERE membership by a memoised matcher |
//! | `dfa` | explicit automata of ERE |
//! | `ere` | verdicts of ERE: members by the matcher, liveness of a run by the automaton |
//! | `refine` | naive partition refinement: is a machine minimal? |
//! | `table` | the published formulas with the sizes of their monitors |
//! | `reading` | a monitor, read in the oracle's letters |
//! | `check` | compares a monitor with an oracle, on words and on the whole reachable product |
//! | `many` | compares many random cases, and shrinks those that differ |
//!
//! The only link to the crate is its public interface, and only `check`, `reading` and `refine` use it.

pub(crate) mod backtrack;
pub(crate) mod case;
pub(crate) mod check;
mod dfa;
pub(crate) mod ere;
pub(crate) mod finite;
pub(crate) mod float;
pub(crate) mod formula;
pub(crate) mod lasso;
pub(crate) mod many;
mod print;
pub(crate) mod random;
pub(crate) mod reading;
pub(crate) mod refine;
pub(crate) mod table;
pub(crate) mod tableau;

use std::hash::Hash;

/// The oracle's own four verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Truth {
    Violated,
    Satisfied,
    Pending,
    Ok,
}

impl Truth {
    /// Whether no continuation can change the verdict.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Truth::Violated | Truth::Satisfied)
    }

    /// The verdict of a run that both a satisfying and a violating continuation may or may not have.
    fn from_futures(can_hold: bool, can_fail: bool, holds_now: bool) -> Truth {
        match (can_hold, can_fail) {
            (false, _) => Truth::Violated,
            (true, false) => Truth::Satisfied,
            (true, true) if holds_now => Truth::Ok,
            (true, true) => Truth::Pending,
        }
    }
}

/// A deterministic machine that knows the right verdict of every run.
///
/// Letters are indices into the letters of [`case::Case::letters`].
pub(crate) trait Oracle {
    /// What has to be remembered of a run.
    type State: Clone + Eq + Hash;

    /// The state before any letter.
    fn start(&self) -> Self::State;

    /// The state after one more letter.
    fn step(&self, state: &Self::State, letter: usize) -> Self::State;

    /// The verdict in a state.
    fn verdict(&self, state: &Self::State) -> Truth;

    /// The verdict after `word`, which led to `state`, with the part about the run's end decided on the word itself.
    fn verdict_of_word(&self, state: &Self::State, word: &[usize]) -> Truth;
}
