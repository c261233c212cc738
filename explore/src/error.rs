//! What can be wrong with a question.

use thiserror::Error;

/// What can be wrong with a question.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum Error {
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
    /// What a run did does not fit the property.
    #[error(transparent)]
    Property(#[from] portent_lattice::Error),
}
