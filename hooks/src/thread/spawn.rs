//! Threads that may outlive their spawner.

use std::{
    fmt, io,
    panic::Location,
    sync::{Arc, OnceLock},
    thread,
};

use portent_monitor_core::Op;

use super::{Scope, ScopedJoinHandle, Thread};
use crate::{
    control::{self, Spawned},
    live::{
        actor::{self, Place, Ticket},
        identity::Identity,
        line::OperationRecord,
        version,
    },
};

/// As [`std::thread::spawn`].
///
/// ```
/// use portent_hooks::thread;
///
/// assert_eq!(thread::spawn(|| 7).join().unwrap(), 7);
/// ```
///
/// # Panics
///
/// If the system cannot make a thread.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// [`std::thread::Builder`], whose threads carry clocks.
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    inner: thread::Builder,
    name: Option<String>,
}

// That of the standard library has no default either.
#[expect(clippy::new_without_default)]
impl Builder {
    /// As [`std::thread::Builder::new`].
    pub fn new() -> Builder {
        Builder {
            inner: thread::Builder::new(),
            name: None,
        }
    }

    /// As [`std::thread::Builder::name`].
    pub fn name(self, name: String) -> Builder {
        Builder {
            name: Some(name.clone()),
            inner: self.inner.name(name),
        }
    }

    /// As [`std::thread::Builder::stack_size`].
    pub fn stack_size(self, size: usize) -> Builder {
        Builder {
            inner: self.inner.stack_size(size),
            ..self
        }
    }

    /// As [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    ///
    /// If the system cannot make a thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            let name = self.name.as_deref();
            let spawned = Spawned::begin(&*controller, name, place, f, |_| {}, &Arc::default());
            let thread = ControlledThread::new(spawned.number, self.name);
            return Ok(JoinHandle(Handle::Controlled(spawned, thread)));
        }
        let child = Child::forked(self.name.as_deref(), place);
        let identity = Arc::clone(&child.identity);
        let inner = self.inner.spawn(move || child.run(f, true))?;
        let thread = started(identity, inner.thread());
        Ok(JoinHandle(Handle::Native(inner, thread)))
    }

    /// As [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    ///
    /// If the system cannot make a thread.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let place = Some(Location::caller());
        if let Some(controller) = control::current() {
            return Ok(scope.spawn_controlled(&*controller, self.name, place, f));
        }
        let child = Child::forked(self.name.as_deref(), place);
        scope.spawn_child(self.inner, child, f)
    }
}

/// A thread that is about to begin.
pub(super) struct Child {
    pub(super) identity: Arc<Identity>,
    recording: Option<Arc<crate::live::Subscriber>>,
}

impl Child {
    /// Of this thread.
    pub(super) fn forked(name: Option<&str>, place: Place) -> Child {
        let identity = Arc::new(Identity::new(name));
        let ticket = if version::is_hidden() {
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
        Child {
            identity,
            recording: recording.flatten(),
        }
    }

    /// Called in the thread itself. `waited_for`: a join also waits for its destructors.
    pub(super) fn run<T>(self, f: impl FnOnce() -> T, waited_for: bool) -> T {
        /// Also if it panics.
        struct End(bool);
        impl Drop for End {
            fn drop(&mut self) {
                actor::with(|actor| actor.finish(self.0));
            }
        }
        self.identity.is(thread::current());
        actor::begin(self.identity, self.recording);
        let _end = End(waited_for);
        f()
    }
}

pub(super) fn started(identity: Arc<Identity>, handle: &thread::Thread) -> Thread {
    identity.is(handle.clone());
    Thread::of(identity)
}

/// Comes after all that a thread did, which has ended.
pub(crate) fn joined(identity: &Identity, place: Place) {
    let ticket = if version::is_hidden() {
        actor::prepare()
    } else {
        Ticket::NONE
    };
    actor::with(|actor| {
        identity.join(actor.clock());
        actor.did(ticket, || {
            OperationRecord::new(Op::Join(identity.thread()), place)
        });
    });
}

/// [`std::thread::JoinHandle`], with clocks.
pub struct JoinHandle<T>(Handle<T>);

enum Handle<T> {
    Native(thread::JoinHandle<T>, Thread),
    Controlled(Spawned<T>, ControlledThread),
}

/// A thread under control, as seen by others; rarely needed.
pub(super) struct ControlledThread {
    number: u32,
    name: Option<String>,
    thread: OnceLock<Thread>,
}

impl ControlledThread {
    pub(super) fn new(number: u32, name: Option<String>) -> ControlledThread {
        ControlledThread {
            number,
            name,
            thread: OnceLock::new(),
        }
    }

    pub(super) fn get(&self) -> &Thread {
        self.thread
            .get_or_init(|| Thread::controlled(self.number, self.name.as_deref()))
    }
}

impl<T> JoinHandle<T> {
    /// As [`std::thread::JoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Handle::Native(_, thread) => thread,
            Handle::Controlled(_, thread) => thread.get(),
        }
    }

    /// As [`std::thread::JoinHandle::join`].
    ///
    /// # Errors
    ///
    /// What the thread panicked with.
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        let place = Some(Location::caller());
        match self.0 {
            Handle::Native(inner, thread) => {
                let result = inner.join();
                joined(thread.identity(), place);
                result
            }
            Handle::Controlled(spawned, _) => spawned.join(place),
        }
    }

    /// As [`std::thread::JoinHandle::is_finished`]. It orders nothing.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Native(inner, _) => inner.is_finished(),
            Handle::Controlled(spawned, _) => spawned.has_ended(),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
