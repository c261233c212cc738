//! The partial order of a slice: that of all events that were steps, restricted to those of one instance.

use portent_monitor_core::ChainId;

use crate::{
    intake::{Record, Slice},
    order::{Poset, UnrestrictedEvent},
};

/// For each step and chain: a count, and the same again for the engines.
const COUNT_BYTES: u64 = 8;

impl Poset {
    /// The partial order of a slice, and whether it is complete. If clocks were not kept, or the order takes more than `bytes`,
    /// only the first steps have it: each of the others comes after all before it.
    pub(crate) fn of_slice(record: &Record<'_>, slice: &Slice, bytes: u64) -> (Poset, bool) {
        let width = bytes / COUNT_BYTES / (slice.steps.len() as u64).max(1);
        let (ordered, others) = slice.steps.split_at(known_steps(record, slice, width));
        let mut poset = Poset::restricted(ordered.iter().map(|&step| UnrestrictedEvent {
            chain: record.chain(step),
            clock: record.clock(step),
            number: record.event_number(step),
        }));
        if !others.is_empty() {
            poset.widen(1);
            let mut clock = poset.prefix(poset.len());
            for &step in others {
                clock[0] += 1;
                poset.push_numbered(ChainId::from(0), &clock, record.event_number(step));
            }
        }
        (poset, others.is_empty())
    }
}

/// How many of the first steps of a slice have clocks and are on at most `width` chains.
fn known_steps(record: &Record<'_>, slice: &Slice, width: u64) -> usize {
    let mut seen = vec![false; record.history.chains()];
    let mut chains = 0;
    let unknown = slice.steps.iter().position(|&step| {
        let is_new = !std::mem::replace(&mut seen[record.chain(step).index()], true);
        chains += u64::from(is_new);
        !record.is_ordered(step) || chains > width
    });
    unknown.unwrap_or(slice.steps.len())
}
