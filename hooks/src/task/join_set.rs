//! A set of tasks that are awaited in the order in which they end.

use std::{
    fmt,
    future::poll_fn,
    panic::Location,
    sync::Arc,
    task::{Context, Poll},
};

use rustc_hash::FxHashMap;
use tokio::{
    runtime::Handle,
    task::{self, LocalSet},
};

use super::{
    AbortHandle, Id, JoinError,
    spawn::{Task, forked_blocking},
    waker,
};
use crate::{
    live::{actor::Place, identity::Identity},
    thread::joined,
};

/// [`tokio::task::JoinSet`], with clocks.
///
/// ```
/// use portent_hooks::task::JoinSet;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let sum: i32 = runtime.block_on(async {
///     let mut set = JoinSet::new();
///     for number in [1, 2, 3] {
///         set.spawn(async move { number });
///     }
///     set.join_all().await.into_iter().sum()
/// });
/// assert_eq!(sum, 6);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct JoinSet<T> {
    inner: task::JoinSet<T>,
    identities: FxHashMap<Id, Arc<Identity>>,
}

type Joined<T> = Result<(Id, T), JoinError>;

impl<T> JoinSet<T> {
    /// As [`tokio::task::JoinSet::new`].
    #[must_use]
    pub fn new() -> JoinSet<T> {
        JoinSet {
            inner: task::JoinSet::new(),
            identities: FxHashMap::default(),
        }
    }

    /// As [`tokio::task::JoinSet::len`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// As [`tokio::task::JoinSet::is_empty`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    fn add(&mut self, inner: task::AbortHandle, identity: Arc<Identity>) -> AbortHandle {
        self.identities.insert(inner.id(), Arc::clone(&identity));
        AbortHandle::of(inner, identity)
    }

    fn add_future<F: Future>(
        &mut self,
        future: F,
        place: Place,
        spawn: impl FnOnce(&mut task::JoinSet<T>, Task<F>) -> task::AbortHandle,
    ) -> AbortHandle {
        let (task, identity) = Task::forked(future, place);
        let inner = spawn(&mut self.inner, task);
        self.add(inner, identity)
    }

    /// As [`tokio::task::JoinSet::spawn`].
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.add_future(future, Some(Location::caller()), task::JoinSet::spawn)
    }

    /// As [`tokio::task::JoinSet::spawn_on`].
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let place = Some(Location::caller());
        self.add_future(future, place, |set, task| set.spawn_on(task, handle))
    }

    /// As [`tokio::task::JoinSet::spawn_local`].
    ///
    /// # Panics
    ///
    /// Outside of a [`LocalSet`].
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.add_future(future, Some(Location::caller()), task::JoinSet::spawn_local)
    }

    /// As [`tokio::task::JoinSet::spawn_local_on`].
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let place = Some(Location::caller());
        self.add_future(future, place, |inner, task| inner.spawn_local_on(task, set))
    }

    /// As [`tokio::task::JoinSet::spawn_blocking`].
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let (run, identity) = forked_blocking(f, Some(Location::caller()));
        let inner = self.inner.spawn_blocking(run);
        self.add(inner, identity)
    }

    /// As [`tokio::task::JoinSet::poll_join_next_with_id`].
    pub fn poll_join_next_with_id(&mut self, cx: &mut Context<'_>) -> Poll<Option<Joined<T>>> {
        let waker = waker::unwrap(cx.waker());
        let mut cx = Context::from_waker(&waker);
        let polled = self.inner.poll_join_next_with_id(&mut cx);
        polled.map(|next| self.note(next))
    }

    /// As [`tokio::task::JoinSet::poll_join_next`].
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(without_id)
    }

    /// As [`tokio::task::JoinSet::join_next`].
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        without_id(self.join_next_with_id().await)
    }

    /// As [`tokio::task::JoinSet::join_next_with_id`].
    pub async fn join_next_with_id(&mut self) -> Option<Joined<T>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// As [`tokio::task::JoinSet::try_join_next`].
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        without_id(self.try_join_next_with_id())
    }

    /// As [`tokio::task::JoinSet::try_join_next_with_id`].
    pub fn try_join_next_with_id(&mut self) -> Option<Joined<T>> {
        let next = self.inner.try_join_next_with_id();
        self.note(next)
    }

    /// As [`tokio::task::JoinSet::join_all`].
    ///
    /// # Panics
    ///
    /// If a task did, or was cancelled.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len());
        while let Some(next) = self.join_next().await {
            match next {
                Ok(output) => all.push(output),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        all
    }

    /// As [`tokio::task::JoinSet::shutdown`].
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// As [`tokio::task::JoinSet::abort_all`].
    pub fn abort_all(&mut self) {
        self.identities
            .values()
            .for_each(|identity| waker::tell(identity));
        self.inner.abort_all();
    }

    /// As [`tokio::task::JoinSet::detach_all`].
    pub fn detach_all(&mut self) {
        self.identities.clear();
        self.inner.detach_all();
    }

    /// A task has ended, and is known here.
    fn note(&mut self, next: Option<Joined<T>>) -> Option<Joined<T>> {
        let id = match &next {
            Some(Ok((id, _))) => *id,
            Some(Err(error)) => error.id(),
            None => return None,
        };
        if let Some(identity) = self.identities.remove(&id) {
            joined(&identity, None);
        }
        next
    }
}

fn without_id<T>(next: Option<Joined<T>>) -> Option<Result<T, JoinError>> {
    next.map(|joined| joined.map(|(_, output)| output))
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        // The tasks that are left are aborted.
        self.identities
            .values()
            .for_each(|identity| waker::tell(identity));
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> JoinSet<T> {
        JoinSet::new()
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> JoinSet<T> {
        let mut set = JoinSet::new();
        set.extend(futures);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}
