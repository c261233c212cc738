//! The answer, in the form of the JSON report.
//!
//! Keys may be added, never renamed.

use std::{num::NonZeroU64, sync::Arc};

use portent_monitor_core::{Forks, Symbols, Value};
use portent_monitor_dsl::{Explanation, Kind, Verdict};
use serde::{Serialize, Serializer, ser::SerializeMap};

pub use crate::{
    engine::{Savings, enumerate::Peak},
    intake::Note,
    witness::Overtaking,
};

mod budget;
mod instance;
pub mod picture;
mod rows;
mod unkept;
mod warning;

use self::picture::Picture;
pub use self::warning::{Warning, WarningKind};
pub(crate) use self::{
    budget::ReportBudget,
    instance::{Instance, Origin},
    rows::{Actor, Rows},
    unkept::Unkept,
    warning::Fit,
};
use crate::{
    engine::{Limit, enumerate::RunCounts},
    intake::{History, Waits},
    options::Engine,
};

/// All findings about one trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this format.
    pub portent: u32,
    /// The source of the events.
    pub trace: TraceInfo,
    /// The properties that saw no step, or no complete binding of their parameters.
    pub vacuous: Vec<String>,
    /// Warnings to read before trusting the answers.
    pub warnings: Vec<Warning>,
    /// One entry for each property and each binding of its parameters.
    pub properties: Vec<PropertyReport>,
}

impl Report {
    /// The facts about a trace before its properties are examined.
    pub(crate) fn new(file: &str, events: u64, threads: usize) -> Report {
        Report {
            portent: 1,
            trace: TraceInfo {
                file: file.to_owned(),
                events,
                threads: threads as u64,
            },
            vacuous: Vec::new(),
            warnings: (events == 0)
                .then(Warning::empty_trace)
                .into_iter()
                .collect(),
            properties: Vec::new(),
        }
    }

    /// Adds the findings about the instances of a property.
    pub(crate) fn add(&mut self, fit: &Fit<'_>, found: Vec<PropertyReport>) {
        if fit.is_vacuous(&found) {
            self.vacuous.push(fit.name().to_owned());
        }
        self.warnings
            .extend(fit.warnings(&found, self.trace.events == 0));
        if self.properties.is_empty() {
            // There may be very many, so they are not copied.
            self.properties = found;
        } else {
            self.properties.extend(found);
        }
    }

    /// Warns of waits that seem to be logged at their start, or not at all.
    pub(crate) fn add_waits(&mut self, waits: &Waits, symbols: &Symbols) {
        self.warnings
            .extend(waits.early(symbols).map(|wait| Warning::early_wait(&wait)));
        // Too little order causes false alarms, never a false all-clear.
        let is_predicted = { self.properties.iter() }.any(|property| {
            property.predicted.violated && property.observed.verdict != Verdict::Violated
        });
        let unlogged = waits.unlogged(symbols).filter(|_| is_predicted);
        self.warnings
            .extend(unlogged.map(|waits| Warning::unlogged_waiting(&waits)));
        let held = waits.held_at_end(symbols);
        self.warnings
            .extend(held.map(|held| Warning::held_twice(&held)));
    }

    /// Warns of threads with one name where they are forked and another where they act.
    pub(crate) fn add_forks(&mut self, forks: &Forks, symbols: &Symbols) {
        let name = |thread| symbols.threads.name(thread);
        let mismatch = forks.mismatch().into_iter();
        self.warnings
            .extend(mismatch.map(|(silent, stray)| Warning::forks(name(silent), name(stray))));
    }

    /// Warns about information on the last events that was left out because of its size.
    pub(crate) fn add_forgotten(&mut self, history: &History) {
        if let Some(event) = history.first_unordered() {
            self.warnings.push(Warning::order_lost(event.line));
        }
        let Some(first) = history.first_untold().and_then(|event| event.line) else {
            return;
        };
        let mut rows = { self.properties.iter() }
            .flat_map(|property| property.predicted.witness.iter().flatten());
        if rows.any(|row| row.line >= Some(first)) {
            self.warnings.push(Warning::untold(first));
        }
    }

    /// Warns of steps that were not kept.
    pub(crate) fn add_unkept(&mut self, kept: usize, unkept: &Unkept) {
        self.warnings.push(Warning::unkept(kept, unkept.first()));
    }

    /// Warns about events that wait in vain, with an example.
    pub(crate) fn add_missing(&mut self, waiting: usize, example: Option<&str>) {
        self.warnings.push(Warning::missing(waiting, example));
    }

    /// Whether some property is violated, in the observed run or an equivalent one.
    pub fn is_violated(&self) -> bool {
        self.properties.iter().any(|p| p.predicted.violated)
    }
}

/// The source of the events.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceInfo {
    /// The name of the file.
    pub file: String,
    /// The number of events read.
    pub events: u64,
    /// The number of threads that acted.
    pub threads: u64,
}

/// The answer for one property and one binding of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PropertyReport {
    /// The name of the property.
    pub name: String,
    /// The values of its parameters, in their order.
    #[serde(serialize_with = "map")]
    pub binding: Vec<(String, Value)>,
    /// The kind of the body.
    pub kind: Kind,
    /// The number of states of the monitor.
    pub states: usize,
    /// The number of relevant events.
    pub relevant: u64,
    /// The observed run.
    pub observed: Observed,
    /// All equivalent runs.
    pub predicted: Predicted,
    /// What the model `strong` finds if happens-before has no violation, partly because of the order of locks: it is tried within a small
    /// budget, and does not affect the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_strong: Option<LeftOut>,
    /// The numbers of runs, if they were counted.
    pub runs: Option<Runs>,
    /// The extent of the search.
    pub lattice: Lattice,
    /// The whole text of the property, including its declarations.
    pub text: String,
    /// The state before the first step; not part of the JSON.
    #[serde(skip)]
    pub start: Moment,
    /// Why runs are violated; not part of the JSON.
    #[serde(skip)]
    pub why: Why,
    /// The data for a drawing, if it was requested; not part of the JSON.
    #[serde(skip)]
    pub picture: Option<Box<Picture>>,
}

/// Why runs are violated: the part of the property that decides it, and where. Absent for very long runs, for
/// runs that are only pending at their end, if the witness is left out, and for a running program, whose beginning
/// may be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Why {
    /// The observed run, if it is violated.
    pub observed: Option<Explanation>,
    /// The witness.
    pub witness: Option<Explanation>,
}

/// The verdict on the observed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Observed {
    /// The verdict at its end.
    pub verdict: Verdict,
    /// The number of steps after which it became final, if it did.
    pub step: Option<u64>,
}

/// Whether some equivalent run is violated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Predicted {
    /// Whether a run is violated, including the observed one.
    pub violated: bool,
    /// A violated run: all relevant events in another order. Under the maximal model it may end where
    /// it is violated.
    pub witness: Option<Vec<Row>>,
    /// The steps of the observed run that the witness does not reach, as they were observed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Row>,
    /// Whether a witness was left out because the report has enough of them: see
    /// [`Options::witnesses`](crate::Options::witnesses).
    #[serde(skip_serializing_if = "is_false")]
    pub witness_omitted: bool,
    /// The number of its events after which it is violated.
    pub violated_at: Option<u64>,
    /// The pairs of events that the witness swaps, as indices in observed order.
    /// There are none if the observed run is violated as soon as any. Otherwise no two neighbours
    /// before the violation can be put back, and no event there can be replaced by one that was
    /// observed earlier; a quite different set of events may still need fewer pairs.
    pub swaps: Vec<[u32; 2]>,
    /// The number of such pairs that are not listed, because there are very many.
    pub swaps_omitted: u64,
    /// The few of these that the violation needs, for human readers: which events overtake which; not part of the JSON.
    #[serde(skip)]
    pub overtakings: Vec<Overtaking>,
    /// Whether no equivalent run is violated after fewer events.
    pub shortest: bool,
    /// The number of events of the run before the first row of the witness. Some order of them
    /// leads there, but it was forgotten. This happens only when a running program is watched, see
    /// [`Watch`](crate::Watch). Swapped pairs of them are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub forgotten: u64,
}

impl Predicted {
    /// For each row of the witness, whether it comes earlier than observed: whether a row observed before it comes after it, or
    /// is left out. Empty if there is no witness.
    pub fn comes_earlier(&self) -> Vec<bool> {
        let rows = self.witness.as_deref().unwrap_or_default();
        let left_out = self.left_out.iter().map(|row| row.event);
        let mut least = left_out.min().unwrap_or(u32::MAX);
        let mut earlier: Vec<bool> = { rows.iter().rev() }
            .map(|row| {
                let is_earlier = least < row.event;
                least = least.min(row.event);
                is_earlier
            })
            .collect();
        earlier.reverse();
        earlier
    }

    /// A violation whose witness is left out.
    fn without_witness(violated_at: Option<u64>, shortest: bool) -> Predicted {
        Predicted {
            violated: true,
            violated_at,
            shortest,
            witness_omitted: true,
            ..Predicted::default()
        }
    }
}

/// Whether some run that leaves something out is violated, under the model `strong`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Whether one is violated.
    pub violated: bool,
    /// The number of steps after which it is violated.
    pub violated_at: Option<u64>,
    /// That run, up to the violation; absent if it is very long.
    pub witness: Option<Vec<Row>>,
    /// The steps of the observed run that it does not reach.
    pub left_out: Vec<Row>,
    /// Whether the search left out nothing that could change the answer.
    pub exhaustive: bool,
    /// Why it was not searched at all, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untried: Option<Untried>,
}

impl LeftOut {
    /// The reason why it was not tried.
    pub(crate) fn untried(why: Untried) -> LeftOut {
        LeftOut {
            untried: Some(why),
            ..LeftOut::default()
        }
    }
}

/// Why nothing beyond happens-before was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Untried {
    /// The run has more events than this.
    Events(u64),
    /// The steps of the run do not fit in memory.
    Memory,
    /// The budget was spent on other properties and bindings.
    Spent,
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Variables with their values. Rows with the same content share it.
pub type Values = Arc<[(Arc<str>, Value)]>;

/// One step of a witness. There may be millions, so rows share their common data.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The index of the event among the relevant ones in observed order.
    pub event: u32,
    /// Its thread.
    pub t: Arc<str>,
    /// Its line in the trace.
    pub line: Option<NonZeroU64>,
    /// Which of the property's events it is.
    pub name: Option<Arc<str>>,
    /// Its arguments.
    pub args: Arc<[Value]>,
    /// The variables that it writes.
    #[serde(serialize_with = "map")]
    pub set: Values,
    /// The values of the property's variables after it: of all, or, if the beginning of the run
    /// was forgotten, of those written since then.
    #[serde(serialize_with = "map")]
    pub values: Values,
    /// The monitor's state after it.
    pub state: usize,
    /// The verdict after it.
    pub verdict: Verdict,
    /// Other information on its line, if any.
    #[serde(flatten)]
    pub note: Option<Box<Note>>,
}

/// The state at some point of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The values of the property's variables.
    pub values: Values,
    /// The monitor's state.
    pub state: usize,
    /// The verdict.
    pub verdict: Verdict,
}

/// Exact numbers of runs, in decimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Runs {
    /// All equivalent runs.
    pub total: String,
    /// The violated runs.
    pub violated: String,
    /// The satisfied runs.
    pub satisfied: String,
    /// The runs that are pending at the end of the trace.
    pub pending: String,
    /// The runs that are ok at the end of the trace.
    pub ok: String,
    /// The open runs, if the monitor has only three verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

impl From<&RunCounts> for Runs {
    fn from(counts: &RunCounts) -> Runs {
        let open = counts.unknown != Default::default();
        Runs {
            total: counts.total.to_string(),
            violated: counts.violated.to_string(),
            satisfied: counts.satisfied.to_string(),
            pending: counts.pending.to_string(),
            ok: counts.ok.to_string(),
            unknown: open.then(|| counts.unknown.to_string()),
        }
    }
}

/// The extent of the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lattice {
    /// The engine that gave the answer.
    pub engine: Engine,
    /// The number of levels of the lattice.
    pub levels: u64,
    /// The number of cuts, if they were counted.
    pub cuts: Option<u64>,
    /// The number of cuts in the widest level, if they were counted.
    pub widest: Option<u64>,
    /// The number of nodes that the engine visited.
    pub nodes: u64,
    /// Whether nothing was left out that could change the answer.
    pub exhaustive: bool,
    /// The number of cuts that were reached and dropped. Cuts beyond them are not counted.
    pub dropped: u64,
    /// Why cuts were left out.
    pub limit: Option<Limit>,
    /// The two neighbouring levels that took the most memory.
    pub frontier: Peak,
    /// The savings of the reductions.
    pub saved: Savings,
    /// The number of steps that come after some other step only because of the observed order of locks, which
    /// could have been different; `None` if this was not examined.
    pub ordered_by_locks: Option<u64>,
}

fn map<S: Serializer, N: AsRef<str>>(
    entries: &[(N, Value)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (name, value) in entries {
        map.serialize_entry(name.as_ref(), value)?;
    }
    map.end()
}
