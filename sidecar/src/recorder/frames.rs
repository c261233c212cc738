//! A file in frames: whatever was flushed is complete, no matter what happens to the process next.

use std::{
    fs::File,
    io::{self, Write},
    path::PathBuf,
};

use portent_monitor_core::{Event, Symbols};
use portent_trace::{Compression, Format, Header, TraceWriter};

use crate::Error;

/// A frame has at most this many events: it is in memory until it is written.
const FRAME: u64 = 1 << 14;

/// A file, and the frame that is not in it yet.
pub(super) struct Frames {
    file: File,
    path: PathBuf,
    frame: TraceWriter<Vec<u8>>,
    /// Events in the frame.
    pending: u64,
    /// Whether the frame has a header.
    has_header: bool,
    bytes: u64,
}

impl Frames {
    pub(super) fn create(path: PathBuf) -> Result<Frames, Error> {
        let file = File::create(&path).map_err(|source| Error::File {
            path: path.clone(),
            source,
        })?;
        Ok(Frames {
            file,
            frame: new_frame(&path)?,
            path,
            pending: 0,
            has_header: false,
            bytes: 0,
        })
    }

    /// How many bytes the file has.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many events are not in the file yet.
    pub(super) fn pending(&self) -> u64 {
        self.pending
    }

    pub(super) fn header(&mut self, header: &Header) -> Result<(), Error> {
        self.has_header = true;
        Ok(self.frame.header(header)?)
    }

    /// Takes an event. Whether the frame is full with it.
    pub(super) fn event(&mut self, event: &Event, symbols: &Symbols) -> Result<bool, Error> {
        self.frame.event(event, symbols)?;
        self.pending += 1;
        Ok(self.pending >= FRAME)
    }

    /// Ends the frame and writes it, if there is something in it.
    pub(super) fn flush(&mut self, symbols: &Symbols) -> Result<(), Error> {
        if self.pending == 0 && !self.has_header {
            return Ok(());
        }
        let frame = std::mem::replace(&mut self.frame, new_frame(&self.path)?);
        let bytes = frame.finish(symbols)?;
        // In one piece, and directly to the system.
        self.write(&bytes).map_err(|source| Error::File {
            path: self.path.clone(),
            source,
        })?;
        self.bytes += bytes.len() as u64;
        (self.pending, self.has_header) = (0, false);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.flush()
    }
}

fn new_frame(path: &std::path::Path) -> Result<TraceWriter<Vec<u8>>, Error> {
    let name = path.display().to_string();
    let compression = Compression::of_file(&name);
    Ok(TraceWriter::new(
        &name,
        Vec::new(),
        Format::Native,
        compression,
    )?)
}
