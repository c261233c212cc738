//! From any format that can be read to any that can be written.

use std::io::Write;

use crate::{Error, TraceReader, TraceWriter};

/// What a conversion did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Events written.
    pub events: u64,
    /// Lines that were not understood, or events that the target format cannot say; always 0
    /// unless the reader is lenient.
    pub skipped: u64,
}

/// Copies the current execution of a trace: nearly always the only one, see
/// [`TraceReader::next_execution`].
///
/// If the reader is lenient, events that the target format has no word for are skipped and
/// counted too.
///
/// # Errors
///
/// Those of the reader and the writer.
///
/// ```
/// use portent_trace::{Compression, Format, Options, TraceReader, TraceWriter, convert};
///
/// let mut from = TraceReader::new("a.std", &b"T1|w(x)|5\n"[..], &Options::default())?;
/// let mut to = TraceWriter::new("a.jsonl", Vec::new(), Format::Native, Compression::None)?;
/// convert(&mut from, &mut to)?;
/// let text = String::from_utf8(to.finish(from.symbols())?)?;
/// assert!(text.ends_with("{\"t\": \"T1\", \"op\": \"write\", \"var\": \"x\", \"loc\": \"5\"}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert<W: Write>(
    from: &mut TraceReader<'_>,
    to: &mut TraceWriter<W>,
) -> Result<Converted, Error> {
    let mut converted = Converted::default();
    let (lenient, skipped_before) = (from.is_lenient(), from.skipped());
    let mut keep = |result: Result<(), Error>| match result {
        Ok(()) => Ok(true),
        Err(Error::Unsupported { .. }) if lenient => {
            converted.skipped += 1;
            Ok(false)
        }
        Err(error) => Err(error),
    };
    keep(to.header(from.header(), from.symbols()))?;
    while let Some(event) = from.next_event()? {
        if keep(to.event(&event, from.symbols()))? {
            converted.events += 1;
        }
    }
    converted.skipped += from.skipped() - skipped_before;
    Ok(converted)
}
