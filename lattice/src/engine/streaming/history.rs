//! The events that may still matter, chain by chain, with precomputed queries: the first of a chain that comes after an event,
//! the first that a stage does not stay on, the last of some classes.
//!
//! Positions along a chain are counts: the event at position p is the p-th, starting at 1, whether or not earlier events are
//! still kept.

use portent_monitor_core::ChainId;
use smallvec::SmallVec;

use super::moves::{Class, ClassSet};

/// No such position.
pub(super) const NEVER: u32 = u32::MAX;

/// An event: its chain and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventPosition {
    pub(super) chain: ChainId,
    pub(super) place: u32,
}

/// Sorted positions; usually few, and there may be very many such lists.
type Places = SmallVec<[u32; 4]>;

/// The events kept of one chain.
#[derive(Clone, Debug, Default)]
pub(super) struct ChainHistory {
    /// Positions up to this one have been dropped.
    pub(super) gone: u32,
    pub(super) len: u32,
    /// For each event its class, its number among those of the slice, its clock, and the first event of each chain that comes
    /// after it (on its own chain, itself). That event is recorded when it arrives, so nothing is ever searched for. Everything
    /// is in one vector, because there may be very many histories.
    pub(super) records: Vec<u32>,
    /// The positions of each class.
    places: Vec<Places>,
}

impl ChainHistory {
    fn last(&self) -> u32 {
        self.gone + self.len
    }

    fn class(&self, index: usize, width: usize) -> Class {
        Class(self.records[index * stride(width)])
    }

    fn number(&self, index: usize, width: usize) -> u32 {
        self.records[index * stride(width) + 1]
    }

    fn note_place(&mut self, class: Class, place: u32) {
        if self.places.len() <= class.index() {
            self.places.resize_with(class.index() + 1, Places::new);
        }
        self.places[class.index()].push(place);
    }

    /// Rebuilds the positions of each class from the records.
    pub(super) fn find_places(&mut self, width: usize) {
        for places in &mut self.places {
            places.clear();
        }
        for index in 0..self.len as usize {
            self.note_place(self.class(index, width), self.gone + 1 + index as u32);
        }
    }
}

/// The length of the record of an event.
pub(super) fn stride(width: usize) -> usize {
    2 + 2 * width
}

/// The unsettled events.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsettled {
    pub(super) lines: Vec<ChainHistory>,
    /// The clock of each chain's last event, whether or not the event is still kept.
    pub(super) last_clocks: Vec<u32>,
    pub(super) len: usize,
}

impl Unsettled {
    pub(super) fn width(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn chains(&self) -> impl ExactSizeIterator<Item = ChainId> + Clone + use<> {
        ChainId::first(self.width())
    }

    /// The number of events kept.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn widen(&mut self, width: usize) {
        let old = self.width();
        if width <= old {
            return;
        }
        for line in &mut self.lines {
            let mut wider = Vec::with_capacity(line.len as usize * stride(width));
            for record in line.records.chunks_exact(stride(old)) {
                wider.extend_from_slice(&record[..2 + old]);
                wider.resize(wider.len() + width - old, 0);
                wider.extend_from_slice(&record[2 + old..]);
                wider.resize(wider.len() + width - old, NEVER);
            }
            line.records = wider;
        }
        let mut last_clocks = vec![0; width * width];
        for (chain, clock) in self.last_clocks.chunks_exact(old.max(1)).enumerate() {
            last_clocks[chain * width..][..old].copy_from_slice(clock);
        }
        self.last_clocks = last_clocks;
        self.lines.resize_with(width, ChainHistory::default);
    }

    pub(super) fn last_clock(&self, chain: ChainId) -> &[u32] {
        let width = self.width();
        &self.last_clocks[chain.index() * width..][..width]
    }

    /// The position of a chain's last event.
    pub(super) fn last(&self, chain: ChainId) -> u32 {
        self.lines[chain.index()].last()
    }

    /// Positions up to this one have been dropped.
    pub(super) fn gone(&self, chain: ChainId) -> u32 {
        self.lines[chain.index()].gone
    }

    /// Appends an event; `number` identifies it among those of the slice.
    pub(super) fn push(
        &mut self,
        chain: ChainId,
        class: Class,
        clock: &[u32],
        number: u32,
    ) -> EventPosition {
        let width = self.width();
        let own = chain.index();
        let place = self.lines[own].last() + 1;
        for (other, line) in self.lines.iter_mut().enumerate() {
            let known = self.last_clocks[own * width + other];
            if other == own || clock[other] <= known {
                continue;
            }
            // The events that the chain knows of from now on.
            let first = known.max(line.gone) - line.gone;
            let end = clock[other].clamp(line.gone, line.last()) - line.gone;
            for index in first..end {
                line.records[index as usize * stride(width) + 2 + width + own] = place;
            }
        }
        self.last_clocks[own * width..][..width].copy_from_slice(clock);
        let line = &mut self.lines[own];
        line.records.extend([class.0, number]);
        line.records.extend_from_slice(clock);
        let afters = line.records.len();
        line.records.resize(afters + width, NEVER);
        line.records[afters + own] = place;
        line.len += 1;
        line.note_place(class, place);
        self.len += 1;
        EventPosition { chain, place }
    }

    pub(super) fn is_kept(&self, spot: EventPosition) -> bool {
        spot.place > self.lines[spot.chain.index()].gone
    }

    pub(super) fn clock(&self, spot: EventPosition) -> &[u32] {
        let (width, line) = (self.width(), &self.lines[spot.chain.index()]);
        &line.records[(spot.place - line.gone - 1) as usize * stride(width) + 2..][..width]
    }

    pub(super) fn number(&self, spot: EventPosition) -> u32 {
        let line = &self.lines[spot.chain.index()];
        line.number((spot.place - line.gone - 1) as usize, self.width())
    }

    /// The positions of a chain's events of a class.
    pub(super) fn places(&self, chain: ChainId, class: Class) -> &[u32] {
        let places = self.lines[chain.index()].places.get(class.index());
        places.map_or(&[], Places::as_slice)
    }

    /// For each chain, its first event that is this event or comes after it.
    pub(super) fn firsts_after(&self, spot: EventPosition) -> &[u32] {
        let (width, line) = (self.width(), &self.lines[spot.chain.index()]);
        let index = (spot.place - line.gone - 1) as usize;
        &line.records[index * stride(width) + 2 + width..][..width]
    }

    /// The first event of a chain from a position on that belongs to none of these classes.
    pub(super) fn first_outside(&self, chain: ChainId, from: u32, classes: &ClassSet) -> u32 {
        let line = &self.lines[chain.index()];
        if from > line.last() {
            return NEVER;
        }
        let others = (line.places.iter().enumerate())
            .filter(|(class, _)| !classes.has(Class(*class as u32)));
        let firsts = others.filter_map(|(_, places)| {
            if places.last().is_none_or(|&last| last < from) {
                return None;
            }
            Some(places[places.partition_point(|&place| place < from)])
        });
        firsts.min().unwrap_or(NEVER)
    }

    /// The last event of a chain up to a position that belongs to one of these classes, 0 if none is kept.
    pub(super) fn last_of(&self, chain: ChainId, place: u32, classes: &ClassSet) -> u32 {
        let line = &self.lines[chain.index()];
        if place <= line.gone || classes.is_empty() {
            return 0;
        }
        if classes.has(line.class((place - line.gone - 1) as usize, self.width())) {
            return place;
        }
        let those =
            (line.places.iter().enumerate()).filter(|(class, _)| classes.has(Class(*class as u32)));
        let lasts = those.filter_map(|(_, places)| match places.last() {
            Some(&last) if last <= place => Some(last),
            None => None,
            _ => {
                let later = places.partition_point(|&other| other <= place);
                Some(places[later.checked_sub(1)?])
            }
        });
        lasts.max().unwrap_or(0)
    }

    /// The smallest number of a kept event.
    pub(super) fn first_number(&self) -> Option<u32> {
        let lines = self.lines.iter().filter(|line| line.len > 0);
        lines.map(|line| line.number(0, self.width())).min()
    }

    /// The number of events of a chain with a number below this one, including dropped ones.
    pub(super) fn before(&self, chain: ChainId, number: u32) -> u32 {
        let line = &self.lines[chain.index()];
        let (mut low, mut high) = (0, line.len);
        while low < high {
            let middle = (low + high) / 2;
            if line.number(middle as usize, self.width()) < number {
                low = middle + 1
            } else {
                high = middle
            }
        }
        line.gone + low
    }

    /// Drops a chain's events up to a position.
    pub(super) fn forget(&mut self, chain: ChainId, up_to: u32) {
        let width = self.width();
        let line = &mut self.lines[chain.index()];
        let count = up_to.min(line.last()).saturating_sub(line.gone) as usize;
        if count == 0 {
            return;
        }
        line.gone += count as u32;
        line.len -= count as u32;
        line.records.drain(..count * stride(width));
        for places in &mut line.places {
            let gone = places.partition_point(|&place| place <= line.gone);
            places.drain(..gone);
        }
        self.len -= count;
    }
}
