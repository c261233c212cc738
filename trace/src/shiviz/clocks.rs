//! Vector clocks for events that have none.
//!
//! A log needs a clock on every event, with a component for each host. The clocks of
//! [`Causality`] count by chain, and a chain may serve several threads one after the other; here
//! the counts are converted to threads.

use portent_monitor_core::{Causality, Error, Event, Stamped, ThreadId, VarId};
use rustc_hash::FxHashMap;

/// Gives each event of a trace its clock, in observed order.
#[derive(Default)]
pub(crate) struct Clocks {
    causality: Causality,
    /// The threads of a chain, in order.
    chains: Vec<Vec<Tenure>>,
    /// The events of each thread so far.
    lines: FxHashMap<ThreadId, u32>,
    /// The last event that set a variable, by its number on its thread.
    writes: FxHashMap<VarId, (ThreadId, u32)>,
}

/// The part of a chain that belongs to one thread.
struct Tenure {
    thread: ThreadId,
    /// The number on the chain of its first event there.
    first: u32,
    /// The number of events of the thread before that.
    earlier: u32,
}

impl Clocks {
    /// For each thread, how many of its events are in the past of this one, itself included.
    pub(crate) fn of(&mut self, event: &Event) -> Result<Vec<(ThreadId, u32)>, Error> {
        let thread = event.thread;
        let Some(stamp) = self.causality.step(event, true)? else {
            return Ok(Vec::new());
        };
        let lines = self.lines.entry(thread).or_default();
        *lines = lines.checked_add(1).ok_or(Error::ClockFull)?;
        let chain = stamp.chain.index();
        if chain >= self.chains.len() {
            self.chains.resize_with(chain + 1, Vec::new);
        }
        let turns = &mut self.chains[chain];
        if turns.last().is_none_or(|turn| turn.thread != thread) {
            turns.push(Tenure {
                thread,
                first: stamp.number(),
                earlier: *lines - 1,
            });
        }
        Ok(self.by_thread(stamp.clock.counts()))
    }

    /// Takes an event that carries a clock, and returns whether its clock counts earlier events that set the same
    /// variables: then the clock also expresses the order between them.
    pub(crate) fn order_writes(&mut self, thread: ThreadId, stamped: &Stamped) -> bool {
        let this = (thread, stamped.component(thread));
        let mut told = true;
        for (var, _) in &stamped.action.set {
            if let Some((other, number)) = self.writes.insert(*var, this) {
                told &= stamped.component(other) >= number;
            }
        }
        told
    }

    fn by_thread(&self, counts: &[u32]) -> Vec<(ThreadId, u32)> {
        let mut clock: FxHashMap<ThreadId, u32> = FxHashMap::default();
        for (turns, &count) in self.chains.iter().zip(counts) {
            let mut end = count;
            for turn in turns.iter().rev().filter(|turn| turn.first <= count) {
                let known = clock.entry(turn.thread).or_default();
                *known = (*known).max(turn.earlier + end + 1 - turn.first);
                end = turn.first - 1;
            }
        }
        let mut clock: Vec<_> = clock.into_iter().collect();
        clock.sort_unstable();
        clock
    }
}
