//! The initial values of variables.
//!
//! The value with which a variable was created is of no use, since the variable may be older than the recording. What counts is its
//! value before the first recorded write. Each object remembers which recording it has already reported that to.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use portent_monitor_core::{Value, VarId};

use super::actor::{self, Ticket};

/// The recording that was last told; only read by a holder of the object.
#[derive(Debug)]
pub(crate) struct FirstValue(AtomicU32);

impl FirstValue {
    /// No recording has been told yet.
    pub(crate) const fn untold() -> FirstValue {
        FirstValue(AtomicU32::new(0))
    }

    /// Tells the value as it is before a write that is to be recorded, unless it is not the first.
    #[inline]
    pub(crate) fn tell(
        &self,
        ticket: Ticket,
        var: impl FnOnce() -> VarId,
        value: impl FnOnce() -> Option<Value>,
    ) {
        if ticket.is_some() && self.0.load(Relaxed) != ticket.recording() {
            self.0.store(ticket.recording(), Relaxed);
            tell(ticket, var(), value());
        }
    }
}

// The value is there already: to tell it may be the program's own code, which must not find the actor in use.
#[cold]
#[inline(never)]
fn tell(ticket: Ticket, var: VarId, value: Option<Value>) {
    if let Some(value) = value {
        actor::with(|actor| actor.began_with(ticket, var, value));
    }
}
