//! Errors that occur while a program is watched.

use std::{io, path::PathBuf};

/// Why a sidecar could not start, an event could not be checked, or a recording could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is neither a property to watch, nor anything to find, nor a file to record to.
    #[error(
        "a sidecar without properties, without anything to find and without a recorder has nothing to do; give it one of them"
    )]
    NothingToDo,
    /// The monitor of a property would be too large.
    #[error(transparent)]
    Property(#[from] portent_monitor_dsl::Error),
    /// An event cannot be checked, or a variable has no value to begin with.
    #[error(transparent)]
    Check(#[from] portent_lattice::Error),
    /// The search for races and deadlocks cannot continue.
    #[error(transparent)]
    Find(#[from] portent_findings::Error),
    /// There are too many cycles of lock orders to report all of them while the program runs. The summary has the others.
    #[error(
        "there are too many lock orders to look at all of them while the program runs: some cycles are told when it has ended"
    )]
    LockOrders,
    /// An event cannot be written.
    #[error(transparent)]
    Trace(#[from] portent_trace::Error),
    /// An event has a number that the format cannot express.
    #[error("event {number} has a value that is not a finite number: it is not in the recording")]
    NotFinite {
        /// The number of the event, from 1.
        number: u64,
    },
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A recording of everything was requested for one of several processes.
    #[error(
        "a recording of everything has no clocks that other processes could know of; a process with a name records properties or `names`"
    )]
    NoClocks,
    /// The text is not the address of a server.
    #[error("{0}")]
    Address(String),
    /// The server cannot be reached, or refuses the events. Events are kept, up to a bound, and sent when it is back.
    #[error("{0}")]
    Remote(String),
    /// The system could not create a thread.
    #[error("the thread of the sidecar cannot be started: {0}")]
    NoThread(#[source] io::Error),
    /// The sidecar belongs to the process of which this one is a fork.
    #[error(
        "the sidecar belongs to process {parent}, of which this one is a fork: here nothing is watched; the child starts one of its own"
    )]
    Forked {
        /// The process that it watches.
        parent: u32,
    },
    /// This process is a fork, and lacks the state that is needed to record anything.
    #[error(
        "this process is a fork, made while another thread of its parent looked up a name: nothing can be recorded here; fork before there are threads, or start a program in the child"
    )]
    ForkedInUse,
    /// The thread of the sidecar panicked, which is a defect of Portent. Nothing has been watched since then.
    #[error("the thread of the sidecar has panicked: {0}")]
    Died(String),
}
