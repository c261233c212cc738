//! The JSON document of the PoET tool: `{"processes": N, "events": [[name, [processes],
//! [propositions], [clock]], ...]}`.
//!
//! The document is read one event at a time. An event of several processes ticks all their
//! components at once. It becomes an event of the first of them, and on each of the others a line
//! without a name follows it, so that every component still counts lines of its own process. The
//! propositions are the event's arguments. Unless `process_names` stands before the events,
//! component i is `P<i+1>`.

use std::{
    collections::VecDeque,
    io::{BufReader, Bytes, Read},
    num::NonZeroU64,
};

use portent_monitor_core::{Action, Error as CoreError, Event, Stamped, Symbols, ThreadId};

use rustc_hash::FxHashSet;

use crate::{
    decoder::{Decoded, Spot},
    error::{Fault, quote, shorten},
};

/// Reads the document.
pub(crate) struct Poet<'r> {
    scanner: Scanner<'r>,
    state: State,
    names: Vec<String>,
    /// The rest of an event of several processes.
    pending: VecDeque<Decoded>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    InObject,
    InEvents,
    End,
}

/// The most clock components that one event may become: each of its processes has a clock.
const MAX_COMPONENTS: usize = 1 << 22;

/// One event as the document has it.
type Row = (String, Vec<String>, Vec<String>, Vec<u32>);

impl<'r> Poet<'r> {
    pub(crate) fn new(input: Box<dyn Read + Send + 'r>, limit: usize) -> Self {
        Poet {
            scanner: Scanner::new(input, limit),
            state: State::Start,
            names: Vec::new(),
            pending: VecDeque::new(),
        }
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        loop {
            if let Some(decoded) = self.pending.pop_front() {
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

    /// After a fault outside an event there is no telling where the next one begins.
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
        let row: Row = serde_json::from_slice(&text).map_err(|_| {
            fault("expected [name, [processes], [propositions], [clock]], as in [\"a1\", [\"P1\"], [], [1, 0]]")
        })?;
        if row.1.is_empty() {
            return Err(fault("expected at least one process"));
        }
        let events = self
            .expand(row, symbols)
            .map_err(|problem| fault(&problem))?;
        for mut event in events {
            event.line = NonZeroU64::new(place.line);
            self.pending.push_back(Decoded {
                event,
                op: place,
                data: place,
            });
        }
        Ok(())
    }

    fn expand(&self, row: Row, symbols: &mut Symbols) -> Result<Vec<Event>, String> {
        if row.1.len().saturating_mul(row.3.len()) > MAX_COMPONENTS {
            return Err(format!(
                "expected an event of fewer processes: each of its {} needs a clock of {} components",
                row.1.len(),
                row.3.len()
            ));
        }
        let events = self
            .lines(row, symbols)
            .map_err(|error| error.to_string())?;
        let mut owners = FxHashSet::default();
        match events.iter().find(|event| !owners.insert(event.thread)) {
            Some(event) => Err(format!(
                "the process {} stands twice",
                symbols.threads.name(event.thread)
            )),
            None => Ok(events),
        }
    }

    /// A line for each process of an event.
    fn lines(&self, row: Row, symbols: &mut Symbols) -> Result<Vec<Event>, CoreError> {
        let (name, processes, propositions, counts) = row;
        let mut clock = Vec::with_capacity(counts.len());
        for (i, &count) in counts.iter().enumerate() {
            let process = match self.names.get(i) {
                Some(name) => symbols.threads.intern(name)?,
                None => symbols.threads.intern(&format!("P{}", i + 1))?,
            };
            clock.push((process, count));
        }
        let owners: Vec<ThreadId> = processes
            .iter()
            .map(|process| symbols.threads.intern(process))
            .collect::<Result<_, _>>()?;
        let args = propositions.iter().map(String::as_str);
        let action = Action::new(symbols.names.intern(&name)?).args(args);
        let mut actions = std::iter::once(action).chain(std::iter::repeat_with(Action::default));
        let mut later: FxHashSet<ThreadId> = owners.iter().copied().collect();
        Ok(owners
            .iter()
            .map(|&owner| {
                // The lines of the owners further on come after this one.
                later.remove(&owner);
                let clock = clock
                    .iter()
                    .map(|&(t, n)| (t, n.saturating_sub(u32::from(later.contains(&t)))))
                    .filter(|&(_, n)| n > 0)
                    .collect();
                let action = actions.next().unwrap_or_default();
                Event::new(owner, Stamped::new(action, clock))
            })
            .collect())
    }
}

/// Cuts JSON values out of a stream without reading more than one at a time.
struct Scanner<'r> {
    bytes: Bytes<BufReader<Box<dyn Read + Send + 'r>>>,
    next: Option<u8>,
    /// The place of the next byte.
    place: Spot,
    limit: usize,
    begun: bool,
}

impl<'r> Scanner<'r> {
    fn new(input: Box<dyn Read + Send + 'r>, limit: usize) -> Self {
        let bytes = BufReader::with_capacity(64 * 1024, input).bytes();
        Scanner {
            bytes,
            next: None,
            place: Spot { line: 1, column: 1 },
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

    /// Goes to the next byte.
    fn advance(&mut self) -> Result<(), Fault> {
        if self.begun {
            if self.next == Some(b'\n') {
                self.place.line += 1;
                self.place.column = 1;
            // A byte that continues a character has no column of its own.
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
        }
        while self.next.is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.advance()?;
        }
        Ok(self.next)
    }

    /// The text of the next value; whether it is one is for its reader to say.
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
                // The rest cannot be found again without an end to look for.
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
