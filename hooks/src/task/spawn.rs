//! Tasks and their handles.

use std::{
    fmt,
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use pin_project_lite::pin_project;
use portent_monitor_core::Op;
use tokio::task;

use super::{Id, JoinError, waker};
use crate::{
    control,
    live::{
        actor::{self, Place, Ticket},
        identity::Identity,
        line::OperationRecord,
        task_actor::TaskActor,
        version,
    },
    thread::joined,
};

/// As [`tokio::task::spawn`].
///
/// ```
/// use portent_hooks::task;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let seven = runtime.block_on(async { task::spawn(async { 7 }).await })?;
/// assert_eq!(seven, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// Outside of a runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (task, identity) = Task::forked(future, Some(Location::caller()));
    JoinHandle::of(task::spawn(task), identity)
}

/// As [`tokio::task::spawn_local`].
///
/// # Panics
///
/// Outside of a [`LocalSet`](tokio::task::LocalSet).
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let (task, identity) = Task::forked(future, Some(Location::caller()));
    JoinHandle::of(task::spawn_local(task), identity)
}

/// As [`tokio::task::spawn_blocking`].
///
/// # Panics
///
/// Outside of a runtime.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let (run, identity) = forked_blocking(f, Some(Location::caller()));
    JoinHandle::of(task::spawn_blocking(run), identity)
}

/// A closure that runs with a separate actor.
pub(super) fn forked_blocking<F, R>(f: F, place: Place) -> (impl FnOnce() -> R, Arc<Identity>)
where
    F: FnOnce() -> R,
{
    let identity = Arc::new(Identity::of_task());
    let ending = Ending(fork(&identity, place));
    let run = move || {
        let mut ending = ending;
        // The closure and what it has captured are dropped before the end.
        let _acting = ending.0.act();
        f()
    };
    (run, identity)
}

/// The actor of a closure that may never run.
struct Ending(TaskActor);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.act().end();
    }
}

/// A task is spawned by this thread.
fn fork(identity: &Arc<Identity>, place: Place) -> TaskActor {
    let ticket = if version::is_hidden() {
        control::refuse_tasks("begins a task of tokio", place);
        actor::prepare()
    } else {
        Ticket::NONE
    };
    let recording = actor::with(|actor| {
        actor.did(ticket, || {
            OperationRecord::new(Op::Fork(identity.thread()), place)
        });
        identity.fork(actor.clock());
        actor.recording()
    });
    TaskActor::begin(Arc::clone(identity), recording.flatten())
}

pin_project! {
    /// A future with a separate actor.
    pub(super) struct Task<F> {
        // `None` when it is done, so that what it dropped it dropped itself.
        #[pin]
        future: Option<F>,
        actor: TaskActor,
        identity: Arc<Identity>,
        // The one that others see.
        waker: Option<Waker>,
    }

    impl<F> PinnedDrop for Task<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if !this.actor.has_ended() {
                let acting = this.actor.act();
                waker::receive(this.identity);
                let future = &mut this.future;
                // If a destructor panics, it has ended all the same.
                let ending = AtEnd(Some(acting));
                future.set(None);
                drop(ending);
            }
        }
    }
}

/// Ends a task.
struct AtEnd<'a>(Option<crate::live::task_actor::Acting<'a>>);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        if let Some(acting) = self.0.take() {
            acting.end();
        }
    }
}

impl<F> Task<F> {
    pub(super) fn forked(future: F, place: Place) -> (Task<F>, Arc<Identity>) {
        let identity = Arc::new(Identity::of_task());
        let task = Task {
            future: Some(future),
            actor: fork(&identity, place),
            identity: Arc::clone(&identity),
            waker: None,
        };
        (task, identity)
    }
}

impl<F: Future> Future for Task<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let waker = waker::wrap(this.identity, this.waker, cx.waker());
        let acting = this.actor.act();
        waker::receive(this.identity);
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            panic!("a task was polled after it had ended");
        };
        let polled = future.poll(&mut Context::from_waker(waker));
        if polled.is_ready() {
            this.future.set(None);
            acting.end();
        } else {
            acting.rest();
        }
        polled
    }
}

/// Turns a future into a separate task, however it is spawned: with `Handle::spawn`, on an executor other than tokio's, or inside a task
/// that a library spawned, such as one request of a server. Whoever polls it to its end comes after everything that it did.
///
/// Without the feature `monitor` it returns the future unchanged.
///
/// ```
/// use portent_hooks::task;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let seven = runtime.block_on(runtime.spawn(task::tracked(async { 7 })))?;
/// assert_eq!(seven, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn tracked<F: Future>(future: F) -> Tracked<F> {
    let (task, _) = Task::forked(future, Some(Location::caller()));
    Tracked { task }
}

pin_project! {
    /// A future that is a separate task; created by [`tracked`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Tracked<F> {
        #[pin]
        task: Task<F>,
    }
}

impl<F: Future> Future for Tracked<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut task = self.project().task;
        let polled = task.as_mut().poll(cx);
        if polled.is_ready() && actor::is_there() {
            joined(&task.identity, None);
        }
        polled
    }
}

impl<F> fmt::Debug for Tracked<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracked").finish_non_exhaustive()
    }
}

/// [`tokio::task::JoinHandle`], with clocks.
pub struct JoinHandle<T> {
    inner: task::JoinHandle<T>,
    identity: Arc<Identity>,
}

impl<T> JoinHandle<T> {
    fn of(inner: task::JoinHandle<T>, identity: Arc<Identity>) -> JoinHandle<T> {
        JoinHandle { inner, identity }
    }

    /// As [`tokio::task::JoinHandle::abort`]. What the task drops because of it comes after it.
    pub fn abort(&self) {
        waker::tell(&self.identity);
        self.inner.abort();
    }

    /// As [`tokio::task::JoinHandle::is_finished`]. It orders nothing.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }

    /// As [`tokio::task::JoinHandle::abort_handle`].
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::of(self.inner.abort_handle(), Arc::clone(&self.identity))
    }

    /// As [`tokio::task::JoinHandle::id`].
    #[must_use]
    pub fn id(&self) -> Id {
        self.inner.id()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let waker = waker::unwrap(cx.waker());
        let polled = Pin::new(&mut self.inner).poll(&mut Context::from_waker(&waker));
        if polled.is_ready() {
            joined(&self.identity, None);
        }
        polled
    }
}

impl<T: fmt::Debug> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// [`tokio::task::AbortHandle`], with clocks.
#[derive(Clone)]
pub struct AbortHandle {
    inner: task::AbortHandle,
    identity: Arc<Identity>,
}

impl AbortHandle {
    pub(super) fn of(inner: task::AbortHandle, identity: Arc<Identity>) -> AbortHandle {
        AbortHandle { inner, identity }
    }

    /// As [`tokio::task::AbortHandle::abort`]. What the task drops because of it comes after it.
    pub fn abort(&self) {
        waker::tell(&self.identity);
        self.inner.abort();
    }

    /// As [`tokio::task::AbortHandle::is_finished`]. It orders nothing.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }

    /// As [`tokio::task::AbortHandle::id`].
    #[must_use]
    pub fn id(&self) -> Id {
        self.inner.id()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
