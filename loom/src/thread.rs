//! As [`std::thread`].

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use portent_hooks::{control, thread};

use crate::raw::Moved;

pub use portent_hooks::thread::{LocalKey, park, yield_now};
pub use std::thread::{AccessError, panicking};

/// As [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread {
    id: ThreadId,
    handle: thread::Thread,
}

/// As [`std::thread::ThreadId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(u32);

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadId({})", self.0)
    }
}

impl Thread {
    /// As [`std::thread::Thread::id`]; in a model 0 is the first one.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// As [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.handle.name()
    }

    /// As [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        self.handle.unpark();
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id)
            .field("name", &self.name())
            .finish()
    }
}

/// As [`std::thread::current`].
///
/// # Panics
///
/// If called outside of a model.
#[must_use]
pub fn current() -> Thread {
    match control::thread() {
        Some(number) => Thread {
            id: ThreadId(number),
            handle: thread::current(),
        },
        None => panic!("`loom::thread::current` is for inside of `loom::model`"),
    }
}

/// As [`std::thread::JoinHandle`].
pub struct JoinHandle<T> {
    inner: thread::JoinHandle<Moved<T>>,
    thread: Thread,
}

impl<T> JoinHandle<T> {
    /// As [`std::thread::JoinHandle::join`].
    ///
    /// # Errors
    ///
    /// The payload of the panic.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        self.inner.join().map(Moved::take)
    }

    /// As [`std::thread::JoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// As [`std::thread::spawn`]. As with loom, what moves to the thread need not be `Send`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    match spawn_as(thread::Builder::new(), f) {
        Ok(handle) => handle,
        Err(error) => panic!("no thread could be spawned: {error}"),
    }
}

#[track_caller]
fn spawn_as<F, T>(builder: thread::Builder, f: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let f = Moved::new(f);
    // The thread runs to its first step before this returns, so its id is known.
    let number = Arc::new(AtomicU32::new(0));
    let told = Arc::clone(&number);
    let inner = builder.spawn(move || {
        told.store(control::thread().unwrap_or_default(), Relaxed);
        Moved::new(f.take()())
    })?;
    let id = ThreadId(number.load(Relaxed));
    let handle = inner.thread().clone();
    Ok(JoinHandle {
        inner,
        thread: Thread { id, handle },
    })
}

/// As [`std::thread::Builder`].
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
}

#[allow(clippy::new_without_default)]
impl Builder {
    /// As [`std::thread::Builder::new`].
    #[must_use]
    pub fn new() -> Builder {
        Builder { name: None }
    }

    /// As [`std::thread::Builder::name`].
    #[must_use]
    pub fn name(self, name: String) -> Builder {
        Builder { name: Some(name) }
    }

    /// As [`std::thread::Builder::stack_size`]. Here all stacks have the same size.
    #[must_use]
    pub fn stack_size(self, _: usize) -> Builder {
        self
    }

    /// As [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    ///
    /// None, in a model.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let builder = thread::Builder::new();
        spawn_as(
            match self.name {
                Some(name) => builder.name(name),
                None => builder,
            },
            f,
        )
    }
}
