//! The report for callers: findings, with the names of everything involved.

use serde::Serialize;
use std::fmt;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Two accesses of a variable that nothing keeps apart.
    Race,
    /// Threads that wait for each other's locks.
    Deadlock,
    /// A block whose effect differs from running it without interruption.
    Atomicity,
}

impl Kind {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Deadlock => "deadlock",
            Kind::Atomicity => "atomicity",
        }
    }
}

/// The certainty of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// The observed run has it.
    Observed,
    /// Another run of the same program has it: there is a witness, which was checked independently.
    Shown,
    /// It seems possible, but there is no witness.
    Possible,
}

impl Label {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Label::Observed => "observed",
            Label::Shown => "shown",
            Label::Possible => "possible",
        }
    }
}

/// An event, by the names of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The event, by its number in observed order from 0.
    pub event: u32,
    /// Its thread.
    pub t: String,
    /// Its line in the file, if it is from one.
    pub line: Option<u64>,
    /// The operation.
    pub op: String,
    /// Its object.
    pub object: Option<String>,
    /// Its location in the source.
    pub loc: Option<String>,
}

/// A lock that a participant holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldLock {
    /// Its name.
    pub lock: String,
    /// Whether other threads may hold it, too.
    pub shared: bool,
    /// The line of the event that took it.
    pub line: Option<u64>,
    /// The source location where it was taken.
    pub loc: Option<String>,
}

/// An event of a finding, and the locks that its thread holds there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Participant {
    /// The event.
    #[serde(flatten)]
    pub row: Row,
    /// The locks that its thread holds, the most recently taken first.
    pub holds: Vec<HeldLock>,
}

/// A run that ends in a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// The number of events before those listed here.
    pub omitted: u64,
    /// Its last events. For a race or a deadlock, the last of these are the participants, which are about to happen.
    pub rows: Vec<Row>,
    /// Which of these come directly before which others of other threads, by their numbers.
    pub arrows: Vec<[u32; 2]>,
    /// What was observed among these events but is missing from this run: the last of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Row>,
    /// The number of such events before those.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out_omitted: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its kind.
    pub kind: Kind,
    /// Its certainty.
    pub label: Label,
    /// Its identity from run to run: its locations, or names if there are none.
    pub key: String,
    /// The accesses of a race in observed order; the acquires of a deadlock, each of which waits for the next; the events of a cycle of
    /// transactions, in pairs.
    pub participants: Vec<Participant>,
    /// The variables concerned, up to a few.
    pub variables: Vec<String>,
    /// The locks concerned.
    pub locks: Vec<String>,
    /// The block that is not atomic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// The other blocks of its cycle of transactions. These blocks cannot all be atomic together; which of them was interrupted is in the
    /// participants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with_blocks: Vec<String>,
    /// The number of pairs of events, choices of acquires, or transactions that it represents. For a certain deadlock these are
    /// the choices that some run reaches.
    pub stands_for: String,
    /// Whether there may be more.
    pub at_least: bool,
    /// A run that ends in it.
    pub witness: Option<Witness>,
}

impl Finding {
    /// The places in the source that it is about: those of its accesses; of a deadlock where its locks are wanted, and where those of them that
    /// a thread holds were taken. Other locks that happen to be held have nothing to do with it.
    pub fn locations(&self) -> impl Iterator<Item = &str> {
        self.participants.iter().flat_map(move |participant| {
            let is_wanted = move |held: &HeldLock| {
                let mut wanted = self.participants.iter().map(|one| &one.row.object);
                wanted.any(|lock| lock.as_ref() == Some(&held.lock))
            };
            let held = participant.holds.iter();
            let held = held.filter(move |held| self.kind == Kind::Deadlock && is_wanted(held));
            let taken = held.filter_map(|held| held.loc.as_deref());
            participant.row.loc.as_deref().into_iter().chain(taken)
        })
    }
}

/// Numbers of races.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RaceCounts {
    /// Accesses of variables: without any, there was nothing to examine.
    pub accesses: u64,
    /// Location pairs.
    pub location_pairs: u64,
    /// Pairs of events; those that race on several variables count for each.
    pub event_pairs: u64,
    /// Events that race with an earlier one.
    pub events: u64,
    /// The locations of these.
    pub locations: u64,
    /// Whether these are all; otherwise there may be more of everything.
    pub exhaustive: bool,
}

/// Numbers of deadlocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeadlockCounts {
    /// Acquires and requests of locks: without any, there was nothing to look at.
    pub acquires: u64,
    /// Cycles of acquires, grouped by thread, lock and what is held.
    pub patterns: u64,
    /// The choices of acquires that these stand for.
    pub choices: String,
    /// Patterns of which some choice is a deadlock of some run.
    pub deadlocks: u64,
    /// The tuples of locations of such choices: the certain findings.
    pub location_tuples: u64,
    /// Whether these are all patterns; otherwise the shortest ones.
    pub exhaustive: bool,
    /// Why these are not all, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<PatternLimit>,
    /// Whether these are all tuples of locations; otherwise there may be more.
    pub locations_exhaustive: bool,
}

/// What ended the search for cycles of lock orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PatternLimit {
    /// As many were found as were asked for, and there are more.
    Patterns,
    /// It took too many steps.
    Steps,
}

/// Numbers of atomicity violations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AtomicityCounts {
    /// Blocks that were begun: without any, there was nothing to look at.
    pub begun: u64,
    /// Blocks that are not atomic, by name and location.
    pub blocks: u64,
    /// Their transactions that are not.
    pub transactions: u64,
}

/// How much there was to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Material {
    /// Accesses of variables.
    pub(crate) accesses: u64,
    /// Acquires and requests of locks.
    pub(crate) acquires: u64,
    /// Blocks that were begun.
    pub(crate) begun: u64,
}

/// Something to know before trusting a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A word for programs.
    pub kind: &'static str,
    /// A sentence for people.
    pub text: String,
}

/// All that was found in a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many events there are.
    pub events: u64,
    /// How many threads have events.
    pub threads: u64,
    /// The findings: those of the observed run first, then those that were shown.
    pub findings: Vec<Finding>,
    /// If races were searched for.
    pub races: Option<RaceCounts>,
    /// If deadlocks were searched for.
    pub deadlocks: Option<DeadlockCounts>,
    /// If blocks were examined.
    pub atomicity: Option<AtomicityCounts>,
    /// How many findings are not reported, wholly or in part, because they are [suppressed](crate::Suppressions). The numbers count them.
    pub suppressed: u64,
    /// Warnings to read before trusting this.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Whether something is certain: observed, or shown.
    pub fn is_certain(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.label != Label::Possible)
    }
}

impl Warning {
    /// Not all cycles of lock orders were looked at.
    pub(crate) fn cut(limit: PatternLimit) -> Warning {
        let why = match limit {
            PatternLimit::Patterns => "there are more than were asked for",
            PatternLimit::Steps => "it takes too many steps",
        };
        Warning {
            kind: "patterns_cut",
            text: format!(
                "the search for cycles of lock orders was cut off, as {why}: deadlocks may be missing"
            ),
        }
    }

    /// Something that happened was not seen.
    pub fn missing(what: &impl fmt::Display) -> Warning {
        Warning {
            kind: "missing",
            text: format!(
                "not all that happened was seen ({what}): findings may be false, and others may be missing"
            ),
        }
    }
}

impl fmt::Display for Finding {
    /// As one line, for a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.label) {
            (Kind::Race, Label::Possible) => write!(f, "possible data race on {}", self.of())?,
            (Kind::Race, _) => write!(f, "data race on {}", self.of())?,
            (Kind::Deadlock, Label::Possible) => f.write_str("lock order that may deadlock")?,
            (Kind::Deadlock, _) => f.write_str("deadlock")?,
            (Kind::Atomicity, _) => {
                f.write_str(&self.not_atomic())?;
            }
        }
        let is_told = |number: usize| {
            let earlier = &self.participants[..number];
            earlier
                .iter()
                .any(|one| one.row.event == self.participants[number].row.event)
        };
        for (number, one) in self.participants.iter().enumerate() {
            // The pairs of a cycle share events.
            if self.kind == Kind::Atomicity && is_told(number) {
                continue;
            }
            f.write_str(if number == 0 { ": " } else { "; " })?;
            let object = one.row.object.as_deref().unwrap_or_default();
            if self.kind != Kind::Deadlock {
                write!(f, "{} {} {object}", one.row.t, one.row.op)?;
            } else {
                write!(f, "{} holds ", one.row.t)?;
                for (number, held) in one.holds.iter().rev().enumerate() {
                    f.write_str(if number == 0 { "" } else { ", " })?;
                    f.write_str(&held.lock)?;
                    at(f, held.loc.as_deref(), " taken at ")?;
                }
                write!(f, " and wants {object}")?;
            }
            at(f, one.row.loc.as_deref(), " at ")?;
        }
        Ok(())
    }
}

impl Finding {
    /// Which block is not atomic, or which blocks are not all atomic, in words.
    pub fn not_atomic(&self) -> String {
        let block = self.block.as_deref().unwrap_or_default();
        if self.with_blocks.is_empty() {
            return format!("block {block} is not atomic");
        }
        let others = self.with_blocks.join(", ");
        format!("blocks {block}, {others} cannot all be atomic together")
    }

    /// The variables.
    fn of(&self) -> String {
        self.variables.join(", ")
    }
}

fn at(f: &mut fmt::Formatter<'_>, loc: Option<&str>, how: &str) -> fmt::Result {
    loc.map_or(Ok(()), |loc| write!(f, "{how}{loc}"))
}
