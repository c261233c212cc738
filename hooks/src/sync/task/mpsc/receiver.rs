//! Who receives.

use std::{
    fmt,
    future::poll_fn,
    panic::Location,
    task::{Context, Poll},
};

use tokio::sync::mpsc;

use super::{SharedClocks, error::TryRecvError};
use crate::{
    live::{actor::Place, lock},
    sync::task::{block_on, channel::Envelope, ticket},
    task::quiet::{Quiet, quietly},
};

/// [`tokio::sync::mpsc::Receiver`], with clocks.
pub struct Receiver<T> {
    pub(super) inner: Quiet<mpsc::Receiver<Envelope<T>>>,
    pub(super) clocks: SharedClocks,
}

/// [`tokio::sync::mpsc::UnboundedReceiver`], with clocks.
pub struct UnboundedReceiver<T> {
    pub(super) inner: Quiet<mpsc::UnboundedReceiver<Envelope<T>>>,
    pub(super) clocks: SharedClocks,
}

macro_rules! receiver {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// As that of tokio.
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                let place = Some(Location::caller());
                poll_fn(move |cx| self.poll_at(cx, place))
            }

            /// As that of tokio.
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                self.poll_at(cx, Some(Location::caller()))
            }

            fn poll_at(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<Option<T>> {
                let ticket = ticket();
                let mut clocks = lock(&self.clocks);
                // It may wake a sender that waits for room.
                quietly(|| self.inner.poll_recv(cx)).map(|received| match received {
                    Some(message) => Some(clocks.receive(message, place, ticket)),
                    None => {
                        clocks.saw_end(place, ticket);
                        None
                    }
                })
            }

            /// As that of tokio.
            #[track_caller]
            pub fn recv_many(
                &mut self,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> impl Future<Output = usize> {
                let place = Some(Location::caller());
                let mut messages = Vec::new();
                poll_fn(move |cx| {
                    let ticket = ticket();
                    let mut clocks = lock(&self.clocks);
                    let polled = quietly(|| self.inner.poll_recv_many(cx, &mut messages, limit));
                    if polled == Poll::Ready(0) && limit > 0 {
                        clocks.saw_end(place, ticket);
                    }
                    let received = messages.drain(..);
                    buffer.extend(received.map(|message| clocks.receive(message, place, ticket)));
                    polled
                })
            }

            /// As that of tokio.
            ///
            /// # Errors
            ///
            /// If there is no message.
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                let place = Some(Location::caller());
                let ticket = ticket();
                let mut clocks = lock(&self.clocks);
                match quietly(|| self.inner.try_recv()) {
                    Ok(message) => Ok(clocks.receive(message, place, ticket)),
                    Err(error) => {
                        match error {
                            TryRecvError::Empty => clocks.was_empty(place, ticket),
                            TryRecvError::Disconnected => clocks.saw_end(place, ticket),
                        }
                        Err(error)
                    }
                }
            }

            /// As that of tokio.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                block_on(self.recv())
            }

            /// As that of tokio.
            pub fn close(&mut self) {
                let mut clocks = lock(&self.clocks);
                clocks.end();
                quietly(|| self.inner.close());
            }

            /// As that of tokio. It orders nothing.
            pub fn is_closed(&self) -> bool {
                self.inner.is_closed()
            }

            /// As that of tokio. It orders nothing.
            pub fn is_empty(&self) -> bool {
                self.inner.is_empty()
            }

            /// As that of tokio. It orders nothing.
            pub fn len(&self) -> usize {
                self.inner.len()
            }

            /// As that of tokio. It orders nothing.
            pub fn sender_strong_count(&self) -> usize {
                self.inner.sender_strong_count()
            }

            /// As that of tokio. It orders nothing.
            pub fn sender_weak_count(&self) -> usize {
                self.inner.sender_weak_count()
            }
        }

        impl<T> Drop for $receiver<T> {
            fn drop(&mut self) {
                // While the clocks are held, so that who sends knows whether it is too late. What nobody will receive is
                // dropped after that.
                self.close();
            }
        }

        impl<T> fmt::Debug for $receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($receiver))
                    .finish_non_exhaustive()
            }
        }
    };
}

receiver! { Receiver }
receiver! { UnboundedReceiver }

impl<T> Receiver<T> {
    /// As [`tokio::sync::mpsc::Receiver::capacity`]. It orders nothing.
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// As [`tokio::sync::mpsc::Receiver::max_capacity`].
    pub fn max_capacity(&self) -> usize {
        self.inner.max_capacity()
    }
}
