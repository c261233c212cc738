//! Errors in a trace, and their places.
//!
//! Every message names the file, the line and the column, quotes the text there and says what
//! would be right, because the person who reads it did not write the trace: a program did.

use std::{fmt, io, ops::Range, sync::Arc};

use thiserror::Error;

use crate::{Format, decoder::column_of};

/// A place in a trace file; for a binary trace `line` is the number of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named to the reader.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a trace cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A line that is not of the format.
    #[error("{place}: {problem}, found {found}")]
    Malformed {
        /// The place.
        place: Place,
        /// The text there, shortened and in quotes.
        found: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A line that is well written but contradicts the lines before it.
    #[error("{place}: {source}, in `{found}`{hint}")]
    Contradiction {
        /// The place.
        place: Place,
        /// The event, shortened.
        found: String,
        /// What it contradicts.
        source: Box<portent_monitor_core::Error>,
        /// A possible reason, after a semicolon, or nothing.
        hint: String,
    },
    /// Every line may follow those before it, but the run cannot end this way.
    #[error("{place}: {source}{hint}")]
    WrongEnd {
        /// The line that the end contradicts.
        place: Place,
        /// What is wrong.
        source: Box<portent_monitor_core::Error>,
        /// A possible reason, after a semicolon, or nothing.
        hint: String,
    },
    /// An event that the caller cannot use; see [`TraceReader::refuse`].
    ///
    /// [`TraceReader::refuse`]: crate::TraceReader::refuse
    #[error("{place}: {problem}")]
    Refused {
        /// The place.
        place: Place,
        /// What is wrong with it.
        problem: String,
    },
    /// A line longer than the limit; it was never held in memory as a whole.
    #[error(
        "{place}: a line of more than {limit} bytes, beginning with `{found}`; a trace has one event a line: write it so, or allow longer lines"
    )]
    LineTooLong {
        /// The place.
        place: Place,
        /// Its beginning.
        found: String,
        /// The limit that was set.
        limit: usize,
    },
    /// Nothing can be read from here on: the compression is damaged, or the system reports an error.
    #[error("{place}: the file cannot be read further: {source}")]
    Broken {
        /// The place.
        place: Place,
        /// The message of the system or the decompressor.
        source: io::Error,
    },
    /// The file cannot be opened, read at all, or written.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: Arc<str>,
        /// The message of the system.
        source: io::Error,
    },
    /// The content has no recognisable format.
    #[error(
        "{file}: the format cannot be recognised, the file begins with `{found}`; name the format (native, std, rapid-binary, shiviz, poet or kairos), or give the regular expression of a log"
    )]
    UnknownFormat {
        /// The file.
        file: Arc<str>,
        /// Its beginning.
        found: String,
    },
    /// A regular expression that cannot be used.
    #[error("the {what} `{regex}` cannot be used: {problem}")]
    Regex {
        /// Which one: the parser or the delimiter.
        what: &'static str,
        /// The expression as it was given.
        regex: String,
        /// The reason.
        problem: String,
    },
    /// The target format cannot express this.
    #[error("{what} cannot be written as {format}: {problem}")]
    Unsupported {
        /// What cannot be written.
        what: Unwritable,
        /// The target format.
        format: Format,
        /// The feature that it lacks.
        problem: String,
    },
}

/// The part that cannot be written, as precisely as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// The part at this place of the trace that is being converted.
    At(Place),
    /// The event with this number, from 1, of those given to the writer.
    Event(u64),
    /// All of this file.
    File(Arc<str>),
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwritable::At(place) => write!(f, "{place}: this"),
            Unwritable::Event(number) => write!(f, "event {number}"),
            Unwritable::File(file) => write!(f, "{file}: the trace"),
        }
    }
}

/// An error reported by a decoder: an [`Error`] without the name of the file.
#[derive(Debug)]
pub(crate) enum Fault {
    /// This line or record is bad; the next one may be good.
    Line {
        line: u64,
        column: u64,
        found: String,
        problem: String,
    },
    /// This line is too long; the next one may be good.
    TooLong {
        line: u64,
        column: u64,
        found: String,
        limit: usize,
    },
    /// Nothing more can be read.
    Io {
        line: u64,
        column: u64,
        source: io::Error,
    },
}

impl Fault {
    /// A fault in this part of the text of line number `line`.
    pub(crate) fn new(
        line: u64,
        text: &[u8],
        part: Range<usize>,
        problem: impl Into<String>,
    ) -> Fault {
        let end = part.end.min(text.len());
        let start = part.start.min(end);
        Fault::Line {
            line,
            column: column_of(text, start),
            found: quote(&text[start..end]),
            problem: problem.into(),
        }
    }

    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, Fault::Io { .. })
    }

    pub(crate) fn in_file(self, file: &Arc<str>) -> Error {
        let file = Arc::clone(file);
        match self {
            Fault::Line {
                line,
                column,
                found,
                problem,
            } => Error::Malformed {
                place: Place { file, line, column },
                found,
                problem,
            },
            Fault::TooLong {
                line,
                column,
                found,
                limit,
            } => Error::LineTooLong {
                place: Place { file, line, column },
                found,
                limit,
            },
            Fault::Io {
                line,
                column,
                source,
            } => Error::Broken {
                place: Place { file, line, column },
                source,
            },
        }
    }
}

/// The start of a text, for "found ...".
pub(crate) fn quote(text: &[u8]) -> String {
    match shorten(text) {
        empty if empty.is_empty() => "the end of the line".to_owned(),
        shown => format!("`{shown}`"),
    }
}

/// The first line of a text, at most 40 characters of it, fit to be printed.
pub(crate) fn shorten(text: &[u8]) -> String {
    shorten_to(text, 40)
}

/// The first line of a text, at most this many characters of it, fit to be printed.
pub(crate) fn shorten_to(text: &[u8], shown: usize) -> String {
    // A character has at most 4 bytes.
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * (shown + 1))]);
    let line = text.lines().next().unwrap_or("");
    let mut short: String = line
        .chars()
        .take(shown)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if line.chars().nth(shown).is_some() {
        short.push('…');
    }
    short
}
