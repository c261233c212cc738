//! The answer for people.

pub(crate) mod finding;
pub(crate) mod meaning;
pub(crate) mod numbers;
mod paragraph;
mod printable;
pub(crate) mod run;
mod stats;
pub(crate) mod step;
mod story;
pub(crate) mod swap;
pub(crate) mod table;

use portent_lattice::{
    Counting, Engine,
    report::{PropertyReport, WarningKind},
};
use portent_monitor_dsl::Monitor;

use crate::{check::trace::Outcome, find::render_text, paint::Paint};
pub(crate) use finding::Status;
use finding::{AT_END, Finding};
use numbers::{count, counted};
use paragraph::paragraph;
pub(crate) use printable::{printable, printable_lines};

/// Of the bindings of a property, this many violated ones are shown in full, and this many named.
const IN_FULL: usize = 3;
const NAMED: usize = 10;

/// How an answer is to be written.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) paint: Paint,
    /// The trace ended for good.
    pub(crate) complete: bool,
    /// Tell how the search went.
    pub(crate) stats: bool,
    /// The runs are those of a model beyond happens-before: they are feasible, and not counted.
    pub(crate) feasible: bool,
    /// How far ahead the search was allowed to look.
    pub(crate) lookahead: Option<u32>,
    /// The engine that was asked for.
    pub(crate) engine: Option<Engine>,
    /// Whether runs were to be counted.
    pub(crate) counting: Counting,
    /// Every violated binding is shown in full.
    pub(crate) all: bool,
}

impl Style {
    /// What the runs are called that were looked at.
    fn kind_of_runs(self) -> &'static str {
        if self.feasible {
            "feasible"
        } else {
            "equivalent"
        }
    }
}

/// What is to be said about some traces.
pub(crate) fn report(outcomes: &[Outcome], monitors: &[Monitor], style: Style) -> String {
    let texts: Vec<String> = outcomes
        .iter()
        .map(|outcome| ExecutionText { outcome, style }.render(monitors))
        .collect();
    texts.join("\n")
}

/// How many findings a baseline had already.
pub(crate) fn left_out_as_known(known: &[PropertyReport]) -> String {
    let them = if known.len() == 1 { "it" } else { "them" };
    let known = counted(known.len() as u64, "known violation");
    format!("{known} left out: the baseline has {them} already")
}

/// One execution.
struct ExecutionText<'a> {
    outcome: &'a Outcome,
    style: Style,
}

impl ExecutionText<'_> {
    fn render(&self, monitors: &[Monitor]) -> String {
        let report = &self.outcome.report;
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
        if let Some(found) = &self.outcome.found {
            text += &render_text(found, self.style.paint);
        }
        text
    }

    fn head(&self) -> String {
        let trace = &self.outcome.report.trace;
        let execution = match &self.outcome.execution {
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
        let (outcome, paint) = (self.outcome, self.style.paint);
        let warning = paint.yellow("warning");
        let mut text = String::new();
        for fact in &outcome.warnings {
            text += &format!("{warning}: {}\n", printable(&fact.sentence()));
        }
        if !outcome.known.is_empty() {
            text += &format!("{}\n", left_out_as_known(&outcome.known));
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
        let mut warnings = self.outcome.warnings.iter();
        warnings.any(|warning| {
            kinds.contains(&warning.kind) && warning.property.as_deref() == Some(name)
        })
    }

    /// A property with parameters: how many bindings, and the ones that matter.
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
            text += &paragraph("Pending: ", &format!("runs of {bindings} {AT_END}"));
        }
        let in_full = if self.style.all {
            violated.len()
        } else {
            IN_FULL
        };
        for finding in violated.iter().take(in_full) {
            text += &finding.render();
        }
        for finding in violated.iter().skip(in_full).take(NAMED) {
            text += &finding.headline();
        }
        if let Some(more @ 1..) = violated.len().checked_sub(in_full + NAMED) {
            let more = count(more as u64);
            text += &format!("... and {more} more; --all shows every one in full\n");
        }
        text
    }
}
