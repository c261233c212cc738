//! What an event requires of a cut before it can be added to it.

use crate::order::{EventIndex, Poset};

/// For each event what must be in a cut before it can be added, besides its own chain.
///
/// A cut that has the chain's previous event has that event's past. So only the components of the
/// clock that have grown since are listed: most events of a real log need one, or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requirements {
    /// Chain and count; those of event `e` end at `ends[e]`.
    all: Vec<(u32, u32)>,
    ends: Vec<usize>,
}

impl Requirements {
    pub(crate) fn of_poset(poset: &Poset) -> Requirements {
        let mut requirements = Requirements::default();
        for event in 0..poset.len() as u32 {
            requirements.push(poset, EventIndex(event));
        }
        requirements
    }

    /// Notes what is required by the poset's last event.
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
        let mut requirements = self.of(event).iter();
        requirements.all(|&(chain, needed)| count(chain as usize) >= needed)
    }
}
