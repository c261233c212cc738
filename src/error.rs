//! The one error of the façade: whatever part it comes from, `?` takes it.

/// What went wrong in any of the parts.
///
/// ```
/// fn states(text: &str) -> Result<usize, portent::Error> {
///     Ok(portent::Property::parse(text)?.monitor()?.states())
/// }
///
/// assert_eq!(states("always (request -> eventually response)").unwrap(), 2);
/// assert!(matches!(states("alwyas x"), Err(portent::Error::Property(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A property cannot be read, or its monitor would be too large.
    #[error(transparent)]
    Property(#[from] portent_monitor_dsl::Error),
    /// An event cannot be, after those before it.
    #[error(transparent)]
    Event(#[from] portent_monitor_core::Error),
    /// A run cannot be checked.
    #[cfg(feature = "lattice")]
    #[error(transparent)]
    Check(#[from] portent_lattice::Error),
    /// A trace cannot be read or written.
    #[cfg(feature = "trace")]
    #[error(transparent)]
    Trace(#[from] portent_trace::Error),
    /// A sidecar cannot begin, or has no answer.
    #[cfg(feature = "sidecar")]
    #[error(transparent)]
    Sidecar(#[from] portent_sidecar::Error),
}
