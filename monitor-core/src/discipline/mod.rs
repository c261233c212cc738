//! Which sequences of events can be a run at all.
//!
//! A trace may be wrong: a lock is released that no thread took, a message arrives that was never sent. The
//! relation of such a trace would mean nothing, so each event is checked against the ones before
//! it, once, whatever the number of properties. A refused event changes nothing: a lenient
//! reader drops it and continues.
//!
//! What is deliberately allowed:
//! - a lock taken while another thread seems to hold it, if that thread does nothing before it wakes
//!   up from a wait: a wait releases the lock, and some traces show only the wake-up. A wait does not release a read lock,
//!   and in a run without conditions no thread waits;
//! - taking a lock twice, which then is to be released twice;
//! - marks of a thread's begin and end anywhere: some recorders open with those of all threads;
//! - threads that were not forked, threads that several others join, and a name that is forked again
//!   after it was joined;
//! - a wake-up without a notify, since spurious wake-ups exist; the wake-up from a wait that released no lock may not
//!   even be logged;
//! - a message that several threads receive, or one thread twice;
//! - vector clocks that skip events of a thread, or count events of one that is not in the trace: a
//!   log may have lost them.

mod clocks;
mod lock;
mod rounds;

use std::num::NonZeroU64;

use rustc_hash::{FxHashMap, FxHashSet};

pub use self::clocks::SkippedEvents;
use self::{clocks::Clocks, lock::Holders, rounds::Rounds};
use crate::{
    BarrierId, ChanId, CondId, Error, Event, Id, LockAction, LockId, Locking, Msg, Op, Symbols,
    ThreadId,
};

/// Checks events in observed order.
///
/// ```
/// use portent_monitor_core::{Discipline, Error, Event, Op, Symbols};
///
/// let mut symbols = Symbols::default();
/// let (t, m) = (symbols.threads.intern("T1")?, symbols.locks.intern("m")?);
/// let mut discipline = Discipline::default();
/// discipline.admit(&Event::new(t, Op::Lock(m)), &symbols)?;
/// discipline.admit(&Event::new(t, Op::Unlock(m)), &symbols)?;
/// let again = discipline.admit(&Event::new(t, Op::Unlock(m)), &symbols);
/// assert_eq!(again.unwrap_err().to_string(), "thread T1 releases lock m, which it does not hold");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Discipline {
    threads: Vec<ThreadState>,
    locks: Vec<Holders>,
    /// Any number of threads may receive a message, so none is forgotten.
    sent: FxHashSet<(ChanId, Msg)>,
    /// Rounds of barriers that some thread has left.
    left: FxHashMap<BarrierId, Rounds>,
    clocks: Clocks,
    /// Whether events carry clocks; the first event decides.
    stamped: Option<bool>,
}

#[derive(Clone, Debug, Default)]
struct ThreadState {
    life: Life,
    /// The barrier that it arrived at and has not left yet.
    arrived: Option<(BarrierId, u64)>,
    /// The locks that others took although it seems to hold them: it must have released them in a wait.
    suspended: Vec<Suspended>,
    /// What was released for the wait that it last woke up from, if it has done nothing since; or, if logged too early, began.
    waited: Option<GivenBack>,
    /// The wait that it released a lock for, and has not woken up from.
    asleep: Option<Asleep>,
}

/// Which locks a thread may have released for a wait.
#[derive(Clone, Copy, Debug)]
enum GivenBack {
    /// The line does not say which.
    Some,
    Only(LockId),
}

impl GivenBack {
    /// For the wait that ends with a given event.
    fn for_wake_up(op: &Op) -> Option<GivenBack> {
        match op {
            Op::Wait(_, lock) => Some(lock.map_or(GivenBack::Some, GivenBack::Only)),
            _ => None,
        }
    }

    fn may_be(self, lock: LockId) -> bool {
        match self {
            GivenBack::Some => true,
            GivenBack::Only(given) => given == lock,
        }
    }
}

impl ThreadState {
    /// Whether it runs, without a pending barrier or wait.
    fn is_at_ease(&self) -> bool {
        self.life == Life::Running
            && self.arrived.is_none()
            && self.suspended.is_empty()
            && self.waited.is_none()
            && self.asleep.is_none()
    }
}

/// A lock that another thread took.
#[derive(Clone, Debug)]
struct Suspended {
    lock: LockId,
    by: ThreadId,
    line: Option<NonZeroU64>,
    /// The thread is known to wait.
    waits: bool,
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug)]
struct Asleep {
    cond: CondId,
    lock: LockId,
    line: Option<NonZeroU64>,
}

impl Asleep {
    /// Whether this is how such a wait ends: with a wake-up, or, after a time-out, by taking its lock,
    /// which the thread may have requested.
    fn can_be_followed_by(&self, op: &Op) -> bool {
        match *op {
            Op::Wait(cond, _) => cond == self.cond,
            Op::Lock(lock) | Op::Request(lock) => lock == self.lock,
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    #[default]
    Unknown,
    /// Only marks of its begin or end.
    Marked,
    Forked,
    Running,
    Joined,
}

impl Discipline {
    /// Accepts the next event of the run, or returns what it contradicts.
    ///
    /// # Errors
    ///
    /// The variants of [`Error`] that concern events; the state is then unchanged.
    pub fn admit(&mut self, event: &Event, symbols: &Symbols) -> Result<(), Error> {
        if self.is_routine(event) {
            return Ok(());
        }
        self.check(event, symbols)?;
        self.apply(event);
        Ok(())
    }

    /// Whether there is nothing to check and nothing to remember, as for most events: reads and writes of a
    /// thread without pending operations.
    #[inline]
    fn is_routine(&self, event: &Event) -> bool {
        let access = matches!(event.op, Op::Read(_) | Op::Write(..) | Op::Update(..));
        let on_its_own = || event.partners().is_empty() && self.stamped == Some(false);
        access
            && on_its_own()
            && self
                .thread(event.thread)
                .is_some_and(ThreadState::is_at_ease)
    }

    /// Whether an event takes a lock that another thread seems to hold. It is admitted nevertheless:
    /// that thread may be waiting for a condition.
    pub fn takes_held_lock(&self, event: &Event) -> bool {
        let taken = event.op.locking().filter(|taken| taken.action.acquires());
        taken.is_some_and(|taken| {
            let holders = self.locks.get(taken.lock.index());
            holders.is_some_and(|h| h.excluding(event.thread, taken.exclusive).is_some())
        })
    }

    /// Declares the end of the run: a thread that seems to hold a lock taken by another no longer wakes up, so
    /// two threads hold one lock. A thread that waits to the end has released its lock by a [`waiting`](Op::Waiting).
    ///
    /// # Errors
    ///
    /// [`Error::HeldToTheEnd`], of the first such lock.
    ///
    /// ```
    /// use portent_monitor_core::{Discipline, Event, Op, Symbols};
    ///
    /// let mut symbols = Symbols::default();
    /// let (a, b) = (symbols.threads.intern("A")?, symbols.threads.intern("B")?);
    /// let (m, c) = (symbols.locks.intern("m")?, symbols.conds.intern("c")?);
    /// let ends_well = |run: &[Event]| {
    ///     let mut discipline = Discipline::default();
    ///     for event in run {
    ///         discipline.admit(event, &symbols)?;
    ///     }
    ///     Ok::<bool, portent_monitor_core::Error>(discipline.finish(&symbols).is_ok())
    /// };
    /// let (locked, taken) = (Event::new(a, Op::Lock(m)), Event::new(b, Op::Lock(m)));
    /// let waiting = Event::new(a, Op::Waiting(c, Some(m)));
    /// assert!(!ends_well(&[locked.clone(), taken.clone()])?);
    /// assert!(ends_well(&[locked, waiting, taken])?);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn finish(&self, symbols: &Symbols) -> Result<(), Error> {
        let threads = self.threads.iter().enumerate();
        let held = threads.flat_map(|(thread, state)| {
            let thread = ThreadId::from_index(thread);
            thread.into_iter().flat_map(|thread| {
                let unexplained = state.suspended.iter().filter(|held| !held.waits);
                unexplained.map(move |held| (thread, held))
            })
        });
        match held.min_by_key(|(_, held)| held.line) {
            None => Ok(()),
            Some((thread, held)) => Err(Error::HeldToTheEnd {
                thread: symbols.threads.name(thread).to_owned(),
                other: symbols.threads.name(held.by).to_owned(),
                lock: symbols.locks.name(held.lock).to_owned(),
                line: held.line,
            }),
        }
    }

    /// Declares that unreadable events are missing. From now on a clock may count more
    /// events of a thread than were seen.
    ///
    /// ```
    /// use portent_monitor_core::{Action, Discipline, Event, Stamped, Symbols};
    ///
    /// let mut symbols = Symbols::default();
    /// let (a, b) = (symbols.threads.intern("a")?, symbols.threads.intern("b")?);
    /// let event = |thread, clock| Event::new(thread, Stamped::new(Action::default(), clock));
    /// let mut discipline = Discipline::default();
    /// discipline.admit(&event(a, vec![(a, 1)]), &symbols)?;
    /// let counts_too_many = event(b, vec![(b, 1), (a, 2)]);
    /// assert!(discipline.admit(&counts_too_many, &symbols).is_err());
    /// discipline.expect_missing_events();
    /// assert!(discipline.admit(&counts_too_many, &symbols).is_ok());
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn expect_missing_events(&mut self) {
        self.clocks.incomplete = true;
    }

    /// The threads whose events the clocks count although none of them was seen.
    pub fn absent_threads(&self) -> impl Iterator<Item = ThreadId> {
        self.clocks.absent()
    }

    /// The threads whose own clocks count more of their events than were seen.
    ///
    /// ```
    /// use portent_monitor_core::{Action, Discipline, Event, Stamped, Symbols};
    ///
    /// let mut symbols = Symbols::default();
    /// let b = symbols.threads.intern("b")?;
    /// let event = |number| Event::new(b, Stamped::new(Action::default(), vec![(b, number)]));
    /// let mut discipline = Discipline::default();
    /// for number in [2, 3, 7] {
    ///     discipline.admit(&event(number), &symbols)?; // 1, 4, 5 and 6 were lost
    /// }
    /// let skipped: Vec<_> = discipline.skipped_events().map(|s| (s.thread, s.count)).collect();
    /// assert_eq!(skipped, [(b, 4)]);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    pub fn skipped_events(&self) -> impl Iterator<Item = SkippedEvents> {
        self.clocks.skipped()
    }

    fn thread(&self, thread: ThreadId) -> Option<&ThreadState> {
        self.threads.get(thread.index())
    }

    fn life(&self, thread: ThreadId) -> Life {
        self.thread(thread).map_or(Life::Unknown, |t| t.life)
    }

    fn check(&self, event: &Event, symbols: &Symbols) -> Result<(), Error> {
        let name = |thread| symbols.threads.name(thread).to_owned();
        let thread = event.thread;
        if self
            .stamped
            .is_some_and(|stamped| stamped != matches!(event.op, Op::Stamped(_)))
        {
            return Err(Error::Mixed);
        }
        let is_mark = matches!(event.op, Op::Marker(_, None));
        for thread in event.threads().filter(|_| !is_mark) {
            if self.life(thread) == Life::Joined {
                return Err(Error::ActsAfterJoin {
                    thread: name(thread),
                });
            }
            self.check_locks(thread, GivenBack::for_wake_up(&event.op), symbols)?;
            self.check_awake(thread, &event.op, symbols)?;
        }
        if let Op::Join(child) = event.op {
            // It has ended, so it was not waiting.
            self.check_locks(child, None, symbols)?;
            self.check_awake(child, &event.op, symbols)?;
        }
        let alone = !matches!(
            event.op,
            Op::Read(_) | Op::Write(..) | Op::Update(..) | Op::Event(_) | Op::Stamped(_)
        );
        if alone && !event.partners().is_empty() {
            let threads: Vec<String> = event.threads().map(name).collect();
            return Err(Error::SeveralThreads {
                threads: threads.join(", "),
            });
        }
        if let Some(locking) = event.op.locking() {
            return self.check_locking(thread, locking, symbols);
        }
        match &event.op {
            Op::Fork(child)
                if *child == thread
                    || matches!(self.life(*child), Life::Forked | Life::Running) =>
            {
                Err(Error::AlreadyStarted {
                    thread: name(thread),
                    child: name(*child),
                })
            }
            Op::Join(child) if *child == thread => Err(Error::JoinsItself {
                thread: name(thread),
            }),
            Op::Join(child) if self.life(*child) == Life::Unknown => Err(Error::UnknownThread {
                thread: name(thread),
                child: name(*child),
            }),
            Op::Recv(chan, msg, _) if !self.sent.contains(&(*chan, *msg)) => Err(Error::NotSent {
                thread: name(thread),
                chan: symbols.chans.name(*chan).to_owned(),
                msg: match msg {
                    Msg::Number(n) => n.to_string(),
                    Msg::Name(name) => symbols.names.name(*name).to_owned(),
                },
            }),
            Op::Barrier(barrier, round) if self.comes_late(thread, *barrier, *round) => {
                Err(Error::LateArrival {
                    thread: name(thread),
                    barrier: symbols.barriers.name(*barrier).to_owned(),
                    round: *round,
                })
            }
            Op::Stamped(stamped) => self.clocks.check(event, stamped, symbols),
            _ => Ok(()),
        }
    }

    fn check_locking(
        &self,
        thread: ThreadId,
        locking: Locking,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        let Locking {
            lock,
            exclusive,
            action,
        } = locking;
        let holds = || self.holds(thread, lock, exclusive);
        match action {
            LockAction::Acquire => self.check_holders(thread, lock, exclusive, symbols),
            LockAction::Reacquire if !holds() => {
                self.check_holders(thread, lock, exclusive, symbols)
            }
            LockAction::Release if !holds() => Err(Error::NotHeld {
                thread: symbols.threads.name(thread).to_owned(),
                lock: symbols.locks.name(lock).to_owned(),
                shared: !exclusive,
            }),
            _ => Ok(()),
        }
    }

    /// A thread can take a lock unless it has a holder that cannot have released it in a wait: a reader does not wait with its
    /// lock, and a thread that has ended does not wait.
    fn check_holders(
        &self,
        thread: ThreadId,
        lock: LockId,
        exclusive: bool,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        let Some(holders) = self.locks.get(lock.index()) else {
            return Ok(());
        };
        let name = |thread| symbols.threads.name(thread).to_owned();
        if let Some((ended, line)) = holders.owner_other_than(thread)
            && self.life(ended) == Life::Joined
        {
            return Err(Error::HeldByEnded {
                thread: name(thread),
                ended: name(ended),
                lock: symbols.locks.name(lock).to_owned(),
                line,
            });
        }
        match holders.reader_other_than(thread).filter(|_| exclusive) {
            None => Ok(()),
            Some((reader, line)) => Err(Error::HeldForReading {
                thread: name(thread),
                reader: name(reader),
                lock: symbols.locks.name(lock).to_owned(),
                line,
            }),
        }
    }

    /// A thread whose lock another took must have waited, and continues by waking up.
    fn check_locks(
        &self,
        thread: ThreadId,
        given_back: Option<GivenBack>,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        let suspended = self
            .thread(thread)
            .map_or(&[][..], |thread| &thread.suspended);
        let held_twice = |lock, other, line| Error::HeldTwice {
            thread: symbols.threads.name(thread).to_owned(),
            other: symbols.threads.name(other).to_owned(),
            lock: symbols.locks.name(lock).to_owned(),
            line,
        };
        for held in suspended.iter().filter(|held| !held.waits) {
            if !given_back.is_some_and(|given| given.may_be(held.lock)) {
                return Err(held_twice(held.lock, held.by, held.line));
            }
            // It holds the lock again.
            let holders = &self.locks[held.lock.index()];
            if let Some(other) = holders.excluding(thread, true) {
                let line = held.line.filter(|_| other == held.by);
                return Err(held_twice(held.lock, other, line));
            }
        }
        Ok(())
    }

    /// A thread that began to wait wakes up before it does anything else.
    fn check_awake(&self, thread: ThreadId, op: &Op, symbols: &Symbols) -> Result<(), Error> {
        let asleep = self.thread(thread).and_then(|thread| thread.asleep);
        match asleep.filter(|asleep| !asleep.can_be_followed_by(op)) {
            None => Ok(()),
            Some(asleep) => Err(Error::NotAwake {
                thread: symbols.threads.name(thread).to_owned(),
                cond: symbols.conds.name(asleep.cond).to_owned(),
                lock: symbols.locks.name(asleep.lock).to_owned(),
                line: asleep.line,
            }),
        }
    }

    /// A thread takes a lock: any apparent holder must be waiting.
    fn take(&mut self, event: &Event, lock: LockId, exclusive: bool) {
        let thread = event.thread;
        let holders = self.holders(lock);
        if holders.excluding(thread, exclusive).is_some() {
            for holder in holders.suspend_others(thread) {
                let waited = self.threads[holder.index()].waited;
                let held = Suspended {
                    lock,
                    by: thread,
                    line: event.line,
                    waits: waited.is_some_and(|given| given.may_be(lock)),
                };
                self.threads[holder.index()].suspended.push(held);
            }
        }
        self.holders(lock).take(thread, exclusive, event.line);
    }

    /// Restores the locks of a thread that waited, if it did.
    fn resume(&mut self, thread: ThreadId) {
        for held in std::mem::take(&mut self.thread_mut(thread).suspended) {
            self.holders(held.lock).resume(thread);
        }
    }

    fn holds(&self, thread: ThreadId, lock: LockId, exclusive: bool) -> bool {
        let holders = self.locks.get(lock.index());
        holders.is_some_and(|holders| holders.holds(thread, exclusive))
    }

    /// Whether a thread arrives at a round that some thread has left. Arriving again means leaving
    /// the first arrival.
    fn comes_late(&self, thread: ThreadId, barrier: BarrierId, round: u64) -> bool {
        let arrived = self.thread(thread).and_then(|thread| thread.arrived);
        let rounds = self.left.get(&barrier);
        arrived == Some((barrier, round)) || rounds.is_some_and(|rounds| rounds.contains(round))
    }

    fn apply(&mut self, event: &Event) {
        let thread = event.thread;
        self.stamped
            .get_or_insert(matches!(event.op, Op::Stamped(_)));
        let is_mark = matches!(event.op, Op::Marker(_, None));
        for thread in event.threads() {
            self.go_on(thread);
            let state = self.thread_mut(thread);
            if is_mark {
                if state.life == Life::Unknown {
                    state.life = Life::Marked;
                }
                continue;
            }
            state.life = Life::Running;
            state.waited = GivenBack::for_wake_up(&event.op);
            if !matches!(event.op, Op::Request(_)) {
                state.asleep = None;
            }
            if !state.suspended.is_empty() {
                self.resume(thread);
            }
        }
        if let Some(Locking {
            lock,
            exclusive,
            action,
        }) = event.op.locking()
        {
            match action {
                LockAction::Reacquire if self.holds(thread, lock, exclusive) => {}
                LockAction::Acquire | LockAction::Reacquire => self.take(event, lock, exclusive),
                LockAction::Release => self.holders(lock).give_back(thread, exclusive),
                LockAction::Fail => {}
            }
        }
        match &event.op {
            Op::Waiting(cond, Some(lock)) => {
                self.thread_mut(thread).asleep = Some(Asleep {
                    cond: *cond,
                    lock: *lock,
                    line: event.line,
                });
            }
            Op::Fork(child) => self.thread_mut(*child).life = Life::Forked,
            Op::Join(child) => {
                self.go_on(*child);
                let child = self.thread_mut(*child);
                child.life = Life::Joined;
                child.suspended.clear();
            }
            Op::Send(chan, msg, _) => {
                self.sent.insert((*chan, *msg));
            }
            Op::Barrier(barrier, round) => {
                self.thread_mut(thread).arrived = Some((*barrier, *round));
            }
            Op::Stamped(stamped) => self.clocks.apply(event, stamped),
            _ => {}
        }
    }

    /// The thread acts after its barrier line, possibly by ending.
    fn go_on(&mut self, thread: ThreadId) {
        if let Some((barrier, round)) = self.thread_mut(thread).arrived.take() {
            self.left.entry(barrier).or_default().insert(round);
        }
    }

    fn thread_mut(&mut self, thread: ThreadId) -> &mut ThreadState {
        thread.entry(&mut self.threads)
    }

    fn holders(&mut self, lock: LockId) -> &mut Holders {
        lock.entry(&mut self.locks)
    }
}
