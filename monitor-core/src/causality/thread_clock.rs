//! The vector clock of one thread, to be held inside the thread.
//!
//! Since irrelevant events do not tick, clocks seldom change, and most receipts change nothing.
//! Each distinct clock has a version: equal versions are equal clocks, and a thread knows the versions that it
//! recently received or made. For these, a receipt is a comparison of two numbers.
//!
//! The only choice is how clocks are [held](Hold). An observer from outside shares
//! them, since it keeps many equal ones. In a running program each thread and object
//! has its own clock, which is overwritten in place: sharing would allocate whenever a thread that has left
//! its clock at an object counts further.
//!
//! **Threads share no state here.** A version consists of the number of its thread and that thread's
//! count of versions; the count of relevant events belongs to the thread, and is written into the
//! clock when the clock is read; the chain belongs to the thread until it ends.

use std::{fmt::Debug, mem, ops::Deref, sync::Arc};

use super::{chains::Chain, knowledge::Knowledge};
use crate::{ChainId, Clock, Error, Stamp, ThreadId};

/// Identifies a distinct clock: 28 bits for the thread that made it, one that says whether it was made
/// inside an object, and 35 for the thread's count, which is even. 0 is the empty clock.
///
/// ```
/// use portent_monitor_core::Version;
///
/// assert_ne!(Version::EMPTY, Version::NONE);
/// assert_eq!(Version::from_bits(Version::EMPTY.bits()), Version::EMPTY);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version(u64);

const COUNT_BITS: u32 = 35;
const MERGED: u64 = 1 << COUNT_BITS;
const THREAD_SHIFT: u32 = COUNT_BITS + 1;
const STEP: u64 = 2;

impl Version {
    /// The version of the empty clock.
    pub const EMPTY: Version = Version(0);
    /// A version that no clock has.
    pub const NONE: Version = Version(u64::MAX);

    /// The version as a number, for storing in an atomic. It is even, except for
    /// [`NONE`](Self::NONE).
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The version with this number.
    #[inline]
    pub const fn from_bits(bits: u64) -> Version {
        Version(bits)
    }

    /// A version that a thread made of its own clock: the thread knows everything in it.
    #[inline]
    fn is_of(self, own: Version) -> bool {
        self.0 >> COUNT_BITS == own.0 >> COUNT_BITS
    }
}

/// How threads and objects hold their clocks.
pub trait Hold: Deref<Target = Clock> + Default + Clone + Debug {
    /// Whether a copy shares the original clock.
    const SHARED: bool;

    /// The clock, for changes by this holder alone.
    fn get_mut(&mut self) -> &mut Clock;

    /// Copies the clock of another holder.
    fn assign(&mut self, other: &Self);

    /// Releases the clock.
    fn clear(held: &mut Option<Self>);

    /// A lasting reference to the clock, or a copy of it.
    fn share(&self) -> Arc<Clock>;

    /// Its size in bytes, divided by the number of owners.
    fn bytes(&self) -> usize {
        self.deref().bytes()
    }
}

/// Clocks are shared: a copy costs nothing, and changing a shared clock makes a new one.
impl Hold for Arc<Clock> {
    const SHARED: bool = true;

    #[inline]
    fn get_mut(&mut self) -> &mut Clock {
        Arc::make_mut(self)
    }

    #[inline]
    fn assign(&mut self, other: &Self) {
        *self = Arc::clone(other);
    }

    #[inline]
    fn clear(held: &mut Option<Self>) {
        *held = None;
    }

    #[inline]
    fn share(&self) -> Arc<Clock> {
        Arc::clone(self)
    }
}

/// Each thread and object owns its clock permanently: a copy overwrites what was there.
impl Hold for Box<Clock> {
    const SHARED: bool = false;

    #[inline]
    fn get_mut(&mut self) -> &mut Clock {
        self
    }

    #[inline]
    fn assign(&mut self, other: &Self) {
        self.copy_from(other);
    }

    #[inline]
    fn clear(_: &mut Option<Self>) {}

    fn share(&self) -> Arc<Clock> {
        Arc::new(Clock::clone(self))
    }
}

/// A clock that was left at an object.
#[derive(Clone, Debug)]
pub struct Snapshot<H = Arc<Clock>> {
    /// Meaningless if the version is that of the empty clock, because there may be millions of those.
    clock: Option<H>,
    version: Version,
}

impl<H> Snapshot<H> {
    /// The empty past.
    pub const EMPTY: Self = Snapshot {
        clock: None,
        version: Version::EMPTY,
    };

    /// Its version.
    #[inline]
    pub const fn version(&self) -> Version {
        self.version
    }
}

impl<H> Default for Snapshot<H> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<H: Hold> Snapshot<H> {
    #[inline]
    fn clock(&self) -> Option<&H> {
        match self.version {
            Version::EMPTY => None,
            _ => self.clock.as_ref(),
        }
    }

    fn le(&self, other: &Self) -> bool {
        match (self.clock(), other.clock()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(this), Some(other)) => this.le(other),
        }
    }

    #[inline]
    fn assign(&mut self, other: &Self) {
        match (&mut self.clock, other.clock()) {
            (Some(this), Some(other)) => this.assign(other),
            (this, Some(other)) => *this = Some(other.clone()),
            (this, None) => H::clear(this),
        }
        self.version = other.version;
    }

    /// Resets it to the empty past.
    #[inline]
    pub fn clear(&mut self) {
        H::clear(&mut self.clock);
        self.version = Version::EMPTY;
    }

    /// Joins a clock that is not contained in this one; `version` names the result if it is a new one.
    fn join(&mut self, other: &Self, version: impl FnOnce() -> Version) {
        if self.le(other) {
            self.assign(other);
        } else if let (Some(this), Some(other)) = (&mut self.clock, other.clock()) {
            this.get_mut().join(other);
            self.version = version();
        }
    }
}

/// The knowledge of one thread: how many relevant events of each chain are in its past.
///
/// It [receives](Knowledge::receive) what other threads left at an object, [ticks](Self::tick) if its event
/// is relevant, and [publishes](Knowledge::publish) at the object. The thread itself can do all of this
/// while it holds the object.
#[derive(Clone, Debug)]
pub struct ThreadClock<H = Arc<Clock>> {
    now: Snapshot<H>,
    /// The last version that this thread made, of its clock or for an object.
    made: Version,
    /// The last version when it most recently learnt something, or changed its chain. Clocks of its later versions differ only
    /// in its count.
    settled: Version,
    chain: Option<Chain>,
    /// The chain's count has not been written into the clock yet.
    behind: bool,
    /// Something was learnt since the last call of [`take_news`](ThreadClock::take_news).
    news: bool,
    /// Recently received versions, by their low bits: a cache, so that a miss costs only time.
    received: [Version; 8],
}

impl<H> ThreadClock<H> {
    /// The clock of a thread that has done nothing. No other clock that it may ever meet
    /// may have the same number.
    pub const fn numbered(number: u32) -> Self {
        assert!(number < 1 << (u64::BITS - THREAD_SHIFT));
        let made = Version((number as u64) << THREAD_SHIFT);
        ThreadClock {
            now: Snapshot::EMPTY,
            made,
            settled: made,
            chain: None,
            behind: false,
            news: false,
            received: [Version::EMPTY; 8],
        }
    }

    /// The current version.
    #[inline]
    pub const fn version(&self) -> Version {
        self.now.version
    }

    /// The chain that it counts on, if it has ticked.
    #[inline]
    pub const fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref()
    }

    /// Continues to make versions under another number, after [`Error::ClockFull`].
    pub fn renumber(&mut self, number: u32) {
        self.made = Self::numbered(number).made;
        self.settled = self.made;
    }

    /// Whether more versions can be made under its number: 2³³ of them.
    #[inline]
    pub const fn has_versions(&self) -> bool {
        self.made.0 & (1 << (COUNT_BITS - 1)) == 0
    }

    /// A fresh version.
    #[inline]
    fn fresh(&mut self) -> Version {
        self.made.0 += STEP;
        self.made
    }
}

impl<H: Hold> ThreadClock<H> {
    /// Counts a relevant event and returns its number on the thread's chain. If the thread has no
    /// chain, `acquire` is called with the thread's past to get one.
    ///
    /// # Errors
    ///
    /// Those of `acquire`; [`Error::ClockFull`] if the count does not fit in 32 bits, or after 2³³
    /// versions. Then the thread may [end](Self::end) its chain or
    /// [take another number](Self::renumber), and continue.
    #[inline]
    pub fn tick(
        &mut self,
        acquire: impl FnOnce(&Clock) -> Result<Chain, Error>,
    ) -> Result<u32, Error> {
        let chain = match &mut self.chain {
            Some(chain) => chain,
            None => {
                let empty = Clock::default();
                let past = self.now.clock().map_or(&empty, |clock| clock);
                self.chain.insert(acquire(past)?)
            }
        };
        if self.made.0 & (1 << (COUNT_BITS - 1)) != 0 {
            return Err(Error::ClockFull);
        }
        let number = chain.tick().ok_or(Error::ClockFull)?;
        self.behind = true;
        self.now.version = self.fresh();
        Ok(number)
    }

    /// Counts a relevant event as [`tick`](Self::tick) does, if it has a chain that is not full; this is
    /// cheaper.
    #[inline]
    pub fn tick_on(&mut self) -> bool {
        if let Some(chain) = &mut self.chain
            && self.made.0 & (1 << (COUNT_BITS - 1)) == 0
            && chain.tick().is_some()
        {
            self.behind = true;
            self.now.version = self.fresh();
            return true;
        }
        false
    }

    /// The relevant events in the past.
    pub fn clock(&mut self) -> Clock {
        self.settle();
        self.now
            .clock()
            .map(|clock| Clock::clone(clock))
            .unwrap_or_default()
    }

    /// How many relevant events of each chain are in the past; missing components count as 0.
    #[inline]
    pub fn past(&mut self) -> &[u32] {
        self.settle();
        self.now.clock().map_or(&[], |clock| clock.counts())
    }

    /// The stamp of the event that ticked last; `None` if none did.
    pub fn stamp(&mut self) -> Option<Stamp> {
        self.settle();
        let chain = self.chain.as_ref()?.id();
        let clock = self.now.clock()?.share();
        Some(Stamp { chain, clock })
    }

    /// The content of the stamp of the event that ticked last, without making a stamp.
    #[inline]
    pub fn place(&mut self) -> Option<(ChainId, &Clock)> {
        self.settle();
        let chain = self.chain.as_ref()?.id();
        Some((chain, self.now.clock()?))
    }

    /// Whether something was learnt since the last call.
    #[inline]
    pub fn take_news(&mut self) -> bool {
        mem::take(&mut self.news)
    }

    /// Calls `visit` with the counts of other chains that are not in `told`, and adds them to it.
    pub fn tell_news(&self, told: &mut Clock, mut visit: impl FnMut(ChainId, u32)) {
        let own = self.chain.as_ref().map(Chain::id);
        let Some(clock) = self.now.clock() else {
            return;
        };
        for (index, &count) in clock.counts().iter().enumerate() {
            if let Some(chain) = ChainId::from_index(index)
                && Some(chain) != own
                && told.get(chain) < count
            {
                told.set(chain, count);
                visit(chain, count);
            }
        }
    }

    /// Learns counts that were not left at an object, but came from another process, for example.
    ///
    /// ```
    /// use portent_monitor_core::{ChainId, Clock, ThreadClock};
    ///
    /// let mut clock = ThreadClock::<Box<Clock>>::numbered(1);
    /// let before = clock.version();
    /// clock.learn_counts([(ChainId::from_index(1).unwrap(), 3)]);
    /// assert_eq!(clock.clock().counts(), [0, 3]);
    /// assert_ne!(clock.version(), before);
    /// ```
    pub fn learn_counts(&mut self, counts: impl IntoIterator<Item = (ChainId, u32)>) {
        self.settle();
        if self.now.version == Version::EMPTY {
            self.now.clock = None;
        }
        for (chain, count) in counts {
            let known = self.now.clock.as_ref().map_or(0, |clock| clock.get(chain));
            if count > known {
                let clock = self.now.clock.get_or_insert_default();
                clock.get_mut().set(chain, count);
                self.news = true;
                self.settled = self.made;
                self.now.version = self.fresh();
            }
        }
    }

    /// The thread has ended: its chain may be given to another thread. What it left stays valid.
    pub fn end(&mut self) -> Option<Chain> {
        self.settle();
        self.settled = self.made;
        self.chain.take()
    }

    /// Writes the chain's count to where other threads can read it.
    #[inline]
    fn settle(&mut self) {
        if self.behind {
            self.behind = false;
            if let Some(chain) = &self.chain {
                let clock = self.now.clock.get_or_insert_default();
                clock.get_mut().set(chain.id(), chain.count());
            }
        }
    }

    #[inline(never)]
    fn join(&mut self, left: &Snapshot<H>) {
        self.settle();
        if !left.le(&self.now) {
            self.news = true;
            self.settled = self.made;
            let made = &mut self.made;
            self.now.join(left, || {
                made.0 += STEP;
                *made
            });
        }
    }
}

/// A version for a clock that contains more than the thread making it knows.
fn merged(made: &mut Version) -> Version {
    made.0 += STEP;
    Version(made.0 | MERGED)
}

impl<H: Hold> Knowledge for ThreadClock<H> {
    type Published = Snapshot<H>;

    fn new(thread: ThreadId) -> Self {
        // More threads than 28 bits can number would need as many clocks, which is a terabyte.
        Self::numbered(thread.index() as u32)
    }

    #[inline]
    fn is_empty(left: &Snapshot<H>) -> bool {
        left.version == Version::EMPTY
    }

    #[inline]
    fn clear(left: &mut Snapshot<H>) {
        left.clear();
    }

    #[inline]
    fn learn(&mut self, left: &Snapshot<H>) {
        let version = left.version;
        if version == Version::EMPTY || version == self.now.version || version.is_of(self.made) {
            return;
        }
        let slot = &mut self.received[(version.0 / STEP % 8) as usize];
        if *slot != version {
            *slot = version;
            self.join(left);
        }
    }

    #[inline]
    fn add_to(&mut self, left: &mut Snapshot<H>) {
        if left.version == self.now.version {
            return;
        }
        self.settle();
        if !self.now.le(left) {
            left.join(&self.now, || merged(&mut self.made));
        }
    }

    fn merge(&mut self, left: &Snapshot<H>, into: &mut Snapshot<H>) {
        if !left.le(into) {
            into.join(left, || merged(&mut self.made));
        }
    }

    #[inline]
    fn left(&mut self) -> Snapshot<H> {
        self.settle();
        self.now.clone()
    }

    #[inline]
    fn leave(&mut self, at: &mut Snapshot<H>) {
        if H::SHARED {
            self.settle();
            return at.assign(&self.now);
        }
        // The count is written into the copy only: reading a clock as a whole just after a part of it
        // was written stalls the processor.
        let is_own = at.version.is_of(self.made) && at.version.0 > self.settled.0;
        if is_own {
            at.version = self.now.version;
        } else {
            at.assign(&self.now);
        }
        if (self.behind || is_own)
            && let Some(chain) = &self.chain
        {
            let clock = at.clock.get_or_insert_default();
            clock.get_mut().set(chain.id(), chain.count());
        }
    }

    #[inline]
    fn is_same(&self, left: &Snapshot<H>) -> bool {
        left.version == self.now.version
    }

    fn bytes_left(left: &Snapshot<H>) -> usize {
        left.clock.as_ref().map_or(0, Hold::bytes)
    }

    fn bytes(&self) -> usize {
        Self::bytes_left(&self.now)
    }
}
