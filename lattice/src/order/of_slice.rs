//! The partial order of a slice: that of all recorded steps, restricted to those of one instance.

use crate::{
    intake::{Record, Slice},
    order::Poset,
};

impl Poset {
    /// The partial order of a slice.
    pub(crate) fn of_slice(record: &Record, slice: &Slice) -> Poset {
        Poset::restricted(slice.steps.iter().map(|&step| {
            let chain = record.steps()[step as usize].chain as usize;
            (chain, record.clock(step as usize))
        }))
    }

    /// The bytes that [`of_slice`](Poset::of_slice) takes, and what engines make of it once more.
    pub(crate) fn slice_bytes(record: &Record, slice: &Slice) -> u64 {
        let mut chains = vec![false; record.chains()];
        for &step in &slice.steps {
            chains[record.steps()[step as usize].chain as usize] = true;
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
