//! Shared by the readers of all formats: turning bytes into events, one at a time.

use portent_monitor_core::{Clocked, Event, Op, Stamped, Symbols, ThreadId};

use crate::{
    error::Fault, kairos::Kairos, native::Native, poet::Poet, rapid::RapidBinary, rapid::StdText,
    shiviz::ShiViz,
};

/// An event returned by a decoder.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) event: Event,
    /// The place of the operation.
    pub(crate) op: Position,
    /// The place of the event's data: a value, arguments, a text.
    pub(crate) data: Position,
}

impl Decoded {
    fn stamped(&self) -> Option<&Stamped> {
        match &self.event.op {
            Op::Stamped(stamped) => Some(stamped),
            _ => None,
        }
    }
}

/// A line comes after those that its clock counts.
impl Clocked for Decoded {
    type Source = ThreadId;

    fn source(&self) -> Option<ThreadId> {
        self.stamped().map(|_| self.event.thread)
    }

    fn components(&self) -> usize {
        self.stamped().map_or(0, |stamped| stamped.clock.len())
    }

    fn component(&self, index: usize) -> (ThreadId, u32) {
        let clock = self.stamped().map_or(&[][..], |stamped| &stamped.clock);
        clock[index]
    }

    fn number(&self) -> u32 {
        let own = |stamped: &Stamped| stamped.component(self.event.thread);
        self.stamped().map_or(0, own)
    }
}

/// A place in a file whose name is known elsewhere; lines and columns count from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl Position {
    /// Byte `offset` of the text of line number `line`.
    #[inline]
    pub(crate) fn new(line: u64, text: &[u8], offset: usize) -> Position {
        let column = column_of(text, offset);
        Position { line, column }
    }
}

/// The column of byte `offset` of a line, in characters from 1.
#[inline]
pub(crate) fn column_of(line: &[u8], offset: usize) -> u64 {
    let before = &line[..offset.min(line.len())];
    if before.is_ascii() {
        before.len() as u64 + 1
    } else {
        String::from_utf8_lossy(before).chars().count() as u64 + 1
    }
}

/// A decoder of any format; an enum and not an object, because it is called for every event.
pub(crate) enum Decoder<'r> {
    Native(Box<Native<'r>>),
    Std(StdText<'r>),
    RapidBinary(RapidBinary<'r>),
    ShiViz(Box<ShiViz<'r>>),
    Poet(Box<Poet<'r>>),
    Kairos(Box<Kairos<'r>>),
}

impl Decoder<'_> {
    /// The next event of the current execution.
    #[inline]
    pub(crate) fn next(&mut self, symbols: &mut Symbols) -> Result<Option<Decoded>, Fault> {
        match self {
            Decoder::Native(decoder) => decoder.next(symbols),
            Decoder::Std(decoder) => decoder.next(symbols),
            Decoder::RapidBinary(decoder) => decoder.next(symbols),
            Decoder::ShiViz(decoder) => decoder.next(symbols),
            Decoder::Poet(decoder) => decoder.next(symbols),
            Decoder::Kairos(decoder) => decoder.next(symbols),
        }
    }
}
