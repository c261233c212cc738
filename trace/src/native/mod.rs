//! The native format: one JSON object a line, after an optional header line.

mod entries;
mod fields;
mod header;
mod near_miss;
mod operation;
mod read;
mod scan;
mod short_names;
mod single;
mod values;
mod write;

pub(crate) use operation::read_clock;
pub(crate) use read::Native;
pub use single::{LineReader, json_text, native_header, native_line};
pub(crate) use write::{write_event, write_header};
