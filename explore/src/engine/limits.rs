//! The limits of an exploration, and which operations count as events in it.

/// What becomes events because somebody looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tries {
    /// Somebody tries to lock, so unlocks are events.
    pub(crate) locks: bool,
    /// Somebody tries to receive, so ends of senders are events.
    pub(crate) channels: bool,
    /// Somebody shares a lock twice, so to ask for its exclusive side is an event.
    pub(crate) requests: bool,
}

impl Tries {
    /// Why a search begins anew that did not know of all of it.
    pub(super) fn reason(self, known: Tries) -> &'static str {
        if self.locks != known.locks {
            "locks are tried, so unlocks are steps"
        } else if self.channels != known.channels {
            "receives are tried, so ends of senders are steps"
        } else {
            "locks are shared twice, so requests of their exclusive sides are steps"
        }
    }

    /// As a number.
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.locks) | u64::from(self.channels) << 1 | u64::from(self.requests) << 2
    }

    pub(crate) fn from_bits(bits: u64) -> Tries {
        Tries {
            locks: bits & 1 != 0,
            channels: bits & 2 != 0,
            requests: bits & 4 != 0,
        }
    }
}

/// What primitives may do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Who is notified is the one who has waited longest.
    pub(crate) first_waiter: bool,
    /// How often each thread may wake up for no reason.
    pub(crate) spurious: u32,
    /// Accesses of plain variables have to be in order.
    pub(crate) races: bool,
}

/// What the engine is told of an exploration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Points of one run.
    pub(crate) steps: usize,
    pub(crate) stack_size: usize,
    /// How many runs are repeated, to see whether the program does the same again.
    pub(crate) repeated: u32,
    /// What somebody tries, as is known from the beginning.
    pub(crate) tries: Tries,
}
