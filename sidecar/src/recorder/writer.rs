//! Writes recorded events to files.

use portent_monitor_core::{Event, Symbols};

use super::{Files, Recorder, lines::Lines};
use crate::Error;

/// Writes the events of one recording.
pub(crate) struct Writer {
    pub(crate) files: Files,
}

impl Writer {
    /// Makes the first file.
    pub(crate) fn create(recorder: Recorder) -> Result<Writer, Error> {
        let files = recorder.create()?;
        Ok(Writer { files })
    }

    /// Begins another part if it is time, with lines that say what it needs.
    pub(crate) fn next_part(&mut self, lines: &mut Lines, symbols: &Symbols) -> Result<(), Error> {
        if self.files.next_part(symbols)?
            && let Some(init) = lines.next_part(self.files.initial(), symbols)
        {
            self.files.header(init)?;
        }
        Ok(())
    }

    /// Takes the next line, if the event has one.
    pub(crate) fn take(&mut self, line: Option<&Event>, symbols: &Symbols) -> Result<(), Error> {
        match line {
            Some(line) => self.files.put(line, symbols),
            None => {
                let number = self.files.leave_out();
                Err(Error::NotFinite { number })
            }
        }
    }
}
