//! Warnings to read before trusting a trace that has no errors.

use std::{fmt, num::NonZeroU64};

use crate::Place;

/// Something in a trace that is not an error, but may not be as intended.
///
/// ```
/// use portent_monitor_core::Symbols;
/// use portent_trace::{Options, TraceReader};
///
/// let text = "{\"t\": 1, \"op\": \"event\", \"name\": \"login\", \"arg\": [\"bob\"]}\n";
/// let mut reader = TraceReader::new("run.jsonl", text.as_bytes(), &Options::default())?;
/// let mut symbols = Symbols::default();
/// while reader.next_event(&mut symbols)?.is_some() {}
/// assert_eq!(
///     reader.warnings(&symbols)[0].to_string(),
///     "run.jsonl:1:49: the key `arg` is unknown; did you mean `args`?"
/// );
/// # Ok::<(), portent_trace::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Keys that were kept and have no meaning, but resemble those of the format.
    MisspeltKey {
        /// The place of the first one.
        place: Place,
        /// The key.
        key: String,
        /// The key that was probably meant.
        meant: &'static str,
        /// The number of further lines with such keys.
        more: u64,
    },
    /// The records of a log have no clocks.
    NoClocks {
        /// Whether they contain hosts.
        hosts: bool,
    },
    /// Clocks count events of threads that have none in the trace.
    AbsentThreads {
        /// The threads.
        names: Vec<String>,
    },
    /// Threads count more of their own lines than were read.
    SkippedLines {
        /// The threads.
        names: Vec<String>,
        /// The number of missing lines in all.
        count: u64,
        /// The line of the trace before which the first ones are missing.
        before: Option<NonZeroU64>,
    },
    /// No line is a delimiter of executions.
    UnusedDelimiter {
        /// The regular expression.
        regex: String,
    },
}

impl Warning {
    /// Its one-word name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::MisspeltKey { .. } => "misspelt_key",
            Warning::NoClocks { .. } => "no_clocks",
            Warning::AbsentThreads { .. } => "absent_threads",
            Warning::SkippedLines { .. } => "skipped_lines",
            Warning::UnusedDelimiter { .. } => "unused_delimiter",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::MisspeltKey {
                place,
                key,
                meant,
                more,
            } => {
                write!(f, "{place}: the key `{key}` is unknown; did you mean `{meant}`?")?;
                match more {
                    0 => Ok(()),
                    1 => f.write_str(" (and on 1 more line)"),
                    more => write!(f, " (and on {more} more lines)"),
                }
            }
            Warning::NoClocks { hosts: true } => f.write_str(
                "the log has no clocks: only the order of each host's lines is known, not what hosts \
                 wait for, so a predicted run may be impossible",
            ),
            Warning::NoClocks { hosts: false } => f.write_str(
                "the log has neither hosts nor clocks: its lines are treated as those of one thread, in \
                 their only possible order",
            ),
            Warning::AbsentThreads { names } => {
                write!(f, "the clocks count events of {}", some_of(names))?;
                f.write_str(", of which the trace has none: what they kept in order is not known")
            }
            Warning::SkippedLines {
                names,
                count,
                before,
            } => {
                let (lines, were, they) = match count {
                    1 => ("1 line".to_owned(), "was", "it"),
                    more => (format!("{more} lines"), "were", "they"),
                };
                let of = some_of(names);
                write!(f, "the clocks count {lines} of {of} that {were} not read")?;
                if let Some(before) = before {
                    let first = if *count == 1 { "" } else { "the first " };
                    write!(f, " ({first}before line {before})")?;
                }
                write!(f, ": what {they} did is not known")
            }
            Warning::UnusedDelimiter { regex } => write!(
                f,
                "the delimiter `{regex}` matches no line: the whole log is treated as one execution"
            ),
        }
    }
}

/// The first few names, and how many others there are.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        others => format!("{shown} and {others} others"),
    }
}
