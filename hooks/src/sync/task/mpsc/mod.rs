//! Channels of `tokio::sync::mpsc`, with clocks.
//!
//! | file | |
//! |---|---|
//! | `bounded` | bounded channels, and their senders |
//! | `unbounded` | unbounded channels, and their senders |
//! | `receiver` | receivers |

mod bounded;
mod receiver;
mod unbounded;

use std::sync::{Arc, Mutex};

pub use tokio::sync::mpsc::error;

pub use bounded::{Permit, Sender, WeakSender, channel};
pub use receiver::{Receiver, UnboundedReceiver};
pub use unbounded::{UnboundedSender, WeakUnboundedSender, unbounded_channel};

use super::channel::Clocks;

type SharedClocks = Arc<Mutex<Clocks>>;

/// What senders of both kinds do in the same way.
macro_rules! sender {
    ($sender:ident, $weak:ident) => {
        impl<T> $sender<T> {
            /// As that of tokio.
            pub async fn closed(&self) {
                self.inner.closed().await;
                let ticket = ticket();
                lock(&self.clocks).saw_end(None, ticket);
            }

            /// As that of tokio. It orders nothing.
            pub fn is_closed(&self) -> bool {
                self.inner.is_closed()
            }

            /// As that of tokio.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.inner.same_channel(&other.inner)
            }

            /// As that of tokio.
            #[must_use = "Downgrade creates a WeakSender without destroying the original non-weak sender."]
            pub fn downgrade(&self) -> $weak<T> {
                $weak {
                    inner: self.inner.downgrade(),
                    clocks: Arc::clone(&self.clocks),
                }
            }

            /// As that of tokio. It orders nothing.
            pub fn strong_count(&self) -> usize {
                self.inner.strong_count()
            }

            /// As that of tokio. It orders nothing.
            pub fn weak_count(&self) -> usize {
                self.inner.weak_count()
            }
        }

        impl<T> Clone for $sender<T> {
            fn clone(&self) -> Self {
                $sender {
                    inner: Quiet::new(self.inner.clone()),
                    clocks: Arc::clone(&self.clocks),
                }
            }
        }

        impl<T> Drop for $sender<T> {
            fn drop(&mut self) {
                lock(&self.clocks).end();
            }
        }

        impl<T> fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }

        impl<T> $weak<T> {
            /// As that of tokio.
            pub fn upgrade(&self) -> Option<$sender<T>> {
                Some($sender {
                    inner: Quiet::new(self.inner.upgrade()?),
                    clocks: Arc::clone(&self.clocks),
                })
            }

            /// As that of tokio. It orders nothing.
            pub fn strong_count(&self) -> usize {
                self.inner.strong_count()
            }

            /// As that of tokio. It orders nothing.
            pub fn weak_count(&self) -> usize {
                self.inner.weak_count()
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                $weak {
                    inner: self.inner.clone(),
                    clocks: Arc::clone(&self.clocks),
                }
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }
    };
}

use sender;
