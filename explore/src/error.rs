//! What can be wrong with what the explorer is told.

/// What can be wrong with what the explorer is told.
#[derive(Clone, Debug, thiserror::Error)]
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
}
