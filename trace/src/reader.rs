//! Traces of any format, one event at a time.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use portent_monitor_core::{
    Discipline, Error as CoreError, Event, Op, SkippedEvents, Symbols, Value,
};

use crate::{
    Error, Format, Options, Place, Warning,
    compression::{Sample, decompress, peek, peek_line},
    decoder::{Decoded, Decoder, Position},
    error::{Fault, shorten, shorten_to},
    kairos::Kairos,
    lines::Lines,
    native::{self, Native},
    poet::Poet,
    rapid::{RapidBinary, StdText},
    shiviz::{ShiViz, shows_layout},
};

/// How far to look to recognise a format, at first and at most.
const SAMPLE: usize = 64 * 1024;
const LONGEST_SAMPLE: usize = 4 * 1024 * 1024;

/// The start of a stream, long enough to recognise its format: the first line of a log
/// may have a clock of ten thousand hosts.
fn look<'r>(
    mut input: Box<dyn Read + Send + 'r>,
    options: &Options,
) -> io::Result<(Option<Format>, Sample, Box<dyn Read + Send + 'r>)> {
    let given = options.parser.as_ref().map(|_| Format::ShiViz);
    let given = options.format.or(given);
    let (first, whole_input) = peek_line(input, SAMPLE)?;
    if let Some(format) = given.or_else(|| Format::of_line(&first.bytes))
        && format != Format::ShiViz
    {
        return Ok((Some(format), first, whole_input));
    }
    input = whole_input;
    let mut length = SAMPLE;
    loop {
        let (sample, whole_input) = peek(input, length)?;
        let format = given.or_else(|| Format::detect(&sample.bytes));
        let seen = match format {
            None => false,
            Some(Format::ShiViz) => options.parser.is_some() || shows_layout(&sample.bytes),
            Some(_) => true,
        };
        if seen || sample.whole || length >= options.max_line.min(LONGEST_SAMPLE) {
            return Ok((format, sample, whole_input));
        }
        input = whole_input;
        length *= 2;
    }
}

/// The information in a trace before its first event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The initial values of variables, by their names.
    pub init: Vec<(String, Value)>,
    /// The name, as in `cargo test`, of the test that left the recording.
    pub test: Option<String>,
}

impl Header {
    /// The initial value of a variable, if the trace has it.
    ///
    /// ```
    /// use portent_monitor_core::Value;
    /// use portent_trace::{Options, TraceReader};
    ///
    /// let text = "{\"portent\": 1, \"init\": {\"x\": 3}}\n";
    /// let reader = TraceReader::new("run.jsonl", text.as_bytes(), &Options::default())?;
    /// assert_eq!(reader.header().initial("x"), Some(Value::from(3)));
    /// assert_eq!(reader.header().initial("y"), None);
    /// # Ok::<(), portent_trace::Error>(())
    /// ```
    pub fn initial(&self, name: &str) -> Option<Value> {
        let found = self.init.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone())
    }
}

/// Reads a trace, checks that it can be a run, and yields its events in observed order.
///
/// The owner of the run has its names, and lends them to the reader for every event. Ids are remembered
/// here, so **one reader must be used with one [`Symbols`]** from its first event to its last, including all executions.
///
/// ```
/// use portent_monitor_core::Symbols;
/// use portent_trace::{Options, TraceReader};
///
/// let text = "T1|acq(m)|1\nT1|w(x)|2\nT1|rel(m)|3\n";
/// let mut reader = TraceReader::new("run.std", text.as_bytes(), &Options::default())?;
/// let (mut symbols, mut events) = (Symbols::default(), 0);
/// while let Some(event) = reader.next_event(&mut symbols)? {
///     assert_eq!(symbols.threads.name(event.thread), "T1");
///     events += 1;
/// }
/// assert_eq!(events, 3);
///
/// let mut reader = TraceReader::new("bad.std", "T1|rel(m)|3\n".as_bytes(), &Options::default())?;
/// let error = reader.next_event(&mut Symbols::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "bad.std:1:4: thread T1 releases lock m, which it does not hold, in `T1|rel(m)|3`"
/// );
/// # Ok::<(), portent_trace::Error>(())
/// ```
pub struct TraceReader<'r> {
    file: Arc<str>,
    format: Format,
    decoder: Decoder<'r>,
    header: Header,
    discipline: Discipline,
    /// The delimiter of executions that was given.
    delimiter: Option<String>,
    lenient: bool,
    skipped: u64,
    /// The number of skipped lines that may have ordered others.
    skipped_orders: u64,
    first_skipped: Option<Error>,
    events: u64,
    /// The place of the initial values in the header.
    initial: Position,
    /// The place of the data of the last event returned.
    last: Position,
    /// Whether that event may order others.
    last_orders: bool,
    /// Whether the end of the current execution was checked.
    ended: bool,
}

impl TraceReader<'static> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and [`Error::Io`] if there is no such file.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|source| Error::Io {
            file: name.as_str().into(),
            source,
        })?;
        TraceReader::new(&name, file, options)
    }
}

impl<'r> TraceReader<'r> {
    /// Reads a stream; `name` is what errors call it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::UnknownFormat`], [`Error::Regex`], and whatever is wrong with a
    /// header line.
    pub fn new(name: &str, input: impl Read + Send + 'r, options: &Options) -> Result<Self, Error> {
        let file: Arc<str> = name.into();
        let io = |source| Error::Io {
            file: Arc::clone(&file),
            source,
        };
        let input = decompress(Box::new(input)).map_err(io)?;
        let (format, sample, input) = look(input, options).map_err(io)?;
        let Some(format) = format else {
            return Err(Error::UnknownFormat {
                file,
                found: shorten(&sample.bytes),
            });
        };
        let lines = |input| Lines::new(input, options.max_line);
        let mut header = Header::default();
        let mut header_fault = None;
        let start = Position { line: 1, column: 1 };
        let mut initial = start;
        let decoder = match format {
            Format::Native => {
                let mut native = Native::new(lines(input));
                match native.header() {
                    Ok(read) => (header, initial) = read,
                    Err(fault) => header_fault = Some(fault),
                }
                Decoder::Native(Box::new(native))
            }
            Format::Std => Decoder::Std(StdText::new(lines(input))),
            Format::RapidBinary => Decoder::RapidBinary(RapidBinary::new(input)),
            Format::ShiViz => {
                let (parser, delimiter) = (options.parser.as_deref(), options.delimiter.as_deref());
                let log = ShiViz::new(lines(input), &sample, parser, delimiter)?;
                Decoder::ShiViz(Box::new(log.map_err(|fault| fault.in_file(&file))?))
            }
            Format::Poet => Decoder::Poet(Box::new(Poet::new(input, options.max_line))),
            Format::Kairos => Decoder::Kairos(Box::new(Kairos::new(lines(input)))),
        };
        let mut reader = TraceReader {
            file,
            format,
            decoder,
            header,
            discipline: Discipline::default(),
            delimiter: options.delimiter.clone(),
            lenient: options.lenient,
            skipped: 0,
            skipped_orders: 0,
            first_skipped: None,
            events: 0,
            initial,
            last: start,
            last_orders: false,
            ended: false,
        };
        if let Some(fault) = header_fault {
            reader.skip_or_fail(fault)?;
        }
        Ok(reader)
    }

    /// The next event of the current execution, or `None` at its end. Its names are in `symbols`, the same ones every time;
    /// new ones are added.
    ///
    /// # Errors
    ///
    /// A line that is not of the format, or that contradicts the lines before it, and once at the end
    /// [`Error::WrongEnd`]; if the reader is lenient, only errors that make further reading impossible. Reading
    /// may continue after an error: the line is skipped.
    pub fn next_event(&mut self, symbols: &mut Symbols) -> Result<Option<Event>, Error> {
        loop {
            let decoded = match self.decoder.next(symbols) {
                Ok(Some(decoded)) => decoded,
                Ok(None) => {
                    self.end(symbols)?;
                    return Ok(None);
                }
                Err(fault) => {
                    self.skip_or_fail(fault)?;
                    continue;
                }
            };
            match self.discipline.admit(&decoded.event, symbols) {
                Ok(()) => {
                    self.events += 1;
                    self.last = decoded.data;
                    self.last_orders = may_order(&decoded.event);
                    return Ok(Some(decoded.event));
                }
                Err(source) => self.skip_contradiction(&decoded, source, symbols)?,
            }
        }
    }

    /// Skips an event after which no run could continue, or returns what is wrong with it.
    #[cold]
    fn skip_contradiction(
        &mut self,
        decoded: &Decoded,
        source: CoreError,
        symbols: &Symbols,
    ) -> Result<(), Error> {
        let error = Error::Contradiction {
            place: self.place(decoded.op),
            found: self.quoted(&decoded.event, symbols),
            source: Box::new(source),
            hint: self.hint(),
        };
        self.skip(error, may_order(&decoded.event))
    }

    /// Checks the end of the current execution, once. A lenient reader may have skipped the missing lines.
    fn end(&mut self, symbols: &Symbols) -> Result<(), Error> {
        if std::mem::replace(&mut self.ended, true) || self.lenient {
            return Ok(());
        }
        self.discipline.finish(symbols).map_err(|source| {
            let place = match &source {
                CoreError::HeldToTheEnd {
                    line: Some(line), ..
                } => Position {
                    line: line.get(),
                    column: 1,
                },
                _ => self.last,
            };
            Error::WrongEnd {
                place: self.place(place),
                source: Box::new(source),
                hint: self.hint(),
            }
        })
    }

    /// An event as written in the trace, shortened.
    fn quoted(&self, event: &Event, symbols: &Symbols) -> String {
        match (self.format, event.action().and_then(|action| action.name)) {
            (Format::Native, _) => {
                let mut line = Vec::new();
                // Writing to memory cannot fail, and anything that cannot be written is not shown.
                let _ = native::write_event(&mut line, event, symbols);
                shorten_to(&line, 80)
            }
            (Format::Poet | Format::Kairos, Some(name)) => {
                shorten(symbols.names.name(name).as_bytes())
            }
            _ => shorten(symbols.text_of(event).as_bytes()),
        }
    }

    /// A possible reason that an event contradicts others.
    fn hint(&self) -> String {
        match self.unused_delimiter() {
            Some(regex) => format!("; the delimiter `{regex}` has matched no line so far"),
            None => String::new(),
        }
    }

    /// The delimiter that was given, if it has matched nothing.
    fn unused_delimiter(&self) -> Option<&str> {
        let regex = self.delimiter.as_deref()?;
        let used = matches!(&self.decoder, Decoder::ShiViz(log) if log.has_delimiters());
        (!used).then_some(regex)
    }

    /// Warnings about the part read so far, none of which is an error; `symbols` are those of its events.
    pub fn warnings(&self, symbols: &Symbols) -> Vec<Warning> {
        let mut warnings = Vec::new();
        match &self.decoder {
            Decoder::Native(native) => {
                if let Some(misspelt) = native.misspelt() {
                    warnings.push(Warning::MisspeltKey {
                        place: self.place(misspelt.at),
                        key: misspelt.key.clone(),
                        meant: misspelt.meant,
                        more: misspelt.more,
                    });
                }
            }
            Decoder::ShiViz(log) if !log.has_clocks() => warnings.push(Warning::NoClocks {
                hosts: log.has_hosts(),
            }),
            _ => {}
        }
        let absent = self.discipline.absent_threads();
        let names: Vec<String> = absent
            .map(|thread| symbols.threads.name(thread).to_owned())
            .collect();
        if !names.is_empty() {
            warnings.push(Warning::AbsentThreads { names });
        }
        let skipped: Vec<SkippedEvents> = self.discipline.skipped_events().collect();
        if !skipped.is_empty() {
            let name = |thread| symbols.threads.name(thread).to_owned();
            warnings.push(Warning::SkippedLines {
                names: skipped.iter().map(|events| name(events.thread)).collect(),
                count: skipped.iter().map(|events| events.count).sum(),
                before: skipped.iter().filter_map(|events| events.before).min(),
            });
        }
        if let Some(regex) = self.unused_delimiter() {
            warnings.push(Warning::UnusedDelimiter {
                regex: regex.to_owned(),
            });
        }
        warnings
    }

    fn place(&self, Position { line, column }: Position) -> Place {
        let file = Arc::clone(&self.file);
        Place { file, line, column }
    }

    /// Declares that the last event is of no use, for a reason unknown to the reader: for example, a value
    /// does not have the type of its variable. It then counts as a bad line.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] at the place of the event's data, unless the reader is lenient.
    ///
    /// ```
    /// use portent_monitor_core::Symbols;
    /// use portent_trace::{Options, TraceReader};
    ///
    /// let text = "{\"t\": 1, \"op\": \"write\", \"var\": \"x\", \"val\": \"high\"}\n";
    /// let mut reader = TraceReader::new("run.jsonl", text.as_bytes(), &Options::default())?;
    /// assert!(reader.next_event(&mut Symbols::default())?.is_some());
    /// let error = reader.refuse("expected an integer").unwrap_err();
    /// assert_eq!(error.to_string(), "run.jsonl:1:44: expected an integer");
    /// assert_eq!(reader.events(), 0);
    /// # Ok::<(), portent_trace::Error>(())
    /// ```
    pub fn refuse(&mut self, problem: impl Into<String>) -> Result<(), Error> {
        self.events = self.events.saturating_sub(1);
        let error = Error::Refused {
            place: self.place(self.last),
            problem: problem.into(),
        };
        self.skip(error, self.last_orders)
    }

    /// As [`refuse`](Self::refuse), for the initial values in the header; they are forgotten.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] at the place of the values, unless the reader is lenient.
    pub fn refuse_header(&mut self, problem: impl Into<String>) -> Result<(), Error> {
        self.header = Header::default();
        let error = Error::Refused {
            place: self.place(self.initial),
            problem: problem.into(),
        };
        self.skip(error, false)
    }

    /// The place of the last event.
    pub fn last_place(&self) -> Place {
        self.place(self.last)
    }

    fn skip_or_fail(&mut self, fault: Fault) -> Result<(), Error> {
        let fatal = fault.is_fatal();
        let error = fault.in_file(&self.file);
        // The unreadable line may have contained anything.
        if fatal {
            Err(error)
        } else {
            self.skip(error, true)
        }
    }

    fn skip(&mut self, error: Error, orders: bool) -> Result<(), Error> {
        if !self.lenient {
            return Err(error);
        }
        self.skipped += 1;
        self.skipped_orders += u64::from(orders);
        self.first_skipped.get_or_insert(error);
        Ok(())
    }

    /// Advances to the next execution of a log that holds several; call it when
    /// [`next_event`](Self::next_event) has returned `None`. Its events are read with the same symbols.
    pub fn next_execution(&mut self) -> bool {
        let Decoder::ShiViz(log) = &mut self.decoder else {
            return false;
        };
        let more = log.next_execution();
        if more {
            self.discipline = Discipline::default();
            self.ended = false;
        }
        more
    }

    /// The name of the current execution, if the log has it.
    pub fn execution(&self) -> Option<&str> {
        match &self.decoder {
            Decoder::ShiViz(log) => log.label(),
            _ => None,
        }
    }

    /// The information in the trace before its first event.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The format, as given or recognised.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Whether bad lines are skipped.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The number of events returned.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The number of bad lines skipped; always 0 unless lenient.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The number of skipped lines that may have ordered others: synchronisation, accesses of
    /// variables, clocks, and everything unreadable. Without them more orders seem possible
    /// than there are.
    pub fn skipped_orders(&self) -> u64 {
        self.skipped_orders
    }

    /// What was wrong with the first line that was skipped.
    pub fn first_skipped(&self) -> Option<&Error> {
        self.first_skipped.as_ref()
    }

    /// The number of lines of a log that belong to no record; these are not errors.
    pub fn unmatched(&self) -> u64 {
        match &self.decoder {
            Decoder::ShiViz(log) => log.unmatched(),
            _ => 0,
        }
    }
}

/// Whether more orders of other events would be possible without this event.
fn may_order(event: &Event) -> bool {
    match &event.op {
        Op::Marker(..) | Op::Request(_) => false,
        Op::Event(action) => !action.set.is_empty(),
        _ => true,
    }
}
