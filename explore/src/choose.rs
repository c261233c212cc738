//! Nondeterministic values, explored like schedules.

use portent_hooks::control;

/// Chooses a value from 0 up to this number, exclusive: an exploration tries all of them. Outside of one it returns 0.
///
/// ```
/// use portent_explore::{Explorer, choose};
///
/// let report = Explorer::new().check(|| {
///     let (one, other) = (choose(3), choose(4));
///     assert!(one + other < 5, "{one} and {other}");
/// });
/// assert_eq!(report.executions, 12);
/// assert!(report.failures[0].message.ends_with("2 and 3"));
/// ```
#[must_use]
pub fn choose(values: u32) -> u32 {
    control::pick(values).unwrap_or(0)
}
