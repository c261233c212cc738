//! Statistics of a sidecar: how much it saw, and what it did not see.

use std::{
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use portent_lattice::Limit;

/// What a sidecar has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events received from the program.
    pub events: u64,
    /// What was not received, or not completely.
    pub lost: Lost,
    /// Events seen only through `tracing`, for which only the observed order was considered possible.
    pub assumed: u64,
    /// Violations reported: one for each binding of a property.
    pub violations: u64,
    /// Findings reported while the program ran.
    pub findings: u64,
    /// Callbacks that panicked.
    pub panics: u64,
    /// Events written by the recorder.
    pub written: u64,
    /// Events that the recorder could not write: it gives up at the first error.
    pub unwritten: u64,
    /// Events that the server has acknowledged.
    pub sent: u64,
    /// Events that the server has not acknowledged yet; once the sidecar has ended, events that it never will.
    pub unsent: u64,
    /// How often the sidecar halved its window because it could not keep up: see [`Watch::narrow`](portent_lattice::Watch::narrow).
    pub narrowed: u64,
    /// How often ended threads that were never joined were taken to come before everything still to happen, because there
    /// were too many of them.
    pub settled: u64,
    /// Why the search is no longer exhaustive, if it is not. Updated from time to time.
    pub limit: Option<Limit>,
}

/// What a verdict could not take into account. If nothing was lost, predictions are real.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Events that were dropped because a queue was full, or left out by sampling: see [`Full`](portent_hooks::Full).
    pub dropped: u64,
    /// Events that could not be checked, for example because a value had the wrong type. The errors say why.
    pub refused: u64,
    /// Operations in the whole process that came too late to be seen: the order that they create is missing.
    pub late: u64,
    /// Failed tries of a lock whose causal order is missing.
    pub blind: u64,
    /// Threads that were not spawned through hooks: the order between them and their spawners is missing.
    pub foreign: u64,
}

impl Lost {
    /// Whether nothing was lost.
    ///
    /// ```
    /// assert!(portent_sidecar::Lost::default().is_nothing());
    /// ```
    pub fn is_nothing(&self) -> bool {
        *self == Lost::default()
    }

    /// Events that happened but were not checked.
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

/// The state that a sidecar shares with its handle.
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

    /// Publishes the current state; returns the previous one.
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
