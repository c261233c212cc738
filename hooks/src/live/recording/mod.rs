//! A recording: which events it wants, and what happens if they are not taken out fast enough.
//!
//! A thread takes part in one recording at a time: the one that it entered or inherited from its spawner,
//! or else the global one. Only events of its own threads tick in a recording, but all threads carry
//! its clocks along.

mod subscriber;

use std::sync::{
    Arc,
    atomic::{
        AtomicU32, AtomicU64, AtomicUsize,
        Ordering::{Relaxed, Release},
    },
};

use portent_monitor_core::{NameId, VarId};

use self::subscriber::{Asked, Bits, Depth};
use super::{actor, chains, fork_aware::ForkAware, names, sources, stream::Stream};

pub(crate) use subscriber::Subscriber;

/// Changes whenever a recording begins, ends or becomes global, so that threads look around.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// How many recordings there are.
static OPEN: AtomicUsize = AtomicUsize::new(0);
/// The id of the next recording.
static NEXT: AtomicU32 = AtomicU32::new(1);
static GLOBAL: ForkAware<Option<Arc<Subscriber>>> = ForkAware::new();

#[inline]
pub(super) fn generation() -> u64 {
    GENERATION.load(Relaxed)
}

#[inline]
pub(crate) fn any_open() -> bool {
    OPEN.load(Relaxed) != 0
}

/// Somebody else begins, or ends, to want what threads do.
pub(crate) fn opened(open: bool) {
    if open {
        OPEN.fetch_add(1, Relaxed);
    } else {
        OPEN.fetch_sub(1, Relaxed);
    }
}

pub(super) fn global() -> Option<Arc<Subscriber>> {
    GLOBAL.with(|global| global.clone())
}

/// This one is not the global recording any more, if it was.
fn is_not_global(subscriber: &Subscriber) {
    GLOBAL.with(|global| {
        if { &*global }
            .as_ref()
            .is_some_and(|there| std::ptr::eq(&**there, subscriber))
        {
            *global = None;
        }
    });
}

/// Nothing more is recorded there.
fn ended(subscriber: &Subscriber) {
    OPEN.fetch_sub(1, Relaxed);
    is_not_global(subscriber);
    GENERATION.fetch_add(1, Release);
}

/// Whether this process has all that recordings have in common. The child of a fork may not.
fn all_are_whole() -> bool {
    names::TABLE.is_whole()
        && GLOBAL.is_whole()
        && chains::POOL.is_whole()
        && sources::SOURCES.is_whole()
}

/// What a thread does when its queue is full because events are not taken out fast enough.
///
/// A dropped event is treated like an irrelevant one, and dropped before any clock counts it. The
/// order of the others therefore stays exact. [`Counts::dropped`](crate::Counts::dropped) says how many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Full {
    /// It waits. If it holds a lock that the reader of the events needs, both wait for ever.
    #[default]
    Block,
    /// It continues, and the event is not recorded.
    Drop,
    /// While the queue is more than half full, only one in this many events is recorded, and none while it is
    /// full.
    Sample(u32),
}

/// A handle of a recording, through which threads take part in it.
///
/// ```
/// use portent_hooks::{Recording, Shared, thread};
///
/// let (recording, mut stream) = Recording::everything().start();
/// let entered = recording.enter();
/// let x = Shared::with_name("x", 0);
/// thread::scope(|s| {
///     s.spawn(|| x.set(1));
/// });
/// drop(entered);
/// let lines: Vec<String> = stream.finish().iter().map(|line| line.to_string()).collect();
/// assert_eq!(lines.len(), 3, "fork, write, join");
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    subscriber: Arc<Subscriber>,
}

/// How to record; made by [`Recording::relevant`] or [`Recording::everything`].
#[derive(Debug)]
#[must_use]
pub struct Builder {
    depth: Depth,
    full: Full,
    capacity: usize,
    process: Option<Box<str>>,
}

impl Recording {
    /// Records the events and the writes of variables with these names, and nothing else. This is cheap
    /// enough for a program in production.
    pub fn relevant<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Builder {
        let (mut events, mut vars) = (Bits::default(), Bits::default());
        names::with_table(|table| {
            for name in names {
                let symbols = &mut table.symbols;
                let event: NameId = names::known(&mut symbols.names, name.as_ref());
                let var: VarId = names::known(&mut symbols.vars, name.as_ref());
                events.insert(event.index());
                vars.insert(var.index());
            }
        });
        let depth = Depth::Relevant {
            names: events,
            vars,
        };
        Builder::new(depth)
    }

    /// Records every operation on every object, so that any question can be asked later. Such a
    /// recording has no gaps: a thread whose queue is full always waits.
    pub fn everything() -> Builder {
        Builder::new(Depth::Everything)
    }

    /// This thread, and the threads that it spawns, take part until the guard is dropped.
    #[must_use = "it ends with the guard"]
    pub fn enter(&self) -> Entered {
        Entered {
            before: actor::enter(Some(Arc::clone(&self.subscriber))),
            here: std::marker::PhantomData,
        }
    }

    /// Whether the recording has ended.
    ///
    /// ```
    /// use portent_hooks::Recording;
    ///
    /// let (recording, mut stream) = Recording::relevant(["login"]).start();
    /// assert!(!recording.is_over());
    /// stream.finish();
    /// assert!(recording.is_over());
    /// ```
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.subscriber.is_closed()
    }

    /// All threads that take part in no other recording take part in this one until the guard is
    /// dropped. A thread that is already running notices at its next event, or when it meets an object with
    /// news for it, so call this before other threads are spawned.
    #[must_use = "it ends with the guard"]
    pub fn make_global(&self) -> Global {
        // Before there is anything to take part in: else the first look would be that of a foreign thread.
        actor::knows_of_recordings();
        GLOBAL.with(|global| *global = Some(Arc::clone(&self.subscriber)));
        GENERATION.fetch_add(1, Release);
        actor::look_around();
        Global {
            subscriber: Arc::clone(&self.subscriber),
        }
    }
}

impl Builder {
    fn new(depth: Depth) -> Builder {
        Builder {
            depth,
            full: Full::Block,
            capacity: 1 << 14,
            process: None,
        }
    }

    /// What a thread does when its queue is full. Ignored by a recording of everything.
    pub fn on_full(mut self, full: Full) -> Builder {
        self.full = full;
        self
    }

    /// How many records the queue of a thread holds: one for each event, one for each of its arguments, and one
    /// for each chain of which something new is known. At least 64.
    pub fn capacity(mut self, records: usize) -> Builder {
        self.capacity = records.max(64);
        self
    }

    /// Names the process, as part of a larger program: its clocks can be sent to other processes
    /// ([`Context`](crate::Context)), and its events say what they know of others ([`Recorded::origin`](crate::Recorded::origin)).
    ///
    /// No two processes may ever have the same name, nor may two recordings of one process; a restarted process needs a new name. A recording
    /// of everything has no use for a name, because its events are ordered by operations that no other process shares.
    pub fn process(mut self, name: &str) -> Builder {
        self.process = Some(name.into());
        self
    }

    /// Starts the recording; the stream delivers its events.
    ///
    /// In the child of a fork, recording can be impossible: if another thread of the parent was looking up a name at that moment, for example. The
    /// recording [is over](Recording::is_over) from the start then.
    pub fn start(self) -> (Recording, Stream) {
        let full = match self.depth {
            Depth::Everything => Full::Block,
            Depth::Relevant { .. } => self.full,
        };
        let everything = matches!(self.depth, Depth::Everything);
        let process_name = self.process.filter(|_| !everything);
        // There, the place of an event in the run is a record of its own.
        let capacity = self.capacity.saturating_mul(1 + usize::from(everything));
        let is_whole = all_are_whole();
        let asked = Asked {
            id: NEXT.fetch_add(1, Relaxed),
            depth: self.depth,
            full,
            capacity,
            process_name,
        };
        let subscriber = Arc::new(Subscriber::new(asked, !is_whole));
        if is_whole {
            OPEN.fetch_add(1, Relaxed);
        }
        GENERATION.fetch_add(1, Release);
        let stream = Stream::new(Arc::clone(&subscriber));
        (Recording { subscriber }, stream)
    }
}

/// A guard: while it lives, the thread that created it takes part in a recording. It cannot be sent to another thread.
#[derive(Debug)]
pub struct Entered {
    before: Option<Arc<Subscriber>>,
    here: std::marker::PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        actor::enter(self.before.take());
    }
}

/// A guard: while it lives, a recording is the global one.
#[derive(Debug)]
pub struct Global {
    subscriber: Arc<Subscriber>,
}

impl Drop for Global {
    fn drop(&mut self) {
        is_not_global(&self.subscriber);
        GENERATION.fetch_add(1, Release);
        actor::look_around();
    }
}
