//! The state that the threads of a recording share with its reader.

use std::{
    collections::VecDeque,
    process,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use portent_monitor_core::{Chain, ChainId, Clock, Error, NameId, ThreadId, Value, VarId};
use rtrb::{Consumer, RingBuffer};
use rustc_hash::FxHashMap;

use super::Full;
use crate::live::{
    chains::Tenures,
    fork_aware::ForkAware,
    lock, names,
    outbox::Unused,
    record::{Texts, Words},
    sources,
};

/// Which events are recorded.
#[derive(Debug)]
pub(super) enum Depth {
    Everything,
    Relevant { names: Bits, vars: Bits },
}

/// A set of small numbers.
#[derive(Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn insert(&mut self, index: usize) {
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
    /// A fork of this process has threads, but no reader for what they record.
    process: u32,
    closed: AtomicBool,
    queues: ForkAware<Queues>,
    /// How many queues there are, so that the reader looks only when there are more.
    queue_count: AtomicUsize,
    tenures: ForkAware<Tenures>,
    tenure_count: AtomicUsize,
    threads: ForkAware<FxHashMap<ChainId, ThreadId>>,
    /// What the process is called, if its clocks go to others; and what they call its chains.
    process_name: Option<Box<str>>,
    sources: ForkAware<FxHashMap<ChainId, Arc<str>>>,
    /// What variables had before their first writes.
    initial: ForkAware<FxHashMap<VarId, Value>>,
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

/// What a recording is asked to be.
pub(super) struct Asked {
    pub(super) id: u32,
    pub(super) depth: Depth,
    pub(super) full: Full,
    pub(super) capacity: usize,
    pub(super) process_name: Option<Box<str>>,
}

impl Subscriber {
    /// Of this process; one that is closed from the start records nothing.
    pub(super) fn new(asked: Asked, closed: bool) -> Subscriber {
        let Asked {
            id,
            depth,
            full,
            capacity,
            process_name,
        } = asked;
        Subscriber {
            id,
            depth,
            full,
            capacity,
            process: process::id(),
            closed: AtomicBool::new(closed),
            queues: ForkAware::new(),
            queue_count: AtomicUsize::new(0),
            tenures: ForkAware::new(),
            tenure_count: AtomicUsize::new(0),
            threads: ForkAware::new(),
            process_name,
            sources: ForkAware::new(),
            initial: ForkAware::new(),
            waiting: AtomicUsize::new(0),
            room: Condvar::new(),
            room_lock: Mutex::new(()),
            places: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            late: AtomicU64::new(0),
            blind: AtomicU64::new(0),
            foreign: AtomicU64::new(0),
            assumed: AtomicU64::new(0),
        }
    }

    /// Which recording, of this process.
    #[inline]
    pub(in crate::live) fn id(&self) -> u32 {
        self.id
    }

    /// The next place in the run as it was. Who comes later, in any order that hooks see, gets a later one.
    #[inline]
    pub(in crate::live) fn next_place(&self) -> u64 {
        self.places.fetch_add(1, Relaxed)
    }

    pub(in crate::live) fn wants_everything(&self) -> bool {
        matches!(self.depth, Depth::Everything)
    }

    #[inline]
    pub(in crate::live) fn wants_name(&self, name: NameId) -> bool {
        match &self.depth {
            Depth::Everything => true,
            Depth::Relevant { names, .. } => names.contains(name.index()),
        }
    }

    #[inline]
    pub(in crate::live) fn wants_var(&self, var: VarId) -> bool {
        match &self.depth {
            Depth::Everything => true,
            Depth::Relevant { vars, .. } => vars.contains(var.index()),
        }
    }

    pub(in crate::live) fn full(&self) -> Full {
        self.full
    }

    pub(in crate::live) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(in crate::live) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    pub(in crate::live) fn count_dropped(&self) {
        self.dropped.fetch_add(1, Relaxed);
    }

    pub(in crate::live) fn count_late(&self) {
        self.late.fetch_add(1, Relaxed);
    }

    pub(in crate::live) fn count_foreign(&self) {
        self.foreign.fetch_add(1, Relaxed);
    }

    pub(in crate::live) fn count_blind(&self) {
        self.blind.fetch_add(1, Relaxed);
    }

    #[cfg(feature = "tracing-layer")]
    pub(in crate::live) fn count_assumed(&self) {
        self.assumed.fetch_add(1, Relaxed);
    }

    /// What was dropped, late, blind, foreign and assumed.
    pub(in crate::live) fn counted(&self) -> [u64; 5] {
        let counts = [
            &self.dropped,
            &self.late,
            &self.blind,
            &self.foreign,
            &self.assumed,
        ];
        counts.map(|count| count.load(Relaxed))
    }

    pub(in crate::live) fn acquire(&self, past: &Clock) -> Result<Chain, Error> {
        self.tenures.with(|tenures| {
            let chain = tenures.acquire(past)?;
            // Before the first tick, so that whoever hears of it hears of the chain.
            self.tenure_count.store(tenures.all().len(), Release);
            Ok(chain)
        })
    }

    /// The names of the unnamed threads of a chain.
    pub(in crate::live) fn thread_of(
        &self,
        chain: ChainId,
        fresh: impl FnOnce() -> ThreadId,
    ) -> ThreadId {
        self.threads
            .with(|threads| *threads.entry(chain).or_insert_with(fresh))
    }

    /// A chain has a thread that ticks: others may hear of it.
    pub(in crate::live) fn name_source(&self, chain: ChainId, thread: ThreadId) {
        let Some(process) = &self.process_name else {
            return;
        };
        self.sources.with(|named| {
            if named.contains_key(&chain) {
                return;
            }
            let base = self.tenures.with(|tenures| {
                let base = tenures.all().iter().find(|(other, _)| *other == chain);
                base.map_or(0, |&(_, base)| base)
            });
            let name = names::with_table(|table| {
                let thread = names::text(&table.symbols.threads, thread.index() as u32);
                format!("{process}/{thread}")
            });
            named.insert(chain, sources::name_own(chain, base, &name));
        });
    }

    /// What other processes call a chain.
    pub(in crate::live) fn source(&self, chain: ChainId) -> Option<Arc<str>> {
        self.process_name.as_ref()?;
        self.sources.with(|named| named.get(&chain).cloned())
    }

    /// A variable has this value before its first write. Of several of one name, the first counts.
    pub(in crate::live) fn began_with(&self, var: VarId, value: Value) {
        self.initial.with(|initial| {
            initial.entry(var).or_insert(value);
        });
    }

    /// The values that variables had before their first writes.
    pub(in crate::live) fn initial_values(&self) -> Vec<(VarId, Value)> {
        let known = |(var, value): (&VarId, &Value)| (*var, value.clone());
        self.initial
            .with(|initial| initial.iter().map(known).collect())
    }

    pub(in crate::live) fn release(&self, chain: Chain) {
        self.tenures.with(|tenures| tenures.release(chain));
    }

    /// Chains whose threads have ended may be used by any thread if their events are settled up to their last.
    pub(in crate::live) fn settle(&self, is_settled: impl FnMut(ChainId, u32) -> bool) {
        self.tenures.with(|tenures| tenures.settle(is_settled));
    }

    /// Calls `visit` with the chains from this number on, and how far they had been counted before.
    pub(in crate::live) fn tenures_from(&self, known: usize, mut visit: impl FnMut(ChainId, u32)) {
        if self.tenure_count.load(Acquire) > known {
            self.tenures.with(|tenures| {
                for &(chain, base) in &tenures.all()[known..] {
                    visit(chain, base);
                }
            });
        }
    }

    /// A queue for a thread that has none.
    pub(in crate::live) fn open_queue(&self) -> Unused {
        self.queues.with(|queues| {
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
        })
    }

    pub(in crate::live) fn close_queue(&self, queue: Unused) {
        self.queues.with(|queues| queues.unused.push(queue));
    }

    /// Whether something that had found no room, by threads that have left, did so now.
    pub(in crate::live) fn flush_unused(&self) -> bool {
        self.queues
            .with(|queues| queues.unused.iter_mut().any(Unused::flush))
    }

    /// Queues that the reader does not know yet, if it knows this many.
    pub(in crate::live) fn fresh_queues(&self, known: usize) -> Vec<(Consumer<Words>, Texts)> {
        if self.queue_count.load(Acquire) > known {
            self.queues.with(|queues| std::mem::take(&mut queues.fresh))
        } else {
            Vec::new()
        }
    }

    /// Waits until `has_room`, or until no reader is left to make room.
    #[cold]
    pub(in crate::live) fn wait_for_room(&self, mut has_room: impl FnMut() -> bool) -> bool {
        // Somebody takes events out many times in this span; it is there in case that the only reader
        // looked just before we counted ourselves.
        const AGAIN: Duration = Duration::from_millis(5);
        if self.is_forked() {
            return has_room();
        }
        self.waiting.fetch_add(1, Relaxed);
        let mut held = lock(&self.room_lock);
        let found = loop {
            if has_room() {
                break true;
            }
            if self.is_closed() {
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

    /// Whether this is a copy in a forked process, which has no reader.
    fn is_forked(&self) -> bool {
        process::id() != self.process
    }

    /// There may be room again.
    pub(in crate::live) fn tell_room(&self) {
        if self.waiting.load(Relaxed) != 0 {
            drop(lock(&self.room_lock));
            self.room.notify_all();
        }
    }

    /// Nothing more is recorded.
    pub(in crate::live) fn close(&self) {
        if !self.closed.swap(true, Release) {
            super::ended(self);
            drop(lock(&self.room_lock));
            self.room.notify_all();
        }
    }

    /// All records were taken out, and no more will be asked for.
    pub(in crate::live) fn forget(&self) {
        if self.process_name.is_some() {
            self.sources
                .with(|named| sources::forget_own(named.keys().copied()));
        }
        self.tenures.with(Tenures::end);
        self.queues.with(|queues| queues.unused.clear());
    }
}
