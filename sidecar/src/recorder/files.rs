//! The files of a recording, in sequence, each flushed in frames.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use portent_monitor_core::{Event, Symbols};
use portent_trace::Header;

use super::{Recorder, frames::Frames};
use crate::Error;

/// Writes events from any source to the files of a [`Recorder`].
///
/// The parts are one trace: they are put together by `cat`. After an error of a file nothing is written any more, no other error is
/// given, and what comes is [counted](Self::unwritten).
///
/// ```
/// use portent_monitor_core::{Action, Event, Symbols};
/// use portent_sidecar::Recorder;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("run.jsonl");
/// let mut files = Recorder::to_file(&path).create()?;
/// let mut symbols = Symbols::default();
/// let (thread, name) = (symbols.threads.intern("T1")?, symbols.names.intern("login")?);
/// files.take(&Event::new(thread, Action::new(name)), &symbols)?;
/// files.finish(&symbols)?;
/// assert_eq!((files.written(), files.unwritten()), (1, 0));
/// assert!(std::fs::read_to_string(&path)?.ends_with("\"name\": \"login\"}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Files {
    recorder: Recorder,
    paths: Vec<PathBuf>,
    frames: Frames,
    /// When the part was begun.
    begun: Instant,
    flushed: Instant,
    /// The next event begins another part.
    is_due: bool,
    taken: u64,
    written: u64,
    left_out: u64,
    /// Nothing is written any more.
    has_failed: bool,
}

impl Files {
    /// Makes the first file.
    pub(super) fn create(recorder: Recorder) -> Result<Files, Error> {
        let (path, now) = (recorder.part(0), Instant::now());
        let mut frames = Frames::create(path.clone())?;
        let init = recorder.initial.clone();
        frames.header(&Header {
            init,
            ..Header::default()
        })?;
        // At once, so that a path that cannot be written to is told before the program begins.
        frames.flush(&Symbols::default())?;
        Ok(Files {
            recorder,
            paths: vec![path],
            frames,
            begun: now,
            flushed: now,
            is_due: false,
            taken: 0,
            written: 0,
            left_out: 0,
            has_failed: false,
        })
    }

    /// The files so far.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The one that is written now.
    pub fn current(&self) -> &Path {
        self.paths.last().expect("the first is made at once")
    }

    /// Events that are in files.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Events that will never be.
    pub fn unwritten(&self) -> u64 {
        if self.has_failed {
            self.taken - self.written
        } else {
            self.left_out
        }
    }

    /// What variables are before anything is recorded.
    pub(super) fn initial(&self) -> &[(String, portent_monitor_core::Value)] {
        &self.recorder.initial
    }

    /// Counts an event that no file can have.
    pub(super) fn leave_out(&mut self) -> u64 {
        self.taken += 1;
        self.left_out += 1;
        self.taken
    }

    /// Takes the next event.
    ///
    /// # Errors
    ///
    /// [`Error::File`], [`Error::Trace`].
    pub fn take(&mut self, event: &Event, symbols: &Symbols) -> Result<(), Error> {
        self.next_part(symbols)?;
        self.put(event, symbols)
    }

    /// Puts an event into the part that there is.
    pub(super) fn put(&mut self, event: &Event, symbols: &Symbols) -> Result<(), Error> {
        self.taken += 1;
        if self.has_failed {
            return Ok(());
        }
        let result = match self.frames.event(event, symbols) {
            Ok(true) => self.flush(symbols),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        self.note(result)
    }

    /// Begins another part if it is time. Whether it did.
    pub(super) fn next_part(&mut self, symbols: &Symbols) -> Result<bool, Error> {
        if !self.is_due || self.has_failed {
            return Ok(false);
        }
        let result = self.rotate(symbols);
        self.note(result).map(|()| true)
    }

    /// Says at the beginning of a part what variables are there.
    pub(super) fn header(
        &mut self,
        init: Vec<(String, portent_monitor_core::Value)>,
    ) -> Result<(), Error> {
        let result = self.frames.header(&Header {
            init,
            ..Header::default()
        });
        self.note(result)
    }

    /// Writes what is pending if it is time: to be called now and then.
    ///
    /// # Errors
    ///
    /// [`Error::File`], [`Error::Trace`].
    pub fn tick(&mut self, now: Instant, symbols: &Symbols) -> Result<(), Error> {
        if self.has_failed {
            return Ok(());
        }
        let age = now.saturating_duration_since(self.begun);
        self.is_due |= self.recorder.rotate_every.is_some_and(|time| age >= time);
        if now.saturating_duration_since(self.flushed) < self.recorder.flush_every {
            return Ok(());
        }
        self.flushed = now;
        self.finish(symbols)
    }

    /// Writes all that is pending.
    ///
    /// # Errors
    ///
    /// [`Error::File`], [`Error::Trace`].
    pub fn finish(&mut self, symbols: &Symbols) -> Result<(), Error> {
        if self.has_failed {
            return Ok(());
        }
        let result = self.flush(symbols);
        self.note(result)
    }

    fn note(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        self.has_failed |= result.is_err();
        result
    }

    fn flush(&mut self, symbols: &Symbols) -> Result<(), Error> {
        let pending = self.frames.pending();
        self.frames.flush(symbols)?;
        self.written += pending;
        let most = self.recorder.rotate_bytes;
        self.is_due |= most.is_some_and(|most| self.frames.bytes() >= most);
        Ok(())
    }

    fn rotate(&mut self, symbols: &Symbols) -> Result<(), Error> {
        self.flush(symbols)?;
        let number = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        let path = self.recorder.part(number);
        self.frames = Frames::create(path.clone())?;
        self.paths.push(path);
        self.begun = Instant::now();
        self.is_due = false;
        Ok(())
    }
}
