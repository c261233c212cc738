//! What an event requires of a cut before it can be added to it.

use portent_monitor_core::{ChainId, Id};

use crate::order::{EventIndex, Poset};

/// Each requirement is compared with at most this many later ones.
const COMPARED: usize = 8;

/// For each event, what must be in a cut before it can be added, in addition to the previous events of its chain.
///
/// A cut that has the chain's previous event has that event's past. So only the components of the
/// clock that have grown since then are listed, and of these only the ones not implied by another: most
/// events of a real log need one, or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requirements {
    /// Chain and count; those of event `e` end at `ends[e]`.
    all: Vec<(ChainId, u32)>,
    ends: Vec<usize>,
    /// The same in brief, for the events of each chain.
    brief: Vec<Vec<Required>>,
}

/// The requirements of an event, in brief: most require one count or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Required {
    /// This many events of this chain are required; it is the event's own chain if there are no requirements.
    pub(crate) chain: ChainId,
    pub(crate) count: u32,
}

impl Required {
    /// Stands for several counts: no cut has this many events.
    pub(crate) const SEVERAL: u32 = u32::MAX;
}

impl Requirements {
    pub(crate) fn of_poset(poset: &Poset) -> Requirements {
        let mut requirements = Requirements::default();
        requirements.renew(poset);
        requirements
    }

    /// Computes the requirements of a poset's events, reusing its own memory.
    pub(crate) fn renew(&mut self, poset: &Poset) {
        self.all.clear();
        self.ends.clear();
        self.brief.iter_mut().for_each(Vec::clear);
        for event in poset.events() {
            self.push(poset, event);
        }
    }

    /// Adds the requirements of the poset's last event.
    pub(crate) fn push(&mut self, poset: &Poset, event: EventIndex) {
        let (own, clock) = (poset.chain_of(event), poset.clock(event));
        let previous = clock[own.index()]
            .checked_sub(2)
            .map(|place| poset.chain(own)[place as usize]);
        let start = self.all.len();
        for (chain, &count) in poset.chains().zip(clock) {
            let before = previous.map_or(0, |previous| poset.clock(previous)[chain.index()]);
            if chain != own && count > before {
                self.all.push((chain, count));
            }
        }
        self.drop_implied(poset, start);
        self.ends.push(self.all.len());
        let (chain, count) = match self.all[start..] {
            [] => (own, 0),
            [only] => only,
            _ => (own, Required::SEVERAL),
        };
        own.entry(&mut self.brief).push(Required { chain, count });
    }

    /// Drops requirements, from `start` on, that are implied by another. The latest ones imply the
    /// others, so these are put first, and the rest are compared with a few of
    /// them only: an event after a barrier of a thousand threads waits for each of them.
    fn drop_implied(&mut self, poset: &Poset, start: usize) {
        let event = |(chain, count): (ChainId, u32)| poset.chain(chain)[count as usize - 1];
        let last = &mut self.all[start..];
        last.sort_unstable_by_key(|&required| std::cmp::Reverse(event(required)));
        let mut kept = start;
        for place in start..self.all.len() {
            let required = self.all[place];
            let latest = &self.all[start..kept.min(start + COMPARED)];
            let implied = |&later: &(ChainId, u32)| poset.precedes(event(required), event(later));
            if !latest.iter().any(implied) {
                self.all[kept] = required;
                kept += 1;
            }
        }
        self.all.truncate(kept);
    }

    #[inline]
    pub(crate) fn of(&self, event: EventIndex) -> &[(ChainId, u32)] {
        let event = event.index();
        let start = if event == 0 { 0 } else { self.ends[event - 1] };
        &self.all[start..self.ends[event]]
    }

    /// The requirements of the events of a chain, in brief.
    pub(crate) fn in_brief(&self, chain: ChainId) -> &[Required] {
        self.brief.get(chain.index()).map_or(&[], |events| events)
    }

    /// Whether a cut with these counts, and the event's chain up to it, satisfies its requirements.
    #[inline]
    pub(crate) fn met(&self, event: EventIndex, count: impl Fn(ChainId) -> u32) -> bool {
        let mut requirements = self.of(event).iter();
        requirements.all(|&(chain, needed)| count(chain) >= needed)
    }
}
