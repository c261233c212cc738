//! **The** causality relation, online: relevant vector clocks.
//!
//! Events are fed in observed order. Those that matter to a property are *relevant*; only they
//! tick, and each gets a [`Stamp`]: its chain and the count of relevant events of every chain in
//! its past. Then e ≼ e' iff e's own count is ≤ that component of e', for the relation of
//! [`definition`](crate::definition) restricted to relevant events.
//!
//! After K. Sen, *Scalable Automated Methods for Dynamic Program Analysis* (2006), chapter 3: a
//! thread has a clock; an object that orders events has a clock of its updates and one of its
//! reads. A read receives the updates and adds to the reads, a write receives and replaces both, so
//! that reads do not order each other.
//!
//! | file | |
//! |---|---|
//! | `edges` | the table: what each operation receives from objects and leaves there |
//! | `locking` | the effects of operations on locks: which thread holds which |
//! | `knowledge` | the effect of an access to an object, independent of what is carried along |
//! | `thread_clock` | the clock that a thread carries along |
//! | `recycled` | how the clocks of a trace are held |
//! | `chains` | the components of clocks |
//! | `flow` | all threads and objects of a run observed from outside |
//!
//! An event of known threads and objects allocates nothing, except for data that grows with the events: messages, and the lines
//! of a trace with clocks.
//!
//! The weak point is a trace in which every event is relevant and hundreds of threads really
//! overlap: each tick then copies a clock of that length.

mod chains;
mod edges;
mod flow;
mod knowledge;
mod locking;
mod recycled;
mod thread_clock;

use std::sync::Arc;

use self::recycled::Recycled;
pub use self::{
    chains::{Chain, Chains},
    edges::{Access, Object, Role, access_of, edges},
    flow::Flow,
    knowledge::{Knowledge, ObjectClock},
    locking::{LockAction, Locking},
    thread_clock::{Hold, Snapshot, ThreadClock, Version},
};
use crate::{ChainId, Clock, Error, Event, Op, ThreadId};

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
/// with a different relevance, may be fed from one stream: an instance copies nothing out of an event.
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
    flow: Flow<ThreadClock<Recycled>>,
    chains: Chains,
}

impl Causality {
    /// Takes the next event of the observed run; a relevant one gets its stamp.
    ///
    /// # Errors
    ///
    /// [`Error::ClockFull`] when a count does not fit in 32 bits; [`Error::TooManyChains`].
    pub fn step(&mut self, event: &Event, relevant: bool) -> Result<Option<Stamp>, Error> {
        let advanced = self.advance(event, relevant, ThreadClock::stamp)?;
        Ok(advanced.flatten())
    }

    /// As [`step`](Self::step), for callers that examine the stamp only once: `read` is called with the chain of a relevant
    /// event, and the relevant events in its past, including itself. This allocates nothing.
    ///
    /// ```
    /// use portent_monitor_core::{Causality, Event, Op, Symbols};
    ///
    /// let mut s = Symbols::default();
    /// let (t, x) = (s.threads.intern("T1")?, s.vars.intern("x")?);
    /// let mut causality = Causality::default();
    /// let write = Event::new(t, Op::Write(x, None));
    /// let number = causality.step_with(&write, true, |chain, clock| clock.get(chain))?;
    /// assert_eq!(number, Some(1));
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    pub fn step_with<R>(
        &mut self,
        event: &Event,
        relevant: bool,
        read: impl FnOnce(ChainId, &Clock) -> R,
    ) -> Result<Option<R>, Error> {
        let advanced = self.advance(event, relevant, |thread| {
            thread.place().map(|(chain, clock)| read(chain, clock))
        })?;
        Ok(advanced.flatten())
    }

    fn advance<R>(
        &mut self,
        event: &Event,
        relevant: bool,
        read: impl FnOnce(&mut ThreadClock<Recycled>) -> R,
    ) -> Result<Option<R>, Error> {
        if let Op::Join(child) = event.op {
            self.end(child);
        }
        let chains = &mut self.chains;
        self.flow.step(event, |thread| {
            if !relevant {
                return Ok(None);
            }
            thread.tick(|past| chains.acquire(past))?;
            Ok(Some(read(thread)))
        })
    }

    /// How many relevant events of each chain are in the past of a thread's next event, without what that event itself
    /// receives; missing components count as 0.
    ///
    /// ```
    /// use portent_monitor_core::{Causality, Event, Op, Symbols};
    ///
    /// let mut s = Symbols::default();
    /// let (t1, t2, x) = (s.threads.intern("T1")?, s.threads.intern("T2")?, s.vars.intern("x")?);
    /// let mut causality = Causality::default();
    /// causality.step(&Event::new(t1, Op::Write(x, None)), true)?;
    /// assert_eq!(causality.past(t2), []);
    /// causality.step(&Event::new(t2, Op::Write(x, None)), true)?;
    /// assert_eq!(causality.past(t2), [1, 1]);
    /// # Ok::<(), portent_monitor_core::Error>(())
    /// ```
    #[inline]
    pub fn past(&mut self, thread: ThreadId) -> &[u32] {
        self.flow.thread(thread).past()
    }

    /// Declares that a thread has ended although no thread joined it, so that its chain can be reused.
    /// It must not act again.
    pub fn end(&mut self, thread: ThreadId) {
        if let Some(chain) = self.flow.thread(thread).end() {
            self.chains.release(chain);
        }
    }

    /// The number of threads, objects and messages that may have a clock.
    pub fn places(&self) -> usize {
        self.flow.places()
    }

    /// The approximate size of all clocks in bytes: if all threads synchronise, it grows with the square of their number.
    /// Visits all clocks.
    ///
    /// ```
    /// use portent_monitor_core::{Causality, Event, Op, Symbols};
    ///
    /// let mut s = Symbols::default();
    /// let mut causality = Causality::default();
    /// let lock = s.locks.intern("m")?;
    /// for number in 0..1000 {
    ///     let thread = s.threads.intern(&format!("T{number}"))?;
    ///     causality.step(&Event::new(thread, Op::Lock(lock)), true)?;
    ///     causality.step(&Event::new(thread, Op::Unlock(lock)), true)?;
    /// }
    /// // The n-th thread knows of the n before it.
    /// assert!((2_000_000..4_000_000).contains(&causality.bytes()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bytes(&self) -> usize {
        self.flow.bytes()
    }

    /// The number of chains: the length of the longest clock.
    pub fn chains(&self) -> usize {
        self.chains.len()
    }
}
