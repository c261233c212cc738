//! The result of an exploration.

use std::fmt;

use crate::{confirm::Confirmation, error::Error, table};

/// The result of an exploration: what it found, and how complete it is.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Runs that were made to their end.
    pub executions: u64,
    /// Runs that were cut because they would have been equivalent to earlier ones. They are not among the executions.
    pub blocked: u64,
    /// Runs that ended in a deadlock.
    pub deadlocks: u64,
    /// The number of classes of equivalent runs among the executions, if known.
    pub classes: Option<u64>,
    /// Why the search ended.
    pub stopped: Stopped,
    /// How many executions failed.
    pub failed: u64,
    /// How many executions were not checked against all properties, or not together with all equivalent runs.
    pub unchecked: u64,
    /// Those of them in which the initial value of a variable of a property is unknown.
    pub(crate) unknown: u64,
    /// Those of them whose equivalent runs were not all searched, because a limit of the analyzer was reached.
    pub(crate) gave_up: u64,
    /// How many executions were stopped because they had too many steps.
    pub too_long: u64,
    /// How many runs were discarded because the search had to start again. They count nowhere else; the notes give the reason.
    pub discarded: u64,
    /// Whether some thread unwound while others could have proceeded. They had to wait, so those interleavings were not explored.
    pub kept_waiting: bool,
    /// How many different posets of relevant steps were checked since the search was resumed. Parallel workers may check the same
    /// one.
    pub posets: u64,
    /// How many interleavings the executions stand for, if they were [counted](crate::Explorer::count_interleavings).
    pub interleavings: Option<u128>,
    /// The failures, up to a limit.
    pub failures: Vec<Failure>,
    /// Features that the program uses and that are not modelled exactly.
    pub unmodelled: Vec<&'static str>,
    /// Further remarks for the reader.
    pub notes: Vec<String>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped {
    /// The search was exhausted.
    #[default]
    Exhausted,
    /// It made the maximum number of runs; there may be more.
    Runs,
    /// It ran out of time; there may be more runs.
    Time,
    /// It was exhausted except for the continuations of runs that had too many steps.
    Steps,
    /// It was exhausted within the bound of the strategy; there are more runs beyond it.
    Bound,
    /// It found a failure.
    Failure,
}

/// A run that failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What happened.
    pub kind: FailureKind,
    /// The description, in a sentence.
    pub message: String,
    /// The schedule, as a text with which the run can be replayed.
    pub token: String,
    /// The run.
    pub steps: Vec<TakenStep>,
    /// The names of the threads.
    pub threads: Vec<String>,
    /// For a violated property: the analyzer's report on the run.
    pub answer: Option<portent_lattice::Report>,
    /// For a violated property: whether the violation was made to happen.
    pub confirmation: Option<Confirmation>,
    /// How far the number of preemptions was reduced, if that was tried.
    pub shrunk: Option<Shrunk>,
}

/// The number of preemptions before and after a run was shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shrunk {
    /// In the run that failed first.
    pub from: u32,
    /// In the run that is shown.
    pub to: u32,
    /// How many runs this took.
    pub runs: u64,
    /// Whether all runs with fewer preemptions were searched and none of them has the same failure.
    pub is_fewest: bool,
}

impl fmt::Display for Shrunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = |count| match count {
            1 => String::from("once"),
            2 => String::from("twice"),
            _ => format!("{count} times"),
        };
        match self.to {
            0 => write!(f, "nobody is interrupted in it")?,
            to => write!(f, "threads are interrupted {} in it", times(to))?,
        }
        if self.from > self.to {
            write!(
                f,
                ", instead of {} as in the run that was found",
                times(self.from)
            )?;
        }
        match (self.to, self.is_fewest) {
            (0, _) => Ok(()),
            (_, true) => write!(f, "; it takes no fewer ({} runs)", self.runs),
            (_, false) => write!(
                f,
                "; whether it takes fewer is open, as that was not searched to its end ({} runs)",
                self.runs
            ),
        }
    }
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// A thread panicked.
    Panic,
    /// A deadlock: no thread could proceed.
    Deadlock,
    /// A data race: two accesses of one variable were unordered.
    Race,
    /// An object was in use outside the exploration.
    Obstructed,
    /// The program was not deterministic.
    Nondeterminism,
    /// A run exceeded a limit.
    Limit,
    /// A property was violated, by the run or by an equivalent one.
    Property,
    /// A property could not be checked.
    Unchecked,
}

/// One step of a run, in words.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakenStep {
    /// The thread.
    pub thread: usize,
    /// The operation.
    pub operation: &'static str,
    /// The object.
    pub object: String,
    /// The place in the source.
    pub place: Option<String>,
}

impl Report {
    /// The report of an exploration that cannot be carried out.
    pub(crate) fn impossible(error: &Error) -> Report {
        Report {
            stopped: Stopped::Failure,
            failed: 1,
            failures: vec![Failure {
                kind: FailureKind::Unchecked,
                message: error.to_string(),
                token: String::new(),
                steps: Vec::new(),
                threads: Vec::new(),
                answer: None,
                confirmation: None,
                shrunk: None,
            }],
            ..Report::default()
        }
    }

    /// Whether nothing failed and nothing was left out, apart from what is [not modelled](Report::unmodelled).
    #[must_use]
    pub fn is_proof(&self) -> bool {
        self.failed == 0 && self.stopped == Stopped::Exhausted && self.left_out().is_empty()
    }

    /// What was left out, in sentences. Each of these keeps the report from being a proof, even if the search was exhausted.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let mut left_out = Vec::new();
        if self.too_long > 0 {
            left_out.push(format!(
                "what comes after the bound on steps, where {} stopped",
                runs(self.too_long, "was", "were")
            ));
        }
        if self.kept_waiting {
            left_out.push(String::from(
                "what other threads do while one unwinds: they had to wait until it had caught its panic",
            ));
        }
        if self.unknown > 0 {
            left_out.push(format!(
                "whether a property holds, of {}: nobody knows what a variable of it begins with, which has to be declared",
                runs(self.unknown, "", "").trim_end()
            ));
        }
        if self.gave_up > 0 {
            left_out.push(format!(
                "some that are equivalent to those that were seen, of {}: a limit of the analyzer was met",
                runs(self.gave_up, "", "").trim_end()
            ));
        }
        left_out
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

/// A number of runs, with the noun in the singular or plural.
fn runs(count: u64, one: &str, several: &str) -> String {
    match count {
        1 => format!("1 run {one}"),
        _ => format!("{count} runs {several}"),
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
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        match self.stopped {
            Stopped::Exhausted => write!(f, "; nothing is left")?,
            Stopped::Runs => write!(f, "; stopped after as many runs as were wanted")?,
            Stopped::Time => write!(f, "; stopped as time was over")?,
            Stopped::Steps => write!(f, "; nothing is left within the bound on steps")?,
            Stopped::Bound => write!(f, "; nothing is left within the bound of the strategy")?,
            Stopped::Failure => write!(f, "; stopped at the first failure")?,
        }
        if self.posets > 0 {
            write!(
                f,
                "\npredicted: these showed {} orders of what the properties see, and each was searched for all runs that are \
                 equivalent",
                self.posets
            )?;
        }
        if let Some(interleavings) = self.interleavings {
            write!(
                f,
                "\nwithout that there are {interleavings} interleavings to run"
            )?;
        }
        if self.discarded > 0 {
            let runs = runs(self.discarded, "was", "were");
            write!(
                f,
                "\nbefore that {runs} made that do not count, as the search began anew"
            )?;
        }
        for left_out in self.left_out() {
            write!(f, "\nleft out: {left_out}")?;
        }
        for unmodelled in &self.unmodelled {
            write!(f, "\nnot modelled: {unmodelled}")?;
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
        writeln!(f, "  PORTENT_REPLAY={} repeats this run", self.token)?;
        match &self.shrunk {
            Some(shrunk) => writeln!(f, "  {shrunk}"),
            None => Ok(()),
        }
    }
}
