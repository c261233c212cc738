//! A labelled poset: the events, what each requires of a cut, and the action that it is labelled with.

use portent_monitor_core::ChainId;

use crate::{
    automaton::ActionId,
    order::{Counts, EventIndex, Poset, Requirements},
};

/// A poset whose events act on something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelledPoset<'a> {
    pub(crate) poset: &'a Poset,
    pub(crate) requirements: &'a Requirements,
    pub(crate) actions: &'a [ActionId],
}

impl<'a> LabelledPoset<'a> {
    pub(crate) fn new(
        poset: &'a Poset,
        requirements: &'a Requirements,
        actions: &'a [ActionId],
    ) -> Self {
        LabelledPoset {
            poset,
            requirements,
            actions,
        }
    }

    pub(crate) fn action(&self, event: EventIndex) -> ActionId {
        self.actions[event.index()]
    }

    /// The cut of all events.
    pub(crate) fn top(&self) -> Counts {
        let chains = self.poset.chains();
        chains
            .map(|chain| self.poset.chain(chain).len() as u32)
            .collect()
    }

    /// The number of events of `cut` that come after `event` in the observed run: the swaps needed to put
    /// `event` behind them.
    pub(crate) fn overtaken(&self, cut: impl Fn(ChainId) -> u32, event: EventIndex) -> u64 {
        let chains = self.poset.chains();
        chains
            .map(|chain| {
                let events = &self.poset.chain(chain)[..cut(chain) as usize];
                let earlier = events.partition_point(|other| *other < event);
                (events.len() - earlier) as u64
            })
            .sum()
    }
}
