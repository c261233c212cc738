//! Traces of any format, written one event at a time.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    sync::Arc,
};

use portent_monitor_core::{Event, Symbols};

use crate::{
    Compression, Error, Format, Header, Losses, Unwritable, compression::Compressor, native, rapid,
    shiviz,
};

/// Writes a trace.
///
/// ```
/// use portent_monitor_core::{Event, Op, Symbols, Value};
/// use portent_trace::{Compression, Format, Header, TraceWriter};
///
/// let mut symbols = Symbols::default();
/// let (t, x) = (symbols.threads.intern("T1")?, symbols.vars.intern("x")?);
/// let header = Header { init: vec![("x".to_owned(), Value::from(0))], ..Header::default() };
/// let mut writer = TraceWriter::new("out", Vec::new(), Format::Native, Compression::None)?;
/// writer.header(&header)?;
/// writer.event(&Event::new(t, Op::Write(x, Some(Value::from(3)))), &symbols)?;
/// assert_eq!(
///     String::from_utf8(writer.finish(&symbols)?)?,
///     "{\"portent\": 1, \"init\": {\"x\": 0}}\n\
///      {\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"val\": 3}\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TraceWriter<W: Write> {
    file: Arc<str>,
    output: BufWriter<Compressor<W>>,
    format: Format,
    /// The binary form can only be written as a whole.
    binary: rapid::BinaryWriter,
    /// STD expresses a wait by lines that mean something else on their own.
    monitors: rapid::Monitors,
    /// A log needs a clock on every event.
    clocks: shiviz::Clocks,
    events: u64,
    losses: Losses,
}

impl TraceWriter<File> {
    /// Creates a file; its name determines the compression.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Unsupported`].
    pub fn create(path: &Path, format: Format) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|source| Error::Io {
            file: name.as_str().into(),
            source,
        })?;
        TraceWriter::new(&name, file, format, Compression::of_file(&name))
    }
}

impl<W: Write> TraceWriter<W> {
    /// Writes to a stream; `name` is what errors call it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Unsupported`] for a format that can only be read.
    pub fn new(
        name: &str,
        output: W,
        format: Format,
        compression: Compression,
    ) -> Result<Self, Error> {
        let file: Arc<str> = name.into();
        if matches!(format, Format::Poet | Format::Kairos) {
            let problem = "it can only be read".to_owned();
            return Err(Error::Unsupported {
                what: Unwritable::File(file),
                format,
                problem,
            });
        }
        let output = Compressor::new(output, compression).map_err(|source| Error::Io {
            file: Arc::clone(&file),
            source,
        })?;
        let output = BufWriter::with_capacity(64 * 1024, output);
        Ok(TraceWriter {
            file,
            output,
            format,
            binary: rapid::BinaryWriter::default(),
            monitors: rapid::Monitors::default(),
            clocks: shiviz::Clocks::default(),
            events: 0,
            losses: Losses::default(),
        })
    }

    fn io(&self, result: io::Result<()>) -> Result<(), Error> {
        result.map_err(|source| Error::Io {
            file: Arc::clone(&self.file),
            source,
        })
    }

    /// Writes what comes before the first event. Initial values that the format has no place for
    /// are among the [`losses`](Self::losses).
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn header(&mut self, header: &Header) -> Result<(), Error> {
        self.losses.count_header(header, self.format);
        match self.format {
            Format::Native => {
                let result = native::write_header(&mut self.output, header);
                self.io(result)
            }
            _ => Ok(()),
        }
    }

    /// Writes one event.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Unsupported`] if the format cannot say this, and then nothing of
    /// the event is written.
    pub fn event(&mut self, event: &Event, symbols: &Symbols) -> Result<(), Error> {
        self.events += 1;
        let written = match self.format {
            Format::Native => {
                native::write_event(&mut self.output, event, symbols).map(|()| Ok(()))
            }
            Format::Std => rapid::write_event(&mut self.output, event, symbols, &mut self.monitors),
            Format::RapidBinary => Ok(self.binary.push(event)),
            Format::ShiViz => {
                shiviz::write_event(&mut self.output, event, symbols, &mut self.clocks)
            }
            Format::Poet | Format::Kairos => Ok(Err("it can only be read".to_owned())),
        };
        match written {
            Ok(Ok(())) => {
                self.losses.count(event, self.format);
                Ok(())
            }
            Ok(Err(problem)) => Err(Error::Unsupported {
                what: Unwritable::Event(self.events),
                format: self.format,
                problem,
            }),
            Err(source) => self.io(Err(source)),
        }
    }

    /// The parts of the header and of the events so far that the format had no place for.
    pub fn losses(&self, symbols: &Symbols) -> Losses {
        let mut losses = self.losses.clone();
        if self.format == Format::RapidBinary {
            losses.names = self.binary.renumbered(symbols);
        }
        losses
    }

    /// Writes pending data and returns the stream.
    ///
    /// # Errors
    ///
    /// [`Error::Io`]; [`Error::Unsupported`] if the binary form has too few bits for the names.
    pub fn finish(mut self, symbols: &Symbols) -> Result<W, Error> {
        let io = |source| Error::Io {
            file: Arc::clone(&self.file),
            source,
        };
        if self.format == Format::RapidBinary {
            let written = self.binary.finish(&mut self.output, symbols).map_err(io)?;
            if let Err(problem) = written {
                return Err(Error::Unsupported {
                    what: Unwritable::File(self.file),
                    format: self.format,
                    problem,
                });
            }
        }
        let compressor = self
            .output
            .into_inner()
            .map_err(|error| io(error.into_error()))?;
        compressor.finish().map_err(io)
    }
}
