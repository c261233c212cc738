//! What can go wrong while watching a program.

use std::{io, path::PathBuf};

/// Why a sidecar cannot begin, an event could not be looked at, or a recording could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is neither a property to watch nor anything to find, nor a file to record to.
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
    /// Races and deadlocks cannot be looked for any further.
    #[error(transparent)]
    Find(#[from] portent_findings::Error),
    /// Not all cycles of lock orders can be told while the program runs. Those that are not told are in the summary.
    #[error(
        "there are too many lock orders to look at all of them while the program runs: some cycles are told when it has ended"
    )]
    LockOrders,
    /// An event cannot be written.
    #[error(transparent)]
    Trace(#[from] portent_trace::Error),
    /// An event has a number that no file has a spelling for.
    #[error("event {number} has a value that is not a finite number: it is not in the recording")]
    NotFinite {
        /// Which event, from 1.
        number: u64,
    },
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A recording of everything was asked for, of a process that is one of several.
    #[error(
        "a recording of everything has no clocks that other processes could know of; a process with a name records properties or `names`"
    )]
    NoClocks,
    /// It is not the address of a server.
    #[error("{0}")]
    Address(String),
    /// The server of events is not there, or does not want them. What is not sent yet is kept, up to a bound, and sent when it is back.
    #[error("{0}")]
    Remote(String),
    /// The system gives no thread.
    #[error("the thread of the sidecar cannot be started: {0}")]
    NoThread(#[source] io::Error),
    /// The sidecar is that of another process, of which this one is a fork.
    #[error(
        "the sidecar belongs to process {parent}, of which this one is a fork: here nothing is watched; the child starts one of its own"
    )]
    Forked {
        /// The process that it watches.
        parent: u32,
    },
    /// This process is a fork, and has not all that it takes to record anything.
    #[error(
        "this process is a fork, made while another thread of its parent looked up a name: nothing can be recorded here; fork before there are threads, or start a program in the child"
    )]
    ForkedInUse,
    /// The thread of the sidecar panicked: a defect of Portent. Since then nothing was watched.
    #[error("the thread of the sidecar has panicked: {0}")]
    Died(String),
}
