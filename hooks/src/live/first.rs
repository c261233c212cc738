//! The values that variables begin with.
//!
//! What a variable was made with does not tell: it may be older than the recording. What counts is its value before the first
//! write that is recorded, and the object that is written remembers which recording it has told that.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use portent_monitor_core::{Value, VarId};

use super::actor::{self, Ticket};

/// Which recording was told, the last time; whoever asks holds the object.
#[derive(Debug)]
pub(crate) struct FirstValue(AtomicU32);

impl FirstValue {
    /// Nobody was told.
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
