//! The components of clocks, for the whole process.
//!
//! A chain belongs to one recording at a time. Within the recording, the chain of a thread that has ended is reused by a
//! thread that knows all of its events, through a join or in any other way. Once the reader has declared its events
//! settled, any thread of the recording may reuse it, because their order relative to later events no longer matters. When
//! the recording is over, the order of its events no longer matters at all, and any recording may take the chain.

use portent_monitor_core::{Chain, ChainId, Chains, Clock, Error};

use super::fork_aware::ForkAware;

/// Chains that belong to no recording.
pub(super) static POOL: ForkAware<Pool> = ForkAware::new();

#[derive(Default)]
pub(super) struct Pool {
    chains: Chains,
    unused: Vec<Chain>,
}

fn take() -> Result<Chain, Error> {
    POOL.with(|pool| match pool.unused.pop() {
        Some(chain) => Ok(chain),
        None => pool.chains.acquire(&Clock::default()),
    })
}

/// A chain that counts the events of another process, for good.
pub(super) fn of_peer() -> Result<ChainId, Error> {
    let chain = POOL.with(|pool| pool.chains.acquire(&Clock::default()))?;
    Ok(chain.id())
}

fn give_back(chain: Chain) {
    POOL.with(|pool| pool.unused.push(chain));
}

/// The chains of one recording.
#[derive(Debug, Default)]
pub(super) struct Tenures {
    /// Which they are, and how far they had been counted before.
    all: Vec<(ChainId, u32)>,
    /// Those whose threads have ended.
    free: Vec<Chain>,
    /// Of these, those whose events are settled.
    settled: Vec<Chain>,
    over: bool,
}

impl Tenures {
    /// A chain for an actor with this past.
    pub(super) fn acquire(&mut self, past: &Clock) -> Result<Chain, Error> {
        let mut free = self.free.iter();
        if let Some(position) = free.rposition(|chain| past.get(chain.id()) >= chain.count()) {
            return Ok(self.free.swap_remove(position));
        }
        if let Some(chain) = self.settled.pop() {
            return Ok(chain);
        }
        let chain = take()?;
        self.all.push((chain.id(), chain.count()));
        Ok(chain)
    }

    pub(super) fn release(&mut self, chain: Chain) {
        // One that is full would be of no use to anybody.
        if chain.count() == u32::MAX {
            return;
        }
        if self.over {
            give_back(chain)
        } else {
            self.free.push(chain)
        }
    }

    /// Events of these chains up to these counts are settled.
    pub(super) fn settle(&mut self, mut is_settled: impl FnMut(ChainId, u32) -> bool) {
        let settled = self
            .free
            .extract_if(.., |chain| is_settled(chain.id(), chain.count()));
        self.settled.extend(settled);
    }

    /// The recording is over, and what it recorded was taken out.
    pub(super) fn end(&mut self) {
        self.over = true;
        self.free.drain(..).for_each(give_back);
        self.settled.drain(..).for_each(give_back);
    }

    pub(super) fn all(&self) -> &[(ChainId, u32)] {
        &self.all
    }
}
