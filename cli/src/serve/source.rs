//! Where events come from, and what a source learns about their progress.

use std::sync::{Arc, mpsc::SyncSender};

use portent_monitor_core::{Clocked, Event, ThreadId};

use super::Common;

/// Where events come from: sockets, or a stream.
pub(super) trait Source: Send {
    /// The address as shown to users.
    fn shown(&self) -> String;

    /// Whether events can come only from this machine or from authenticated senders.
    fn is_local(&self) -> bool;

    /// Hands on incoming lines until shutdown.
    fn run(self: Box<Self>, common: &Arc<Common>, batches: SyncSender<Batch>);
}

/// Whole lines of one client.
pub(super) struct Batch {
    pub(super) client: u64,
    /// The number of the first line.
    pub(super) first: u64,
    pub(super) lines: Vec<u8>,
    /// An earlier server has taken them: they are checked as context, but not recorded or reported again.
    pub(super) is_known: bool,
    /// Tells the source when the batch is done, if it wants to know.
    pub(super) receipt: Option<Arc<dyn Receipt>>,
}

/// Tells a source that it need not keep a batch any longer. A receipt that is held and never done leaves the batch with the source.
pub(super) trait Receipt: Send + Sync {
    /// Part of the batch still has to be processed.
    fn hold(&self);

    /// That part has been processed: it was checked, and is in the recording if there is one.
    fn done(&self);
}

/// An event that may have to wait for earlier ones.
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
