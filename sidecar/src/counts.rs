//! What is known about a sidecar besides its verdicts: how much it saw, and what it did not see.

use std::{
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use portent_lattice::Limit;

/// What a sidecar did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events that came out of the program.
    pub events: u64,
    /// What did not, or not as it should.
    pub lost: Lost,
    /// Events that were taken to be possible in the observed order alone, as they were seen through `tracing` and nothing orders them.
    pub assumed: u64,
    /// Violations that were told: one for each binding of a property.
    pub violations: u64,
    /// Findings that were told while the program ran.
    pub findings: u64,
    /// Calls of a callback that panicked.
    pub panics: u64,
    /// Events that were written by the recorder.
    pub written: u64,
    /// Events that the recorder could not write: it gives up at the first error of the file.
    pub unwritten: u64,
    /// Events that the server has.
    pub sent: u64,
    /// Events that the server does not have: yet, or for good if the sidecar has ended.
    pub unsent: u64,
    /// How often it has halved what it keeps of the order, as it could not keep up: see [`Watch::narrow`](portent_lattice::Watch::narrow).
    pub narrowed: u64,
    /// How often threads that have ended, and that nobody waited for, were taken to come before all that is still to happen, as there
    /// were too many of them.
    pub settled: u64,
    /// Why the search is no longer exhaustive, if it is not. Looked at now and then.
    pub limit: Option<Limit>,
}

/// What a verdict does not know of. While there is none of it, what is predicted is real.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Events for which there was no room, or that sampling left out: see [`Full`](portent_hooks::Full).
    pub dropped: u64,
    /// Events that could not be looked at, as a value of the wrong type. The errors say why.
    pub refused: u64,
    /// Operations, in the whole process, that came too late to be seen: the order that comes from them is missing.
    pub late: u64,
    /// Failed tries of a lock whose order is missing.
    pub blind: u64,
    /// Threads that were not spawned through the hooks: that they come after their spawner is missing.
    pub foreign: u64,
}

impl Lost {
    /// Whether nothing was.
    ///
    /// ```
    /// assert!(portent_sidecar::Lost::default().is_nothing());
    /// ```
    pub fn is_nothing(&self) -> bool {
        *self == Lost::default()
    }

    /// Events that happened and were not looked at.
    pub fn events(&self) -> u64 {
        self.dropped + self.refused
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.dropped, "dropped"),
            (self.refused, "refused"),
            (self.late, "late"),
            (self.blind, "blind"),
            (self.foreign, "foreign"),
        ];
        let mut separator = "";
        for (count, what) in all.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{separator}{count} {what}")?;
            separator = ", ";
        }
        if separator.is_empty() {
            f.write_str("nothing")?;
        }
        Ok(())
    }
}

/// What a sidecar and its handle have in common.
#[derive(Debug, Default)]
pub(crate) struct Board {
    counts: Mutex<Counts>,
    is_over: AtomicBool,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counts(&self) -> Counts {
        *self.lock()
    }

    /// Tells how things stand; gives what was told before.
    pub(crate) fn publish(&self, counts: Counts) -> Counts {
        std::mem::replace(&mut *self.lock(), counts)
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }
}
