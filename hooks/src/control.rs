//! The interface for a controlled scheduler, which decides what runs next.
//!
//! A thread under control shows a version that no object has. Each of its hooks therefore takes the slow path, and only there
//! looks for a [`Controller`], so hot paths pay nothing. A primitive then does the following:
//!
//! 1. It calls [`Controller::step`] before it does something that other threads can notice. The call returns when it is the thread's turn.
//! 2. It performs the real operation in its `try_` form, which cannot wait. The controller knew that it would succeed; if it does not, a
//!    thread that is not under control holds the object, and [`Controller::obstructed`] reports that.
//! 3. It calls [`Controller::release`] before it gives something back, and [`Controller::wrote`] after a write, if the controller asked for that.
//!
//! The clocks of recordings stand still meanwhile: a controller has its own.

mod memory;

use std::{
    any::Any,
    cell::RefCell,
    panic::{self, AssertUnwindSafe, Location},
    rc::Rc,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use portent_monitor_core::Value;

pub use self::memory::{Access, Memory};
pub use crate::live::event::Callsite;
use crate::live::{
    actor::{self, Place},
    lock,
    names::{self, Name},
    recording, version,
};

thread_local! {
    static CURRENT: RefCell<Option<Rc<dyn Controller>>> = const { RefCell::new(None) };
}

/// Decides what runs next.
///
/// All threads of a controlled run share one thread of the operating system, and one of them runs at a time. Methods concern the
/// thread that calls them.
pub trait Controller {
    /// The thread wants to perform this step on an object. Returns when it may.
    fn step(&self, step: Step, object: Object<'_>, place: Place) -> Turn;

    /// The thread is about to release what it holds of an object.
    fn release(&self, release: Release, object: Object<'_>);

    /// The values before and after the last step of the thread, which wrote. Only called if the turn asked for it.
    fn wrote(&self, before: Option<Value>, value: Option<Value>);

    /// It was this thread's turn, but the object is in use by a thread that is not controlled.
    fn obstructed(&self, object: Object<'_>, place: Place) -> !;

    /// The same for a thread that unwinds because the run ends. Returns whether to try again, because the holder of the object is also
    /// about to end.
    fn try_again(&self) -> bool;

    /// Whether an application event of this name is wanted.
    fn wants(&self, event: &'static str) -> bool;

    /// An application event that is wanted.
    fn event(&self, callsite: &'static Callsite, args: &[Value]);

    /// Starts a thread, and returns its number.
    fn spawn(&self, name: Option<&str>, job: Job<'_>, place: Place) -> u32;

    /// Returns when this thread has ended.
    fn join(&self, thread: u32, place: Place);

    /// Whether this thread has ended.
    fn has_ended(&self, thread: u32) -> bool;

    /// The number of the calling thread.
    fn current(&self) -> u32;

    /// A number that changes with every step of any thread.
    fn steps(&self) -> u64;

    /// The thread can do nothing but look again.
    fn pause(&self, place: Place);

    /// One of this many values, counted from 0.
    fn pick(&self, values: u32) -> u32;

    /// The thread-local value under this key, created when it is first needed.
    fn local(&self, key: usize, make: &dyn Fn() -> Rc<dyn Any>) -> Rc<dyn Any>;

    /// The thread is about to end, and drops its thread-local values.
    fn drop_locals(&self);

    /// The name of the calling thread.
    fn name(&self) -> Option<String>;

    /// The thread begins to wait for a condition and releases a mutex, in one step. It holds the mutex until this returns.
    fn wait(&self, condition: Object<'_>, mutex: Object<'_>, place: Place);

    /// Returns when the waiting thread may take its mutex again, with whether it was notified. `timed`: it may also wake up
    /// because the time is over.
    fn wake(&self, condition: Object<'_>, mutex: Object<'_>, timed: bool, place: Place) -> bool;

    /// Returns when the message that the thread has just sent has been received, or when there is no receiver any more.
    fn deliver(&self, channel: Object<'_>, place: Place);

    /// Returns when the thread has been unparked or, if `timed`, when the time is over.
    fn park(&self, timed: bool, place: Place);

    /// Unparks the thread of this number.
    fn unpark(&self, thread: u32, place: Place);

    /// The last step of the thread, which might have changed something, did not.
    fn unchanged(&self);

    /// The program does something that cannot be explored.
    fn refuse(&self, what: &'static str, place: Place) -> !;
}

/// A step of a thread on an object that other threads can notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Of a variable.
    Read,
    /// Of a variable, whatever it was.
    Write,
    /// Of a variable, depending on what it was.
    Update,
    /// Of a mutex, or the exclusive side of a lock.
    Lock,
    /// The same, if it is free.
    TryLock,
    /// Of the shared side of a lock.
    ReadLock,
    /// The same, if it is to be had.
    TryReadLock,
    /// From the exclusive side of a lock to the shared one.
    Downgrade,
    /// Of one who waits for a condition.
    NotifyOne,
    /// Of all who wait for a condition.
    NotifyAll,
    /// A message into a channel.
    Send,
    /// The same, if there is room.
    TrySend,
    /// A message out of a channel.
    Receive,
    /// The same, if there is one; `timed`: by one who waits for a time.
    TryReceive {
        /// Whether it waits.
        timed: bool,
    },
    /// The receiver of a channel goes.
    CloseReceiver,
    /// Meets others, that many with it. Returns when they are there.
    Arrive(usize),
    /// Begins a one-time initialisation: succeeds if this thread is to perform it.
    Call,
    /// This thread has finished a one-time initialisation.
    Done,
    /// Looks whether the initialisation is done: succeeds if it is.
    IsDone,
    /// Waits until the initialisation is done.
    AwaitDone,
}

/// Something that a thread releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Release {
    /// A mutex, or the exclusive side of a lock.
    Unlock,
    /// The shared side of a lock.
    ReadUnlock,
    /// A sender of a channel.
    Sender,
    /// The last sender of a channel, whose release was announced before.
    Senders,
    /// A one-time initialisation, finished or not.
    Call,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Whether a try or a query succeeds. For an access of a plain variable: false if it is in a data race, and the controller
    /// looks for those. True for everything else.
    pub succeeds: bool,
    /// Whether the controller wants to know what is written.
    pub tell: bool,
}

/// The kinds of objects, for controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Class {
    /// A variable whose accesses order threads.
    Atomic,
    /// A variable that threads may only share if something else orders them.
    Plain,
    /// Mutual exclusion.
    Mutex,
    /// A lock with a shared and an exclusive side.
    ReadWrite,
    /// A condition variable.
    Condition,
    /// A queue between threads.
    Channel(ChannelState),
    /// A meeting point.
    Barrier,
    /// Something that is done once.
    Once {
        /// Whether it was.
        done: bool,
    },
}

/// The state of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelState {
    /// Its capacity.
    pub bound: Option<usize>,
    /// The number of messages in it.
    pub messages: usize,
    /// Whether all senders are gone.
    pub closed: bool,
    /// Whether there is a receiver.
    pub has_receiver: bool,
}

/// An object of the program, as a controller sees it.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    name: &'a Name,
    kind: &'static str,
    class: Class,
}

impl<'a> Object<'a> {
    pub(crate) fn new(name: &'a Name, kind: &'static str, class: Class) -> Object<'a> {
        Object { name, kind, class }
    }

    /// The note that a controller last left on it; 0 if there is none.
    #[inline]
    #[must_use]
    pub fn tag(&self) -> u64 {
        self.name.tag().load(Relaxed)
    }

    /// Leaves a note on it, which remains when the controller is gone.
    #[inline]
    pub fn set_tag(&self, tag: u64) {
        self.name.tag().store(tag, Relaxed);
    }

    /// Its kind.
    #[inline]
    #[must_use]
    pub fn class(&self) -> Class {
        self.class
    }

    /// The name of its type.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Where it was created.
    #[must_use]
    pub fn made(&self) -> Option<&'static Location<'static>> {
        self.name.made()
    }

    /// The name that it was given, if any; [`given_name`] has the text.
    #[must_use]
    pub fn given(&self) -> Option<GivenName> {
        self.name.number().map(|number| GivenName {
            number,
            class: self.class,
        })
    }
}

/// A given name of an object, in the table of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenName {
    number: u32,
    class: Class,
}

impl GivenName {
    /// Its number among the names of objects of this class.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// Whether it is the name of a variable.
    #[must_use]
    pub fn is_variable(&self) -> bool {
        matches!(self.class, Class::Atomic | Class::Plain)
    }
}

/// The text of a given name.
#[must_use]
pub fn given_name(name: GivenName) -> String {
    names::with_table(|table| {
        let symbols = &table.symbols;
        match name.class {
            Class::Atomic | Class::Plain | Class::Once { .. } => {
                names::text(&symbols.vars, name.number)
            }
            Class::Mutex | Class::ReadWrite => names::text(&symbols.locks, name.number),
            Class::Condition => names::text(&symbols.conds, name.number),
            Class::Channel(_) => names::text(&symbols.chans, name.number),
            Class::Barrier => names::text(&symbols.barriers, name.number),
        }
    })
}

/// The body of a thread, which may borrow from its spawner.
///
/// Only this crate can create one, and guarantees that whatever it borrows outlives it: either it borrows nothing, or its
/// spawner waits for it ([`Controller::join`]) before it continues, even when unwinding.
pub struct Job<'a>(Box<dyn FnOnce() -> Ended + 'a>);

impl<'a> Job<'a> {
    /// What is to be called in the thread.
    #[must_use]
    pub fn into_inner(self) -> Box<dyn FnOnce() -> Ended + 'a> {
        self.0
    }
}

/// How a thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its body returned.
    Returned,
    /// It panicked.
    Panicked,
    /// Its controller ended it.
    Stopped,
}

impl Ended {
    /// Of something that was caught.
    #[must_use]
    pub fn of<T>(result: &thread::Result<T>) -> Ended {
        match result {
            Ok(_) => Ended::Returned,
            Err(panic) if panic.is::<Stop>() => Ended::Stopped,
            Err(_) => Ended::Panicked,
        }
    }
}

/// The payload with which a controller unwinds a thread that has to end.
#[derive(Clone, Copy, Debug)]
pub struct Stop;

/// The controller of the calling thread, whose version is hidden.
#[inline]
pub(crate) fn current() -> Option<Rc<dyn Controller>> {
    if !version::is_hidden() {
        return None;
    }
    CURRENT
        .try_with(|current| current.try_borrow().ok()?.clone())
        .ok()
        .flatten()
}

/// Ends an explored program that uses tasks of a runtime: how these wait for each other cannot be controlled.
#[cfg(feature = "tokio")]
pub(crate) fn refuse_tasks(what: &'static str, place: Place) {
    if let Some(controller) = current()
        && !thread::panicking()
    {
        controller.refuse(what, place);
    }
}

/// One of this many values, counted from 0, chosen by the controller of the calling thread; `None` if it has none.
pub fn pick(values: u32) -> Option<u32> {
    current().map(|controller| controller.pick(values))
}

/// The number of the calling thread, if it is under control: 0 for the first one, then in the order of spawning.
#[must_use]
pub fn thread() -> Option<u32> {
    current().map(|controller| controller.current())
}

/// A guard: while it lives, a controller decides what this thread of the operating system runs.
#[derive(Debug)]
pub struct Controlled(());

/// Puts this thread of the operating system under control; `None` if it already is.
pub fn enter(controller: Rc<dyn Controller>) -> Option<Controlled> {
    let entered = CURRENT.with(|current| {
        let mut current = current.borrow_mut();
        let free = current.is_none();
        if free {
            *current = Some(controller);
        }
        free
    });
    if entered {
        recording::opened(true);
        actor::control(true);
    }
    entered.then_some(Controlled(()))
}

impl Drop for Controlled {
    fn drop(&mut self) {
        let controller = CURRENT.with(|current| current.borrow_mut().take());
        actor::control(false);
        recording::opened(false);
        drop(controller);
    }
}

/// A thread that performs a one-time initialisation, or finds it done.
pub(crate) struct Calling<'a, O: Fn() -> Object<'a>> {
    controller: &'a dyn Controller,
    object: O,
    /// It is to perform the initialisation.
    does: bool,
    place: Place,
}

impl<'a, O: Fn() -> Object<'a>> Calling<'a, O> {
    /// Returns when no other thread is performing it.
    pub(crate) fn begin(controller: &'a dyn Controller, object: O, place: Place) -> Self {
        let does = controller.step(Step::Call, object(), place).succeeds;
        Calling {
            controller,
            object,
            does,
            place,
        }
    }

    /// It is done.
    pub(crate) fn done(self) {
        if self.does {
            self.controller
                .step(Step::Done, (self.object)(), self.place);
        }
    }
}

/// Even if the initialisation failed.
impl<'a, O: Fn() -> Object<'a>> Drop for Calling<'a, O> {
    fn drop(&mut self) {
        if self.does {
            self.controller.release(Release::Call, (self.object)());
        }
    }
}

/// A thread that was spawned under control, and what it returns.
pub(crate) struct Spawned<T> {
    pub(crate) number: u32,
    result: Arc<Mutex<Option<thread::Result<T>>>>,
}

impl<T> Spawned<T> {
    /// Starts a thread. A spawner that lends it something joins it before that is gone: `enter` receives its number before it runs, and
    /// `panicked` says afterwards whether it panicked.
    pub(crate) fn begin<'a, F>(
        controller: &dyn Controller,
        name: Option<&str>,
        place: Place,
        f: F,
        enter: impl FnOnce(u32) + 'a,
        panicked: &Arc<AtomicBool>,
    ) -> Spawned<T>
    where
        F: FnOnce() -> T + 'a,
        T: 'a,
    {
        let result = Arc::new(Mutex::new(None));
        let there = Arc::clone(&result);
        let panicked = Arc::clone(panicked);
        let job = Job(Box::new(move || {
            if let Some(controller) = current() {
                enter(controller.current());
            }
            let done = panic::catch_unwind(AssertUnwindSafe(f));
            if let Some(controller) = current() {
                controller.drop_locals();
            }
            let ended = Ended::of(&done);
            panicked.store(ended == Ended::Panicked, Relaxed);
            *lock(&there) = Some(done);
            ended
        }));
        let number = controller.spawn(name, job, place);
        Spawned { number, result }
    }

    /// Waits until it has ended, and returns its result.
    pub(crate) fn join(self, place: Place) -> thread::Result<T> {
        if let Some(controller) = current() {
            controller.join(self.number, place);
        }
        let result = lock(&self.result).take();
        result.unwrap_or_else(|| Err(Box::new(Stop) as Box<dyn Any + Send>))
    }

    pub(crate) fn has_ended(&self) -> bool {
        match current() {
            Some(controller) => controller.has_ended(self.number),
            None => true,
        }
    }
}
