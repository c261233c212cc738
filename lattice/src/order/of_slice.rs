//! The partial order of a slice: that of all events that were steps, restricted to those of one instance.

use crate::{
    intake::{Record, Slice},
    order::Poset,
};

impl Poset {
    /// The partial order of a slice.
    pub(crate) fn of_slice(record: &Record<'_>, slice: &Slice) -> Poset {
        let steps = slice.steps.iter();
        Poset::restricted(steps.map(|&step| (record.chain(step).index(), record.clock(step))))
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

    /// A total order: that in which `events` events were observed.
    pub(crate) fn total(events: usize) -> Poset {
        let mut poset = Poset::new(1);
        for number in 1..=events as u32 {
            poset.push(0, &[number]);
        }
        poset
    }
}
