//! Signals without content.
//!
//! There are two kinds. `notify_one` is kept until a task waits for it, so it does not matter which comes first. `notify_waiters` does not reach
//! tasks that begin to wait later, so it is ordered with the beginnings of waits. A woken task cannot tell which kind woke it, and comes after both.

use std::{
    fmt,
    panic::Location,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tokio::sync;

use super::condition::Condition;
use crate::{
    live::{actor::Place, names::Name},
    task::quiet::quietly,
};

/// [`tokio::sync::Notify`], with clocks.
///
/// ```
/// use portent_hooks::task::Notify;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let ready = Notify::new();
/// ready.notify_one();
/// runtime.block_on(ready.notified());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Notify {
    kept: Condition,
    lost: Condition,
    inner: sync::Notify,
}

impl Notify {
    /// As [`tokio::sync::Notify::new`].
    #[track_caller]
    pub fn new() -> Notify {
        Notify::const_new()
    }

    /// As [`tokio::sync::Notify::const_new`].
    #[track_caller]
    pub const fn const_new() -> Notify {
        Notify {
            kept: Condition::new("Notify", Name::here()),
            lost: Condition::new("waiters of Notify", Name::here()),
            inner: sync::Notify::const_new(),
        }
    }

    /// As [`tokio::sync::Notify::notified`].
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let place = Some(Location::caller());
        self.lost.begin_to_wait(place);
        Notified {
            notify: self,
            inner: self.inner.notified(),
            place,
        }
    }

    /// As [`tokio::sync::Notify::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) {
        self.kept.signal(Some(Location::caller()));
        quietly(|| self.inner.notify_one());
    }

    /// As [`tokio::sync::Notify::notify_last`].
    #[track_caller]
    pub fn notify_last(&self) {
        self.kept.signal(Some(Location::caller()));
        quietly(|| self.inner.notify_last());
    }

    /// As [`tokio::sync::Notify::notify_waiters`].
    #[track_caller]
    pub fn notify_waiters(&self) {
        self.lost.signal(Some(Location::caller()));
        quietly(|| self.inner.notify_waiters());
    }

    fn woken(&self, place: Place) {
        self.kept.waited(place);
        self.lost.waited(place);
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

pin_project! {
    /// [`tokio::sync::futures::Notified`] of a [`Notify`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Notified<'a> {
        notify: &'a Notify,
        #[pin]
        inner: sync::futures::Notified<'a>,
        place: Place,
    }
}

impl Notified<'_> {
    /// As [`tokio::sync::futures::Notified::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        let is_woken = this.inner.enable();
        if is_woken {
            this.notify.woken(*this.place);
        }
        is_woken
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let polled = this.inner.poll(cx);
        if polled.is_ready() {
            this.notify.woken(*this.place);
        }
        polled
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified").finish_non_exhaustive()
    }
}
