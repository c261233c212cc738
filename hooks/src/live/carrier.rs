//! What a thread lends to the tasks that it carries: one queue for all of them.
//!
//! A task has its own clock and chain, but there may be very many tasks, and a queue is large. A task that records something
//! therefore borrows the queue of the thread that polls it, until the poll is over. What the thread does itself goes through another queue.

use std::{
    cell::{Cell, RefCell},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use super::{outbox::Unused, recording::Subscriber};

thread_local! {
    static LENT: Carrier = const { Carrier(RefCell::new(None)) };
    /// An upper bound on the queues of this thread that are lent. Without a destructor, so that reading it is one load.
    static OUT: Cell<u32> = const { Cell::new(0) };
}

/// Whether a queue of this thread may be lent.
#[inline(always)]
pub(super) fn has_lent() -> bool {
    OUT.get() != 0
}

/// No two carriers have the same number.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// One use of a queue by a task: of all the uses of all queues, which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn(u64);

impl Turn {
    /// There was none yet, or it is unknown who came next.
    pub(super) const NONE: Turn = Turn(0);
}

struct Carrier(RefCell<Option<Lent>>);

/// The queue of one recording.
struct Lent {
    subscriber: Arc<Subscriber>,
    /// `None` while it is lent.
    queue: Option<Unused>,
    number: u32,
    turns: u32,
}

impl Lent {
    fn new(subscriber: &Arc<Subscriber>) -> Lent {
        Lent {
            subscriber: Arc::clone(subscriber),
            queue: None,
            number: NUMBER.fetch_add(1, Relaxed),
            turns: 0,
        }
    }

    fn turn(&self) -> Turn {
        Turn(u64::from(self.number) << 32 | u64::from(self.turns))
    }

    fn close(&mut self) {
        if let Some(queue) = self.queue.take() {
            self.subscriber.close_queue(queue);
        }
    }
}

/// A queue to write to, and whose turn was the last there.
pub(super) fn borrow(subscriber: &Arc<Subscriber>) -> (Unused, Turn) {
    OUT.set(OUT.get().saturating_add(1));
    let lent = LENT.try_with(|carrier| {
        let mut carrier = carrier.0.try_borrow_mut().ok()?;
        let lent = carrier.as_mut()?;
        if !Arc::ptr_eq(&lent.subscriber, subscriber) {
            return None;
        }
        Some((lent.queue.take()?, lent.turn()))
    });
    match lent {
        Ok(Some(lent)) => lent,
        _ => (subscriber.open_queue(), Turn::NONE),
    }
}

/// The queue is not written to any more, by one who had this turn.
pub(super) fn give_back(subscriber: &Arc<Subscriber>, queue: Unused) -> Turn {
    OUT.set(OUT.get().saturating_sub(1));
    // What found no room is put into it by the reader, who does not see what is here.
    if !queue.kept.is_empty() {
        subscriber.close_queue(queue);
        return Turn::NONE;
    }
    let mut queue = Some(queue);
    let given = LENT.try_with(|carrier| {
        let mut carrier = carrier.0.try_borrow_mut().ok()?;
        if !carrier
            .as_ref()
            .is_some_and(|lent| Arc::ptr_eq(&lent.subscriber, subscriber))
        {
            *carrier = Some(Lent::new(subscriber));
        }
        let lent = carrier.as_mut()?;
        // Tasks may be polled inside each other: then there are two.
        lent.close();
        lent.queue = queue.take();
        lent.turns = match lent.turns.checked_add(1) {
            Some(turns) => turns,
            None => {
                lent.number = NUMBER.fetch_add(1, Relaxed);
                1
            }
        };
        Some(lent.turn())
    });
    if let Some(queue) = queue {
        subscriber.close_queue(queue);
    }
    given.ok().flatten().unwrap_or(Turn::NONE)
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.close();
    }
}
