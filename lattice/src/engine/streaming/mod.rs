//! Intervals of the lattice while events arrive: after every event it is known whether some run of the events so far is
//! violated.
//!
//! As in the [interval search](super::interval), a node stands for all cuts that are reached by one sequence of moves of
//! the automaton: those between a lowest and a highest one. Here the highest cut is also a predicate on the future: on each
//! chain, the first event that is outside, or none so far. When an event x arrives, the nodes that are open on its chain
//! examine it:
//!
//! - x is *enabled* if its strict past is inside; then its moves make new nodes;
//! - x is *inside* if it is enabled and the stage stays on it, or if it was inside the parent and does not come after the
//!   event that led from there; otherwise the chain ends for the node.
//!
//! A new node may also move by events that arrived earlier: it is *expanded* over the kept part of the history.
//!
//! **Complete**: a sequence of moves without x is an old node, as old events never enter or leave its interval; one with x is an
//! old node, then x, then events that arrived earlier and do not come after x. **Sound**: the lemma of the interval search, for
//! the events that have arrived.
//!
//! | file | contents |
//! |---|---|
//! | [`moves`] | the automaton: stages, what they stay on, where they move |
//! | [`history`] | the events that may still matter |
//! | [`nodes`] | the intervals, and which of them an event meets |
//! | [`arrive`] | the effect of an event on them |
//! | [`expand`] | new nodes, and their moves by older events |
//! | [`cover`] | nodes that others make superfluous |
//! | [`settle`] | events that all future ones come after, and what can be forgotten with them |
//! | [`beam`] | the most promising nodes, when there are too many |
//! | [`observed`] | the observed run, which is never lost |
//! | [`rest`] | a search packed between two events, when there are very many |
//! | [`story`], [`witness`] | how a node was reached, and the run that shows it |
//!
//! This engine knows nothing of properties: an event is a chain, a class of actions, and a clock.

mod arrive;
mod beam;
mod cover;
mod expand;
mod history;
mod moves;
mod nodes;
mod observed;
mod rest;
mod settle;
mod story;
#[cfg(test)]
mod tests;
mod witness;

pub(crate) use moves::{Class, Moves, Stage};
pub(crate) use settle::LiveThread;
pub(crate) use story::{By, Turn};
pub(crate) use witness::{Extent, Placed, arrange};

use portent_monitor_core::ChainId;

use self::{
    history::{NEVER, Unsettled},
    nodes::{Node, NodeId, Nodes, Role},
    observed::{ObservedRun, Stages},
    story::{Forgetting, Stories, StoryId},
};

/// Which pruning rules are used; they do not affect the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pruning {
    /// Forget events that all later ones come after.
    pub(crate) settled: bool,
    /// Forget nodes that no thread can extend.
    pub(crate) dead: bool,
    /// Forget parents when nothing can be inside a child only because of them.
    pub(crate) links: bool,
    /// Keep the lowest cut only as exactly as it matters.
    pub(crate) rounding: bool,
    /// Drop nodes that others make superfluous.
    pub(crate) cover: bool,
    /// Of older events that lead to comparable nodes, examine only one.
    pub(crate) candidates: bool,
}

impl Pruning {
    pub(crate) const ALL: Pruning = Pruning {
        settled: true,
        dead: true,
        links: true,
        rounding: true,
        cover: true,
        candidates: true,
    };
}

/// Bounds on memory and work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The order of this many events is kept as it is; older events come before all later ones.
    pub(crate) history: usize,
    /// The search is exact up to this many nodes.
    pub(crate) nodes: usize,
    /// Beyond that, the number of nodes kept.
    pub(crate) beam: usize,
    /// The number of nodes that one event may make.
    pub(crate) new_nodes: usize,
    /// The search is tidied after at least this many events, unless its history would become too long.
    pub(crate) pause: usize,
    pub(crate) pruning: Pruning,
}

impl Bounds {
    /// No bounds.
    #[cfg(test)]
    pub(crate) const NONE: Bounds = Bounds {
        history: usize::MAX,
        nodes: usize::MAX,
        beam: usize::MAX,
        new_nodes: usize::MAX,
        pause: 64,
        pruning: Pruning::ALL,
    };
}

/// Counts of what was left out so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Omissions {
    /// Events that arrived too late: they were assumed to come after events that need not precede them.
    pub(crate) late: u64,
    /// Nodes dropped because there were too many.
    pub(crate) nodes: u64,
}

/// An ongoing search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streaming {
    history: Unsettled,
    nodes: Nodes,
    stories: Stories,
    observed: ObservedRun,
    /// For each chain, how many events are assumed to come before all future ones.
    floor: Vec<u32>,
    /// The number of events that have arrived.
    events: u32,
    /// When the search was last tidied, and when to do so again.
    tidied: u32,
    due: u32,
    /// Where the comparison of all pairs of nodes continues.
    compared: u32,
    /// The number of nodes made.
    made: u64,
    omissions: Omissions,
}

/// Memory shared by searches, because only one of them takes an event at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// The clock of the event.
    clock: Vec<u32>,
    /// The chains of which the event knows more than its predecessor on its chain, and how much.
    news: Vec<(ChainId, u32)>,
    /// Nodes that the event moves, and the targets.
    moved: Vec<(NodeId, Stage)>,
    /// New nodes, not all of them expanded.
    fresh: Vec<NodeId>,
    /// Cuts of a new node.
    lowest: Vec<u32>,
    ends: Vec<u32>,
    /// The stages of the observed run before the event.
    stages: Stages,
    /// For tidying: all nodes, those that are compared, the stories of all, and their new names.
    ids: Vec<NodeId>,
    compared: Vec<(NodeId, Stage, u64)>,
    stories: Vec<StoryId>,
    names: Vec<StoryId>,
    forgetting: Forgetting,
}

impl Streaming {
    /// A search that has seen no events.
    pub(crate) fn new(moves: &Moves) -> Streaming {
        let mut search = Streaming {
            history: Unsettled::default(),
            nodes: Nodes::new(moves),
            stories: Stories::default(),
            observed: ObservedRun::default(),
            floor: Vec::new(),
            events: 0,
            tidied: 0,
            due: 0,
            compared: 0,
            made: 0,
            omissions: Omissions::default(),
        };
        for (origin, &stage) in (0..).zip(moves.initial()) {
            let story = search.stories.tell(Turn {
                by: By::Origin(origin),
                to: stage,
                before: None,
            });
            let node = search.nodes.make(Node {
                stage,
                role: Role::Searched,
                expanded: true,
                by: None,
                parent: None,
                children: 0,
                story,
                born: 0,
            });
            search.nodes.add(node, moves);
            search.observed.begin(stage, story);
            search.made += 1;
        }
        search
    }

    /// Whether anything can still be found.
    pub(crate) fn goes_on(&self) -> bool {
        self.nodes.searched > 0
    }

    /// The number of nodes made.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// The number of nodes searched.
    #[cfg(test)]
    fn searched(&self) -> usize {
        self.nodes.searched
    }

    /// Counts of what was left out.
    pub(crate) fn omissions(&self) -> Omissions {
        self.omissions
    }

    fn widen(&mut self, width: usize, moves: &Moves) {
        if width > self.history.width() {
            self.history.widen(width);
            self.nodes.widen(width, moves);
            self.floor.resize(width, 0);
        }
    }

    fn is_open(&self, id: NodeId, chain: ChainId) -> bool {
        self.nodes.ends(id)[chain.index()] == NEVER
    }
}
