//! What an exploration found, and how far it got.

use std::fmt;

use crate::table;

/// What an exploration found, and how far it got.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Runs that were looked at to their end.
    pub executions: u64,
    /// Runs that were cut because what they would have shown was seen already. They are not among the executions.
    pub blocked: u64,
    /// Runs that ended in a deadlock.
    pub deadlocks: u64,
    /// How many classes of equivalent runs the executions were of, if that is known.
    pub classes: Option<u64>,
    /// Why the search ended.
    pub stopped: Stopped,
    /// How many executions failed.
    pub failed: u64,
    /// What failed, as far as it was kept.
    pub failures: Vec<Failure>,
    /// What a reader has to know: what was not modelled, or not as one would think.
    pub notes: Vec<String>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped {
    /// There was nothing left.
    #[default]
    Exhausted,
    /// As many runs as were wanted; there may be more to see.
    Runs,
    /// There was no time left; there may be more to see.
    Time,
    /// There was nothing left but what comes after runs that had too many steps.
    Steps,
    /// There was nothing left within the bound of the strategy, but there is beyond it.
    Bound,
    /// At a failure.
    Failure,
}

/// A run that went wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What happened.
    pub kind: FailureKind,
    /// In a sentence.
    pub message: String,
    /// The schedule, as a text by which the run can be repeated.
    pub token: String,
    /// The run.
    pub steps: Vec<TakenStep>,
    /// What threads are called.
    pub threads: Vec<String>,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// A thread panicked.
    Panic,
    /// Nobody could go on.
    Deadlock,
    /// An object was in use by something outside of the exploration.
    Obstructed,
    /// The program did not do the same again.
    Nondeterminism,
    /// A run was not possible within the limits.
    Limit,
}

/// One step of a run, for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakenStep {
    /// Which thread.
    pub thread: usize,
    /// What it did.
    pub operation: &'static str,
    /// With what.
    pub object: String,
    /// Where.
    pub place: Option<String>,
}

impl Report {
    /// Whether nothing failed and nothing was left out.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        self.failed == 0 && self.stopped == Stopped::Exhausted
    }

    /// Panics with the report if something failed.
    ///
    /// # Panics
    ///
    /// If something failed.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(self.failed == 0, "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} executions", self.executions)?;
        if let Some(classes) = self.classes {
            write!(f, ", {classes} classes")?;
        }
        if self.blocked > 0 {
            write!(f, ", {} cut as already seen", self.blocked)?;
        }
        match self.stopped {
            Stopped::Exhausted => write!(f, "; nothing is left")?,
            Stopped::Runs => write!(f, "; stopped after as many runs as were wanted")?,
            Stopped::Time => write!(f, "; stopped as time was over")?,
            Stopped::Steps => write!(f, "; nothing is left within the bound on steps")?,
            Stopped::Bound => write!(f, "; nothing is left within the bound of the strategy")?,
            Stopped::Failure => write!(f, "; stopped at the first failure")?,
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        table::write(self, f)?;
        writeln!(f, "  PORTENT_REPLAY={} repeats this run", self.token)
    }
}
