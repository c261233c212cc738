//! The shape of an automaton: what the engines that do not enumerate need to know about it.

use portent_monitor_dsl::{
    automaton::{Automaton, MalformedTable},
    shape::{BadPrefixes, Saturated},
};

/// What is computed once for an automaton, and serves every poset whose events act on it.
#[derive(Clone, Debug)]
pub struct AutomatonShape {
    /// The minimal automaton of the bad prefixes.
    pub bad_prefixes: BadPrefixes,
    /// The same language with all self-loops; `None` if the automaton is too large for it.
    pub saturated: Option<Saturated>,
}

impl AutomatonShape {
    /// The shape of an automaton.
    ///
    /// # Errors
    ///
    /// If its table is not rectangular, or names states that it does not have.
    pub fn new(automaton: &Automaton) -> Result<Self, MalformedTable> {
        let bad_prefixes = BadPrefixes::new(automaton)?;
        let saturated = Saturated::new(&bad_prefixes);
        Ok(AutomatonShape {
            bad_prefixes,
            saturated,
        })
    }

    /// Whether violations are chains: then the interval search is the engine to use, and not only
    /// one to try.
    pub fn is_chain(&self) -> bool {
        self.saturated.as_ref().is_some_and(Saturated::is_chain)
    }
}
