//! Reads and writes the traces that Portent checks.
//!
//! [`TraceReader`] opens a trace of any [`Format`], compressed or not, from a file or any stream,
//! and yields [`Event`](portent_monitor_core::Event)s in observed order. [`TraceWriter`] writes
//! traces, and [`convert`] joins the two.
//!
//! | format | description | reads | writes |
//! |---|---|---|---|
//! | [`Native`](Format::Native) | one JSON object per line; can express everything | yes | yes |
//! | [`Std`](Format::Std) | `T1\|w(x)\|12`, the text of the RAPID tools | yes | yes |
//! | [`RapidBinary`](Format::RapidBinary) | the same in 8 bytes per event | yes | yes |
//! | [`ShiViz`](Format::ShiViz) | logs with vector clocks | yes | yes; events without a clock get one |
//! | [`Poet`](Format::Poet) | a JSON document with vector clocks | yes | no |
//! | [`Kairos`](Format::Kairos) | a CSV file with vector clocks | yes | no |
//!
//! **Reading is streaming**: memory does not grow with the trace, only with its distinct names,
//! with the messages and barrier rounds that it mentions, and for ShiViz logs with how far the
//! file's order is from one that the clocks allow. **No event is returned that contradicts earlier
//! ones**: a [`Discipline`](portent_monitor_core::Discipline) checks each event.
//!
//! A native trace may also contain `begin` and `end` (of a `block`, or of the thread itself) and `req` (with
//! a `lock`), so that STD traces survive a conversion; these order nothing.

#![warn(missing_docs)]

mod compression;
mod convert;
mod decoder;
mod error;
mod format;
mod frontier;
mod kairos;
mod lines;
mod losses;
mod native;
mod options;
mod poet;
mod rapid;
mod reader;
mod shiviz;
mod threads;
mod warning;
mod writer;

pub use compression::Compression;
pub use convert::{Converted, convert};
pub use error::{Error, Place, Unwritable};
pub use format::{Format, UnknownFormatName};
pub use losses::Losses;
pub use native::{LineReader, json_text, native_header, native_line};
pub use options::Options;
pub use reader::{Header, TraceReader};
pub use warning::Warning;
pub use writer::TraceWriter;
