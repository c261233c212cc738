//! Clocks whose quotes are escaped, as they are where a log was itself a text within JSON.

use std::borrow::Cow;

/// The clock as JSON.
pub(super) fn unescaped(clock: &str) -> Cow<'_, str> {
    if clock.trim_start().starts_with("{\\\"") {
        clock.replace("\\\"", "\"").into()
    } else {
        clock.into()
    }
}
