//! Events that all future ones come after, and what can therefore be forgotten.
//!
//! A live thread knows of some events; everything it does later comes after them. An event that all threads know of is
//! *settled*: it is in the lowest cut of every node that a later event makes, so it moves nothing any more, and if it is
//! outside a node, no later event is enabled there. A node that no thread can extend is *dead*. A parent is no longer needed
//! when no thread can do anything that is inside a child only because of the parent.
//!
//! A silent thread settles nothing. Beyond a bound on the history, the oldest events are therefore assumed to be in the past of
//! all future ones. That only adds order, so predictions stay real; and nothing is lost until an event arrives that knows less.

use portent_monitor_core::ChainId;

use super::{
    Bounds, Moves, Role, Scratch, Streaming, Turn, history::NEVER, nodes::NodeId, story::StoryId,
};

/// The position of a thread that may still act.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveThread {
    /// Its chain; none if it has no events yet.
    pub(crate) chain: Option<ChainId>,
    /// The events that it knows of; components past the end count as 0.
    pub(crate) clock: Vec<u32>,
}

/// For each event this many pairs of nodes are compared.
const COMPARISONS: usize = 8;
/// The number of pairs compared at once, which takes about a millisecond.
const AT_ONCE: usize = 1 << 16;

impl Streaming {
    /// Whether enough has happened to [tidy up](Streaming::tidy).
    pub(crate) fn is_due(&self, bounds: &Bounds) -> bool {
        self.events >= self.due.max(bounds.pause as u32)
    }

    /// Forgets everything that no future event needs, given all threads that may still act.
    pub(crate) fn tidy(
        &mut self,
        moves: &Moves,
        bounds: &Bounds,
        scratch: &mut Scratch,
        threads: &mut [LiveThread],
    ) {
        self.force(bounds);
        self.raise_to_floor(threads);
        if bounds.pruning.settled {
            self.forget_settled(threads);
        }
        let mut ids = std::mem::take(&mut scratch.ids);
        ids.clear();
        ids.extend(self.nodes.ids());
        if bounds.pruning.links {
            for &id in &ids {
                if !self.needs_parent(id, threads) {
                    self.nodes.cut_link(id);
                }
            }
        }
        if bounds.pruning.dead {
            for &id in &ids {
                if self.nodes.get(id).role == Role::Searched && !self.lives(id, threads) {
                    self.nodes.drop(id);
                }
            }
        }
        if bounds.pruning.rounding {
            for &id in &ids {
                self.forget_lowest(id);
            }
        }
        scratch.ids = ids;
        let since = (self.events - self.tidied) as usize;
        self.tidied = self.events;
        let pairs = (since * COMPARISONS).min(AT_ONCE);
        self.drop_covered(moves, bounds, scratch, pairs);
        self.nodes.let_go_dropped();
        self.nodes.sweep();
        self.keep_stories(scratch);
        let pause = (self.history.len() / 2).max(bounds.pause);
        self.due = self.events.saturating_add(pause as u32);
        if self.history.len() > bounds.history / 2 {
            let room = (bounds.history / 4).max(1);
            self.due = self.due.min(self.events.saturating_add(room as u32));
        }
    }

    /// Assumes that the oldest events are in the past of all future ones.
    fn force(&mut self, bounds: &Bounds) {
        if self.history.len() <= bounds.history {
            return;
        }
        let oldest = self.events - bounds.history as u32;
        for (chain, floor) in self.history.chains().zip(&mut self.floor) {
            *floor = (*floor).max(self.history.before(chain, oldest));
        }
    }

    /// What threads will know when they next act.
    fn raise_to_floor(&self, threads: &mut [LiveThread]) {
        for thread in threads {
            thread.clock.resize(self.floor.len(), 0);
            for (count, &floor) in thread.clock.iter_mut().zip(&self.floor) {
                *count = floor.max(*count);
            }
        }
    }

    fn forget_settled(&mut self, threads: &[LiveThread]) {
        for chain in self.history.chains() {
            let known = threads.iter().map(|thread| thread.clock[chain.index()]);
            let settled = known.min().unwrap_or(NEVER);
            self.history.forget(chain, settled);
        }
    }

    /// Whether a thread may do something that is enabled at a node.
    fn is_extended_by(&self, id: NodeId, thread: &LiveThread) -> bool {
        let ends = self.nodes.ends(id);
        thread.chain.is_none_or(|chain| self.is_open(id, chain))
            && thread
                .clock
                .iter()
                .zip(ends)
                .all(|(count, end)| count < end)
    }

    fn lives(&self, id: NodeId, threads: &[LiveThread]) -> bool {
        threads.iter().any(|thread| self.is_extended_by(id, thread))
    }

    /// Whether a future event can be inside a node only because of its parent.
    fn needs_parent(&self, id: NodeId, threads: &[LiveThread]) -> bool {
        let node = self.nodes.get(id);
        let (Some(parent), Some(by)) = (node.parent, node.by) else {
            return false;
        };
        threads.iter().any(|thread| {
            thread.clock[by.chain.index()] < by.place && self.is_extended_by(parent, thread)
        })
    }

    /// Settled events are in all lowest cuts that matter.
    fn forget_lowest(&mut self, id: NodeId) {
        let width = self.history.width();
        let (exact, coarse) = self.nodes.lowest_mut(id).split_at_mut(width);
        for lowest in [exact, coarse] {
            for (chain, count) in self.history.chains().zip(lowest) {
                if *count <= self.history.gone(chain) {
                    *count = 0;
                }
            }
        }
    }

    fn keep_stories(&mut self, scratch: &mut Scratch) {
        let Scratch { stories, names, .. } = scratch;
        stories.clear();
        stories.extend(self.all_stories());
        self.stories.keep(stories, names);
        self.put_stories(stories);
    }

    /// Forgets how nodes were reached by events before `number`; `origin` gives the origins of the remaining parts of their
    /// stories.
    pub(crate) fn forget_stories(
        &mut self,
        number: u32,
        scratch: &mut Scratch,
        origin: impl FnMut(&[Turn]) -> u32,
    ) {
        let stories = &mut scratch.stories;
        stories.clear();
        stories.extend(self.all_stories());
        let forgetting = &mut scratch.forgetting;
        self.stories.forget(number, stories, forgetting, origin);
        self.put_stories(stories);
    }

    /// The stories that are needed: those of all nodes, and of the observed run.
    fn all_stories(&self) -> impl Iterator<Item = StoryId> + '_ {
        let of_nodes = self.nodes.ids().map(|id| self.nodes.get(id).story);
        of_nodes.chain(self.observed.stories())
    }

    fn put_stories(&mut self, stories: &[StoryId]) {
        let of_nodes = self.nodes.put_stories(stories);
        self.observed.put_stories(&stories[of_nodes..]);
    }

    /// All events with smaller numbers are settled.
    pub(crate) fn settled(&self) -> u32 {
        self.history.first_number().unwrap_or(self.events)
    }

    /// The number of settled events of each chain.
    pub(crate) fn settled_counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.history.chains().map(|chain| self.history.gone(chain))
    }
}
