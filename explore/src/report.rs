//! What an exploration found, and how far it got.

use std::fmt;

use crate::{confirm::Confirmation, error::Error, table};

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
    /// How many executions were not checked against all properties, or not with all that are equivalent to them.
    pub unchecked: u64,
    /// Those of them of which nobody knows with which value a variable of a property begins.
    pub(crate) unknown: u64,
    /// Those of which not all equivalent runs were searched, as a limit of the analyzer was met.
    pub(crate) gave_up: u64,
    /// How many executions were stopped because they had too many steps.
    pub too_long: u64,
    /// How many runs were made before the search began anew: they count for nothing else. The notes say why.
    pub discarded: u64,
    /// Whether some thread unwound while others could have gone on: they had to wait, so not all of that was looked at.
    pub kept_waiting: bool,
    /// How many different orders of relevant steps were looked at, since the search was resumed. Several who search together may look
    /// at the same one.
    pub posets: u64,
    /// Of how many interleavings the executions stand, if [that was asked](crate::Explorer::count_interleavings) and is known.
    pub interleavings: Option<u128>,
    /// What failed, as far as it was kept.
    pub failures: Vec<Failure>,
    /// What the program uses that is not modelled as it is.
    pub unmodelled: Vec<&'static str>,
    /// What else a reader has to know.
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
    /// Of a violated property, what the analyzer says of the run.
    pub answer: Option<portent_lattice::Report>,
    /// Of a violated property, whether it was seen to happen.
    pub confirmation: Option<Confirmation>,
    /// What became of its interruptions, if a run with fewer of them was looked for.
    pub shrunk: Option<Shrunk>,
}

/// How often threads are interrupted that could go on, before and after a run was shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shrunk {
    /// In the run that was found.
    pub from: u32,
    /// In the one that is shown.
    pub to: u32,
    /// How many runs that took.
    pub runs: u64,
    /// Whether all runs with fewer were searched, and the same goes wrong in none of them.
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

/// What can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// A thread panicked.
    Panic,
    /// Nobody could go on.
    Deadlock,
    /// Nothing orders two accesses of one variable.
    Race,
    /// An object was in use by something outside of the exploration.
    Obstructed,
    /// The program did not do the same again.
    Nondeterminism,
    /// A run was not possible within the limits.
    Limit,
    /// A property is violated, by the run or by one that is equivalent to it.
    Property,
    /// A property could not be checked.
    Unchecked,
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
    /// Of a question that cannot be asked.
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

    /// Whether nothing failed and nothing was left out, but for what is [not modelled](Report::unmodelled).
    #[must_use]
    pub fn is_proof(&self) -> bool {
        self.failed == 0 && self.stopped == Stopped::Exhausted && self.left_out().is_empty()
    }

    /// What was not looked at, in sentences: each of them keeps the report from being a proof, even if the search came to its end.
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

/// So many runs, and a word for them.
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
