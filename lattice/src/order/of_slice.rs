//! The partial order of a slice: that of all events that were steps, restricted to those of one instance.

use portent_monitor_core::ChainId;

use crate::{
    intake::{Record, Slice},
    order::{Poset, UnrestrictedEvent},
};

impl Poset {
    /// The partial order of a slice.
    pub(crate) fn of_slice(record: &Record<'_>, slice: &Slice) -> Poset {
        Poset::restricted(slice.steps.iter().map(|&step| UnrestrictedEvent {
            chain: record.chain(step),
            clock: record.clock(step),
            number: record.event_number(step),
        }))
    }

    /// The bytes that [`of_slice`](Poset::of_slice) takes, and what engines make of it once more.
    pub(crate) fn slice_bytes(record: &Record<'_>, slice: &Slice) -> u64 {
        let mut chains = vec![false; record.history.chains()];
        for &step in &slice.steps {
            chains[record.chain(step).index()] = true;
        }
        let chains = chains.into_iter().filter(|&used| used).count();
        8 * chains as u64 * slice.steps.len() as u64
    }

    /// The steps of a slice in their observed order and no other.
    pub(crate) fn observed_order(record: &Record<'_>, slice: &Slice) -> Poset {
        let mut poset = Poset::new(1);
        for (place, &step) in (1..).zip(&slice.steps) {
            poset.push_numbered(ChainId::from(0), &[place], record.event_number(step));
        }
        poset
    }
}
