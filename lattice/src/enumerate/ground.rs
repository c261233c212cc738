//! What a search walks on: the events, what they need, what they do.

use crate::{ActionId, EventIndex, Poset};

/// For each event what must be in a cut before it can be added, beside its own chain.
///
/// A cut that has the chain's previous event has that event's past. So only the components of the
/// clock that have grown since are listed: most events of a real log need one, or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    /// Chain and count; those of event `e` end at `ends[e]`.
    all: Vec<(u32, u32)>,
    ends: Vec<usize>,
}

impl Needs {
    pub(crate) fn of_poset(poset: &Poset) -> Needs {
        let mut needs = Needs::default();
        for event in 0..poset.len() as u32 {
            needs.push(poset, EventIndex(event));
        }
        needs
    }

    /// The poset that these are the needs of, with what its events do.
    pub(crate) fn ground<'a>(&'a self, poset: &'a Poset, actions: &'a [ActionId]) -> Ground<'a> {
        Ground {
            poset,
            needs: self,
            actions,
        }
    }

    /// Notes the needs of the poset's last event.
    pub(crate) fn push(&mut self, poset: &Poset, event: EventIndex) {
        let (own, clock) = (poset.chain_of(event), poset.clock(event));
        let previous = clock[own]
            .checked_sub(2)
            .map(|place| poset.chain(own)[place as usize]);
        for (chain, &count) in clock.iter().enumerate() {
            let before = previous.map_or(0, |previous| poset.clock(previous)[chain]);
            if chain != own && count > before {
                self.all.push((chain as u32, count));
            }
        }
        self.ends.push(self.all.len());
    }

    #[inline]
    pub(crate) fn of(&self, event: EventIndex) -> &[(u32, u32)] {
        let event = event.index();
        let start = if event == 0 { 0 } else { self.ends[event - 1] };
        &self.all[start..self.ends[event]]
    }

    /// Whether a cut with these counts, and the event's chain up to it, has what it needs.
    #[inline]
    pub(crate) fn met(&self, event: EventIndex, count: impl Fn(usize) -> u32) -> bool {
        let mut needs = self.of(event).iter();
        needs.all(|&(chain, needed)| count(chain as usize) >= needed)
    }
}

/// A poset whose events act on something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) poset: &'a Poset,
    pub(crate) needs: &'a Needs,
    pub(crate) actions: &'a [ActionId],
}

impl Ground<'_> {
    pub(crate) fn action(&self, event: EventIndex) -> ActionId {
        self.actions[event.index()]
    }

    /// The cut of all events.
    pub(crate) fn top(&self) -> Vec<u32> {
        (0..self.poset.width())
            .map(|chain| self.poset.chain(chain).len() as u32)
            .collect()
    }

    /// How many events of `cut` come after `event` in the observed run: the swaps it takes to put
    /// `event` behind them.
    pub(crate) fn overtaken(&self, cut: impl Fn(usize) -> u32, event: EventIndex) -> u64 {
        let chains = 0..self.poset.width();
        chains
            .map(|chain| {
                let events = &self.poset.chain(chain)[..cut(chain) as usize];
                let earlier = events.partition_point(|other| *other < event);
                (events.len() - earlier) as u64
            })
            .sum()
    }
}
