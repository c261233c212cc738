//! The vector clock of one thread, to be held inside the thread.
//!
//! Since irrelevant events do not tick, clocks seldom change, and most receipts change nothing.
//! Clocks are therefore shared, not copied, and each distinct one has a version: equal versions are
//! equal clocks, and a version that a thread has lately received, or made itself, is known to it. Then
//! a receipt is a comparison of two numbers.
//!
//! **Nothing here is common to threads.** A version is made of the number of its thread and a count
//! of that thread's own; the count of relevant events is the thread's, and becomes part of the shared
//! clock when somebody asks for that; the chain is the thread's until it ends.

use std::sync::Arc;

use super::{chains::Chain, knowledge::Knowledge};
use crate::{Clock, Error, Stamp, ThreadId};

/// Which distinct clock: 28 bits for the thread that made it, one that says whether it was made
/// inside an object, and 35 for the thread's own count. 0 is the empty clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Version(u64);

const COUNT_BITS: u32 = 35;
const MERGED: u64 = 1 << COUNT_BITS;
const THREAD_SHIFT: u32 = COUNT_BITS + 1;

impl Version {
    const EMPTY: Version = Version(0);

    /// A version that a thread made of its own clock, so that the thread knows all that is in it.
    #[inline]
    fn is_of(self, own: Version) -> bool {
        self.0 >> COUNT_BITS == own.0 >> COUNT_BITS
    }
}

/// A clock that several owners hold.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// `None` is the empty clock: there may be millions of them.
    clock: Option<Arc<Clock>>,
    version: Version,
}

impl Snapshot {
    fn le(&self, other: &Snapshot) -> bool {
        match (&self.clock, &other.clock) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(this), Some(other)) => this.le(other),
        }
    }

    /// Joins a clock that is not contained in this one; `version` names the result if it is a new one.
    fn join(&mut self, other: &Snapshot, version: impl FnOnce() -> Version) {
        if self.le(other) {
            self.clone_from(other);
        } else if let (Some(this), Some(other)) = (&mut self.clock, &other.clock) {
            Arc::make_mut(this).join(other);
            self.version = version();
        }
    }
}

/// What one thread knows: how many relevant events of each chain are in its past.
///
/// It [receives](Knowledge::receive) what others left at an object, [ticks](Self::tick) if its event
/// is relevant, and [publishes](Knowledge::publish) at the object. All that can be done by the thread
/// itself while it holds the object.
#[derive(Clone, Debug)]
pub struct ThreadClock {
    now: Snapshot,
    /// The last version that this thread made, of its own clock or for an object.
    made: Version,
    chain: Option<Chain>,
    /// The chain's count is not in the clock yet.
    behind: bool,
    /// Versions received lately, by their low bits: a cache, so that missing one costs only time.
    received: [Version; 8],
}

impl ThreadClock {
    /// Counts a relevant event and returns its number on the thread's chain. `acquire` is asked for a
    /// chain if the thread has none, and told the thread's past.
    ///
    /// # Errors
    ///
    /// Those of `acquire`; [`Error::ClockFull`] if the count does not fit in 32 bits, or after 2³⁴
    /// versions. Then the thread may go on with a clock of another number that
    /// [learns](Knowledge::learn) what this one [left](Knowledge::left).
    #[inline]
    pub fn tick(
        &mut self,
        acquire: impl FnOnce(&Clock) -> Result<Chain, Error>,
    ) -> Result<u32, Error> {
        let chain = match &mut self.chain {
            Some(chain) => chain,
            None => {
                let empty = Clock::default();
                let past = self.now.clock.as_deref().unwrap_or(&empty);
                self.chain.insert(acquire(past)?)
            }
        };
        if self.made.0 & (1 << (COUNT_BITS - 1)) != 0 {
            return Err(Error::ClockFull);
        }
        let number = chain.tick()?;
        self.behind = true;
        self.now.version = self.fresh();
        Ok(number)
    }

    /// The stamp of the event that ticked last; `None` if none did.
    pub fn stamp(&mut self) -> Option<Stamp> {
        self.settle();
        let chain = self.chain.as_ref()?.id();
        let clock = Arc::clone(self.now.clock.as_ref()?);
        Some(Stamp { chain, clock })
    }

    /// The relevant events in the past.
    pub fn clock(&mut self) -> Clock {
        self.settle();
        self.now.clock.as_deref().cloned().unwrap_or_default()
    }

    /// The thread has ended: its chain may be given to another thread. What it left stays valid.
    pub fn end(&mut self) -> Option<Chain> {
        self.settle();
        self.chain.take()
    }

    /// A version that nobody has had.
    #[inline]
    fn fresh(&mut self) -> Version {
        self.made.0 += 1;
        self.made
    }

    /// Puts the chain's count where others can read it.
    #[inline]
    fn settle(&mut self) {
        if self.behind {
            self.behind = false;
            if let Some(chain) = &self.chain {
                let clock = self.now.clock.get_or_insert_default();
                Arc::make_mut(clock).set(chain.id(), chain.count());
            }
        }
    }

    #[inline(never)]
    fn join(&mut self, left: &Snapshot) {
        self.settle();
        if !left.le(&self.now) {
            let made = &mut self.made;
            self.now.join(left, || {
                made.0 += 1;
                *made
            });
        }
    }
}

/// A version of what has more in it than the thread knows that makes it.
fn merged(made: &mut Version) -> Version {
    made.0 += 1;
    Version(made.0 | MERGED)
}

impl Knowledge for ThreadClock {
    type Left = Snapshot;

    fn new(thread: ThreadId) -> ThreadClock {
        ThreadClock {
            now: Snapshot::default(),
            made: Version((thread.index() as u64) << THREAD_SHIFT),
            chain: None,
            behind: false,
            received: [Version::EMPTY; 8],
        }
    }

    #[inline]
    fn is_empty(left: &Snapshot) -> bool {
        left.version == Version::EMPTY
    }

    #[inline]
    fn learn(&mut self, left: &Snapshot) {
        let version = left.version;
        if version == Version::EMPTY || version == self.now.version || version.is_of(self.made) {
            return;
        }
        let slot = &mut self.received[(version.0 % 8) as usize];
        if *slot != version {
            *slot = version;
            self.join(left);
        }
    }

    #[inline]
    fn add_to(&mut self, left: &mut Snapshot) {
        if left.version == self.now.version {
            return;
        }
        self.settle();
        if !self.now.le(left) {
            left.join(&self.now, || merged(&mut self.made));
        }
    }

    fn merge(&mut self, left: &Snapshot, into: &mut Snapshot) {
        if !left.le(into) {
            into.join(left, || merged(&mut self.made));
        }
    }

    #[inline]
    fn left(&mut self) -> Snapshot {
        self.settle();
        self.now.clone()
    }

    #[inline]
    fn is_same(&self, left: &Snapshot) -> bool {
        left.version == self.now.version
    }
}
