//! Searching intervals of the lattice instead of cuts.
//!
//! Fix a sequence of events that move the automaton, where all other events are self-loops of the node in which they
//! occur. The cuts that can be reached this way are exactly those between a lowest and a highest one: an
//! interval. So (node, lowest, highest) stands for exponentially many cuts, exactly.
//!
//! *Start*: lowest = ∅, highest = the largest cut with only events on which the node loops.
//!
//! *Step* by an event e along an edge n → n', with e not in lowest and its past within highest: the
//! new lowest is lowest ⊔ clock(e). Let h be highest without all that comes after e, with e. Then
//! the new highest is the largest cut that avoids every event outside h on which n' does not loop.
//!
//! *Why*: the cuts of the interval where e is enabled are those between lowest ⊔ past(e) and
//! highest − up(e). A cut F is reached in n' iff for some such D, D + e ⊆ F and all of
//! F − (D + e) are loops of n'. The best D is F ∩ (highest − up(e)); the remaining condition is that F
//! contains the new lowest and has no event outside h on which n' does not loop. That condition is closed
//! under taking subsets, so it is an interval again.
//!
//! The search takes the node with the smallest possible violation first, so that the first one found
//! is a shortest. Nodes inside others that are at least as capable are dropped, and so are those from
//! which the remaining events cannot violate. The weak point is cyclic
//! automata (a toggle), for which there are as many sequences as orders: the caller sets
//! a limit on the number of nodes.

mod index;
mod nodes;
mod prospects;
mod search;

pub use search::{IntervalSearch, search};
