//! What each event of a thread needs from other threads.
//!
//! Most events bring their thread no new knowledge, so only the changes are kept. An event has two moments: its needs for being
//! *next*, and its needs for doing what it did, which are more if it reads what another thread wrote.

use super::Cut;

/// A moment of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u32);

/// Positions beyond this have no moments.
pub(super) const MOST_EVENTS: u32 = u32::MAX / 2 - 1;

impl Moment {
    /// The event at this position is next.
    pub(super) fn before(position: u32) -> Moment {
        Moment(2 * position)
    }

    /// The event at this position has happened.
    pub(super) fn after(position: u32) -> Moment {
        Moment(2 * position + 1)
    }
}

/// The needs of one thread's events.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The number of events.
    pub(super) events: u32,
    /// The needs of the last moment.
    now: Cut,
    /// The moments at which the needs changed.
    moments: Vec<Moment>,
    /// The start of the counts of each; they end where the next ones begin.
    starts: Vec<usize>,
    counts: Vec<u32>,
}

impl History {
    /// The current needs of the thread.
    #[inline]
    pub(super) fn now(&self) -> &Cut {
        &self.now
    }

    /// Takes out the current needs, to be changed and [put back](Self::put_back).
    pub(super) fn take_now(&mut self) -> Cut {
        std::mem::take(&mut self.now)
    }

    /// From this moment on, which must not be before the last recorded one, the needs are these.
    pub(super) fn put_back(&mut self, now: Cut, moment: Moment) {
        if self.moments.last() == Some(&moment) {
            let start = self.starts.last().copied().unwrap_or(0);
            self.counts.truncate(start);
        } else {
            self.moments.push(moment);
            self.starts.push(self.counts.len());
        }
        self.counts.extend_from_slice(now.counts());
        self.now = now;
    }

    /// The needs at a moment, without the thread's own events.
    #[inline]
    pub(super) fn at(&self, moment: Moment) -> &[u32] {
        // Most queries are for the latest moment.
        let index = match self.moments.last() {
            None => return &[],
            Some(&last) if last <= moment => self.moments.len() - 1,
            _ => match self.moments.partition_point(|&noted| noted <= moment) {
                0 => return &[],
                after => after - 1,
            },
        };
        let end = self.starts.get(index + 1).copied();
        &self.counts[self.starts[index]..end.unwrap_or(self.counts.len())]
    }

    /// Whether nothing was learnt between two moments, including the later one. The later one belongs to the last event or the
    /// one before it, so it is near the end.
    #[inline]
    pub(super) fn is_same(&self, one: Moment, later: Moment) -> bool {
        let mut noted = self.moments.iter().rev();
        noted
            .find(|&&noted| noted <= later)
            .is_none_or(|&noted| noted <= one)
    }
}
