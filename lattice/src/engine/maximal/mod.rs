//! The maximal causal model: everything that the same threads could have done, as far as one run
//! can tell.
//!
//! A run is feasible if every thread keeps its program order, every read (and the read of every
//! update) sees the write that it saw, every failed try fails again, no two threads hold a lock at once,
//! and forks, joins, messages, notifications, barriers and clocks of the trace are respected. So whole critical
//! sections and unread writes may be swapped, which happens-before never permits. A feasible
//! prefix is something that the program could have done, even if it cannot be completed; so a
//! violated prefix counts.
//!
//! [`Rules`] are the demands of a trace on the order of its events; [`search`] looks for a violated
//! prefix. This problem is NP-hard, and for each variable that several threads write, a node has to remember the last write,
//! so the search has a limit. The happens-before runs are among the feasible
//! ones: search those first, with the engines for posets.
//!
//! | file | contents |
//! |---|---|
//! | `rules`, `reader` | the demands of a trace |
//! | `channel` | channels that were found empty, and where they are empty again |
//! | `prerequisites` | what must have happened before each event; if even the order of needs has no violated run, there is none |
//! | `relax` | rules that enforce only the locks, variables and channels that infeasible violations were found to break |
//! | `question` | the question and its answer: with relaxed rules first, then with all of them |
//! | `search`, `state`, `waiting` | the prefixes, by the number of steps in them; whole runs are preferred |
//! | `stubborn` | which threads must be advanced; events that restrict no other thread happen as soon as they can |
//! | `ahead` | how far threads can get at best, and so what is still to come |
//! | `goal_analysis` | the effect of this on the property: dead ends, states that cover others, steps that may overtake others |
//! | `complete` | from a violated prefix to a whole run |
//! | `examine` | checks a witness against the rules, independently of the above |
//! | `in_trace` | from the slice of an instance to the whole trace and back, and the cost of searches; also for the model `strong` |
//! | `instance` | all of it for one instance of a property |

mod ahead;
mod channel;
mod complete;
mod examine;
mod goal_analysis;
mod in_trace;
mod instance;
mod prerequisites;
mod question;
mod reader;
mod relax;
mod rules;
mod search;
mod state;
mod stubborn;
mod waiting;

pub(super) use examine::{examine, examine_conflicts};
pub(super) use goal_analysis::GoalAnalysis;
pub(crate) use in_trace::{FeasibleSearched, NodeBudget, SliceInTrace};
pub(super) use in_trace::{Room, TraceSearch};
pub(crate) use instance::find_feasible;
pub use question::{FeasibilityAnswer, FeasibilitySearched, FeasibleRun, search};
pub(crate) use reader::RulesReader;
pub use rules::Rules;
pub(super) use waiting::PrefixLevels;
