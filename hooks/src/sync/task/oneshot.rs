//! A channel for one message.

use std::{
    fmt,
    panic::Location,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use tokio::sync::oneshot;

pub use tokio::sync::oneshot::error;

use self::error::{RecvError, TryRecvError};
use super::{
    channel::{Clocks, Envelope},
    ticket,
};
use crate::{
    live::{actor::Place, lock, names::Name},
    task::quiet::quietly,
};

/// As [`tokio::sync::oneshot::channel`].
///
/// ```
/// use portent_hooks::task::oneshot;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let (sender, receiver) = oneshot::channel();
/// sender.send(7).unwrap();
/// assert_eq!(runtime.block_on(receiver)?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = oneshot::channel();
    let clocks = Arc::new(Mutex::new(Clocks::new("oneshot", Name::here(), None)));
    (
        Sender {
            inner: Some(sender),
            clocks: Arc::clone(&clocks),
        },
        Receiver {
            inner: Some(receiver),
            clocks,
            place: Some(Location::caller()),
        },
    )
}

/// [`tokio::sync::oneshot::Sender`], with clocks.
pub struct Sender<T> {
    /// `None` once it has sent.
    inner: Option<oneshot::Sender<Envelope<T>>>,
    clocks: Arc<Mutex<Clocks>>,
}

/// [`tokio::sync::oneshot::Receiver`], with clocks.
pub struct Receiver<T> {
    /// `None` only inside `drop`.
    inner: Option<oneshot::Receiver<Envelope<T>>>,
    clocks: Arc<Mutex<Clocks>>,
    /// Where it was made: it is awaited by code that has no place.
    place: Place,
}

impl<T> Sender<T> {
    fn inner(&self) -> &oneshot::Sender<Envelope<T>> {
        match &self.inner {
            Some(inner) => inner,
            None => unreachable!("it sends once"),
        }
    }

    /// As [`tokio::sync::oneshot::Sender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(mut self, message: T) -> Result<(), T> {
        let place = Some(Location::caller());
        let ticket = ticket();
        let mut clocks = lock(&self.clocks);
        // The receiver closes its end while it holds the clocks.
        match self.inner.take() {
            Some(inner) if !inner.is_closed() => {
                let message = clocks.send(message, place, ticket);
                quietly(|| inner.send(message)).map_err(Envelope::into_content)
            }
            _ => {
                clocks.saw_end(place, ticket);
                Err(message)
            }
        }
    }

    /// As [`tokio::sync::oneshot::Sender::closed`].
    pub async fn closed(&mut self) {
        std::future::poll_fn(|cx| self.poll_closed(cx)).await;
    }

    /// As [`tokio::sync::oneshot::Sender::poll_closed`].
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(());
        };
        let polled = inner.poll_closed(cx);
        if polled.is_ready() {
            let ticket = ticket();
            lock(&self.clocks).saw_end(None, ticket);
        }
        polled
    }

    /// As [`tokio::sync::oneshot::Sender::is_closed`]. It orders nothing.
    pub fn is_closed(&self) -> bool {
        self.inner().is_closed()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take() {
            lock(&self.clocks).end();
            quietly(|| drop(inner));
        }
    }
}

impl<T> Receiver<T> {
    fn inner(&mut self) -> &mut oneshot::Receiver<Envelope<T>> {
        match &mut self.inner {
            Some(inner) => inner,
            None => unreachable!("a receiver has something inside until it is dropped"),
        }
    }

    /// As [`tokio::sync::oneshot::Receiver::close`].
    pub fn close(&mut self) {
        let clocks = Arc::clone(&self.clocks);
        let mut clocks = lock(&clocks);
        clocks.end();
        quietly(|| self.inner().close());
    }

    /// As [`tokio::sync::oneshot::Receiver::try_recv`].
    ///
    /// # Errors
    ///
    /// If there is no message.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let place = Some(Location::caller());
        let ticket = ticket();
        let clocks = Arc::clone(&self.clocks);
        let mut clocks = lock(&clocks);
        match self.inner().try_recv() {
            Ok(message) => Ok(clocks.receive(message, place, ticket)),
            Err(error) => {
                match error {
                    TryRecvError::Empty => clocks.was_empty(place, ticket),
                    TryRecvError::Closed => clocks.saw_end(place, ticket),
                }
                Err(error)
            }
        }
    }

    /// As [`tokio::sync::oneshot::Receiver::blocking_recv`].
    ///
    /// # Errors
    ///
    /// If the sender is gone.
    ///
    /// # Panics
    ///
    /// Inside of a task.
    #[track_caller]
    pub fn blocking_recv(mut self) -> Result<T, RecvError> {
        let place = Some(Location::caller());
        let ticket = ticket();
        let received = match self.inner.take() {
            Some(inner) => inner.blocking_recv(),
            None => unreachable!("a receiver has something inside until it is dropped"),
        };
        let mut clocks = lock(&self.clocks);
        match received {
            Ok(message) => Ok(clocks.receive(message, place, ticket)),
            Err(error) => {
                clocks.saw_end(place, ticket);
                Err(error)
            }
        }
    }

    /// As [`tokio::sync::oneshot::Receiver::is_terminated`].
    pub fn is_terminated(&self) -> bool {
        self.inner
            .as_ref()
            .is_none_or(oneshot::Receiver::is_terminated)
    }

    /// As [`tokio::sync::oneshot::Receiver::is_empty`]. It orders nothing.
    pub fn is_empty(&self) -> bool {
        self.inner.as_ref().is_none_or(oneshot::Receiver::is_empty)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ticket = ticket();
        let (clocks, place) = (Arc::clone(&self.clocks), self.place);
        let mut clocks = lock(&clocks);
        let inner = Pin::new(self.inner());
        inner.poll(cx).map(|received| match received {
            Ok(message) => Ok(clocks.receive(message, place, ticket)),
            Err(error) => {
                clocks.saw_end(place, ticket);
                Err(error)
            }
        })
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(mut inner) = self.inner.take() {
            if !inner.is_terminated() {
                let mut clocks = lock(&self.clocks);
                clocks.end();
                quietly(|| inner.close());
            }
            // Outside: a message that nobody will receive may use the channel.
            drop(inner);
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
