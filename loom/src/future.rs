//! Futures, and what wakes them.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use portent_hooks::sync::{Mutex, MutexGuard};

use crate::sync::Notify;

/// Wakes the waiting thread.
#[derive(Default)]
struct Signal(Notify);

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

/// Polls a future until it is ready; the thread waits meanwhile.
#[track_caller]
pub fn block_on<F>(f: F) -> F::Output
where
    F: Future,
{
    let mut future = pin!(f);
    let signal = Arc::new(Signal::default());
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => signal.0.wait(),
        }
    }
}

/// A place for one waker, which several threads may use.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Without a waker.
    #[track_caller]
    #[must_use]
    pub fn new() -> AtomicWaker {
        AtomicWaker {
            waker: Mutex::new(None),
        }
    }

    /// Registers this waker.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        let before = self.lock().replace(waker);
        drop(before);
    }

    /// Registers this waker.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the registered waker, if there is one.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the registered waker.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.lock().take()
    }

    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        match self.waker.lock() {
            Ok(waker) => waker,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}
