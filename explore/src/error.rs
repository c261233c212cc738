//! What can be wrong with the explorer's input.

use std::path::PathBuf;

/// What can be wrong with what the explorer is told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A schedule that cannot be read.
    #[error(
        "`{token}` is no schedule: {what}. One looks like `p1-IUMh-x3Kd0Q`, and is printed with a failure"
    )]
    Token {
        /// What was to be read.
        token: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file that cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        error: String,
    },
    /// A file that is no search that was stopped.
    #[error("{}:{line}: this is no search that was stopped: {what}", path.display())]
    Saved {
        /// Which one.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What it should be.
        what: &'static str,
    },
    /// A search that cannot be saved.
    #[error(
        "{}: only a search by source sets can be saved and resumed: leave out `strategy`, or `resumable`", path.display()
    )]
    Unsaved {
        /// Where it was to be saved.
        path: PathBuf,
    },
    /// A property asks for what an exploration does not see.
    #[error(
        "`{property}` has the event `{event}`: an exploration sees application events and writes of variables that have a name, \
         not operations or texts"
    )]
    Unseen {
        /// The property.
        property: String,
        /// Its event, as it is declared.
        event: String,
    },
    /// A witness of another recording.
    #[error(
        "the witness has the step {step}, but the recording has {events} events, which are counted from 0"
    )]
    Witness {
        /// The step.
        step: usize,
        /// How many events there are.
        events: usize,
    },
    /// A recording that cannot be put in order.
    #[error(transparent)]
    Recording(#[from] portent_monitor_core::Error),
    /// What a run did does not fit the property.
    #[error(transparent)]
    Property(#[from] portent_lattice::Error),
}
