//! What all readers of formats have in common: they turn bytes into events, one at a time.

use portent_monitor_core::{Event, Symbols};

use crate::{
    error::Fault, native::Native, poet::Poet, rapid::RapidBinary, rapid::StdText, shiviz::ShiViz,
};

/// An event as a decoder gives it out.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) event: Event,
    /// Where in its line it says what was done, from 1.
    pub(crate) column: u64,
}

/// A decoder of any format; an enum and not an object, because it is asked for every event.
pub(crate) enum Decoder<'r> {
    Native(Native<'r>),
    Std(StdText<'r>),
    RapidBinary(RapidBinary<'r>),
    ShiViz(Box<ShiViz<'r>>),
    Poet(Box<Poet<'r>>),
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
        }
    }
}
