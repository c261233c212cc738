//! A limit on the memory for the clocks of threads and objects.
//!
//! A clock has a component for every thread, and every thread has a clock: with sixteen thousand threads that all synchronise,
//! that is half a gigabyte. Adding up all clocks means visiting each of them, so it is done only if a bound that is known
//! without visiting is too coarse, and then rarely.

use portent_monitor_core::Causality;

/// The bound is checked after this many events.
const EVERY: u64 = 4;

/// The memory limit for clocks, and when to check it again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockBudget {
    bytes: u64,
    events: u64,
    /// The clocks are not added up before this number of events.
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

    /// Counts one more event; returns whether clocks now exceed the limit.
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
        // Rarely enough that checking takes only a fraction of the time for the events.
        self.next = self.events + places / 8;
        causality.bytes() as u64 > self.bytes
    }
}
