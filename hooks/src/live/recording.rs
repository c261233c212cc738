//! A recording: which events are wanted, and what happens when nobody takes them out fast enough.
//!
//! A thread takes part in one recording at a time: the one that it entered or that its spawner took
//! part in, else the global one. What it does there ticks; what others do does not, but carries clocks
//! along all the same.

use std::{
    collections::VecDeque,
    process,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{
            AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use portent_monitor_core::{Chain, ChainId, Clock, Error, NameId, ThreadId, Value, VarId};
use rtrb::{Consumer, RingBuffer};
use rustc_hash::FxHashMap;

use super::{
    actor,
    chains::Tenures,
    lock, names,
    outbox::Unused,
    record::{Texts, Words},
    sources,
    stream::Stream,
};

/// Changes whenever a recording begins, ends or becomes global, so that threads look around.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// How many recordings there are.
static OPEN: AtomicUsize = AtomicUsize::new(0);
/// The id of the next recording.
static NEXT: AtomicU32 = AtomicU32::new(1);
static GLOBAL: Mutex<Option<Arc<Subscriber>>> = Mutex::new(None);

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
    lock(&GLOBAL).clone()
}

/// What a thread does when its queue is full: nobody took events out fast enough.
///
/// What is left out is left out as if it were irrelevant, before it is counted in any clock; so the
/// order of the rest stays exact, and [`Counts::dropped`](crate::Counts::dropped) says how much it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Full {
    /// It waits. A program that holds a lock which the reader of the events wants then stands still.
    #[default]
    Block,
    /// It goes on, and the event is not recorded.
    Drop,
    /// While the queue is more than half full only one event in this many is recorded, and none if it is
    /// full.
    Sample(u32),
}

/// Which events are recorded.
#[derive(Debug)]
enum Depth {
    Everything,
    Relevant { names: Bits, vars: Bits },
}

/// A set of small numbers.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn insert(&mut self, index: usize) {
        if self.0.len() <= index / 64 {
            self.0.resize(index / 64 + 1, 0);
        }
        self.0[index / 64] |= 1 << (index % 64);
    }

    #[inline]
    fn contains(&self, index: usize) -> bool {
        self.0
            .get(index / 64)
            .is_some_and(|word| word & (1 << (index % 64)) != 0)
    }
}

/// What the threads of a recording and its reader have in common.
#[derive(Debug)]
pub(crate) struct Subscriber {
    id: u32,
    depth: Depth,
    full: Full,
    capacity: usize,
    /// A fork of this process has threads, but nobody who takes out what they record.
    process: u32,
    closed: AtomicBool,
    queues: Mutex<Queues>,
    /// How many queues there are, so that the reader looks only when there are more.
    queue_count: AtomicUsize,
    tenures: Mutex<Tenures>,
    tenure_count: AtomicUsize,
    threads: Mutex<FxHashMap<ChainId, ThreadId>>,
    /// What the process is called, if its clocks go to others; and what they call its chains.
    process_name: Option<Box<str>>,
    sources: Mutex<FxHashMap<ChainId, Arc<str>>>,
    /// What variables had before their first writes.
    initial: Mutex<FxHashMap<VarId, Value>>,
    /// Threads that wait until there is room again.
    waiting: AtomicUsize,
    room: Condvar,
    room_lock: Mutex<()>,
    /// How many places in the run as it was are taken, if everything is recorded.
    places: AtomicU64,
    dropped: AtomicU64,
    late: AtomicU64,
    blind: AtomicU64,
    foreign: AtomicU64,
    assumed: AtomicU64,
}

#[derive(Debug, Default)]
struct Queues {
    fresh: Vec<(Consumer<Words>, Texts)>,
    /// Of threads that have ended.
    unused: Vec<Unused>,
}

impl Subscriber {
    /// Which recording, of this process.
    #[inline]
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    #[inline]
    /// The next place in the run as it was. Who comes later, in any order that hooks see, gets a later one.
    pub(super) fn next_place(&self) -> u64 {
        self.places.fetch_add(1, Relaxed)
    }

    pub(super) fn wants_everything(&self) -> bool {
        matches!(self.depth, Depth::Everything)
    }

    #[inline]
    pub(super) fn wants_name(&self, name: NameId) -> bool {
        match &self.depth {
            Depth::Everything => true,
            Depth::Relevant { names, .. } => names.contains(name.index()),
        }
    }

    #[inline]
    pub(super) fn wants_var(&self, var: VarId) -> bool {
        match &self.depth {
            Depth::Everything => true,
            Depth::Relevant { vars, .. } => vars.contains(var.index()),
        }
    }

    pub(super) fn full(&self) -> Full {
        self.full
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    pub(super) fn count_dropped(&self) {
        self.dropped.fetch_add(1, Relaxed);
    }

    pub(super) fn count_late(&self) {
        self.late.fetch_add(1, Relaxed);
    }

    pub(super) fn count_foreign(&self) {
        self.foreign.fetch_add(1, Relaxed);
    }

    pub(super) fn count_blind(&self) {
        self.blind.fetch_add(1, Relaxed);
    }

    #[cfg(feature = "tracing-layer")]
    pub(super) fn count_assumed(&self) {
        self.assumed.fetch_add(1, Relaxed);
    }

    /// What was dropped, late, blind, foreign and assumed.
    pub(super) fn counted(&self) -> [u64; 5] {
        let counts = [
            &self.dropped,
            &self.late,
            &self.blind,
            &self.foreign,
            &self.assumed,
        ];
        counts.map(|count| count.load(Relaxed))
    }

    pub(super) fn acquire(&self, past: &Clock) -> Result<Chain, Error> {
        let mut tenures = lock(&self.tenures);
        let chain = tenures.acquire(past)?;
        // Before the first tick, so that whoever hears of it hears of the chain.
        self.tenure_count.store(tenures.all().len(), Release);
        Ok(chain)
    }

    /// What the threads of a chain are called that nobody named.
    pub(super) fn thread_of(&self, chain: ChainId, fresh: impl FnOnce() -> ThreadId) -> ThreadId {
        *lock(&self.threads).entry(chain).or_insert_with(fresh)
    }

    /// A chain has a thread that ticks: others may hear of it.
    pub(super) fn name_source(&self, chain: ChainId, thread: ThreadId) {
        let Some(process) = &self.process_name else {
            return;
        };
        let mut named = lock(&self.sources);
        if named.contains_key(&chain) {
            return;
        }
        let tenures = lock(&self.tenures);
        let base = tenures.all().iter().find(|(other, _)| *other == chain);
        let base = base.map_or(0, |&(_, base)| base);
        drop(tenures);
        let name = names::with_table(|table| {
            let thread = table.symbols.threads.name(thread);
            format!("{process}/{thread}")
        });
        named.insert(chain, sources::name_own(chain, base, &name));
    }

    /// What other processes call a chain.
    pub(super) fn source(&self, chain: ChainId) -> Option<Arc<str>> {
        self.process_name.as_ref()?;
        lock(&self.sources).get(&chain).cloned()
    }

    /// A variable has this value before its first write. Of several of one name, the first counts.
    pub(super) fn began_with(&self, var: VarId, value: Value) {
        lock(&self.initial).entry(var).or_insert(value);
    }

    /// The values that variables had before their first writes.
    pub(super) fn initial_values(&self) -> Vec<(VarId, Value)> {
        let initial = lock(&self.initial);
        initial
            .iter()
            .map(|(var, value)| (*var, value.clone()))
            .collect()
    }

    pub(super) fn release(&self, chain: Chain) {
        lock(&self.tenures).release(chain);
    }

    /// Chains whose threads have ended may be used by any thread if their events are settled up to their last.
    pub(super) fn settle(&self, is_settled: impl FnMut(ChainId, u32) -> bool) {
        lock(&self.tenures).settle(is_settled);
    }

    /// Calls `visit` with the chains from this number on, and how far they had been counted before.
    pub(super) fn tenures_from(&self, known: usize, mut visit: impl FnMut(ChainId, u32)) {
        if self.tenure_count.load(Acquire) > known {
            let tenures = lock(&self.tenures);
            for &(chain, base) in &tenures.all()[known..] {
                visit(chain, base);
            }
        }
    }

    /// A queue for a thread that has none.
    pub(super) fn open_queue(&self) -> Unused {
        let mut queues = lock(&self.queues);
        if let Some(unused) = queues.unused.pop() {
            return unused;
        }
        let (producer, consumer) = RingBuffer::new(self.capacity);
        let texts = Texts::default();
        queues.fresh.push((consumer, Texts::clone(&texts)));
        self.queue_count.fetch_add(1, Release);
        Unused {
            producer,
            texts,
            kept: VecDeque::new(),
        }
    }

    pub(super) fn close_queue(&self, queue: Unused) {
        lock(&self.queues).unused.push(queue);
    }

    /// Whether something that had found no room, by threads that have left, did so now.
    pub(super) fn flush_unused(&self) -> bool {
        let mut queues = lock(&self.queues);
        queues.unused.iter_mut().any(Unused::flush)
    }

    /// Queues that the reader does not know yet, if it knows this many.
    pub(super) fn fresh_queues(&self, known: usize) -> Vec<(Consumer<Words>, Texts)> {
        if self.queue_count.load(Acquire) > known {
            std::mem::take(&mut lock(&self.queues).fresh)
        } else {
            Vec::new()
        }
    }

    /// Waits until `has_room`, or until there is nobody who would make room.
    #[cold]
    pub(super) fn wait_for_room(&self, mut has_room: impl FnMut() -> bool) -> bool {
        // Somebody takes events out many times in this span; it is there for forks, and in case that
        // the only reader looked just before we counted ourselves.
        const AGAIN: Duration = Duration::from_millis(5);
        self.waiting.fetch_add(1, Relaxed);
        let mut held = lock(&self.room_lock);
        let found = loop {
            if has_room() {
                break true;
            }
            if self.is_closed() || process::id() != self.process {
                break false;
            }
            held = match self.room.wait_timeout(held, AGAIN) {
                Ok((held, _)) => held,
                Err(poisoned) => poisoned.into_inner().0,
            };
        };
        drop(held);
        self.waiting.fetch_sub(1, Relaxed);
        found
    }

    /// There may be room again.
    pub(super) fn tell_room(&self) {
        if self.waiting.load(Relaxed) != 0 {
            drop(lock(&self.room_lock));
            self.room.notify_all();
        }
    }

    /// Nothing more is recorded.
    pub(super) fn close(&self) {
        if !self.closed.swap(true, Release) {
            OPEN.fetch_sub(1, Relaxed);
            let mut global = lock(&GLOBAL);
            if global
                .as_ref()
                .is_some_and(|there| std::ptr::eq(&**there, self))
            {
                *global = None;
            }
            drop(global);
            GENERATION.fetch_add(1, Release);
            drop(lock(&self.room_lock));
            self.room.notify_all();
        }
    }

    /// What was recorded was taken out, and nobody will ask for more.
    pub(super) fn forget(&self) {
        if self.process_name.is_some() {
            sources::forget_own(lock(&self.sources).keys().copied());
        }
        lock(&self.tenures).end();
        lock(&self.queues).unused.clear();
    }
}

/// A handle of a recording, for those whose events it takes.
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
    /// Records the events and the writes of the variables with these names, and nothing else. It is what
    /// a program in production bears.
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
    /// recording has no holes: a thread whose queue is full always waits.
    pub fn everything() -> Builder {
        Builder::new(Depth::Everything)
    }

    /// From now on this thread takes part, and those that it spawns, until the guard is dropped.
    #[must_use = "it ends with the guard"]
    pub fn enter(&self) -> Entered {
        Entered {
            before: actor::enter(Some(Arc::clone(&self.subscriber))),
            here: std::marker::PhantomData,
        }
    }

    /// From now on all threads take part that take part in no other recording, until the guard is
    /// dropped. A thread that already runs notices at its next event, or when it meets an object with
    /// news for it: so begin before there are threads.
    #[must_use = "it ends with the guard"]
    pub fn make_global(&self) -> Global {
        // Before there is anything to take part in: else the first look would be that of a foreign thread.
        actor::knows_of_recordings();
        *lock(&GLOBAL) = Some(Arc::clone(&self.subscriber));
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

    /// What a thread does when its queue is full. A recording of everything does not ask.
    pub fn on_full(mut self, full: Full) -> Builder {
        self.full = full;
        self
    }

    /// How many records the queue of a thread holds: one an event, one for each of its arguments, and one
    /// for each chain that something new is known of. At least 64.
    pub fn capacity(mut self, records: usize) -> Builder {
        self.capacity = records.max(64);
        self
    }

    /// The process is part of a larger program, and this is what it is called there: its clocks can be sent to others
    /// ([`Context`](crate::Context)), and its events say what they know of others ([`Recorded::origin`](crate::Recorded::origin)).
    ///
    /// No two processes may ever have the same name, nor two recordings of one: a process that is started again has another. A recording of everything
    /// has no use for a name: its events are ordered by operations, which no other process has.
    pub fn process(mut self, name: &str) -> Builder {
        self.process = Some(name.into());
        self
    }

    /// Begins; the stream is where events come out.
    pub fn start(self) -> (Recording, Stream) {
        let full = match self.depth {
            Depth::Everything => Full::Block,
            Depth::Relevant { .. } => self.full,
        };
        let everything = matches!(self.depth, Depth::Everything);
        let process_name = self.process.filter(|_| !everything);
        // There, the place of an event in the run is a record of its own.
        let capacity = self.capacity.saturating_mul(1 + usize::from(everything));
        let subscriber = Arc::new(Subscriber {
            id: NEXT.fetch_add(1, Relaxed),
            depth: self.depth,
            full,
            capacity,
            process: process::id(),
            closed: AtomicBool::new(false),
            queues: Mutex::default(),
            queue_count: AtomicUsize::new(0),
            tenures: Mutex::default(),
            tenure_count: AtomicUsize::new(0),
            threads: Mutex::default(),
            process_name,
            sources: Mutex::default(),
            initial: Mutex::default(),
            waiting: AtomicUsize::new(0),
            room: Condvar::new(),
            room_lock: Mutex::new(()),
            places: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            late: AtomicU64::new(0),
            blind: AtomicU64::new(0),
            foreign: AtomicU64::new(0),
            assumed: AtomicU64::new(0),
        });
        OPEN.fetch_add(1, Relaxed);
        GENERATION.fetch_add(1, Release);
        let stream = Stream::new(Arc::clone(&subscriber));
        (Recording { subscriber }, stream)
    }
}

/// While it lives, the thread that made it takes part in a recording. It cannot be sent elsewhere.
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

/// While it lives, a recording is the global one.
#[derive(Debug)]
pub struct Global {
    subscriber: Arc<Subscriber>,
}

impl Drop for Global {
    fn drop(&mut self) {
        let mut global = lock(&GLOBAL);
        if global
            .as_ref()
            .is_some_and(|there| Arc::ptr_eq(there, &self.subscriber))
        {
            *global = None;
        }
        drop(global);
        GENERATION.fetch_add(1, Release);
        actor::look_around();
    }
}
