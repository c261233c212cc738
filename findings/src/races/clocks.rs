//! Vector clocks of accesses; each object's clock is stored separately.
//!
//! Under happens-before nearly every event is an access, and ticks. So hardly any two clocks are equal, and instead of being
//! shared, as [`Causality`](portent_monitor_core::Causality) does for the few events that matter to a property, each is
//! overwritten in place.

use std::borrow::Cow;

use portent_monitor_core::{ChainId, Chains, Clock, Error, Event, Flow, Op, ThreadClock, ThreadId};

/// The number of an event on its chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tick {
    pub(super) chain: ChainId,
    pub(super) number: u32,
}

impl Tick {
    #[inline]
    pub(super) fn is_in(self, past: &[u32]) -> bool {
        { past.get(self.chain.index()) }.is_some_and(|&count| self.number <= count)
    }
}

/// The clocks of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    flow: Flow<ThreadClock<Box<Clock>>>,
    chains: Chains,
}

impl Clocks {
    /// The length of the longest clock.
    pub(super) fn chains(&self) -> usize {
        self.chains.len()
    }

    /// Takes the next event; it ticks if it is relevant.
    #[inline]
    pub(super) fn step(&mut self, event: &Event, ticks: bool) -> Result<Option<Tick>, Error> {
        if let Op::Join(child) = event.op
            && let Some(chain) = self.flow.thread(child).end()
        {
            self.chains.release(chain);
        }
        let chains = &mut self.chains;
        self.flow.step(event, |thread| {
            if !ticks {
                return Ok(None);
            }
            let number = thread.tick(|past| chains.acquire(past))?;
            Ok({ thread.chain() }.map(|chain| Tick {
                chain: chain.id(),
                number,
            }))
        })
    }

    /// How many events of each chain must have happened for an event to be next in all of its threads; missing components count
    /// as 0.
    #[inline]
    pub(super) fn past(&mut self, event: &Event) -> Cow<'_, [u32]> {
        self.flow.receive_clock(event);
        if event.partners().is_empty() {
            return Cow::Borrowed(self.of_thread(event.thread));
        }
        let mut all: Vec<u32> = Vec::new();
        for thread in event.threads() {
            join(&mut all, self.of_thread(thread));
        }
        Cow::Owned(all)
    }

    #[inline]
    fn of_thread(&mut self, thread: ThreadId) -> &[u32] {
        self.flow.thread(thread).past()
    }
}

/// The union of two pasts.
pub(super) fn join(past: &mut Vec<u32>, other: &[u32]) {
    past.resize(past.len().max(other.len()), 0);
    for (known, &count) in past.iter_mut().zip(other) {
        *known = count.max(*known);
    }
}
