//! Lines of a stream, in bounded memory.
//!
//! The buffer holds the current line and anything read beyond it. It grows with the longest
//! line, up to a limit: a longer line is reported and then skipped without being held in memory.

use std::io::{self, Read};

use memchr::memchr;

use crate::{
    decoder::column_of,
    error::{Fault, shorten},
};

const CHUNK: usize = 128 * 1024;

/// Splits a stream into lines.
pub(crate) struct Lines<'r> {
    input: Box<dyn Read + Send + 'r>,
    buffer: Vec<u8>,
    /// Data that was read and not yet returned is `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The number of the last line returned.
    number: u64,
    limit: usize,
    /// Whether the rest of the current line is to be skipped.
    skipping: bool,
    ended: bool,
}

/// One line without its end.
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    pub(crate) text: &'a [u8],
}

impl<'a> Line<'a> {
    /// Whether there is nothing on it.
    #[inline]
    pub(crate) fn is_blank(&self) -> bool {
        self.text.iter().all(u8::is_ascii_whitespace)
    }

    /// The line as text.
    #[inline]
    pub(crate) fn utf8(&self) -> Result<&'a str, Fault> {
        std::str::from_utf8(self.text).map_err(|error| {
            let good = error.valid_up_to();
            let rest = good..self.text.len();
            Fault::new(self.number, self.text, rest, "expected UTF-8 text")
        })
    }
}

impl<'r> Lines<'r> {
    pub(crate) fn new(input: Box<dyn Read + Send + 'r>, limit: usize) -> Self {
        Lines {
            input,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            number: 0,
            limit,
            skipping: false,
            ended: false,
        }
    }

    /// The next line, or `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, Fault> {
        if self.skipping {
            self.skip_line()?;
        }
        match memchr(b'\n', &self.buffer[self.start..self.end]) {
            Some(found) => {
                let (from, to) = (self.start, self.start + found);
                self.start = to + 1;
                self.line(from, to).map(Some)
            }
            None => self.next_beyond(),
        }
    }

    /// The next line, whose end is not in the buffer.
    #[cold]
    fn next_beyond(&mut self) -> Result<Option<Line<'_>>, Fault> {
        let mut scanned = self.end;
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[scanned..self.end]) {
                let (from, to) = (self.start, scanned + found);
                self.start = to + 1;
                return self.line(from, to).map(Some);
            }
            if self.ended {
                let (from, to) = (self.start, self.end);
                self.start = self.end;
                return if from == to {
                    Ok(None)
                } else {
                    self.line(from, to).map(Some)
                };
            }
            if self.end - self.start > self.limit {
                self.number += 1;
                self.skipping = true;
                return Err(self.too_long(self.start, self.end));
            }
            let pending = self.end - self.start;
            self.fill()?;
            scanned = self.start + pending;
        }
    }

    #[inline]
    fn line(&mut self, from: usize, to: usize) -> Result<Line<'_>, Fault> {
        self.number += 1;
        if to - from > self.limit {
            return Err(self.too_long(from, to));
        }
        let mut text = &self.buffer[from..to];
        if let [rest @ .., b'\r'] = text {
            text = rest;
        }
        if self.number == 1 {
            // A byte-order mark is not part of the text.
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        Ok(Line {
            number: self.number,
            text,
        })
    }

    #[cold]
    fn too_long(&self, from: usize, to: usize) -> Fault {
        let found = shorten(&self.buffer[from..to]);
        Fault::TooLong {
            line: self.number,
            column: 1,
            found,
            limit: self.limit,
        }
    }

    fn skip_line(&mut self) -> Result<(), Fault> {
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += found + 1;
                break;
            }
            self.start = self.end;
            if self.ended {
                break;
            }
            self.fill()?;
        }
        self.skipping = false;
        Ok(())
    }

    /// Reads more data after the pending data.
    fn fill(&mut self) -> Result<(), Fault> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => {
                    let pending = &self.buffer[self.start..self.end];
                    return Err(Fault::Io {
                        line: self.number + 1,
                        column: column_of(pending, pending.len()),
                        source,
                    });
                }
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `n` bytes of a line that has no end, and counts them.
    struct Endless(u64);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = buffer.len().min(self.0 as usize);
            buffer[..n].fill(b'x');
            self.0 -= n as u64;
            Ok(n)
        }
    }

    #[test]
    fn a_line_of_a_gigabyte_is_an_error_in_bounded_memory() {
        let input = Endless(1 << 30).chain(&b"\nshort\n"[..]);
        let mut lines = Lines::new(Box::new(input), 1 << 20);
        assert!(matches!(lines.next(), Err(Fault::TooLong { line: 1, .. })));
        let line = lines.next().unwrap().unwrap();
        assert_eq!((line.number, line.text), (2, &b"short"[..]));
        assert!(lines.next().unwrap().is_none());
        assert!(lines.buffer.len() <= 4 << 20, "{}", lines.buffer.len());
    }

    #[test]
    fn ends_of_lines() {
        let mut lines = Lines::new(Box::new(&b"\xef\xbb\xbfa\r\n\nb"[..]), 10);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.number, line.text.to_vec()));
        }
        assert_eq!(seen, [(1, b"a".to_vec()), (2, vec![]), (3, b"b".to_vec())]);
    }
}
