//! The maximal causal model: everything that the same threads could have done, as far as one run
//! can tell.
//!
//! A run is feasible if every thread keeps its program order, every read (and the read of every
//! update) sees the write that it saw, every failed try fails again, no two threads hold a lock at once,
//! and forks, joins, messages, notifications, barriers and clocks of the trace are respected. So whole critical
//! sections and writes that nobody reads may be swapped, which happens-before never does. A feasible
//! prefix is something that the program could have done, even if it cannot be completed; so a
//! violated prefix counts.
//!
//! [`Rules`] says what a trace demands of its events; [`search`] looks for a violated
//! prefix. To decide that is NP-hard, and a node has to remember who wrote each variable last that
//! several threads write, so the search has a limit. The happens-before runs are among the feasible
//! ones: search those first, with the engines for posets.
//!
//! The irrelevant events that cannot take anything from the others (reads, releases, signals,
//! writes of what nobody will read) happen as soon as they can; the rest is tried in every order.

mod examine;
mod reader;
mod rules;
mod search;
mod state;
mod widen;

pub(crate) use reader::RulesReader;
pub use rules::Rules;
pub use search::{MaximalAnswer, MaximalSearched, search};
pub(crate) use widen::{Origin, widen};
