//! Blocks that are meant to be atomic.

use std::{marker::PhantomData, panic::Location};

use portent_monitor_core::{Marker, NameId, Op};

use crate::live::{
    actor::{self, Ticket},
    line::OperationRecord,
    names, version,
};

/// A block that is meant to be atomic, from here until it is dropped: other threads should not be able to interfere with it.
///
/// It does not restrict any thread. A recording of everything contains its beginning and end, for the search for
/// [atomicity violations](https://docs.rs/portent-findings). It ends in the thread that began it.
#[must_use = "the block ends where this is dropped"]
#[derive(Debug)]
pub struct AtomicBlock {
    /// If it is recorded: its name, and by whom.
    recorded: Option<(NameId, u32)>,
    place: &'static Location<'static>,
    stays_here: PhantomData<*const ()>,
}

/// Begins a block that is meant to be atomic.
///
/// ```
/// use portent_hooks::{Shared, atomic_block};
///
/// let balance = Shared::with_name("balance", 10);
/// {
///     let _block = atomic_block("withdraw");
///     let before = balance.get();
///     balance.set(before - 1);
/// }
/// assert_eq!(balance.get(), 9);
/// ```
#[inline]
#[track_caller]
pub fn atomic_block(name: &str) -> AtomicBlock {
    let place = Location::caller();
    // Nobody records everything, unless the version of the thread is hidden.
    let recorded = version::is_hidden().then(|| {
        let (name, ticket) = (names::block(name), actor::prepare());
        mark(Marker::Begin, name, place, ticket);
        (name, ticket.recording())
    });
    AtomicBlock {
        recorded,
        place,
        stays_here: PhantomData,
    }
}

#[cold]
fn mark(marker: Marker, name: NameId, place: &'static Location<'static>, ticket: Ticket) {
    let line = || OperationRecord::new(Op::Marker(marker, Some(name)), Some(place));
    actor::with(|actor| actor.did(ticket, line));
}

impl Drop for AtomicBlock {
    #[inline]
    fn drop(&mut self) {
        if let Some((name, recording)) = self.recorded {
            let ticket = actor::prepare();
            // What did not record its begin has no use for its end.
            if ticket.recording() == recording {
                mark(Marker::End, name, self.place, ticket);
            }
        }
    }
}
