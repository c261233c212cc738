//! From any format that can be read to any that can be written.

use std::io::Write;

use portent_monitor_core::Symbols;

use crate::{Error, Losses, Place, TraceReader, TraceWriter, Unwritable};

/// The result of a conversion.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Converted {
    /// Events written.
    pub events: u64,
    /// Lines that were not understood, or events that the target format cannot express; always 0
    /// unless the reader is lenient.
    pub skipped: u64,
    /// What was wrong with the first event that the target format cannot express, if it was skipped.
    pub first_unsupported: Option<Error>,
    /// The parts of the header and of the written events that the target format has no place for.
    pub losses: Losses,
}

/// Copies the current execution of a trace: nearly always the only one, see
/// [`TraceReader::next_execution`]. Its names get into `symbols`, of which the reader has one.
///
/// If the reader is lenient, events that the target format has no word for are skipped and
/// counted too.
///
/// # Errors
///
/// Those of the reader and the writer.
///
/// ```
/// use portent_monitor_core::Symbols;
/// use portent_trace::{Compression, Format, Options, TraceReader, TraceWriter, convert};
///
/// let mut from = TraceReader::new("a.std", &b"T1|w(x)|5\n"[..], &Options::default())?;
/// let mut to = TraceWriter::new("a.jsonl", Vec::new(), Format::Native, Compression::None)?;
/// let mut symbols = Symbols::default();
/// convert(&mut from, &mut to, &mut symbols)?;
/// let text = String::from_utf8(to.finish(&symbols)?)?;
/// assert!(text.ends_with("{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"loc\": \"5\"}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert<W: Write>(
    from: &mut TraceReader<'_>,
    to: &mut TraceWriter<W>,
    symbols: &mut Symbols,
) -> Result<Converted, Error> {
    let mut converted = Converted::default();
    let (lenient, skipped_before) = (from.is_lenient(), from.skipped());
    to.header(from.header())?;
    while let Some(event) = from.next_event(symbols)? {
        match to.event(&event, symbols) {
            Ok(()) => converted.events += 1,
            Err(error @ Error::Unsupported { .. }) => {
                let error = placed(error, from.last_place());
                if !lenient {
                    return Err(error);
                }
                converted.skipped += 1;
                converted.first_unsupported.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    converted.skipped += from.skipped() - skipped_before;
    converted.losses = to.losses(symbols);
    Ok(converted)
}

/// The error for an event that the writer cannot express, with its place in the input.
fn placed(error: Error, place: Place) -> Error {
    match error {
        Error::Unsupported {
            format, problem, ..
        } => Error::Unsupported {
            what: Unwritable::At(place),
            format,
            problem,
        },
        error => error,
    }
}
