//! The vector clock of one thread, to be held inside the thread.
//!
//! Since irrelevant events do not tick, clocks seldom change, and most receipts change nothing.
//! Each distinct clock has a version: equal versions are equal clocks, and a version that a thread has
//! lately received, or made itself, is known to it. Then a receipt is a comparison of two numbers.
//!
//! How clocks are [held](Hold) is the one choice there is. Who looks at a run from outside has
//! them shared, since it keeps many that are the same. In a running program each thread and object
//! has its own, which is written over in place: sharing would allocate whenever a thread that has left
//! its clock somewhere counts on.
//!
//! **Nothing here is common to threads.** A version is made of the number of its thread and a count
//! of that thread's own; the count of relevant events is the thread's, and becomes part of the
//! clock when somebody asks for that; the chain is the thread's until it ends.

use std::{fmt::Debug, mem, ops::Deref, sync::Arc};

use super::{chains::Chain, knowledge::Knowledge};
use crate::{ChainId, Clock, Error, Stamp, ThreadId};

/// Which distinct clock: 28 bits for the thread that made it, one that says whether it was made
/// inside an object, and 35 for the thread's own count, which is even. 0 is the empty clock.
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
    /// The version of the clock that counts nothing.
    pub const EMPTY: Version = Version(0);
    /// What no clock has as its version.
    pub const NONE: Version = Version(u64::MAX);

    /// The version as a number, to be kept in an atomic. It is even, except for
    /// [`NONE`](Self::NONE).
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The version that has this number.
    #[inline]
    pub const fn from_bits(bits: u64) -> Version {
        Version(bits)
    }

    /// A version that a thread made of its own clock, so that the thread knows all that is in it.
    #[inline]
    fn is_of(self, own: Version) -> bool {
        self.0 >> COUNT_BITS == own.0 >> COUNT_BITS
    }
}

/// How threads and objects hold their clocks.
pub trait Hold: Deref<Target = Clock> + Default + Clone + Debug {
    /// Whether a copy is the same clock.
    const SHARED: bool;

    /// The clock, to be changed by this holder alone.
    fn get_mut(&mut self) -> &mut Clock;

    /// Becomes what another holds.
    fn assign(&mut self, other: &Self);

    /// Holds nothing any more.
    fn clear(held: &mut Option<Self>);

    /// The clock, for somebody to keep.
    fn share(&self) -> Arc<Clock>;

    /// Its bytes, divided by how many have it.
    fn bytes(&self) -> usize {
        self.deref().bytes()
    }
}

/// Many have the same clock: a copy costs nothing, and a change of what others have is a new clock.
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

/// Everybody has a clock of his own, for good: a copy is written over what was there.
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

/// A clock that was left somewhere.
#[derive(Clone, Debug)]
pub struct Snapshot<H = Arc<Clock>> {
    /// Of no meaning if the version is that of the empty clock, of which there may be millions.
    clock: Option<H>,
    version: Version,
}

impl<H> Snapshot<H> {
    /// Of nothing.
    pub const EMPTY: Self = Snapshot {
        clock: None,
        version: Version::EMPTY,
    };

    /// Which clock it is.
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

    /// Becomes that of nothing.
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

/// What one thread knows: how many relevant events of each chain are in its past.
///
/// It [receives](Knowledge::receive) what others left at an object, [ticks](Self::tick) if its event
/// is relevant, and [publishes](Knowledge::publish) at the object. All that can be done by the thread
/// itself while it holds the object.
#[derive(Clone, Debug)]
pub struct ThreadClock<H = Arc<Clock>> {
    now: Snapshot<H>,
    /// The last version that this thread made, of its own clock or for an object.
    made: Version,
    /// The last that it had made when it learnt something, or changed its chain. Its clocks of later versions differ in its
    /// own count alone.
    settled: Version,
    chain: Option<Chain>,
    /// The chain's count is not in the clock yet.
    behind: bool,
    /// Something was learnt since somebody asked.
    news: bool,
    /// Versions received lately, by their low bits: a cache, so that missing one costs only time.
    received: [Version; 8],
}

impl<H> ThreadClock<H> {
    /// The clock of a thread that has done nothing. No other clock, of those that meet, may ever
    /// have the same number.
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

    /// Which clock it is now.
    #[inline]
    pub const fn version(&self) -> Version {
        self.now.version
    }

    /// The chain that it counts on, if it ever ticked.
    #[inline]
    pub const fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref()
    }

    /// Goes on making versions under another number, after [`Error::ClockFull`].
    pub fn renumber(&mut self, number: u32) {
        self.made = Self::numbered(number).made;
        self.settled = self.made;
    }

    /// Whether more versions can be made under its number: 2³³ of them.
    #[inline]
    pub const fn has_versions(&self) -> bool {
        self.made.0 & (1 << (COUNT_BITS - 1)) == 0
    }

    /// A version that nobody has had.
    #[inline]
    fn fresh(&mut self) -> Version {
        self.made.0 += STEP;
        self.made
    }
}

impl<H: Hold> ThreadClock<H> {
    /// Counts a relevant event and returns its number on the thread's chain. `acquire` is asked for a
    /// chain if the thread has none, and told the thread's past.
    ///
    /// # Errors
    ///
    /// Those of `acquire`; [`Error::ClockFull`] if the count does not fit in 32 bits, or after 2³³
    /// versions. Then the thread may [end](Self::end) its chain or
    /// [take another number](Self::renumber), and go on.
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

    /// Counts a relevant event as [`tick`](Self::tick) does, if it has a chain and that is not full; and is the cheaper
    /// for that.
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

    /// How many relevant events of each chain are in the past; those that are missing count 0.
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

    /// What the stamp of the event that ticked last says, without making one.
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

    /// Calls `visit` with what is known of other chains and is not in `told`, which then has it.
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

    /// Learns counts that were not left at an object: they came from another process, say.
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

    /// Puts the chain's count where others can read it.
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

/// A version of what has more in it than the thread knows that makes it.
fn merged(made: &mut Version) -> Version {
    made.0 += STEP;
    Version(made.0 | MERGED)
}

impl<H: Hold> Knowledge for ThreadClock<H> {
    type Published = Snapshot<H>;

    fn new(thread: ThreadId) -> Self {
        // More threads than 28 bits have numbers for would need as many clocks, which is a terabyte.
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
        // The own count is put into the copy only: to read a clock as a whole just after a part of it
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
