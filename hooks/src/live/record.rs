//! What goes through the queue of a thread.

use portent_monitor_core::{ChainId, LocId, Mark, NameId, Op, ThreadId, Value};

/// The queue of a thread is a sequence of these. Clocks are told by what has changed.
#[derive(Debug)]
pub(super) enum Record {
    /// What follows is of this thread, on this chain, which has counted so far.
    Begin {
        thread: ThreadId,
        chain: ChainId,
        count: u32,
    },
    /// The next event knows this many events of a chain.
    Knows(ChainId, u32),
    /// An operation.
    Did(Op, Option<LocId>, Option<Mark>),
    /// An application event, whose arguments follow.
    Event { name: NameId, loc: LocId, args: u32 },
    /// An argument.
    Arg(Value),
}
