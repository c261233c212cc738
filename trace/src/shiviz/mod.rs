//! Logs with vector clocks in the style of ShiViz, TSViz and GoVector.
//!
//! A regular expression with the named groups `host`, `clock` and `event` describes a
//! record; it may span several lines. Without `clock` only the order of each host's lines is known, and
//! without `host` all are lines of one thread. The expression comes from the user, or from the first line of the file
//! (the second is then the expression that separates executions, or blank), or is one of the two
//! usual layouts. Text that belongs to no record is skipped and counted, as these tools do.
//!
//! Other named groups are kept as extra keys; a `time` or `timestamp` that is a number is the event's
//! time. The quotes of a clock may be escaped, as in `{\"a\":1}`, where a log was text within JSON.

mod clocks;
mod escape;
mod js_regex;
mod layout;
mod parser;
mod read;
mod write;

pub(crate) use clocks::Clocks;
pub(crate) use layout::{Layout, looks_like_parser, shows_layout};
pub(crate) use read::ShiViz;
pub(crate) use write::write_event;
