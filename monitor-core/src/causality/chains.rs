//! Which thread ticks which component of the clocks.
//!
//! A thread gets a chain at its first relevant event, so threads that do nothing relevant cost
//! nothing. When a thread has ended, its chain goes to the next thread that starts after that end:
//! all events of a chain are then still totally ordered, which is all that a component needs. A
//! program with a hundred thousand short tasks has as many chains as tasks really overlap.
//!
//! The choice is greedy and online. The fewest chains (the width of the order) would need the
//! whole trace; the greedy choice is exact for fork-join programs, where a free chain is free for
//! all later threads.

use crate::{ChainId, Clock, Error};

/// The largest number of chains. A clock has a component for each: this many threads with one
/// event each take half a gigabyte, and twice as many would take two.
const MAX_CHAINS: usize = 1 << 14;

/// A component of the clocks and its current count. Only the thread that holds it may count
/// on it.
///
/// ```
/// use portent_monitor_core::{Chains, Clock};
///
/// let mut chains = Chains::default();
/// let first = chains.acquire(&Clock::default())?;
/// assert_eq!((first.id().index(), first.count()), (0, 0));
/// chains.release(first);
/// assert_eq!(chains.acquire(&Clock::default())?.id().index(), 0);
/// assert_eq!(chains.acquire(&Clock::default())?.id().index(), 1);
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chain {
    id: ChainId,
    count: u32,
}

impl Chain {
    /// The component.
    pub fn id(&self) -> ChainId {
        self.id
    }

    /// The number of relevant events on it.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Counts one more relevant event and returns its number, from 1; `None` if that does not fit in 32 bits.
    #[inline]
    pub(super) fn tick(&mut self) -> Option<u32> {
        self.count = self.count.checked_add(1)?;
        Some(self.count)
    }
}

/// Hands out chains. Called when a thread has its first relevant event and when a thread has
/// ended, and not in between.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    made: usize,
    /// Chains whose threads have ended, with their last counts.
    free: Vec<Chain>,
}

impl Chains {
    /// A chain for a thread whose past is `past`: a free one that lies wholly in it, or a new one.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyChains`].
    pub fn acquire(&mut self, past: &Clock) -> Result<Chain, Error> {
        // No more expensive than copying the clock, which happens anyway: both are linear in the number of chains.
        let mut free = self.free.iter();
        if let Some(position) = free.rposition(|chain| past.get(chain.id) >= chain.count) {
            return Ok(self.free.swap_remove(position));
        }
        if self.made >= MAX_CHAINS {
            return Err(Error::TooManyChains { limit: MAX_CHAINS });
        }
        let id = ChainId::from_index(self.made).ok_or(Error::ClockFull)?;
        self.made += 1;
        Ok(Chain { id, count: 0 })
    }

    /// Takes back the chain of a thread that has ended.
    pub fn release(&mut self, chain: Chain) {
        self.free.push(chain);
    }

    /// The number of chains ever needed.
    pub fn len(&self) -> usize {
        self.made
    }

    /// Whether no chain was needed yet.
    pub fn is_empty(&self) -> bool {
        self.made == 0
    }
}
