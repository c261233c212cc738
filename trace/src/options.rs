//! Options for reading a trace: the user's knowledge of it, and limits.

use crate::Format;

/// Options for reading a trace.
///
/// ```
/// use portent_trace::{Format, Options};
///
/// let options = Options::default().format(Format::Std).lenient(true).max_line(1 << 20);
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) format: Option<Format>,
    pub(crate) lenient: bool,
    pub(crate) max_line: usize,
    pub(crate) parser: Option<String>,
    pub(crate) delimiter: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: None,
            lenient: false,
            max_line: 16 << 20,
            parser: None,
            delimiter: None,
        }
    }
}

impl Options {
    /// The format; recognised by content if not set.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Whether bad lines are skipped and counted instead of being errors.
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// The longest line in bytes, 16 MiB if not set.
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// The regular expression of a log, with the group `event` and if the log has them `host` and
    /// `clock`.
    pub fn parser(mut self, regex: impl Into<String>) -> Self {
        self.parser = Some(regex.into());
        self
    }

    /// The regular expression of the lines that separate the executions of a ShiViz log; its
    /// group `trace`, if any, is the label of the execution that follows.
    pub fn delimiter(mut self, regex: impl Into<String>) -> Self {
        self.delimiter = Some(regex.into());
        self
    }
}
