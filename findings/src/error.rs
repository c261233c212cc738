//! What can go wrong.

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The order of the events could not be followed any further.
    #[error(transparent)]
    Causality(#[from] portent_monitor_core::Error),
    /// There are more events than 32 bits can number.
    #[error("the trace has more than 4,294,967,294 events; split it")]
    TooManyEvents,
    /// A line of a suppression file is invalid.
    #[error("{file}:{line}:{column}: `{found}` is not what is expected here: {expected}")]
    BadSuppression {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The text found there.
        found: String,
        /// The text expected there.
        expected: &'static str,
    },
    /// An unknown kind of finding.
    #[error("`{found}` is nothing that can be looked for; there are races, deadlocks and atomicity{}", suggestion(.closest))]
    UnknownKind {
        /// The requested kind.
        found: String,
        /// The kind that was probably meant.
        closest: Option<&'static str>,
    },
}

fn suggestion(closest: &Option<&'static str>) -> String {
    closest.map_or_else(String::new, |name| format!(". Did you mean `{name}`?"))
}
