//! **The** causality relation, online: relevant vector clocks.
//!
//! Events are fed in observed order. Those that matter to a property are *relevant*; only they
//! tick, and each gets a [`Stamp`]: its chain and the count of relevant events of every chain in
//! its past. Then e ≼ e' iff e's own count is ≤ that component of e', for the relation of
//! [`definition`](crate::definition) restricted to relevant events.
//!
//! After K. Sen, *Scalable Automated Methods for Dynamic Program Analysis* (2006), chapter 3: a
//! thread has a clock; a variable or lock has an access clock A and an update clock U. A read
//! receives U and adds to A, a write receives A and replaces both, so that reads do not order each
//! other. Every other edge is a clock left behind by one event and picked up by another: by a fork
//! for its child, by an ended child for the join, by a send for each `recv` of that message, by a
//! notify for all later wake-ups, by an arrival at a barrier for what the others of the round do
//! after theirs.
//!
//! Since irrelevant events do not tick, clocks seldom change, and most joins change nothing.
//! Clocks are therefore shared, not copied, and each distinct one has a version number: equal
//! versions, or a version that a thread has lately joined, cost one comparison. The weak point is a
//! trace in which every event is relevant and hundreds of threads really overlap: each tick then
//! copies a clock of that length.
//!
//! What is kept: a clock for each thread, variable and lock; one for each message, since any number
//! of threads may receive it; in a trace with clocks one for each line that changed its thread's,
//! since any later line may refer to it. The rounds of barriers are forgotten when all have left.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use crate::{
    BarrierId, ChainId, ChanId, Clock, CondId, Error, Event, Id, LockId, Msg, Op, ThreadId, VarId,
    chains::Chains,
};

/// The place of a relevant event in the causal order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The chain that the event is on.
    pub chain: ChainId,
    /// The relevant events in its past, itself included.
    pub clock: Arc<Clock>,
}

impl Stamp {
    /// The number of the event on its chain, from 1.
    pub fn number(&self) -> u32 {
        self.clock.get(self.chain)
    }

    /// Whether this event is `other` or happens before it.
    pub fn precedes(&self, other: &Stamp) -> bool {
        self.number() <= other.clock.get(self.chain)
    }
}

/// Computes the stamps of one property's relevant events.
///
/// It trusts that a [`Discipline`](crate::Discipline) admitted the events. Several instances, each
/// with its own relevance, may be fed from one stream: an instance copies nothing out of an event.
///
/// ```
/// use portent_monitor_core::{Causality, Event, Op, Symbols};
///
/// let mut s = Symbols::default();
/// let (t1, t2) = (s.threads.intern("T1")?, s.threads.intern("T2")?);
/// let (x, y) = (s.vars.intern("x")?, s.vars.intern("y")?);
///
/// // Only writes are relevant; T2's write of y comes after it has read the x that T1 wrote.
/// let mut causality = Causality::default();
/// let wx = causality.step(&Event::new(t1, Op::Write(x, None)), true)?.unwrap();
/// assert_eq!(causality.step(&Event::new(t2, Op::Read(x)), false)?, None);
/// let wy = causality.step(&Event::new(t2, Op::Write(y, None)), true)?.unwrap();
/// assert!(wx.precedes(&wy));
/// assert_eq!(wy.clock.counts(), [1, 1]);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Causality {
    threads: Vec<Thread>,
    vars: Vec<Access>,
    locks: Vec<Access>,
    conds: Vec<Shared>,
    sent: FxHashMap<(ChanId, Msg), Shared>,
    rounds: FxHashMap<(BarrierId, u64), Round>,
    chains: Chains,
    versions: Versions,
}

/// A clock that several owners hold.
#[derive(Clone, Debug)]
struct Shared {
    clock: Arc<Clock>,
    /// Clocks of one version are equal; version 0 is the empty clock.
    version: u64,
}

/// What every thread and variable begins with; shared, as there may be millions of them.
static EMPTY: LazyLock<Arc<Clock>> = LazyLock::new(Arc::default);

impl Default for Shared {
    fn default() -> Self {
        Shared {
            clock: Arc::clone(&EMPTY),
            version: 0,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Versions(u64);

impl Versions {
    fn fresh(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// The clocks of a variable or lock.
#[derive(Clone, Debug, Default)]
struct Access {
    /// A: all accesses.
    all: Shared,
    /// U: those that conflict with reads.
    updates: Shared,
}

#[derive(Clone, Debug, Default)]
struct Round {
    arrivals: Shared,
    /// Threads that arrived and did not go on yet.
    waiting: u32,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    now: Shared,
    chain: Option<ChainId>,
    arrived: Option<(BarrierId, u64)>,
    /// Versions joined lately, by their low bits: a cache, so that missing one costs only time.
    joined: [u64; 8],
    /// In a trace with clocks: what `now` was after line n, where it changed.
    history: Vec<(u32, Shared)>,
}

impl Shared {
    fn join(&mut self, other: &Shared, versions: &mut Versions) {
        if self.version == other.version || other.version == 0 || other.clock.le(&self.clock) {
            return;
        }
        if self.clock.le(&other.clock) {
            self.clone_from(other);
        } else {
            Arc::make_mut(&mut self.clock).join(&other.clock);
            self.version = versions.fresh();
        }
    }

    fn replace(&mut self, other: &Shared) {
        if self.version != other.version {
            self.clone_from(other);
        }
    }
}

impl Thread {
    fn receive(&mut self, clock: &Shared, versions: &mut Versions) {
        let slot = &mut self.joined[(clock.version % 8) as usize];
        if *slot != clock.version {
            *slot = clock.version;
            self.now.join(clock, versions);
        }
    }
}

/// The entry of `id`, which is made if there is none.
fn entry<I: Id, T: Default>(all: &mut Vec<T>, id: I) -> &mut T {
    if id.index() >= all.len() {
        all.resize_with(id.index() + 1, T::default);
    }
    &mut all[id.index()]
}

impl Causality {
    /// Takes the next event of the observed run; a relevant one gets its stamp.
    ///
    /// # Errors
    ///
    /// [`Error::ClockFull`] when a count does not fit in 32 bits; [`Error::TooManyChains`].
    pub fn step(&mut self, event: &Event, relevant: bool) -> Result<Option<Stamp>, Error> {
        let thread = event.thread;
        self.go_on(thread);
        self.receive(event);
        let stamp = if relevant {
            Some(self.tick(thread)?)
        } else {
            None
        };
        self.publish(event);
        Ok(stamp)
    }

    /// Tells that a thread has ended though nobody joined it, so that its chain can be reused.
    /// It must not act again.
    pub fn end(&mut self, thread: ThreadId) {
        self.go_on(thread);
        if let Some(chain) = entry(&mut self.threads, thread).chain.take() {
            self.chains.release(chain);
        }
    }

    /// How many chains there are: the length of the longest clock.
    pub fn chains(&self) -> usize {
        self.chains.len()
    }

    /// What a thread did up to its barrier line comes before what others of the round do after
    /// theirs. The line itself is logged on arrival, so the arrivals are picked up by the
    /// thread's next event; that all of them are known by then is what `Discipline` checks.
    fn go_on(&mut self, thread: ThreadId) {
        let state = entry(&mut self.threads, thread);
        let Some(key) = state.arrived.take() else {
            return;
        };
        let Some(round) = self.rounds.get_mut(&key) else {
            return;
        };
        state.receive(&round.arrivals, &mut self.versions);
        round.waiting = round.waiting.saturating_sub(1);
        if round.waiting == 0 {
            self.rounds.remove(&key);
        }
    }

    fn receive(&mut self, event: &Event) {
        let thread = event.thread;
        match &event.op {
            Op::Read(var) => self.receive_var(thread, *var, |access| &access.updates),
            Op::Write(var, _) | Op::Update(var, _) => {
                self.receive_var(thread, *var, |access| &access.all);
            }
            Op::Lock(lock) | Op::Unlock(lock) => {
                self.receive_lock(thread, *lock, |access| &access.all);
            }
            Op::ReadLock(lock) | Op::ReadUnlock(lock) => {
                self.receive_lock(thread, *lock, |access| &access.updates);
            }
            Op::Join(child) => {
                self.end(*child);
                let last = entry(&mut self.threads, *child).now.clone();
                entry(&mut self.threads, thread).receive(&last, &mut self.versions);
            }
            Op::Recv(chan, msg) => {
                if let Some(sent) = self.sent.get(&(*chan, *msg)) {
                    entry(&mut self.threads, thread).receive(sent, &mut self.versions);
                }
            }
            Op::Wait(cond) => {
                let notified = entry::<CondId, _>(&mut self.conds, *cond);
                entry(&mut self.threads, thread).receive(notified, &mut self.versions);
            }
            Op::Event(action) => {
                for (var, _) in &action.set {
                    self.receive_var(thread, *var, |access| &access.all);
                }
            }
            Op::Stamped(stamped) => {
                for &(other, lines) in &stamped.clock {
                    if other != thread {
                        self.receive_lines(thread, other, lines);
                    }
                }
                for (var, _) in &stamped.action.set {
                    self.receive_var(thread, *var, |access| &access.all);
                }
            }
            Op::Fork(_)
            | Op::Send(..)
            | Op::Notify(_)
            | Op::Barrier(..)
            | Op::Request(_)
            | Op::Marker(..) => {}
        }
    }

    fn receive_var(&mut self, thread: ThreadId, var: VarId, of: fn(&Access) -> &Shared) {
        let access = entry(&mut self.vars, var);
        entry(&mut self.threads, thread).receive(of(access), &mut self.versions);
    }

    fn receive_lock(&mut self, thread: ThreadId, lock: LockId, of: fn(&Access) -> &Shared) {
        let access = entry(&mut self.locks, lock);
        entry(&mut self.threads, thread).receive(of(access), &mut self.versions);
    }

    /// What `other` knew after its first `lines` lines.
    fn receive_lines(&mut self, thread: ThreadId, other: ThreadId, lines: u32) {
        let history = &entry(&mut self.threads, other).history;
        let known = history.partition_point(|(line, _)| *line <= lines);
        if let Some((_, clock)) = known.checked_sub(1).map(|last| &history[last]) {
            let clock = clock.clone();
            entry(&mut self.threads, thread).receive(&clock, &mut self.versions);
        }
    }

    fn tick(&mut self, thread: ThreadId) -> Result<Stamp, Error> {
        let state = entry(&mut self.threads, thread);
        let chain = match state.chain {
            Some(chain) => chain,
            None => *state.chain.insert(self.chains.acquire(&state.now.clock)?),
        };
        let number = self.chains.tick(chain)?;
        Arc::make_mut(&mut state.now.clock).set(chain, number);
        state.now.version = self.versions.fresh();
        Ok(Stamp {
            chain,
            clock: Arc::clone(&state.now.clock),
        })
    }

    fn publish(&mut self, event: &Event) {
        let thread = event.thread;
        let now = &self.threads[thread.index()].now;
        match &event.op {
            Op::Read(var) => entry(&mut self.vars, *var)
                .all
                .join(now, &mut self.versions),
            Op::Write(var, _) | Op::Update(var, _) => entry(&mut self.vars, *var).update(now),
            Op::Lock(lock) | Op::Unlock(lock) => entry(&mut self.locks, *lock).update(now),
            Op::ReadLock(lock) | Op::ReadUnlock(lock) => {
                entry(&mut self.locks, *lock)
                    .all
                    .join(now, &mut self.versions);
            }
            Op::Fork(child) => {
                let now = now.clone();
                entry(&mut self.threads, *child).receive(&now, &mut self.versions);
            }
            Op::Send(chan, msg) => {
                let sent = self.sent.entry((*chan, *msg)).or_default();
                sent.join(now, &mut self.versions);
            }
            Op::Notify(cond) => entry(&mut self.conds, *cond).join(now, &mut self.versions),
            Op::Barrier(barrier, number) => {
                let key = (*barrier, *number);
                let round = self.rounds.entry(key).or_default();
                round.arrivals.join(now, &mut self.versions);
                round.waiting += 1;
                self.threads[thread.index()].arrived = Some(key);
            }
            Op::Event(action) => {
                for (var, _) in &action.set {
                    entry(&mut self.vars, *var).update(now);
                }
            }
            Op::Stamped(stamped) => {
                for (var, _) in &stamped.action.set {
                    entry(&mut self.vars, *var).update(now);
                }
                let state = &mut self.threads[thread.index()];
                if state
                    .history
                    .last()
                    .is_none_or(|(_, last)| last.version != state.now.version)
                {
                    state
                        .history
                        .push((stamped.component(thread), state.now.clone()));
                }
            }
            Op::Join(_) | Op::Recv(..) | Op::Wait(_) | Op::Request(_) | Op::Marker(..) => {}
        }
    }
}

impl Access {
    fn update(&mut self, now: &Shared) {
        self.all.replace(now);
        self.updates.replace(now);
    }
}
