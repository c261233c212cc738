//! Errors in events, apart from how they are written down.

use std::num::NonZeroU64;

use thiserror::Error;

use crate::SymbolKind;

/// An event that contradicts earlier events, or a limit that was reached.
///
/// Names are spelled out because an error outlives the symbols that it was found with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// More distinct names of one kind than 32 bits can number.
    #[error("more than 4294967295 names of one kind")]
    TooManyNames,
    /// Names were to be added to symbols that already have different ones.
    #[error(
        "a {kind} has another number in these symbols than in those that they are to catch up with; let symbols that catch up \
         get their names from nowhere else"
    )]
    OtherNames {
        /// The kind of the name.
        kind: SymbolKind,
    },
    /// More relevant events, or chains of them, than a clock can count.
    #[error("more than 4294967295 relevant events on one thread")]
    ClockFull,
    /// More concurrent threads with relevant events than clocks can have components.
    #[error(
        "relevant events on more than {limit} threads of which none is known to have ended: each \
         would be a component of every clock; join the threads that have ended, or ask about \
         fewer events"
    )]
    TooManyChains {
        /// The largest number.
        limit: usize,
    },
    /// A name is not UTF-8.
    #[error("a name is not UTF-8 text")]
    NotUtf8,
    /// Released, but not held (or held on the other side of a read-write lock).
    #[error("thread {thread} releases lock {lock}, which it does not hold{}", if *.shared { " on its shared side" } else { "" })]
    NotHeld {
        /// The thread.
        thread: String,
        /// The lock.
        lock: String,
        /// Whether the shared side was to be released.
        shared: bool,
    },
    /// Two threads hold one lock at once.
    #[error(
        "thread {thread} holds lock {lock}, but {other} has taken it{}, and {thread} goes on without waking up \
         from a wait that gave it back: log `lock` when the lock was acquired, `unlock` before it is released, and a wait \
         as `waiting` and `wait`", on(.line)
    )]
    HeldTwice {
        /// The first holder, which now continues.
        thread: String,
        /// The thread that took it meanwhile.
        other: String,
        /// The lock.
        lock: String,
        /// The line that took it.
        line: Option<NonZeroU64>,
    },
    /// A lock is taken though another thread reads under it.
    #[error(
        "thread {thread} takes lock {lock}, which {reader} holds for reading{}: log `lock` and `rlock` when the lock \
         was acquired, `unlock` and `runlock` before it is released", since(.line)
    )]
    HeldForReading {
        /// The thread that takes it.
        thread: String,
        /// The thread that holds its shared side.
        reader: String,
        /// The lock.
        lock: String,
        /// The line where the reader took it.
        line: Option<NonZeroU64>,
    },
    /// A thread has ended holding a lock that another takes: a lock that was never released cannot be taken.
    #[error(
        "thread {thread} takes lock {lock}, which {ended} has held{} and did not give back before it ended: log `unlock` \
         before the lock is released", since(.line)
    )]
    HeldByEnded {
        /// The thread that takes it.
        thread: String,
        /// The thread that holds it.
        ended: String,
        /// The lock.
        lock: String,
        /// The line where the holder took it.
        line: Option<NonZeroU64>,
    },
    /// Two threads hold one lock at the end of a run, and nothing shows that the first of them waits.
    #[error(
        "thread {thread} holds lock {lock} to the end, but {other} has taken it{}, and no line says that \
         {thread} waits: log `lock` when the lock was acquired, `unlock` before it is released, \
         and a wait as `waiting` and `wait`", on(.line)
    )]
    HeldToTheEnd {
        /// The first holder.
        thread: String,
        /// The thread that took it meanwhile.
        other: String,
        /// The lock.
        lock: String,
        /// The line that took it.
        line: Option<NonZeroU64>,
    },
    /// A thread began to wait, released its lock, and continues without waking up.
    #[error(
        "thread {thread} began to wait for {cond}{} and gave lock {lock} back, and goes on or ends without waking \
         up: log `wait` when it has woken up, or `lock` where its time was over", on(.line)
    )]
    NotAwake {
        /// The thread.
        thread: String,
        /// The condition.
        cond: String,
        /// The lock that it released.
        lock: String,
        /// The line that began the wait.
        line: Option<NonZeroU64>,
    },
    /// Several threads cannot do this in one event.
    #[error(
        "threads {threads} do this together: only `event`, `read`, `write`, `update` and lines with `vc` \
         can be of several threads"
    )]
    SeveralThreads {
        /// The thread.
        threads: String,
    },
    /// Joined, but neither forked nor seen.
    #[error("thread {thread} joins {child}, a thread that was neither forked nor seen before")]
    UnknownThread {
        /// The joining thread.
        thread: String,
        /// The unknown thread.
        child: String,
    },
    /// A thread waits for its own end.
    #[error("thread {thread} joins itself")]
    JoinsItself {
        /// The thread.
        thread: String,
    },
    /// Forked while it is already running.
    #[error("thread {thread} forks {child}, which has already been started")]
    AlreadyStarted {
        /// The forking thread.
        thread: String,
        /// The running thread.
        child: String,
    },
    /// Acts although another thread has seen its end.
    #[error("thread {thread} acts after it was joined")]
    ActsAfterJoin {
        /// The thread.
        thread: String,
    },
    /// Received before it was sent.
    #[error("thread {thread} receives message {msg} on channel {chan}, which was not sent before")]
    NotSent {
        /// The receiver.
        thread: String,
        /// The channel.
        chan: String,
        /// The message.
        msg: String,
    },
    /// Arrived at a barrier that others of the round have left.
    #[error(
        "thread {thread} arrives at round {round} of barrier {barrier} after a thread of that round went on"
    )]
    LateArrival {
        /// The thread.
        thread: String,
        /// The barrier.
        barrier: String,
        /// The round.
        round: u64,
    },
    /// Some lines have clocks and others do not.
    #[error(
        "a trace has only lines with `vc` or only lines with `op`, and this line is the first of the other kind"
    )]
    Mixed,
    /// A vector clock does not count its own line.
    #[error(
        "the clock of an event of {thread} does not count that event: its component {thread} must be \
         at least 1"
    )]
    NoOwnComponent {
        /// The thread of the line.
        thread: String,
    },
    /// A component is less than on an earlier line of the thread, or the thread's own did not grow.
    #[error(
        "the clock of {thread} goes backwards: component {component} is {now}, after {before}{}",
        on(.line)
    )]
    ClockBackwards {
        /// The thread of the line.
        thread: String,
        /// The component.
        component: String,
        /// Its old value.
        before: u32,
        /// Its new value.
        now: u32,
        /// The line with the old value.
        line: Option<NonZeroU64>,
    },
    /// A clock counts events that do not exist.
    #[error(
        "the clock of {thread} counts {count} events of {component}, but only {found} of them {} before \
         it{}",
        if *.found == 1 { "comes" } else { "come" }, last_on(.line)
    )]
    MissingEvents {
        /// The thread of the line.
        thread: String,
        /// The thread whose events are missing.
        component: String,
        /// The number of its events that the clock counts.
        count: u32,
        /// The number of the last one that was seen.
        found: u32,
        /// The line of the last one that was seen.
        line: Option<NonZeroU64>,
    },
    /// An earlier line's clock already counts this one.
    #[error("event {number} of {thread} comes after the clock{} that counts it", on(.line))]
    EffectBeforeCause {
        /// The thread of the line.
        thread: String,
        /// Its own component.
        number: u32,
        /// The line whose clock counts it.
        line: Option<NonZeroU64>,
    },
    /// An order of events that is not a linearisation; see [`definition`](crate::definition).
    #[error("not an equivalent run: event {earlier} must come before event {later}")]
    NotEquivalent {
        /// Index of the event that comes too late.
        earlier: usize,
        /// Index of the event that it should precede.
        later: usize,
    },
    /// A supposed order that leaves out, repeats or invents events.
    #[error("not a permutation: event {index} is missing, repeated or unknown")]
    NotPermutation {
        /// The index in question.
        index: usize,
    },
}

/// " on line 3", if there is a line.
fn on(line: &Option<NonZeroU64>) -> String {
    line.map_or_else(String::new, |line| format!(" on line {line}"))
}

/// " since line 3", if there is a line.
fn since(line: &Option<NonZeroU64>) -> String {
    line.map_or_else(String::new, |line| format!(" since line {line}"))
}

/// ", the last on line 3", if there is a line.
fn last_on(line: &Option<NonZeroU64>) -> String {
    line.map_or_else(String::new, |line| format!(", the last on line {line}"))
}
