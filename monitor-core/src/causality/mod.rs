//! **The** causality relation, online: relevant vector clocks.
//!
//! Events are fed in observed order. Those that matter to a property are *relevant*; only they
//! tick, and each gets a [`Stamp`]: its chain and the count of relevant events of every chain in
//! its past. Then e ≼ e' iff e's own count is ≤ that component of e', for the relation of
//! [`definition`](crate::definition) restricted to relevant events.
//!
//! After K. Sen, *Scalable Automated Methods for Dynamic Program Analysis* (2006), chapter 3: a
//! thread has a clock; what events are ordered through has a clock of its updates and one of its
//! reads. A read receives the updates and adds to the reads, a write receives and replaces both, so
//! that reads do not order each other.
//!
//! | file | |
//! |---|---|
//! | `edges` | the table: which operation receives from what, and leaves something where |
//! | `knowledge` | what an access of an object does, whatever is carried along |
//! | `thread_clock` | the clock that a thread carries along |
//! | `chains` | the components of clocks |
//! | `flow` | all threads and objects of a run that is seen from outside |
//!
//! The weak point is a trace in which every event is relevant and hundreds of threads really
//! overlap: each tick then copies a clock of that length.

mod chains;
mod edges;
mod flow;
mod knowledge;
mod thread_clock;

use std::sync::Arc;

pub use self::{
    chains::{Chain, Chains},
    edges::{Access, Object, edges},
    flow::Flow,
    knowledge::{Knowledge, ObjectClock},
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
    flow: Flow<ThreadClock>,
    chains: Chains,
}

impl Causality {
    /// Takes the next event of the observed run; a relevant one gets its stamp.
    ///
    /// # Errors
    ///
    /// [`Error::ClockFull`] when a count does not fit in 32 bits; [`Error::TooManyChains`].
    pub fn step(&mut self, event: &Event, relevant: bool) -> Result<Option<Stamp>, Error> {
        if let Op::Join(child) = event.op {
            self.end(child);
        }
        let chains = &mut self.chains;
        self.flow.step(event, |thread| {
            if !relevant {
                return Ok(None);
            }
            thread.tick(|past| chains.acquire(past))?;
            Ok(thread.stamp())
        })
    }

    /// Tells that a thread has ended though nobody joined it, so that its chain can be reused.
    /// It must not act again.
    pub fn end(&mut self, thread: ThreadId) {
        if let Some(chain) = self.flow.thread(thread).end() {
            self.chains.release(chain);
        }
    }

    /// How many chains there are: the length of the longest clock.
    pub fn chains(&self) -> usize {
        self.chains.len()
    }
}
