//! Compressed files: recognised by their first bytes when read, by their name when written.

use std::io::{self, BufReader, Read, Write};

use flate2::{Compression as Level, read::MultiGzDecoder, write::GzEncoder};

const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// Zstandard, `.zst`.
    Zstd,
    /// gzip, `.gz`.
    Gzip,
}

impl Compression {
    /// The compression that a file name implies.
    pub fn of_file(name: &str) -> Compression {
        if name.ends_with(".zst") {
            Compression::Zstd
        } else if name.ends_with(".gz") {
            Compression::Gzip
        } else {
            Compression::None
        }
    }
}

/// Decompresses a stream, whatever its compression, even if several are nested.
pub(crate) fn decompress<'r>(
    input: Box<dyn Read + Send + 'r>,
) -> io::Result<Box<dyn Read + Send + 'r>> {
    // A compressed file may have been compressed again, but not this often.
    const DEEPEST: usize = 3;
    let mut input = input;
    for _ in 0..DEEPEST {
        let (start, rest) = peek(input, ZSTD.len())?;
        input = if start.bytes == ZSTD {
            Box::new(zstd::stream::read::Decoder::with_buffer(BufReader::new(
                rest,
            ))?)
        } else if start.bytes.starts_with(&GZIP) {
            Box::new(MultiGzDecoder::new(BufReader::new(rest)))
        } else {
            return Ok(rest);
        };
    }
    Ok(input)
}

/// The first bytes of a stream.
pub(crate) struct Sample {
    pub(crate) bytes: Vec<u8>,
    /// Nothing comes after it.
    pub(crate) whole: bool,
}

/// The first bytes of a stream, at most `length`, and the stream with them still in it.
pub(crate) fn peek<'r>(
    mut input: Box<dyn Read + Send + 'r>,
    length: usize,
) -> io::Result<(Sample, Box<dyn Read + Send + 'r>)> {
    let mut bytes = Vec::with_capacity(length);
    let read = input.by_ref().take(length as u64).read_to_end(&mut bytes);
    let start = io::Cursor::new(bytes.clone());
    let stream: Box<dyn Read + Send + 'r> = match read {
        Ok(_) => Box::new(start.chain(input)),
        Err(error) if bytes.is_empty() => return Err(error),
        Err(error) => Box::new(start.chain(BrokenStream(error.kind(), error.to_string()))),
    };
    let whole = bytes.len() < length;
    Ok((Sample { bytes, whole }, stream))
}

/// The first line of a stream with everything that arrived together with it, at most about `length` bytes, and the stream with
/// them still in it. It does not wait for more: the stream may come from a running program.
pub(crate) fn peek_line<'r>(
    mut input: Box<dyn Read + Send + 'r>,
    length: usize,
) -> io::Result<(Sample, Box<dyn Read + Send + 'r>)> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    let mut whole = false;
    while !whole && bytes.len() < length && memchr::memchr(b'\n', &bytes).is_none() {
        match input.read(&mut piece) {
            Ok(read) => {
                bytes.extend_from_slice(&piece[..read]);
                whole = read == 0;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if bytes.is_empty() => return Err(error),
            Err(error) => {
                let rest = BrokenStream(error.kind(), error.to_string());
                let start = io::Cursor::new(bytes.clone());
                let whole = false;
                return Ok((Sample { bytes, whole }, Box::new(start.chain(rest))));
            }
        }
    }
    let start = io::Cursor::new(bytes.clone());
    Ok((Sample { bytes, whole }, Box::new(start.chain(input))))
}

/// The rest of a stream that failed while its first bytes were read: the bytes before the failure are
/// still worth reading, and the error is reported after them.
struct BrokenStream(io::ErrorKind, String);

impl Read for BrokenStream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(self.0, self.1.clone()))
    }
}

/// A stream that compresses what is written to it.
pub(crate) enum Compressor<W: Write> {
    None(W),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Gzip(GzEncoder<W>),
}

impl<W: Write> Compressor<W> {
    pub(crate) fn new(output: W, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Compressor::None(output),
            Compression::Zstd => Compressor::Zstd(zstd::stream::write::Encoder::new(output, 0)?),
            Compression::Gzip => Compressor::Gzip(GzEncoder::new(output, Level::default())),
        })
    }

    /// Writes pending data and returns the stream.
    pub(crate) fn finish(self) -> io::Result<W> {
        let mut output = match self {
            Compressor::None(output) => output,
            Compressor::Zstd(encoder) => encoder.finish()?,
            Compressor::Gzip(encoder) => encoder.finish()?,
        };
        output.flush()?;
        Ok(output)
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Compressor::None(output) => output.write(bytes),
            Compressor::Zstd(encoder) => encoder.write(bytes),
            Compressor::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Compressor::None(output) => output.flush(),
            Compressor::Zstd(encoder) => encoder.flush(),
            Compressor::Gzip(encoder) => encoder.flush(),
        }
    }
}
