//! Lines of the native format into events.

use std::num::NonZeroU64;

use portent_monitor_core::{Details, Event, Symbols};

use super::{
    fields::{Fields, Key},
    header::read_header,
    near_miss::{Misspelt, NearMiss, NearMisses},
    operation::{Lately, read_bare, read_mark, read_op, read_stamped, read_threads, too_many},
    values::{Problem, count, text},
};
use crate::{
    Header,
    decoder::{Decoded, Position},
    error::Fault,
    lines::{Line, Lines},
};

/// Reads the native format.
pub(crate) struct Native<'r> {
    lines: Lines<'r>,
    /// The header is read before the first event is requested; this is the line that came instead.
    first: Option<(u64, Vec<u8>)>,
    reading: Reading,
}

/// The state that is kept from one line to the next.
#[derive(Default)]
pub(super) struct Reading {
    fields: Fields,
    lately: Lately,
    near_misses: NearMisses,
    misspelt: Option<Misspelt>,
}

impl Reading {
    pub(super) fn with<'s>(&'s mut self, symbols: &'s mut Symbols) -> LineDecoder<'s> {
        LineDecoder {
            fields: &mut self.fields,
            lately: &mut self.lately,
            near_misses: &mut self.near_misses,
            misspelt: &mut self.misspelt,
            symbols,
        }
    }
}

/// The header, if a line is one, and the place of the initial values.
pub(super) fn read_header_line<'a>(line: &Line<'a>) -> Result<Option<(Header, &'a str)>, Fault> {
    // A cheap check first: nearly every line without the word is an event.
    if memchr::memmem::find(line.text, b"\"portent\"").is_none() {
        return Ok(None);
    }
    parse_line(line, read_header)
}

impl<'r> Native<'r> {
    pub(crate) fn new(lines: Lines<'r>) -> Self {
        Native {
            lines,
            first: None,
            reading: Reading::default(),
        }
    }

    /// Reads the header line, if there is one, and returns the place of the initial values; must be
    /// called once, first.
    pub(crate) fn header(&mut self) -> Result<(Header, Position), Fault> {
        let nothing = (Header::default(), Position { line: 1, column: 1 });
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(nothing);
            };
            if line.is_blank() {
                continue;
            }
            if let Some((header, at)) = read_header_line(&line)? {
                let position = Position::new(line.number, line.text, offset(line.text, at));
                return Ok((header, position));
            }
            self.first = Some((line.number, line.text.to_vec()));
            return Ok(nothing);
        }
    }

    /// The first key that was probably meant to be another, if there is one.
    pub(crate) fn misspelt(&self) -> Option<&Misspelt> {
        self.reading.misspelt.as_ref()
    }

    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        let mut reading = self.reading.with(symbols);
        if let Some((number, text)) = self.first.take() {
            let line = Line {
                number,
                text: &text,
            };
            return reading.decode(&line).map(Some);
        }
        loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            if !line.is_blank() {
                return reading.decode(&line).map(Some);
            }
        }
    }
}

fn offset(line: &[u8], part: &str) -> usize {
    (part.as_ptr() as usize)
        .saturating_sub(line.as_ptr() as usize)
        .min(line.len())
}

/// Applies `read` to the text of a line and adds the place to its errors.
fn parse_line<'a, T>(
    line: &Line<'a>,
    read: impl FnOnce(&'a str) -> Result<T, Problem<'a>>,
) -> Result<T, Fault> {
    read(line.utf8()?).map_err(|problem| fault(line, problem))
}

/// What is wrong, with its place.
#[cold]
fn fault(line: &Line<'_>, problem: Problem<'_>) -> Fault {
    let start = offset(line.text, problem.at);
    let part = start..start + problem.at.len();
    Fault::new(line.number, line.text, part, problem.what)
}

/// Places in the current line.
struct LinePlaces<'a> {
    number: u64,
    line: &'a str,
    is_ascii: bool,
}

impl LinePlaces<'_> {
    /// Where a part of the line begins.
    #[inline]
    fn of(&self, part: &str) -> Position {
        let line = self.line.as_bytes();
        let offset = offset(line, part);
        if self.is_ascii {
            Position {
                line: self.number,
                column: offset as u64 + 1,
            }
        } else {
            Position::new(self.number, line, offset)
        }
    }
}

/// The state for turning a line into an event.
pub(super) struct LineDecoder<'s> {
    fields: &'s mut Fields,
    lately: &'s mut Lately,
    near_misses: &'s mut NearMisses,
    misspelt: &'s mut Option<Misspelt>,
    symbols: &'s mut Symbols,
}

impl LineDecoder<'_> {
    pub(super) fn decode(&mut self, line: &Line<'_>) -> Result<Decoded, Fault> {
        parse_line(line, |text| self.event(text, line.number))
    }

    #[inline(always)]
    fn event<'a>(&mut self, line: &'a str, number: u64) -> Result<Decoded, Problem<'a>> {
        let places = LinePlaces {
            number,
            line,
            is_ascii: line.is_ascii(),
        };
        let (symbols, lately) = (&mut *self.symbols, &mut *self.lately);
        let mut object = self.fields.read(line)?;
        let raw_thread = object.need(Key::T, "every event")?;
        let mut partners = Vec::new();
        let thread = if raw_thread.starts_with('[') {
            partners = read_threads(raw_thread, symbols)?;
            partners.remove(0)
        } else {
            lately.threads.get(object.word(Key::T), || {
                let thread = symbols.threads.intern(&object.name(raw_thread)?);
                thread.map_err(too_many(raw_thread))
            })?
        };
        let (op, at) = match (object.take(Key::Op), object.take(Key::Vc)) {
            (Some(op), None) => (read_op(&mut object, op, symbols, lately)?, op),
            (None, Some(clock)) => (read_stamped(&mut object, clock, symbols)?, clock),
            (Some(_), Some(clock)) => {
                return Err(Problem::new(
                    clock,
                    "expected either `op` or `vc`, not both",
                ));
            }
            (None, None) => (read_bare(&mut object, symbols)?, line),
        };
        let near_miss = if object.has_unknown() {
            self.near_misses.find(&object, &op)?
        } else {
            None
        };
        let mut event = Event::new(thread, op);
        event.line = NonZeroU64::new(number);
        event.mark = read_mark(&mut object, &event.op)?;
        if let Some(raw) = object.take(Key::Loc) {
            let loc = lately.locs.get(object.word(Key::Loc), || {
                symbols
                    .locs
                    .intern(&object.name(raw)?)
                    .map_err(too_many(raw))
            });
            event.loc = Some(loc?);
        }
        if let Some(raw) = object.take(Key::Time) {
            event.time = Some(count(raw)?);
        }
        let message = object.take(Key::Text);
        let op = places.of(at);
        let data = object.first_of([Key::Val, Key::Set, Key::Args, Key::Text]);
        let data = data.map_or(op, |data| places.of(data));
        if message.is_some() || object.has_rest() || !partners.is_empty() {
            let text = message.map(text).transpose()?;
            let text = text.map(|text| text.into_owned().into());
            let mut details = Details::new(text, object.rest());
            details.partners = partners;
            event.details = Some(Box::new(details));
        }
        if let Some(near_miss) = near_miss {
            note(self.misspelt, near_miss, &places);
        }
        Ok(Decoded { event, op, data })
    }
}

/// Remembers the first key that was probably meant to be another, and counts the others.
#[cold]
fn note(misspelt: &mut Option<Misspelt>, near_miss: NearMiss<'_>, places: &LinePlaces<'_>) {
    let NearMiss { at, key, meant } = near_miss;
    match misspelt {
        Some(misspelt) => misspelt.more += 1,
        None => {
            *misspelt = Some(Misspelt {
                at: places.of(at),
                key,
                meant: meant.name(),
                more: 0,
            });
        }
    }
}
