//! The answer as text for people.

mod finding;
mod meaning;
pub mod numbers;
mod paragraph;
mod printable;
mod run;
mod stats;
mod step;
mod story;
mod swap;
pub mod table;

use portent_lattice::{
    Counting, Engine,
    report::{PropertyReport, WarningKind},
};
use portent_monitor_dsl::Monitor;

use crate::{Answer, Paint, Switches};
use finding::locks_of;
use numbers::{count, counted};
use paragraph::paragraph;

pub use finding::{Finding, Status, formula};
pub(crate) use meaning::meanings;
pub use printable::{printable, printable_lines};
pub use run::Run;
pub use step::label;
pub(crate) use step::note;
pub use story::Story;

/// Of the bindings of a property, this many violated ones are shown in full, and this many named.
const IN_FULL: usize = 3;
const NAMED: usize = 10;

/// How to write an answer.
#[derive(Clone, Copy)]
pub struct Style {
    /// Colours, or none.
    pub paint: Paint,
    /// The trace is complete: the program ended.
    pub complete: bool,
    /// Describe the search.
    pub stats: bool,
    /// The runs are those of a model beyond happens-before: they are feasible, and not counted.
    pub feasible: bool,
    /// How far ahead the search was allowed to look.
    pub lookahead: Option<u32>,
    /// The engine that was requested.
    pub engine: Option<Engine>,
    /// Whether runs were to be counted.
    pub counting: Counting,
    /// Every violated binding is shown in full.
    pub all: bool,
    /// The names of options.
    pub switches: &'static Switches,
}

impl Style {
    /// The name for the runs that were searched.
    fn kind_of_runs(self) -> &'static str {
        if self.feasible {
            "feasible"
        } else {
            "equivalent"
        }
    }
}

/// The text about an execution.
pub fn render(answer: Answer<'_>, monitors: &[Monitor], style: Style) -> String {
    ExecutionText { answer, style }.render(monitors)
}

/// How many findings a baseline already had.
pub fn left_out_as_known(known: &[PropertyReport]) -> String {
    let them = if known.len() == 1 { "it" } else { "them" };
    let known = counted(known.len() as u64, "known violation");
    format!("{known} left out: the baseline has {them} already")
}

/// One execution.
struct ExecutionText<'a> {
    answer: Answer<'a>,
    style: Style,
}

impl ExecutionText<'_> {
    fn render(&self, monitors: &[Monitor]) -> String {
        let report = self.answer.report;
        let mut text = self.head();
        text += &self.warnings();
        for monitor in monitors {
            let name = monitor.property().name();
            let of_this = |property: &&PropertyReport| property.name == name;
            let instances: Vec<&PropertyReport> =
                report.properties.iter().filter(of_this).collect();
            let finding = |property| Finding {
                property,
                monitor,
                style: self.style,
            };
            match instances.as_slice() {
                [] => {}
                [one] if one.binding.is_empty() => text += &finding(one).render(),
                many => {
                    let findings: Vec<Finding<'_>> = many.iter().map(|one| finding(one)).collect();
                    text += &self.group(monitor, &findings);
                }
            }
        }
        text
    }

    fn head(&self) -> String {
        let trace = &self.answer.report.trace;
        let execution = match self.answer.execution {
            Some(name) => format!(" ({})", printable(name)),
            None => String::new(),
        };
        let paint = self.style.paint;
        format!(
            "{}{execution}: {}, {}\n",
            paint.bold(&printable(&trace.file)),
            counted(trace.events, "event"),
            counted(trace.threads, "thread"),
        )
    }

    fn warnings(&self) -> String {
        let (answer, paint) = (self.answer, self.style.paint);
        let warning = paint.yellow("warning");
        let mut text = String::new();
        for fact in answer.warnings {
            text += &format!("{warning}: {}\n", printable(&fact.sentence()));
        }
        if !answer.known.is_empty() {
            text += &format!("{}\n", left_out_as_known(answer.known));
        }
        text
    }

    /// Whether a property has bindings that were not checked.
    fn is_cut_off(&self, name: &str) -> bool {
        let kinds = [
            WarningKind::TooManyBindings,
            WarningKind::BindingsBeyondMemory,
        ];
        let kinds = kinds.map(WarningKind::as_str);
        let mut warnings = self.answer.warnings.iter();
        warnings.any(|warning| {
            kinds.contains(&warning.kind) && warning.property.as_deref() == Some(name)
        })
    }

    /// A property with parameters: the number of bindings, and the relevant ones.
    fn group(&self, monitor: &Monitor, findings: &[Finding<'_>]) -> String {
        let paint = self.style.paint;
        let property = monitor.property();
        let violated: Vec<&Finding<'_>> = findings
            .iter()
            .filter(|finding| finding.property.predicted.violated)
            .collect();
        let observed = violated
            .iter()
            .filter(|finding| finding.observed_is_bad())
            .count();
        let name = format!("{}({})", property.name(), property.parameters().join(", "));
        let bindings = counted(findings.len() as u64, "binding");
        let mut text = format!("\n{}: {bindings}", paint.bold(&name));
        text += &match (violated.len(), observed) {
            (0, _) if self.is_cut_off(property.name()) => {
                ", none of these violated, but not all were checked\n".to_owned()
            }
            (0, _) => {
                let open = findings.iter().filter(|f| !f.property.lattice.exhaustive);
                match open.count() as u64 {
                    0 => format!(", {}\n", paint.green("none violated")),
                    some => {
                        let some = count(some);
                        format!(", none seen to be violated, {some} not searched in full\n")
                    }
                }
            }
            (all, observed) => {
                let violated = paint.red(&format!("{} violated", count(all as u64)));
                let observed = count(observed as u64);
                format!(", {violated} ({observed} in the observed run)\n")
            }
        };
        let pending = findings.iter().filter_map(Finding::pending).count();
        if violated.is_empty() && pending > 0 {
            let bindings = counted(pending as u64, "binding");
            let at_end = self.style.switches.at_end();
            text += &paragraph("Pending: ", &format!("runs of {bindings} {at_end}"));
        }
        let in_full = if self.style.all {
            violated.len()
        } else {
            IN_FULL
        };
        if let Some(fact) = locks_of(findings) {
            text += &paragraph("Locks: ", &fact);
        }
        for finding in violated.iter().take(in_full) {
            text += &finding.render();
        }
        for finding in violated.iter().skip(in_full).take(NAMED) {
            text += &finding.headline();
        }
        if let Some(more @ 1..) = violated.len().checked_sub(in_full + NAMED) {
            let more = count(more as u64);
            let how = match self.style.switches.all {
                Some(all) => format!("; {all} shows every one in full"),
                None => String::new(),
            };
            text += &format!("... and {more} more{how}\n");
        }
        text
    }
}
