//! The partial order of a slice: that of all recorded steps, restricted to those of one instance.

use crate::{
    intake::{Record, Slice, Step},
    order::{Origin, Poset},
};

impl Poset {
    /// The partial order of a slice.
    pub(crate) fn of_slice(record: &Record, slice: &Slice) -> Poset {
        Poset::restricted(slice.steps.iter().map(|&step| {
            let Step { chain, number, .. } = record.steps()[step as usize];
            Origin {
                chain: chain as usize,
                clock: record.clock(step as usize),
                number,
            }
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

    /// The steps of a slice in their observed order and no other.
    pub(crate) fn observed_order(record: &Record, slice: &Slice) -> Poset {
        let mut poset = Poset::new(1);
        for (place, &step) in (1..).zip(&slice.steps) {
            poset.push_numbered(0, &[place], record.steps()[step as usize].number);
        }
        poset
    }
}
