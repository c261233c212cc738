//! Errors in the explorer's input.

use std::path::PathBuf;

/// An error in the explorer's input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is not a schedule.
    #[error(
        "`{token}` is no schedule: {what}. One looks like `p1-IUMh-x3Kd0Q`, and is printed with a failure"
    )]
    Token {
        /// The text.
        token: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        error: String,
    },
    /// A file is not a saved search.
    #[error("{}:{line}: this is no search that was stopped: {what}", path.display())]
    Saved {
        /// Which one.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What it should be.
        what: &'static str,
    },
    /// A search cannot be saved.
    #[error(
        "{}: only a search by source sets can be saved and resumed: leave out `strategy`, or `resumable`", path.display()
    )]
    Unsaved {
        /// The file.
        path: PathBuf,
    },
    /// A property refers to something that an exploration does not observe.
    #[error(
        "`{property}` has the event `{event}`: an exploration sees application events and writes of variables that have a name, \
         not operations or texts"
    )]
    Unseen {
        /// The property.
        property: String,
        /// The event, as the property declares it.
        event: String,
    },
    /// A witness belongs to another recording.
    #[error(
        "the witness has the step {step}, but the recording has {events} events, which are counted from 0"
    )]
    Witness {
        /// The step.
        step: usize,
        /// The number of events in the recording.
        events: usize,
    },
    /// A recording has no causal order.
    #[error(transparent)]
    Recording(#[from] portent_monitor_core::Error),
    /// A value in a run does not fit the property.
    #[error(transparent)]
    Property(#[from] portent_lattice::Error),
}
