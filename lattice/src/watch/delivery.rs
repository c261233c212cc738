//! Holds back events that arrive before events they come after, until those have arrived.
//!
//! Several processes, or several threads with separate queues, do not agree on an order of arrival. If every event brings its
//! clock they need not: any order that the clocks allow is an order of the same run.

use portent_monitor_core::{CausalRelease, ChainId, Clocked, Event, Op, Stamp, Symbols, ThreadId};

/// An event, with its stamp if it has one.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) event: Event,
    pub(super) stamp: Option<Stamp>,
}

/// What a component of a clock counts the events of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Thread(ThreadId),
    Chain(ChainId),
}

impl Held {
    /// The clock of a thread's own making.
    fn own_clock(&self) -> &[(ThreadId, u32)] {
        match &self.event.op {
            Op::Stamped(stamped) => &stamped.clock,
            _ => &[],
        }
    }
}

impl Clocked for Held {
    type Source = Source;

    fn source(&self) -> Option<Source> {
        match (&self.stamp, &self.event.op) {
            (Some(stamp), _) => Some(Source::Chain(stamp.chain)),
            (None, Op::Stamped(_)) => Some(Source::Thread(self.event.thread)),
            (None, _) => None,
        }
    }

    fn components(&self) -> usize {
        match &self.stamp {
            Some(stamp) => stamp.clock.counts().len(),
            None => self.own_clock().len(),
        }
    }

    fn component(&self, index: usize) -> (Source, u32) {
        match &self.stamp {
            Some(stamp) => {
                let chain = ChainId::from_index(index).unwrap_or(stamp.chain);
                (Source::Chain(chain), stamp.clock.counts()[index])
            }
            None => {
                let (thread, count) = self.own_clock()[index];
                (Source::Thread(thread), count)
            }
        }
    }

    fn number(&self) -> u32 {
        match (&self.stamp, &self.event.op) {
            (Some(stamp), _) => stamp.number(),
            (None, Op::Stamped(stamped)) => stamped.component(self.event.thread),
            (None, _) => 0,
        }
    }

    fn partners(&self) -> impl Iterator<Item = (Source, u32)> {
        let threads = self.event.threads().skip(1);
        let threads = threads.filter(|_| self.stamp.is_none());
        threads.filter_map(|thread| match &self.event.op {
            Op::Stamped(stamped) => Some((Source::Thread(thread), stamped.component(thread))),
            _ => None,
        })
    }
}

/// Events that were not examined because an earlier event never arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// The number of events still waiting.
    pub(super) waiting: usize,
    /// One of them, and what it waits for.
    pub(super) example: Option<String>,
}

impl Missing {
    /// Describes the events still held back at the end of a run, if any.
    pub(super) fn at_end(release: &CausalRelease<Held>, symbols: &Symbols) -> Option<Missing> {
        if release.is_empty() {
            return None;
        }
        let of = |source: Source| match source {
            Source::Thread(thread) => format!("of thread {}", symbols.threads.name(thread)),
            Source::Chain(chain) => format!("of chain {}", chain.index()),
        };
        let example = release.missing().map(|(held, source, number)| {
            let own = held.source().map_or_else(String::new, of);
            format!(
                "event {} {own} waits for event {number} {}",
                held.number(),
                of(source)
            )
        });
        Some(Missing {
            waiting: release.len(),
            example,
        })
    }
}
