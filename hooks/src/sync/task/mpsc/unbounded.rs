//! Unbounded channels, and their senders.

use std::{
    fmt,
    panic::Location,
    sync::{Arc, Mutex},
};

use tokio::sync::mpsc;

use super::{SharedClocks, UnboundedReceiver, error::SendError, sender};
use crate::{
    live::{lock, names::Name},
    sync::task::{
        channel::{Clocks, Envelope},
        ticket,
    },
    task::quiet::{Quiet, quietly},
};

/// As [`tokio::sync::mpsc::unbounded_channel`].
#[must_use]
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let clocks = Arc::new(Mutex::new(Clocks::new("task::mpsc", Name::here(), None)));
    (
        UnboundedSender {
            inner: Quiet::new(sender),
            clocks: Arc::clone(&clocks),
        },
        UnboundedReceiver {
            inner: Quiet::new(receiver),
            clocks,
        },
    )
}

/// [`tokio::sync::mpsc::UnboundedSender`], with clocks.
pub struct UnboundedSender<T> {
    inner: Quiet<mpsc::UnboundedSender<Envelope<T>>>,
    clocks: SharedClocks,
}

/// [`tokio::sync::mpsc::WeakUnboundedSender`], with clocks.
pub struct WeakUnboundedSender<T> {
    inner: mpsc::WeakUnboundedSender<Envelope<T>>,
    clocks: SharedClocks,
}

impl<T> UnboundedSender<T> {
    /// As [`tokio::sync::mpsc::UnboundedSender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let place = Some(Location::caller());
        let ticket = ticket();
        let mut clocks = lock(&self.clocks);
        // The receiver closes its end while it holds the clocks.
        if self.inner.is_closed() {
            clocks.saw_end(place, ticket);
            return Err(SendError(message));
        }
        let message = clocks.send(message, place, ticket);
        quietly(|| self.inner.send(message)).map_err(|SendError(unsent)| {
            // Nobody closes it meanwhile.
            SendError(unsent.into_content())
        })
    }
}

sender! { UnboundedSender, WeakUnboundedSender }
