//! Events: the actions of single threads at single moments of the observed run.
//!
//! One type serves the live hooks, every trace format and the explorer. It holds ids, not names.
//! Rare data (text, keys unknown to Portent) is boxed, so that an event
//! stays small enough to be passed by value.

use std::num::NonZeroU64;

use crate::{
    BarrierId, ChanId, CondId, Error, LocId, LockId, NameId, Symbols, ThreadId, Value, VarId,
};

/// One line of a trace.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The thread.
    pub thread: ThreadId,
    /// The operation.
    pub op: Op,
    /// The location in the source.
    pub loc: Option<LocId>,
    /// The time, in nanoseconds.
    pub time: Option<u64>,
    /// The line of the file that it was read from; `None` for a live event.
    pub line: Option<NonZeroU64>,
    /// How it was done, where that matters.
    pub mark: Option<Mark>,
    /// Rare data.
    pub details: Option<Box<Details>>,
}

/// The rarely used part of an [`Event`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details {
    /// The message of a log line.
    pub text: Option<Box<str>>,
    /// Keys unknown to the format with their values as JSON text, in order.
    pub extra: Vec<(Box<str>, Box<str>)>,
    /// The other threads of an event shared by several threads. It comes after everything that each of
    /// them did before, and before everything that each does later.
    pub partners: Vec<ThreadId>,
}

/// Details on how something was done. They order nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// A read, write or update was of an atomic, so that it is no data race.
    Atomic,
    /// A lock was taken by a try, which never blocks.
    Try,
}

/// How a channel delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// In any order, as a network does.
    #[default]
    Unordered,
    /// In order: a queue inside one program.
    Fifo,
    /// In order, and a send waits until fewer than this many messages are in transit; with 0, until the
    /// message is received.
    Bounded(u32),
}

impl Delivery {
    /// Whether messages are received in the order in which they were sent.
    pub fn is_ordered(self) -> bool {
        self != Delivery::Unordered
    }
}

/// The operation of an event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// Read a variable.
    Read(VarId),
    /// Wrote a variable; not every format has the value.
    Write(VarId, Option<Value>),
    /// Read and wrote it in one step (an atomic, a compare-and-swap that succeeded).
    Update(VarId, Option<Value>),
    /// Took a lock, or the exclusive side of a read-write lock.
    Lock(LockId),
    /// Released it.
    Unlock(LockId),
    /// Asked for a lock; a note that orders nothing.
    Request(LockId),
    /// Took the shared side of a read-write lock.
    ReadLock(LockId),
    /// Released the shared side.
    ReadUnlock(LockId),
    /// Started a thread.
    Fork(ThreadId),
    /// Waited for a thread's end.
    Join(ThreadId),
    /// Tried to take a lock, and failed.
    TryLock(LockId),
    /// Sent a message.
    Send(ChanId, Msg, Delivery),
    /// Received it.
    Recv(ChanId, Msg, Delivery),
    /// Tried to receive from a channel, and found it empty.
    TryRecv(ChanId),
    /// Began to wait for a condition, and released the lock if there is one.
    Waiting(CondId, Option<LockId>),
    /// Woke up from a wait, and took the lock again if there is one.
    Wait(CondId, Option<LockId>),
    /// Woke one or all waiting threads.
    Notify(CondId),
    /// Arrived at a barrier, in this round.
    Barrier(BarrierId, u64),
    /// The begin or end of an atomic block, or of the thread itself if there is no name; a note that
    /// orders nothing. The begin of a thread may come before its fork, and its end after its join.
    Marker(Marker, Option<NameId>),
    /// An application event.
    Event(Box<Action>),
    /// An application event that carries a vector clock.
    Stamped(Box<Stamped>),
}

/// Which end of an atomic block or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Marker {
    /// Its begin.
    Begin,
    /// Its end.
    End,
}

/// The name of a message on its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Msg {
    /// A number, such as a sequence number: not stored among the names, as each occurs only twice.
    Number(i64),
    /// Any other text.
    Name(NameId),
}

/// The content of an application event.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Action {
    /// Its name; a line of a vector-clock log may have only a text.
    pub name: Option<NameId>,
    /// Its arguments.
    pub args: Vec<Value>,
    /// The variables that it writes.
    pub set: Vec<(VarId, Value)>,
}

/// An [`Action`] with the vector clock that the program itself kept.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stamped {
    /// What happened.
    pub action: Action,
    /// For each thread, how many of its lines are in the past of this one; a thread's own
    /// component counts this line too. Threads not mentioned count as 0.
    pub clock: Vec<(ThreadId, u32)>,
}

impl Details {
    /// A message, and keys unknown to the format.
    pub fn new(text: Option<Box<str>>, extra: Vec<(Box<str>, Box<str>)>) -> Details {
        Details {
            text,
            extra,
            partners: Vec::new(),
        }
    }
}

impl Action {
    /// An application event of this name; [`Action::default`] has none.
    pub fn new(name: NameId) -> Action {
        Action {
            name: Some(name),
            ..Action::default()
        }
    }

    /// With these arguments.
    pub fn args<V: Into<Value>>(mut self, args: impl IntoIterator<Item = V>) -> Action {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// With these writes.
    pub fn set<V: Into<Value>>(mut self, set: impl IntoIterator<Item = (VarId, V)>) -> Action {
        let set = set.into_iter();
        self.set = set
            .map(|(variable, value)| (variable, value.into()))
            .collect();
        self
    }
}

impl From<Action> for Op {
    fn from(action: Action) -> Op {
        Op::Event(Box::new(action))
    }
}

impl From<Stamped> for Op {
    fn from(stamped: Stamped) -> Op {
        Op::Stamped(Box::new(stamped))
    }
}

impl Stamped {
    /// An application event and its clock.
    pub fn new(action: Action, clock: Vec<(ThreadId, u32)>) -> Stamped {
        Stamped { action, clock }
    }

    /// The component of `thread`.
    pub fn component(&self, thread: ThreadId) -> u32 {
        self.clock
            .iter()
            .find(|(t, _)| *t == thread)
            .map_or(0, |(_, n)| *n)
    }
}

impl Msg {
    /// The message with this spelling. A number is the same message with and without quotes.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyNames`].
    pub fn new(spelling: &str, symbols: &mut Symbols) -> Result<Msg, Error> {
        match spelling.parse::<i64>() {
            // Only the canonical spelling: "+7" and "07" are different names.
            Ok(n) if n.to_string() == spelling => Ok(Msg::Number(n)),
            _ => symbols.names.intern(spelling).map(Msg::Name),
        }
    }
}

impl Event {
    /// An event with nothing but a thread and an operation, or an application event.
    ///
    /// ```
    /// use portent_monitor_core::{Action, Event, Op, Symbols};
    ///
    /// let mut symbols = Symbols::default();
    /// let (thread, lock) = (symbols.threads.intern("T1")?, symbols.locks.intern("m")?);
    /// let open = symbols.names.intern("open")?;
    /// let locked = Event::new(thread, Op::Lock(lock));
    /// let opened = Event::new(thread, Action::new(open).args(["a.txt"]));
    /// assert_eq!((locked.action(), opened.action().unwrap().name), (None, Some(open)));
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn new(thread: ThreadId, op: impl Into<Op>) -> Event {
        Event {
            thread,
            op: op.into(),
            loc: None,
            time: None,
            line: None,
            mark: None,
            details: None,
        }
    }

    /// The other threads of the event, besides [`thread`](Self::thread); nearly always none.
    #[inline]
    pub fn partners(&self) -> &[ThreadId] {
        match &self.details {
            Some(details) => &details.partners,
            None => &[],
        }
    }

    /// All threads of the event.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        std::iter::once(self.thread).chain(self.partners().iter().copied())
    }

    /// The text of a log line.
    pub fn text(&self) -> Option<&str> {
        self.details.as_ref()?.text.as_deref()
    }

    /// The application event, with or without its own clock.
    pub fn action(&self) -> Option<&Action> {
        match &self.op {
            Op::Event(action) => Some(action),
            Op::Stamped(stamped) => Some(&stamped.action),
            _ => None,
        }
    }

    /// The variable whose value the event reads, including read-modify-write operations.
    ///
    /// ```
    /// use portent_monitor_core::{Event, Op, Symbols};
    ///
    /// let mut symbols = Symbols::default();
    /// let (t, x) = (symbols.threads.intern("T1")?, symbols.vars.intern("x")?);
    /// assert_eq!(Event::new(t, Op::Update(x, None)).reads(), Some(x));
    /// assert_eq!(Event::new(t, Op::Write(x, None)).reads(), None);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    #[inline]
    pub fn reads(&self) -> Option<VarId> {
        match self.op {
            Op::Read(var) | Op::Update(var, _) => Some(var),
            _ => None,
        }
    }

    /// The variables that the event writes, with the values if the trace has them.
    ///
    /// ```
    /// use portent_monitor_core::{Event, Op, Symbols, Value};
    ///
    /// let mut symbols = Symbols::default();
    /// let (t, x) = (symbols.threads.intern("T1")?, symbols.vars.intern("x")?);
    /// let event = Event::new(t, Op::Write(x, Some(Value::from(3))));
    /// assert_eq!(event.writes().collect::<Vec<_>>(), [(x, Some(&Value::from(3)))]);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn writes(&self) -> impl Iterator<Item = (VarId, Option<&Value>)> {
        let direct = match &self.op {
            Op::Write(var, value) | Op::Update(var, value) => Some((*var, value.as_ref())),
            _ => None,
        };
        let set = self.action().map_or(&[][..], |action| &action.set);
        direct
            .into_iter()
            .chain(set.iter().map(|(var, value)| (*var, Some(value))))
    }
}
