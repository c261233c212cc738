//! Reading and writing whole traces in memory.

use portent_monitor_core::{Event, Symbols};
use portent_trace::{Compression, Error, Format, Options, TraceReader, TraceWriter, convert};

pub(crate) fn data(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn read(input: &[u8], options: &Options) -> Result<(Vec<Event>, Symbols), Error> {
    let mut reader = TraceReader::new("trace", input, options)?;
    let mut symbols = Symbols::default();
    let mut events = Vec::new();
    while let Some(event) = reader.next_event(&mut symbols)? {
        events.push(event);
    }
    Ok((events, symbols))
}

/// Converts, and reads and writes compressed if so asked.
pub(crate) fn convert_to(
    input: &[u8],
    options: &Options,
    to: Format,
    compression: Compression,
) -> Result<Vec<u8>, Error> {
    let mut reader = TraceReader::new("in", input, options)?;
    let mut symbols = Symbols::default();
    let mut writer = TraceWriter::new("out", Vec::new(), to, compression)?;
    convert(&mut reader, &mut writer, &mut symbols)?;
    writer.finish(&symbols)
}

pub(crate) fn to_native(input: &[u8], options: &Options) -> String {
    let bytes = convert_to(input, options, Format::Native, Compression::None).unwrap();
    String::from_utf8(bytes).unwrap()
}
