//! Data that are explored like schedules.

use portent_hooks::control;

/// One of this many values, counted from 0: all of them are explored. Outside of an exploration it is 0.
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
