//! Where events come from, and what a source learns about their progress.

use std::sync::{Arc, mpsc::SyncSender};

use portent_monitor_core::{Clocked, Event, ThreadId};

use super::Common;

/// Where events come from: sockets, or a stream.
pub(super) trait Source: Send {
    /// Its address, for people.
    fn shown(&self) -> String;

    /// Whether nobody but this machine can send events here without being asked who it is.
    fn is_local(&self) -> bool;

    /// Hands on what comes, until all is over.
    fn run(self: Box<Self>, common: &Arc<Common>, batches: SyncSender<Batch>);
}

/// Whole lines of one client.
pub(super) struct Batch {
    pub(super) client: u64,
    /// The number of the first line.
    pub(super) first: u64,
    pub(super) lines: Vec<u8>,
    /// A server before this one has taken them: they are looked at so that it is known what they were, but not recorded and told once more.
    pub(super) is_known: bool,
    /// Where a source wants to know when that is done.
    pub(super) receipt: Option<Arc<dyn Receipt>>,
}

/// How a source learns that it need not keep a batch any longer. What is held and never done, as nobody got to it, stays with the source.
pub(super) trait Receipt: Send + Sync {
    /// Somebody still has something of the batch to do.
    fn hold(&self);

    /// That one has done it: it was looked at, and is in the recording if there is one.
    fn done(&self);
}

/// An event that may have to wait for others.
pub(super) struct Arrived {
    pub(super) event: Event,
    pub(super) is_known: bool,
    pub(super) receipt: Option<Arc<dyn Receipt>>,
}

impl Clocked for Arrived {
    type Source = ThreadId;

    fn source(&self) -> Option<ThreadId> {
        self.event.source()
    }

    fn components(&self) -> usize {
        self.event.components()
    }

    fn component(&self, index: usize) -> (ThreadId, u32) {
        self.event.component(index)
    }

    fn number(&self) -> u32 {
        self.event.number()
    }

    fn partners(&self) -> impl Iterator<Item = (ThreadId, u32)> {
        Clocked::partners(&self.event)
    }
}
