//! The causal order of the steps that are kept, stored compactly because there may be very many bindings. A poset is made from it
//! when needed.

use portent_monitor_core::ChainId;

use crate::{
    engine::streaming::Class,
    order::{EventIndex, Packing, Poset, Unpacking},
};

/// The chain, class and clock of each step, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    width: usize,
    records: Vec<u32>,
}

impl Log {
    fn stride(&self) -> usize {
        2 + self.width
    }

    /// Adds the next step; its clock has a component for each chain, and may have more components than earlier ones.
    pub(super) fn push(&mut self, chain: ChainId, class: Class, clock: &[u32]) {
        if clock.len() > self.width {
            let mut wider = Vec::new();
            for record in self.records.chunks_exact(self.stride()) {
                wider.extend_from_slice(record);
                wider.resize(wider.len() + clock.len() - self.width, 0);
            }
            (self.width, self.records) = (clock.len(), wider);
        }
        self.records.extend([chain.index() as u32, class.0]);
        self.records.extend_from_slice(clock);
    }

    pub(super) fn class(&self, event: EventIndex) -> Class {
        Class(self.records[event.index() * self.stride() + 1])
    }

    /// Forgets the first steps; `prefix` says how many there are on each chain.
    pub(super) fn forget(&mut self, count: usize, prefix: &[u32]) {
        let stride = self.stride();
        self.records.drain(..count * stride);
        for record in self.records.chunks_exact_mut(stride) {
            for (count, &first) in record[2..].iter_mut().zip(prefix) {
                *count = count.saturating_sub(first);
            }
        }
    }

    pub(super) fn pack(&self, packing: &mut Packing) {
        packing.put_slice(&[self.width as u32]);
        packing.put_slice(&self.records);
    }

    /// Restores the packed steps, reusing its own memory.
    pub(super) fn unpack(&mut self, unpacking: &mut Unpacking<'_>) {
        self.width = unpacking.next().first().map_or(0, |&width| width as usize);
        unpacking.next_into(&mut self.records);
    }

    /// The steps as a poset.
    pub(super) fn poset(&self) -> Poset {
        let mut poset = Poset::default();
        self.fill(&mut poset);
        poset
    }

    /// Fills a poset with the steps.
    pub(super) fn fill(&self, poset: &mut Poset) {
        poset.clear(self.width);
        for record in self.records.chunks_exact(self.stride()) {
            poset.push(ChainId::from(record[0]), &record[2..]);
        }
    }
}
