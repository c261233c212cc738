//! What to know before trusting an answer: where a property does not fit the trace, and what the
//! reader of the trace had to leave out or assume.

use portent_lattice::report;
use portent_monitor_core::Symbols;
use portent_trace::TraceReader;
use serde::Serialize;

use crate::text::numbers::counted;

/// Something to know before trusting an answer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Warning {
    /// The property that it is about; `None` if it is about the trace.
    pub(crate) property: Option<String>,
    /// One of the words of [`report::WarningKind`], or of the constants here.
    pub(crate) kind: &'static str,
    /// A sentence without capital and full stop, in which the property is "it".
    pub(crate) text: String,
}

/// Bad lines were skipped.
const SKIPPED_LINES: &str = "skipped_lines";
/// What became of the order that a skipped line gave to others.
const LOST_ORDER: &str =
    "may have kept others in order: a prediction may be of a run that cannot happen";
/// Lines of a log are not part of any record.
const UNMATCHED_LINES: &str = "unmatched_lines";

impl Warning {
    pub(crate) fn of_trace(kind: &'static str, text: String) -> Warning {
        Warning {
            property: None,
            kind,
            text,
        }
    }

    /// The sentence with its subject.
    pub(crate) fn sentence(&self) -> String {
        match &self.property {
            Some(name) => format!("property `{name}`: {}", self.text),
            None => self.text.clone(),
        }
    }
}

impl From<&report::Warning> for Warning {
    fn from(warning: &report::Warning) -> Warning {
        Warning {
            property: warning.property.clone(),
            kind: warning.kind.as_str(),
            text: match warning.kind {
                report::WarningKind::TooManyBindings => {
                    format!("{}; --max-bindings allows more", warning.text)
                }
                report::WarningKind::BindingsBeyondMemory
                | report::WarningKind::OrderBeyondMemory
                | report::WarningKind::StepsBeyondMemory
                | report::WarningKind::TextsBeyondMemory => {
                    format!("{}; a larger --memory has room for more", warning.text)
                }
                _ => warning.text.clone(),
            },
        }
    }
}

/// How many lines were not read as events when an execution began, so that those of earlier
/// executions are not counted again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Unread {
    pub(crate) skipped: u64,
    /// Those of them that may have ordered events.
    orders: u64,
    pub(crate) unmatched: u64,
}

impl Unread {
    /// Up to here.
    pub(crate) fn so_far(reader: &TraceReader<'_>) -> Unread {
        Unread {
            skipped: reader.skipped(),
            orders: reader.skipped_orders(),
            unmatched: reader.unmatched(),
        }
    }

    pub(crate) fn since(self, before: Unread) -> Unread {
        Unread {
            skipped: self.skipped - before.skipped,
            orders: self.orders - before.orders,
            unmatched: self.unmatched - before.unmatched,
        }
    }

    /// What is to be said of them, if there are any, and of the trace.
    pub(crate) fn warnings(self, reader: &TraceReader<'_>, symbols: &Symbols) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.skipped > 0 {
            let first = reader.first_skipped();
            let first = first.map_or_else(String::new, |first| format!("; the first: {first}"));
            let lines = counted(self.skipped, "bad line");
            let orders = match (self.orders, self.skipped) {
                (0, _) => String::new(),
                (n, all) if n == all => format!(", which {LOST_ORDER}"),
                (n, _) => format!(", of which {n} {LOST_ORDER}"),
            };
            warnings.push(Warning::of_trace(
                SKIPPED_LINES,
                format!("{lines} skipped{orders}{first}"),
            ));
        }
        if self.unmatched > 0 {
            let lines = counted(self.unmatched, "line");
            let belong = if self.unmatched == 1 {
                "belongs"
            } else {
                "belong"
            };
            warnings.push(Warning::of_trace(
                UNMATCHED_LINES,
                format!("{lines} of the log {belong} to no event"),
            ));
        }
        let of_reader = reader.warnings(symbols).into_iter();
        warnings.extend(
            of_reader.map(|warning| Warning::of_trace(warning.kind(), warning.to_string())),
        );
        warnings
    }
}
