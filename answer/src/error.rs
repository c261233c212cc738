//! Why a page cannot be made.

/// Why a page cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The date given for pages is invalid.
    #[error("SOURCE_DATE_EPOCH is to be a number of seconds since 1970, and it is `{text}`")]
    SourceDate {
        /// The invalid date.
        text: String,
    },
}
