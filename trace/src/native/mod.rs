//! The native format: one JSON object a line, after an optional header line.

mod entries;
mod fields;
mod near_miss;
mod read;
mod scan;
mod short_names;
mod values;
mod write;

pub(crate) use read::{Native, read_clock};
pub(crate) use write::{write_event, write_header};
