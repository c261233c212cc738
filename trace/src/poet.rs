//! The JSON document of the PoET tool: `{"processes": N, "events": [[name, [processes],
//! [propositions], [clock]], ...]}`.
//!
//! The document is read one event at a time; the meaning of an event is explained in
//! [`frontier`](crate::frontier). Unless `process_names` precedes the events, component i is
//! `P<i+1>`.

use std::io::{BufReader, Bytes, Read};

use portent_monitor_core::{Error as CoreError, Symbols, ThreadId};

use crate::{
    decoder::{Decoded, Position},
    error::{Fault, quote, shorten},
    frontier::{Frontiers, Row},
};

/// Reads the document.
pub(crate) struct Poet<'r> {
    scanner: Scanner<'r>,
    state: State,
    names: Vec<String>,
    frontiers: Frontiers,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    InObject,
    InEvents,
    End,
}

/// One event of the document.
type Entry = (String, Vec<String>, Vec<String>, Vec<u32>);

impl<'r> Poet<'r> {
    pub(crate) fn new(input: Box<dyn Read + Send + 'r>, limit: usize) -> Self {
        Poet {
            scanner: Scanner::new(input, limit),
            state: State::Start,
            names: Vec::new(),
            frontiers: Frontiers::default(),
        }
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        loop {
            if let Some(decoded) = self.frontiers.next() {
                return Ok(Some(decoded));
            }
            match self.state {
                State::Start => {
                    self.expect(b'{')?;
                    self.state = State::InObject;
                }
                State::InObject => self.entry()?,
                State::InEvents => match self.scanner.peek()? {
                    Some(b',') => self.scanner.advance()?,
                    Some(b']') => {
                        self.scanner.advance()?;
                        self.state = State::InObject;
                    }
                    Some(_) => self.event(symbols)?,
                    None => return Err(self.fail("expected a ] after the events")),
                },
                State::End => return Ok(None),
            }
        }
    }

    /// After a fault outside an event it is unknown where the next one begins.
    fn fail(&mut self, problem: &str) -> Fault {
        self.state = State::End;
        self.scanner.fault(problem)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.scanner.peek()? == Some(byte) {
            return self.scanner.advance();
        }
        Err(self.fail(&format!("expected a {}", byte as char)))
    }

    fn entry(&mut self) -> Result<(), Fault> {
        match self.scanner.peek()? {
            Some(b',') => return self.scanner.advance(),
            Some(b'}') => {
                self.state = State::End;
                return Ok(());
            }
            Some(b'"') => {}
            _ => return Err(self.fail("expected a key or a }")),
        }
        let key: String = serde_json::from_slice(&self.scanner.value()?)
            .map_err(|_| self.fail("expected a : after the key"))?;
        self.expect(b':')?;
        if key == "events" {
            self.expect(b'[')?;
            self.state = State::InEvents;
            return Ok(());
        }
        let value = self.scanner.value()?;
        if key == "process_names" {
            self.names = serde_json::from_slice(&value)
                .map_err(|_| self.fail("expected an array of names in `process_names`"))?;
        }
        Ok(())
    }

    fn event(&mut self, symbols: &mut Symbols) -> Result<(), Fault> {
        let place = self.scanner.place;
        let text = self.scanner.value()?;
        if text.is_empty() {
            return Err(self.fail("expected an event or a ]"));
        }
        let fault = |problem: &str| Fault::Line {
            line: place.line,
            column: place.column,
            found: quote(&text),
            problem: problem.to_owned(),
        };
        let entry: Entry = serde_json::from_slice(&text).map_err(|_| {
            fault("expected [name, [processes], [propositions], [clock]], as in [\"a1\", [\"P1\"], [], [1, 0]]")
        })?;
        let (name, processes, propositions, counts) = entry;
        if processes.is_empty() {
            return Err(fault("expected at least one process"));
        }
        let clock = self.clock(&counts, symbols);
        let row = Row {
            name,
            processes,
            propositions,
            clock: clock.map_err(|error| fault(&error.to_string()))?,
        };
        let put = self.frontiers.put(row, place, symbols);
        put.map_err(|problem| fault(&problem))
    }

    /// The clock of a row, by process.
    fn clock(
        &self,
        counts: &[u32],
        symbols: &mut Symbols,
    ) -> Result<Vec<(ThreadId, u32)>, CoreError> {
        let component = |(i, &count): (usize, &u32)| {
            let process = match self.names.get(i) {
                Some(name) => symbols.threads.intern(name)?,
                None => symbols.threads.intern(&format!("P{}", i + 1))?,
            };
            Ok((process, count))
        };
        counts.iter().enumerate().map(component).collect()
    }
}

/// Splits a stream into JSON values without reading more than one at a time.
struct Scanner<'r> {
    bytes: Bytes<BufReader<Box<dyn Read + Send + 'r>>>,
    next: Option<u8>,
    /// The place of the next byte.
    place: Position,
    limit: usize,
    begun: bool,
}

impl<'r> Scanner<'r> {
    fn new(input: Box<dyn Read + Send + 'r>, limit: usize) -> Self {
        let bytes = BufReader::with_capacity(64 * 1024, input).bytes();
        Scanner {
            bytes,
            next: None,
            place: Position { line: 1, column: 1 },
            limit,
            begun: false,
        }
    }

    fn fault(&self, problem: &str) -> Fault {
        let found = match self.next {
            Some(byte) => quote(&[byte]),
            None => "the end of the file".to_owned(),
        };
        Fault::Line {
            line: self.place.line,
            column: self.place.column,
            found,
            problem: problem.to_owned(),
        }
    }

    /// Advances to the next byte.
    fn advance(&mut self) -> Result<(), Fault> {
        if self.begun {
            if self.next == Some(b'\n') {
                self.place.line += 1;
                self.place.column = 1;
            // Continuation bytes of a character do not count as columns.
            } else if self.next.is_some_and(|byte| byte & 0xc0 != 0x80) {
                self.place.column += 1;
            }
        }
        self.begun = true;
        self.next = self.bytes.next().transpose().map_err(|source| Fault::Io {
            line: self.place.line,
            column: self.place.column,
            source,
        })?;
        Ok(())
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        if !self.begun {
            self.advance()?;
            // A byte-order mark is not part of the text.
            if self.next == Some(0xef) {
                for _ in 0..3 {
                    self.advance()?;
                }
                self.place.column = 1;
            }
        }
        while self.next.is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.advance()?;
        }
        Ok(self.next)
    }

    /// The text of the next value; the caller checks whether it is valid.
    fn value(&mut self) -> Result<Vec<u8>, Fault> {
        self.peek()?;
        let (place, mut text) = (self.place, Vec::new());
        let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
        while let Some(byte) = self.next {
            if in_string {
                in_string = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
            } else {
                match byte {
                    b'"' => in_string = true,
                    b'[' | b'{' => depth += 1,
                    b']' | b'}' | b',' | b':' if depth == 0 => break,
                    b']' | b'}' => depth -= 1,
                    _ => {}
                }
            }
            text.push(byte);
            self.advance()?;
            if text.len() > self.limit {
                // Without a known end, the rest of the value cannot be found.
                self.next = None;
                return Err(Fault::TooLong {
                    line: place.line,
                    column: place.column,
                    found: shorten(&text),
                    limit: self.limit,
                });
            }
        }
        Ok(text)
    }
}
