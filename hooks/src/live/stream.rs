//! The reader's end of a recording: events with their stamps, in causal order.
//!
//! The queues of the threads are emptied in turn. Each queue contains only the changes of clocks; whole clocks are
//! rebuilt here, restricted to the events of this recording. An event is delivered once all events that its clock
//! counts have been. Threads neither take time stamps nor share a counter.

use std::{
    collections::VecDeque,
    fmt,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use portent_monitor_core::{
    Action, CausalRelease, ChainId, Clock, Clocked, Error, Event, Id, LocId, NameId, Op, Spelling,
    Stamp, Symbols, ThreadId, Value,
};
use rtrb::Consumer;
use rustc_hash::FxHashMap;

use super::{
    actor, names,
    record::{self, Record, Texts, Words},
    recording::Subscriber,
    sources,
};

/// The number of records taken from a queue before the next queue has its turn. Records should still be in the cache when
/// their events are delivered.
const ROUND: usize = 256;

/// An event and its position in the causal order. Clocks count the events of one recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What happened; [`Stream::names`] provides the names.
    pub event: Event,
    /// What came before it.
    pub stamp: Stamp,
    /// In a recording of everything, its position in the observed run. Events are delivered in causal order, but of two
    /// concurrent ones the later may be delivered first.
    pub place: Option<u64>,
    /// If the process has a name: how the event relates to other processes.
    pub origin: Option<Arc<Origin>>,
}

/// How other processes know an event, and what the event knows of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The name of its chain in other processes, such as `orders/main`; one of the names of threads.
    pub source: ThreadId,
    /// How many events of other processes' chains are in its past.
    pub peers: Vec<(ThreadId, u32)>,
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        names::with_table(|table| Spelling::new(&self.event, &table.symbols).fmt(f))
    }
}

impl Clocked for Recorded {
    type Source = ChainId;

    fn source(&self) -> Option<ChainId> {
        Some(self.stamp.chain)
    }

    fn components(&self) -> usize {
        self.stamp.clock.counts().len()
    }

    fn component(&self, index: usize) -> (ChainId, u32) {
        let chain = ChainId::from_index(index).unwrap_or(self.stamp.chain);
        (chain, self.stamp.clock.get(chain))
    }

    fn number(&self) -> u32 {
        self.stamp.number()
    }
}

/// Statistics of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events that were delivered.
    pub recorded: u64,
    /// Events that were dropped because a queue was full, or left out by sampling.
    pub dropped: u64,
    /// Operations in the whole process, by threads whose thread-locals were being destroyed or whose
    /// allocator uses hooks itself: the order that they create is missing.
    pub late: u64,
    /// Failed tries of a lock that was taken before anyone had ever tried it: the order between that acquisition and the try is missing.
    pub blind: u64,
    /// Threads that were not spawned through hooks: the order between them and their spawners is missing.
    pub foreign: u64,
    /// Events of `tracing` that nothing else ordered: only their observed order is considered possible.
    pub assumed: u64,
}

/// The events of a recording. Dropping it ends the recording.
#[derive(Debug)]
pub struct Stream {
    subscriber: Arc<Subscriber>,
    lanes: Vec<Lane>,
    tenures: Local,
    /// Events that wait for events before them.
    release: CausalRelease<Recorded>,
    /// Events that are ready, in causal order.
    ready: VecDeque<Recorded>,
    /// How many events of each chain were delivered.
    given_out: Vec<u32>,
    recorded: u64,
    late_before: u64,
    closed: bool,
}

/// The chains of this recording, numbered from 0; and how far they had been counted before.
#[derive(Debug, Default)]
struct Local {
    chains: FxHashMap<ChainId, (ChainId, u32)>,
}

impl Local {
    fn refresh(&mut self, subscriber: &Subscriber) {
        let chains = &mut self.chains;
        let known = chains.len();
        subscriber.tenures_from(known, |chain, base| {
            if let Some(local) = ChainId::from_index(chains.len()) {
                chains.insert(chain, (local, base));
            }
        });
    }

    /// The chain and count inside this recording; `None` for a chain of another.
    fn get(&self, chain: ChainId, count: u32) -> Option<(ChainId, u32)> {
        let &(local, base) = self.chains.get(&chain)?;
        Some((local, count.saturating_sub(base)))
    }
}

/// A queue, and what is known of the thread at its other end.
#[derive(Debug)]
struct Lane {
    queue: Consumer<Words>,
    texts: Texts,
    thread: Option<(ThreadId, ChainId)>,
    number: u32,
    place: Option<u64>,
    clock: Clock,
    /// Of a process that has a name: what its thread is called elsewhere, and what it knows of others; and the chains of those,
    /// with how far they had been counted before.
    origin: Option<Arc<Origin>>,
    peers: Vec<(ChainId, u32)>,
    /// An event of which parts are still to come.
    open: Option<Open>,
}

/// An event that is not complete yet.
#[derive(Debug)]
enum Open {
    Did(Words),
    /// The number of arguments that are missing.
    Event(NameId, LocId, u32, Vec<Value>),
}

impl Lane {
    fn take(&mut self, words: Words, local: &Local, subscriber: &Subscriber) -> Option<Recorded> {
        match record::read(words)? {
            Record::Begin {
                thread,
                chain,
                count,
            } => {
                self.clock = Clock::default();
                let begun = local.get(chain, count);
                self.thread = begun.map(|(chain, _)| (thread, chain));
                self.number = begun.map_or(0, |(_, count)| count);
                self.peers.clear();
                self.origin = subscriber.source(chain).map(|name| {
                    let (source, peers) = (names::thread(&name), Vec::new());
                    Arc::new(Origin { source, peers })
                });
                None
            }
            Record::Knows(chain, count) => {
                if let Some((chain, count)) = local.get(chain, count) {
                    self.clock.raise(chain, count);
                } else {
                    self.hear(chain, count);
                }
                None
            }
            Record::Place(place) => {
                self.place = Some(place);
                None
            }
            Record::Did {
                head,
                is_whole: true,
            } => self.did(head, None),
            Record::Did { head, .. } => {
                self.open = Some(Open::Did(head));
                None
            }
            Record::Event { name, loc, args } => {
                self.open = Some(Open::Event(name, loc, args, Vec::new()));
                self.complete()
            }
            Record::Part(words) => match &mut self.open {
                Some(Open::Did(head)) => {
                    let head = *head;
                    self.open = None;
                    self.did(head, Some(words))
                }
                Some(Open::Event(_, _, missing, values)) => {
                    *missing = missing.saturating_sub(1);
                    values.push(record::read_value(words, &self.texts));
                    self.complete()
                }
                None => None,
            },
        }
    }

    /// Takes a count of a chain outside this recording, possibly of another process.
    fn hear(&mut self, chain: ChainId, count: u32) {
        let Some(origin) = &mut self.origin else {
            return;
        };
        if let Some(known) = self.peers.iter().position(|(other, _)| *other == chain) {
            Arc::make_mut(origin).peers[known].1 = count.saturating_sub(self.peers[known].1);
        } else if let Some((name, base)) = sources::named(chain)
            && count > base
        {
            self.peers.push((chain, base));
            let peers = &mut Arc::make_mut(origin).peers;
            peers.push((names::thread(&name), count - base));
        }
    }

    fn did(&mut self, head: Words, part: Option<Words>) -> Option<Recorded> {
        let (op, loc, mark) = record::read_did(head, part, &self.texts)?;
        let mut recorded = self.event(op)?;
        (recorded.event.loc, recorded.event.mark) = (loc, mark);
        Some(recorded)
    }

    /// The application event, if all its arguments have arrived.
    fn complete(&mut self) -> Option<Recorded> {
        match self.open.take()? {
            Open::Event(name, loc, 0, values) => {
                let mut recorded = self.event(Op::from(Action::new(name).args(values)))?;
                recorded.event.loc = Some(loc);
                Some(recorded)
            }
            open => {
                self.open = Some(open);
                None
            }
        }
    }

    fn event(&mut self, op: Op) -> Option<Recorded> {
        let (thread, chain) = self.thread?;
        self.number += 1;
        self.clock.raise(chain, self.number);
        Some(Recorded {
            event: Event::new(thread, op),
            stamp: Stamp {
                chain,
                clock: Arc::new(self.clock.clone()),
            },
            place: self.place,
            origin: self.origin.clone(),
        })
    }
}

impl Stream {
    pub(super) fn new(subscriber: Arc<Subscriber>) -> Stream {
        Stream {
            subscriber,
            lanes: Vec::new(),
            tenures: Local::default(),
            release: CausalRelease::default(),
            ready: VecDeque::new(),
            given_out: Vec::new(),
            recorded: 0,
            late_before: actor::late(),
            closed: false,
        }
    }

    /// The next event, if one is available.
    pub fn try_next(&mut self) -> Option<Recorded> {
        loop {
            if let Some(next) = self.pop() {
                return Some(next);
            }
            if self.take_in(ROUND) == 0
                && !(self.subscriber.flush_unused() && self.take_in(ROUND) > 0)
            {
                return None;
            }
        }
    }

    /// The next event; waits at most this long for one.
    pub fn next_within(&mut self, time: Duration) -> Option<Recorded> {
        // Threads do not wake the reader, as most of them would do so for nothing.
        const LOOK: Duration = Duration::from_micros(500);
        let end = Instant::now().checked_add(time);
        loop {
            if let Some(next) = self.try_next() {
                return Some(next);
            }
            let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
            if self.closed || left.is_zero() {
                return None;
            }
            thread::sleep(left.min(LOOK));
        }
    }

    /// Ends the recording, and returns all events that happened before.
    pub fn finish(&mut self) -> Vec<Recorded> {
        let mut events = Vec::new();
        self.close();
        while let Some(next) = self.pop() {
            events.push(next);
        }
        events
    }

    /// Ends the recording. Events that happened before can still be taken.
    pub fn close(&mut self) {
        if !self.closed {
            self.closed = true;
            self.subscriber.close();
            self.take_in(usize::MAX);
            while self.subscriber.flush_unused() {
                self.take_in(usize::MAX);
            }
            self.subscriber.forget();
            self.release.close();
            self.ready.extend(std::iter::from_fn(|| self.release.pop()));
        }
    }

    /// Declares that everything delivered so far counts as coming before everything still to happen, whether it does or not.
    ///
    /// A thread whose end no other thread learns of is concurrent with all later threads, so exact clocks need a
    /// component for each such thread. A reader that does not need this order, because it has reached its verdict or keeps only
    /// a window of the run, can call this from time to time: later threads then reuse the components of threads that have ended, and
    /// clocks stay short. The order among events that are not settled remains exact.
    ///
    /// ```
    /// use portent_hooks::{Recording, event, thread};
    ///
    /// let (recording, mut stream) = Recording::relevant(["served"]).start();
    /// let entered = recording.enter();
    /// for request in 0..100 {
    ///     thread::spawn(move || event!(served, request)); // never joined
    ///     while stream.try_next().is_none() {}
    ///     stream.settle();
    /// }
    /// ```
    pub fn settle(&mut self) {
        self.tenures.refresh(&self.subscriber);
        let (chains, given_out) = (&self.tenures, &self.given_out);
        self.subscriber.settle(|chain, count| {
            let local = chains.get(chain, count);
            local.is_some_and(|(local, count)| {
                given_out
                    .get(local.index())
                    .is_some_and(|&given| given >= count)
            })
        });
    }

    /// The number of chains in clocks: one for each thread that recorded something, minus those that reuse the chain of another.
    pub fn chains(&self) -> usize {
        self.tenures.chains.len()
    }

    /// How full the fullest queue is, from 0 to 1.
    ///
    /// ```
    /// use portent_hooks::{Recording, event};
    ///
    /// let (recording, mut stream) = Recording::relevant(["step"]).capacity(64).start();
    /// let entered = recording.enter();
    /// (0..32).for_each(|_| event!(step));
    /// assert!(stream.try_next().is_some()); // takes all that is there out of the queues
    /// assert!(stream.fullness() < 0.1);
    /// ```
    pub fn fullness(&self) -> f64 {
        let capacity = self.subscriber.capacity() as f64;
        let waiting = self.lanes.iter().map(|lane| lane.queue.slots());
        waiting.max().unwrap_or(0) as f64 / capacity
    }

    /// What there is to know besides the events.
    pub fn counts(&self) -> Counts {
        let [dropped, late, blind, foreign, assumed] = self.subscriber.counted();
        Counts {
            recorded: self.recorded,
            dropped,
            late: late + (actor::late() - self.late_before),
            blind,
            foreign,
            assumed,
        }
    }

    /// Adds the names in its events to `symbols`, which must contain names of this process only: for example the symbols of the
    /// checker that takes the events. Call it after taking an event from the stream and before using it. If there are no new
    /// names, it only compares eight lengths.
    ///
    /// # Errors
    ///
    /// As [`Symbols::catch_up`].
    ///
    /// ```
    /// use portent_hooks::{Recording, event};
    /// use portent_monitor_core::Symbols;
    ///
    /// let (recording, mut stream) = Recording::relevant(["login"]).start();
    /// let entered = recording.enter();
    /// event!(login, user = "ann");
    /// drop(entered);
    /// let mut symbols = Symbols::default();
    /// for recorded in stream.finish() {
    ///     stream.names(&mut symbols)?;
    ///     let name = recorded.event.action().and_then(|action| action.name);
    ///     assert_eq!(name.map(|name| symbols.names.name(name)), Some("login"));
    /// }
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn names(&self, symbols: &mut Symbols) -> Result<(), Error> {
        names::with_table(|table| symbols.catch_up(&table.symbols))
    }

    /// The names of the variables that were written so far, each with its value before the first recorded write.
    ///
    /// Variables that were never written are missing, and so are those whose values cannot be recorded.
    ///
    /// ```
    /// use portent_hooks::{Recording, Shared};
    /// use portent_monitor_core::Value;
    ///
    /// let level = Shared::with_name("level", 20);
    /// level.set(21); // before anybody records
    /// let (recording, stream) = Recording::relevant(["level"]).start();
    /// let entered = recording.enter();
    /// level.set(22);
    /// level.set(23);
    /// assert_eq!(stream.initial_values(), [("level".to_owned(), Value::from(21))]);
    /// ```
    pub fn initial_values(&self) -> Vec<(String, Value)> {
        let values = self.subscriber.initial_values();
        let mut values: Vec<(String, Value)> = names::with_table(|table| {
            let named = |(var, value)| (table.symbols.vars.name(var).to_owned(), value);
            values.into_iter().map(named).collect()
        });
        values.sort_by(|(one, _), (other, _)| one.cmp(other));
        values
    }

    fn pop(&mut self) -> Option<Recorded> {
        let next = self.ready.pop_front()?;
        *next.stamp.chain.entry(&mut self.given_out) = next.stamp.number();
        self.recorded += 1;
        Some(next)
    }

    /// Takes at most this many records out of each queue, and returns how many there were.
    fn take_in(&mut self, most: usize) -> usize {
        let fresh = self.subscriber.fresh_queues(self.lanes.len());
        self.lanes
            .extend(fresh.into_iter().map(|(queue, texts)| Lane {
                queue,
                texts,
                thread: None,
                number: 0,
                place: None,
                clock: Clock::default(),
                origin: None,
                peers: Vec::new(),
                open: None,
            }));
        let mut taken = 0;
        for lane in &mut self.lanes {
            // What a thread writes meanwhile is for the next time, so that all get their turn.
            for _ in 0..lane.queue.slots().min(most) {
                let Ok(words) = lane.queue.pop() else { break };
                taken += 1;
                self.tenures.refresh(&self.subscriber);
                if let Some(recorded) = lane.take(words, &self.tenures, &self.subscriber) {
                    self.release.push(recorded);
                    // At once: else the next one of this thread would wait for this one.
                    self.ready.extend(std::iter::from_fn(|| self.release.pop()));
                }
            }
        }
        // Even if nothing was taken: a thread may have begun to wait since the last time.
        self.subscriber.tell_room();
        taken
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.close();
    }
}
