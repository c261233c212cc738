//! How long to sleep before polling again.
//!
//! Threads do not wake the sidecar, because each of their events would pay for that. So it polls: soon after there was
//! something, and ever less often while there is nothing.

use std::{thread, time::Duration};

/// The first pause after something came. The system makes about twice that of it.
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

    /// Something came.
    pub(crate) fn reset(&mut self) {
        self.next = SHORTEST.min(self.longest);
    }

    /// Nothing came. Returns early if the thread is unparked.
    pub(crate) fn wait(&mut self) {
        thread::park_timeout(self.next);
        self.next = (self.next * 2).min(self.longest);
    }
}
