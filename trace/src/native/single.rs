//! Single lines from many sources, as a server receives them, rather than a file.

use std::sync::Arc;

use portent_monitor_core::{Event, Symbols};

use super::{
    read::{Reading, read_header_line},
    write::{write_event, write_header},
};
use crate::{Error, Header, lines::Line};

/// Reads single lines of the native format.
///
/// Whether an event can follow earlier ones is not checked here: that is the task of a
/// [`Discipline`](portent_monitor_core::Discipline), which must see all events.
///
/// ```
/// use portent_monitor_core::Symbols;
/// use portent_trace::LineReader;
///
/// let (mut lines, mut symbols) = (LineReader::new("client 1"), Symbols::default());
/// let event = lines.event(br#"{"t": "T1", "op": "event", "name": "login"}"#, 1, &mut symbols)?;
/// assert_eq!(symbols.threads.name(event.thread), "T1");
/// let error = lines.event(b"{\"t\": ", 2, &mut symbols).unwrap_err();
/// assert!(error.to_string().starts_with("client 1:2:"));
/// # Ok::<(), portent_trace::Error>(())
/// ```
pub struct LineReader {
    name: Arc<str>,
    reading: Reading,
}

impl LineReader {
    /// For lines of this origin, which errors name. To be used with one [`Symbols`], as ids are remembered.
    pub fn new(name: &str) -> LineReader {
        LineReader {
            name: name.into(),
            reading: Reading::default(),
        }
    }

    /// The header, if a line is one.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`].
    pub fn header(&self, line: &[u8], number: u64) -> Result<Option<Header>, Error> {
        let line = Line { number, text: line };
        let read = read_header_line(&line).map_err(|fault| fault.in_file(&self.name))?;
        Ok(read.map(|(header, _)| header))
    }

    /// The event of a line; the number is stored in the event and used in errors.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`].
    pub fn event(
        &mut self,
        line: &[u8],
        number: u64,
        symbols: &mut Symbols,
    ) -> Result<Event, Error> {
        let line = Line { number, text: line };
        let decoded = self.reading.with(symbols).decode(&line);
        Ok(decoded.map_err(|fault| fault.in_file(&self.name))?.event)
    }
}

/// An event as a line of the native format, with its line end.
///
/// ```
/// use portent_monitor_core::{Event, Op, Symbols};
///
/// let mut symbols = Symbols::default();
/// let event = Event::new(symbols.threads.intern("T1")?, Op::Lock(symbols.locks.intern("m")?));
/// let line = portent_trace::native_line(&event, &symbols);
/// assert_eq!(line, b"{\"t\": \"T1\", \"op\": \"lock\", \"lock\": \"m\"}\n");
/// # Ok::<(), portent_monitor_core::Error>(())
/// ```
pub fn native_line(event: &Event, symbols: &Symbols) -> Vec<u8> {
    let mut line = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_event(&mut line, event, symbols);
    line
}

/// The first line of a native trace, with its line end.
pub fn native_header(header: &Header) -> Vec<u8> {
    let mut line = Vec::new();
    let _ = write_header(&mut line, header);
    line
}

/// A text in the quotes of JSON.
///
/// ```
/// assert_eq!(portent_trace::json_text("a\"b"), r#""a\"b""#);
/// ```
pub fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
