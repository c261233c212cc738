//! Warnings to read before trusting an answer: what the reader of the trace had to leave out or assume.

use portent_answer::{Warning, text::numbers::counted};
use portent_monitor_core::Symbols;
use portent_trace::TraceReader;

/// Bad lines were skipped.
const SKIPPED_LINES: &str = "skipped_lines";
/// The effect of skipped lines on the order of events.
const LOST_ORDER: &str = "may have kept others in order, so a predicted run may be impossible";
/// Lines of a log are not part of any record.
const UNMATCHED_LINES: &str = "unmatched_lines";

/// The number of lines that were not read as events when an execution began, so that those of earlier
/// executions are not counted again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Unread {
    pub(crate) skipped: u64,
    /// Those of them that may have ordered events.
    orders: u64,
    pub(crate) unmatched: u64,
}

impl Unread {
    /// The counts up to this point.
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

    /// The warnings about them, if any, and about the trace.
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
