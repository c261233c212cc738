//! What other threads can reach of a thread: its handle, its end, its park token, its name in a trace.

use std::sync::{
    Mutex, OnceLock,
    atomic::{
        AtomicBool, AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
};
#[cfg(feature = "tokio")]
use std::task::Waker;

use portent_monitor_core::{Access, CondId, Id, Knowledge, Operation, Role, ThreadId};

use super::{ActorClock, ObjectClock, Published, lock, names, operation::access};

const FORK: Access = access(Operation::Fork, Role::Thread);
const JOIN: Access = access(Operation::Join, Role::Thread);

/// A thread, as seen by others.
#[derive(Debug)]
pub(crate) struct Identity {
    name: Option<Box<str>>,
    /// The base of its name in traces, if it has no name.
    kind: &'static str,
    /// The base of the name of its condition.
    token_kind: &'static str,
    /// Its number, of a thread under control.
    controlled: Option<u32>,
    /// The thread itself, once it runs.
    handle: OnceLock<std::thread::Thread>,
    /// What its spawner knew, and then what it knew itself at its end.
    bounds: Mutex<Published>,
    /// What those who unparked the thread, or woke the task, knew.
    token: Mutex<ObjectClock>,
    /// Whether the token holds something that the thread or task has not received yet.
    is_woken: AtomicBool,
    /// Of a task: tokio's waker, once it was polled.
    #[cfg(feature = "tokio")]
    waker: OnceLock<Waker>,
    /// Its id in traces, from 1, and that of the condition on which it parks.
    thread: AtomicU32,
    condition: AtomicU32,
}

impl Identity {
    pub(crate) fn new(name: Option<&str>) -> Identity {
        Identity {
            name: name.map(Into::into),
            kind: "thread",
            token_kind: "park",
            controlled: None,
            handle: OnceLock::new(),
            bounds: Mutex::new(Published::EMPTY),
            token: Mutex::new(ObjectClock::EMPTY),
            is_woken: AtomicBool::new(false),
            #[cfg(feature = "tokio")]
            waker: OnceLock::new(),
            thread: AtomicU32::new(0),
            condition: AtomicU32::new(0),
        }
    }

    /// Of a task.
    #[cfg(feature = "tokio")]
    pub(crate) fn of_task() -> Identity {
        Identity {
            kind: "task",
            token_kind: "wake",
            ..Identity::new(None)
        }
    }

    /// The waker that tokio made for a task, once that was polled.
    #[cfg(feature = "tokio")]
    #[inline]
    pub(crate) fn waker(&self) -> &OnceLock<Waker> {
        &self.waker
    }

    /// Notes that the token holds something new.
    pub(crate) fn tell_woken(&self) {
        self.is_woken.store(true, Release);
    }

    /// Whether the token holds something new, which the caller is about to receive.
    #[inline]
    pub(crate) fn take_woken(&self) -> bool {
        self.is_woken.load(Relaxed) && self.is_woken.swap(false, Acquire)
    }

    /// For a thread under control, which has no separate thread of the operating system.
    pub(crate) fn controlled(number: u32, name: Option<&str>) -> Identity {
        let identity = Identity {
            controlled: Some(number),
            ..Identity::new(name)
        };
        identity.is(stand_in(number));
        identity
    }

    /// Its number, of a thread under control.
    pub(crate) fn number(&self) -> Option<u32> {
        self.controlled
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Of the thread that runs.
    pub(crate) fn current() -> Identity {
        let handle = std::thread::current();
        let identity = Identity::new(handle.name());
        identity.is(handle);
        identity
    }

    pub(crate) fn is(&self, handle: std::thread::Thread) {
        self.handle.get_or_init(|| handle);
    }

    pub(crate) fn handle(&self) -> Option<&std::thread::Thread> {
        self.handle.get()
    }

    pub(crate) fn is_named(&self) -> bool {
        self.name.is_some()
    }

    /// Whether it has an id, which may already be in a recording.
    pub(crate) fn is_known(&self) -> bool {
        self.thread.load(Relaxed) != 0
    }

    /// The thread is about to be spawned, by one with this clock.
    pub(crate) fn fork(&self, spawner: &mut ActorClock) {
        spawner.publish_updates(&mut lock(&self.bounds), FORK);
    }

    /// The thread begins: it comes after what was contributed to it.
    pub(crate) fn begin(&self, clock: &mut ActorClock) {
        clock.learn(&lock(&self.bounds));
    }

    /// The thread has ended, and leaves what it did. May be called again.
    pub(crate) fn end(&self, clock: &mut ActorClock) {
        clock.leave(&mut lock(&self.bounds));
    }

    /// The thread is joined, by one with this clock.
    pub(crate) fn join(&self, joiner: &mut ActorClock) {
        joiner.receive_updates(&lock(&self.bounds), JOIN);
    }

    pub(crate) fn with_token<R>(&self, f: impl FnOnce(&mut ObjectClock) -> R) -> R {
        f(&mut lock(&self.token))
    }

    pub(crate) fn thread(&self) -> ThreadId {
        numbered(&self.thread, |table| {
            let name = self.name.as_deref().unwrap_or(self.kind);
            table.distinct(name.to_owned(), |symbols| &mut symbols.threads)
        })
    }

    pub(crate) fn condition(&self) -> CondId {
        let thread = self.thread();
        numbered(&self.condition, |table| {
            let name = format!(
                "{}({})",
                self.token_kind,
                table.symbols.threads.name(thread)
            );
            table.distinct(name, |symbols| &mut symbols.conds)
        })
    }
}

/// The handle of a thread that has ended. Each number has its own, so that threads under control have ids that differ.
fn stand_in(number: u32) -> std::thread::Thread {
    static STAND_INS: Mutex<Vec<std::thread::Thread>> = Mutex::new(Vec::new());
    let mut stand_ins = lock(&STAND_INS);
    while stand_ins.len() <= number as usize {
        let ended = std::thread::spawn(|| {});
        stand_ins.push(ended.thread().clone());
        let _ = ended.join();
    }
    stand_ins[number as usize].clone()
}

/// An id that is made once.
fn numbered<I: Id>(cell: &AtomicU32, make: impl FnOnce(&mut names::Table) -> I) -> I {
    let get = || I::from_index((cell.load(Relaxed) as usize).checked_sub(1)?);
    get().unwrap_or_else(|| {
        names::with_table(|table| {
            get().unwrap_or_else(|| {
                let id = make(table);
                cell.store(u32::try_from(id.index() + 1).unwrap_or(u32::MAX), Relaxed);
                id
            })
        })
    })
}
