//! Searching intervals of the lattice instead of cuts.
//!
//! Fix a sequence of events that move the automaton, all others being self-loops of the node they
//! meet. The cuts that can be reached so are exactly those between a lowest and a highest one: an
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
//! F − (D + e) are loops of n'. The best D is F ∩ (highest − up(e)); what remains to ask is that F
//! contains the new lowest and has no event outside h on which n' does not loop. That is closed
//! under taking subsets, so it is an interval again.
//!
//! The search takes the node with the smallest possible violation first, so that the first one found
//! is a shortest. Nodes inside of others that can do as much are dropped, and so are those from
//! which the events that are left cannot violate. The weak point are cyclic
//! automata (a toggle), for which the sequences are as many as the orders: the caller sets
//! how many nodes it is willing to see.

mod index;
mod nodes;
mod prospects;
mod search;

pub use search::{IntervalSearch, search};
