//! How long to sleep before polling again.
//!
//! Threads do not wake the sidecar, because that would make each of their events more expensive. Instead it polls: soon after it
//! found something, and less and less often while it finds nothing.

use std::{thread, time::Duration};

/// The first pause after events have arrived. In practice the system makes it about twice as long.
const SHORTEST: Duration = Duration::from_micros(50);

#[derive(Debug)]
pub(crate) struct Pause {
    next: Duration,
    longest: Duration,
}

impl Pause {
    pub(crate) fn new(longest: Duration) -> Pause {
        Pause {
            next: SHORTEST.min(longest),
            longest,
        }
    }

    /// Events have arrived.
    pub(crate) fn reset(&mut self) {
        self.next = SHORTEST.min(self.longest);
    }

    /// No events have arrived. Returns early if the thread is unparked.
    pub(crate) fn wait(&mut self) {
        thread::park_timeout(self.next);
        self.next = (self.next * 2).min(self.longest);
    }
}
