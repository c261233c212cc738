//! How many bytes the clocks of threads and objects may take.
//!
//! A clock counts for every thread, and every thread has one: with sixteen thousand threads that know of each other, that is half a
//! gigabyte. Adding up all clocks means looking at each of them, so it is done only where a bound that is known without looking
//! is too coarse, and then rarely.

use portent_monitor_core::Causality;

/// The bound is looked at after this many events.
const EVERY: u64 = 4;

/// What clocks may take, and when to look again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockBudget {
    bytes: u64,
    events: u64,
    /// After how many events the clocks are added up at the soonest.
    next: u64,
}

impl ClockBudget {
    pub(crate) fn new(bytes: u64) -> ClockBudget {
        ClockBudget {
            bytes,
            events: 0,
            next: 0,
        }
    }

    /// One more event: whether clocks take more now than they may.
    #[inline]
    pub(crate) fn is_spent(&mut self, causality: &Causality) -> bool {
        self.events += 1;
        self.events.is_multiple_of(EVERY) && self.events >= self.next && self.add_up(causality)
    }

    fn add_up(&mut self, causality: &Causality) -> bool {
        let places = causality.places() as u64;
        let clock = 64 + 4 * causality.chains() as u64;
        if places.saturating_mul(clock) <= self.bytes {
            return false;
        }
        // So often that the time for it is a part of what the events take anyway.
        self.next = self.events + places / 8;
        causality.bytes() as u64 > self.bytes
    }
}
