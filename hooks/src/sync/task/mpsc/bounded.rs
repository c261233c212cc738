//! Bounded channels, and their senders.

use std::{
    fmt,
    panic::Location,
    sync::{Arc, Mutex},
};

use tokio::sync::mpsc;

use super::{
    Receiver, SharedClocks,
    error::{SendError, TrySendError},
    sender,
};
use crate::{
    live::{actor::Place, lock, names::Name},
    sync::task::{
        block_on,
        channel::{Clocks, Envelope},
        ticket,
    },
    task::quiet::{Quiet, quietly},
};

/// As [`tokio::sync::mpsc::channel`].
///
/// ```
/// use portent_hooks::task::{self, mpsc};
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let sum = runtime.block_on(async {
///     let (sender, mut receiver) = mpsc::channel(1);
///     task::spawn(async move {
///         for number in [1, 2, 3] {
///             sender.send(number).await.unwrap();
///         }
///     });
///     let mut sum = 0;
///     while let Some(number) = receiver.recv().await {
///         sum += number;
///     }
///     sum
/// });
/// assert_eq!(sum, 6);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
///
/// Without room for a message.
#[must_use]
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(buffer);
    let clocks = Clocks::new("task::mpsc", Name::here(), Some(buffer));
    let clocks = Arc::new(Mutex::new(clocks));
    (
        Sender {
            inner: Quiet::new(sender),
            clocks: Arc::clone(&clocks),
        },
        Receiver {
            inner: Quiet::new(receiver),
            clocks,
        },
    )
}

/// [`tokio::sync::mpsc::Sender`], with clocks.
pub struct Sender<T> {
    inner: Quiet<mpsc::Sender<Envelope<T>>>,
    clocks: SharedClocks,
}

/// [`tokio::sync::mpsc::WeakSender`], with clocks.
pub struct WeakSender<T> {
    inner: mpsc::WeakSender<Envelope<T>>,
    clocks: SharedClocks,
}

/// [`tokio::sync::mpsc::Permit`], with clocks.
pub struct Permit<'a, T> {
    inner: mpsc::Permit<'a, Envelope<T>>,
    clocks: &'a SharedClocks,
}

impl<T> Sender<T> {
    /// As [`tokio::sync::mpsc::Sender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let place = Some(Location::caller());
        async move {
            match self.inner.reserve().await {
                Ok(inner) => {
                    self.permit(inner).send_at(message, place);
                    Ok(())
                }
                Err(SendError(())) => {
                    self.saw_end(place);
                    Err(SendError(message))
                }
            }
        }
    }

    /// As [`tokio::sync::mpsc::Sender::blocking_send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        block_on(self.send(message))
    }

    /// As [`tokio::sync::mpsc::Sender::try_send`]. One for which there is no room orders nothing.
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone or there is no room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let place = Some(Location::caller());
        match self.try_reserve_at(place) {
            Ok(permit) => {
                permit.send_at(message, place);
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(message)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
        }
    }

    /// As [`tokio::sync::mpsc::Sender::reserve`].
    ///
    /// # Errors
    ///
    /// If the receiver is gone.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let place = Some(Location::caller());
        async move {
            match self.inner.reserve().await {
                Ok(inner) => Ok(self.permit(inner)),
                Err(error) => {
                    self.saw_end(place);
                    Err(error)
                }
            }
        }
    }

    /// As [`tokio::sync::mpsc::Sender::try_reserve`].
    ///
    /// # Errors
    ///
    /// If the receiver is gone or there is no room.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.try_reserve_at(Some(Location::caller()))
    }

    fn try_reserve_at(&self, place: Place) -> Result<Permit<'_, T>, TrySendError<()>> {
        match self.inner.try_reserve() {
            Ok(inner) => Ok(self.permit(inner)),
            Err(error) => {
                if matches!(error, TrySendError::Closed(())) {
                    self.saw_end(place);
                }
                Err(error)
            }
        }
    }

    fn permit<'a>(&'a self, inner: mpsc::Permit<'a, Envelope<T>>) -> Permit<'a, T> {
        Permit {
            inner,
            clocks: &self.clocks,
        }
    }

    fn saw_end(&self, place: Place) {
        let ticket = ticket();
        lock(&self.clocks).saw_end(place, ticket);
    }

    /// As [`tokio::sync::mpsc::Sender::capacity`]. It orders nothing.
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// As [`tokio::sync::mpsc::Sender::max_capacity`].
    pub fn max_capacity(&self) -> usize {
        self.inner.max_capacity()
    }
}

impl<T> Permit<'_, T> {
    /// As [`tokio::sync::mpsc::Permit::send`].
    #[track_caller]
    pub fn send(self, message: T) {
        self.send_at(message, Some(Location::caller()));
    }

    fn send_at(self, message: T, place: Place) {
        let ticket = ticket();
        let mut clocks = lock(self.clocks);
        let message = clocks.send(message, place, ticket);
        quietly(|| self.inner.send(message));
    }
}

sender! { Sender, WeakSender }

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}
