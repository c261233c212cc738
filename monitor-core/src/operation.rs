//! The names of operations, defined once: traces are written with them, and properties refer to them.

use std::fmt;

use crate::{Marker, Op, Symbols};

/// Declares the operations with their names and the keys of their objects.
macro_rules! operations {
    ($($(#[$doc:meta])* $operation:ident $name:literal $($key:literal)?,)*) => {
        /// The value of `op` in a trace, independent of the operation's object.
        ///
        /// ```
        /// use portent_monitor_core::Operation;
        ///
        /// let lock = Operation::from_name("lock").expect("an operation");
        /// assert_eq!(lock, Operation::Lock);
        /// assert_eq!(lock.name(), "lock");
        /// assert_eq!(lock.object(), Some("lock"));
        /// assert_eq!(Operation::Fork.object(), Some("child"));
        /// assert_eq!(Operation::Event.object(), None);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Operation {
            $($(#[$doc])* #[cfg_attr(feature = "serde", serde(rename = $name))] $operation,)*
        }

        impl Operation {
            /// All of them.
            pub const ALL: &[Operation] = &[$(Operation::$operation),*];

            /// The operation of this name.
            #[inline]
            pub fn from_name(name: &str) -> Option<Operation> {
                match name {
                    $($name => Some(Operation::$operation),)*
                    _ => None,
                }
            }

            /// Its name in a trace.
            #[inline]
            pub fn name(self) -> &'static str {
                match self {
                    $(Operation::$operation => $name,)*
                }
            }

            /// The key of its object, if it has a named one.
            pub fn object(self) -> Option<&'static str> {
                match self {
                    $(Operation::$operation => operations!(@key $($key)?),)*
                }
            }
        }
    };
    (@key $key:literal) => { Some($key) };
    (@key) => { None };
}

operations! {
    /// A variable was read.
    Read "read" "var",
    /// A variable was written.
    Write "write" "var",
    /// A variable was read and written in one step.
    Update "update" "var",
    /// A lock was taken.
    Lock "lock" "lock",
    /// A lock was released.
    Unlock "unlock" "lock",
    /// The shared side of a lock was taken.
    ReadLock "rlock" "lock",
    /// The shared side of a lock was released.
    ReadUnlock "runlock" "lock",
    /// A lock was requested.
    Request "req" "lock",
    /// A lock was tried, but was already taken.
    TryLock "trylock" "lock",
    /// A thread was started.
    Fork "fork" "child",
    /// A thread's end was waited for.
    Join "join" "child",
    /// A message was sent.
    Send "send" "chan",
    /// A message was received.
    Recv "recv" "chan",
    /// A receive was tried on an empty channel.
    TryRecv "tryrecv" "chan",
    /// A wait on a condition began.
    Waiting "waiting" "cond",
    /// A wait on a condition ended.
    Wait "wait" "cond",
    /// Threads waiting on a condition were woken.
    Notify "notify" "cond",
    /// A barrier was reached.
    Barrier "barrier" "barrier",
    /// A block that is supposed to be atomic began.
    Begin "begin" "block",
    /// A block that is supposed to be atomic ended.
    End "end" "block",
    /// An event with a meaning defined by the application.
    Event "event",
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Op {
    /// The operation; `None` for an event that carries a clock, which has no `op`.
    ///
    /// ```
    /// use portent_monitor_core::{Op, Operation, Symbols};
    ///
    /// let mut symbols = Symbols::default();
    /// let op = Op::Lock(symbols.locks.intern("m")?);
    /// assert_eq!(op.operation(), Some(Operation::Lock));
    /// assert_eq!(op.object(&symbols), Some("m"));
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    #[inline]
    pub fn operation(&self) -> Option<Operation> {
        Some(match self {
            Op::Read(_) => Operation::Read,
            Op::Write(..) => Operation::Write,
            Op::Update(..) => Operation::Update,
            Op::Lock(_) => Operation::Lock,
            Op::Unlock(_) => Operation::Unlock,
            Op::Request(_) => Operation::Request,
            Op::ReadLock(_) => Operation::ReadLock,
            Op::ReadUnlock(_) => Operation::ReadUnlock,
            Op::Fork(_) => Operation::Fork,
            Op::Join(_) => Operation::Join,
            Op::Send(..) => Operation::Send,
            Op::Recv(..) => Operation::Recv,
            Op::TryLock(_) => Operation::TryLock,
            Op::TryRecv(_) => Operation::TryRecv,
            Op::Waiting(..) => Operation::Waiting,
            Op::Wait(..) => Operation::Wait,
            Op::Notify(_) => Operation::Notify,
            Op::Barrier(..) => Operation::Barrier,
            Op::Marker(Marker::Begin, _) => Operation::Begin,
            Op::Marker(Marker::End, _) => Operation::End,
            Op::Event(_) => Operation::Event,
            Op::Stamped(_) => return None,
        })
    }

    /// The name of its object: a variable, a lock, a channel, a child, ...
    pub fn object<'s>(&self, symbols: &'s Symbols) -> Option<&'s str> {
        Some(match self {
            Op::Read(var) | Op::Write(var, _) | Op::Update(var, _) => symbols.vars.name(*var),
            Op::Lock(lock)
            | Op::Unlock(lock)
            | Op::Request(lock)
            | Op::ReadLock(lock)
            | Op::ReadUnlock(lock)
            | Op::TryLock(lock) => symbols.locks.name(*lock),
            Op::Fork(child) | Op::Join(child) => symbols.threads.name(*child),
            Op::Send(chan, ..) | Op::Recv(chan, ..) | Op::TryRecv(chan) => {
                symbols.chans.name(*chan)
            }
            Op::Waiting(cond, _) | Op::Wait(cond, _) | Op::Notify(cond) => {
                symbols.conds.name(*cond)
            }
            Op::Barrier(barrier, _) => symbols.barriers.name(*barrier),
            Op::Marker(_, Some(block)) => symbols.names.name(*block),
            Op::Marker(_, None) | Op::Event(_) | Op::Stamped(_) => return None,
        })
    }
}
