//! What each event of a thread needs of the other threads.
//!
//! Most events bring their thread no news, so only the changes are kept. An event has two moments: what must have happened for it to
//! be *next*, and what must have happened for it to do what it did, which is more if it reads what another thread wrote.

use super::Cut;

/// A moment in the life of a thread.
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
    /// How many events there are.
    pub(super) events: u32,
    /// What the last moment needs.
    now: Cut,
    /// The moments at which that changed.
    moments: Vec<Moment>,
    /// Where the counts of each begin; they end where the next begin.
    starts: Vec<usize>,
    counts: Vec<u32>,
}

impl History {
    /// What the thread needs by now.
    #[inline]
    pub(super) fn now(&self) -> &Cut {
        &self.now
    }

    /// Takes the needs of now out, to be changed and [put back](Self::put_back).
    pub(super) fn take_now(&mut self) -> Cut {
        std::mem::take(&mut self.now)
    }

    /// From this moment on, which is not before any that was noted, the needs are these.
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

    /// What was needed at a moment, without the thread's own events.
    #[inline]
    pub(super) fn at(&self, moment: Moment) -> &[u32] {
        // Most who ask do so for the latest.
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

    /// Whether nothing was learnt between two moments, the later one included. The later one is that of the last event or the
    /// one before it, so that it is near the end.
    #[inline]
    pub(super) fn is_same(&self, one: Moment, later: Moment) -> bool {
        let mut noted = self.moments.iter().rev();
        noted
            .find(|&&noted| noted <= later)
            .is_none_or(|&noted| noted <= one)
    }
}
