//! The part of a run that is kept until it has ended: the events that were steps of some property, and their order.
//!
//! All properties share it. It keeps what an answer needs, but not the events themselves: ten million steps over four threads
//! fit in half a gigabyte. If clocks take too much memory, only those of the first events are kept; each later event is assumed
//! to come after all before it, which allows fewer runs, but none that are impossible.

use std::num::NonZeroU64;

use portent_monitor_core::{ChainId, Symbols, ThreadId};

use super::{
    line_note::{Note, Notes},
    stream::Arrival,
};
use crate::error::Error;

portent_monitor_core::ids! {
    /// An index into a [`History`].
    pub(crate) struct HistoryIndex(u32);
}

/// An event that was a step of some property.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PastEvent {
    pub(crate) thread: ThreadId,
    pub(crate) line: Option<NonZeroU64>,
    /// Its number among all events of the run.
    pub(crate) number: u64,
    /// The chain that it is on.
    pub(crate) chain: ChainId,
    /// The end of its clock among the clocks; it begins where the previous one ends.
    clock_end: usize,
}

/// The events of a run that were steps of some property, in observed order.
#[derive(Clone, Debug)]
pub(crate) struct History {
    events: Vec<PastEvent>,
    clocks: Vec<u32>,
    /// The number of events with a clock, which are the first ones.
    ordered: usize,
    /// The memory limit for clocks, in bytes.
    clock_bytes: u64,
    /// The number of chains.
    chains: usize,
    notes: Notes,
}

impl History {
    /// A history whose clocks and line notes may take this many bytes.
    pub(crate) fn new(clock_bytes: u64, note_bytes: u64) -> History {
        History {
            events: Vec::new(),
            clocks: Vec::new(),
            ordered: 0,
            clock_bytes,
            chains: 0,
            notes: Notes::new(note_bytes),
        }
    }

    /// Keeps an event, and returns its index.
    pub(crate) fn keep(&mut self, arrival: &Arrival<'_>) -> Result<HistoryIndex, Error> {
        let index = u32::try_from(self.events.len())
            .ok()
            .filter(|&index| index < u32::MAX)
            .ok_or(Error::TooManyEvents)?;
        if arrival.is_ordered {
            self.keep_clock(arrival.clock);
        }
        self.chains = self.chains.max(arrival.chain.index() + 1);
        self.notes.keep(index, arrival.event);
        self.events.push(PastEvent {
            thread: arrival.event.thread,
            line: arrival.event.line,
            number: arrival.number,
            chain: arrival.chain,
            clock_end: self.clocks.len(),
        });
        Ok(HistoryIndex(index))
    }

    fn keep_clock(&mut self, counts: &[u32]) {
        let fits = 4 * (self.clocks.len() + counts.len()) as u64 <= self.clock_bytes;
        if fits && self.ordered == self.events.len() {
            self.clocks.extend_from_slice(counts);
            self.ordered += 1;
        }
    }

    /// Whether the clock of an event was kept. If not, it comes after all events before it.
    pub(crate) fn is_ordered(&self, index: HistoryIndex) -> bool {
        index.index() < self.ordered
    }

    /// The first event whose clock was not kept.
    pub(crate) fn first_unordered(&self) -> Option<&PastEvent> {
        self.events.get(self.ordered)
    }

    /// The first event whose line note was left out because the notes are too large.
    pub(crate) fn first_untold(&self) -> Option<&PastEvent> {
        self.events.get(self.notes.first_left_out()? as usize)
    }

    /// Roughly the number of bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let (events, clocks) = (size_of_val(&self.events[..]), size_of_val(&self.clocks[..]));
        (events + clocks + self.notes.bytes()) as u64
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn event(&self, index: HistoryIndex) -> &PastEvent {
        &self.events[index.index()]
    }

    /// The counts of an event's clock; components past the end count as 0.
    pub(crate) fn clock(&self, index: HistoryIndex) -> &[u32] {
        let before = index.index().checked_sub(1);
        let start = before.map_or(0, |before| self.events[before].clock_end);
        &self.clocks[start..self.event(index).clock_end]
    }

    /// The rest of the information on an event's line.
    pub(crate) fn note(&self, index: HistoryIndex, symbols: &Symbols) -> Option<Box<Note>> {
        self.notes.of(index.0, symbols)
    }

    /// The number of chains that the events are on.
    pub(crate) fn chains(&self) -> usize {
        self.chains
    }

    /// Forgets the run.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.clocks.clear();
        self.ordered = 0;
        self.chains = 0;
        self.notes.clear();
    }
}
