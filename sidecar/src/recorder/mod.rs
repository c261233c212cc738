//! Recordings on disk: the builder.

mod files;
mod frames;
mod lines;
mod thread_clocks;
mod writer;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use portent_monitor_core::Value;

pub use self::files::Files;
pub(crate) use self::{lines::Lines, writer::Writer};
use crate::{Error, Sidecar};

/// Writes what a program does as a trace that `portent check` reads.
///
/// By itself it records every operation, so that any question can be asked later. As part of a
/// [sidecar](crate::Builder::record) it records what the sidecar sees.
///
/// ```
/// use portent_hooks::{Shared, thread};
/// use portent_monitor_core::Symbols;
/// use portent_sidecar::Recorder;
/// use portent_trace::{Options, TraceReader};
///
/// let folder = tempfile::tempdir()?;
/// let recorder = Recorder::to_file(folder.path().join("run.jsonl.zst")).initial("x", 0).start()?;
/// let entered = recorder.enter();
/// let x = Shared::with_name("x", 0);
/// thread::scope(|s| {
///     s.spawn(|| x.set(1));
/// });
/// drop(entered);
/// let summary = recorder.stop()?;
///
/// let mut reader = TraceReader::open(&summary.files[0], &Options::default())?;
/// let (mut symbols, mut events) = (Symbols::default(), 0);
/// while reader.next_event(&mut symbols)?.is_some() {
///     events += 1;
/// }
/// assert_eq!(events, 3, "fork, write, join");
/// assert_eq!(summary.counts.written, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What is on disk when
///
/// The extension of the name selects the compression: `.zst`, `.gz`, or none. At each
/// [flush](Self::flush_every), new events are written as one complete compressed frame. If the process is killed, everything that was
/// flushed can be read; if the machine loses power, whatever the system had written.
///
/// # Parts
///
/// With [`rotate_bytes`](Self::rotate_bytes) or [`rotate_every`](Self::rotate_every) there are several files, with numbers before the extensions:
/// `run.00000.jsonl.zst`, `run.00001.jsonl.zst`, ...
///
/// - A recording of everything is **one trace in parts**: `cat run.*.jsonl.zst > whole.jsonl.zst` puts them together. A later part alone
///   begins in the middle, with locks that are held and messages that are under way, and is refused.
/// - Of a recording of some names, **each part is a trace**: its clocks count the events in the part, and its first
///   line has the values of variables at its beginning. Old parts can be deleted.
/// - A recording of a [process with a name](crate::Builder::process) is again one trace in parts: other processes count its events from the first on.
#[derive(Clone, Debug)]
#[must_use]
pub struct Recorder {
    path: PathBuf,
    rotate_bytes: Option<u64>,
    rotate_every: Option<Duration>,
    flush_every: Duration,
    initial: Vec<(String, Value)>,
}

impl Recorder {
    /// Records to this file, which is created when the recording [starts](Self::start).
    pub fn to_file(path: impl AsRef<Path>) -> Recorder {
        Recorder {
            path: path.as_ref().to_owned(),
            rotate_bytes: None,
            rotate_every: None,
            flush_every: Duration::from_secs(1),
            initial: Vec::new(),
        }
    }

    /// Begins another part when the current one has this many bytes on disk. A part may exceed that by one flush, and by 16384 events
    /// at most.
    pub fn rotate_bytes(mut self, bytes: u64) -> Recorder {
        self.rotate_bytes = Some(bytes);
        self
    }

    /// Begins another part with the next event when the current one is this old.
    pub fn rotate_every(mut self, time: Duration) -> Recorder {
        self.rotate_every = Some(time);
        self
    }

    /// How long an event may wait until it is on disk; one second by default.
    pub fn flush_every(mut self, time: Duration) -> Recorder {
        self.flush_every = time;
        self
    }

    /// The initial value of a variable, for the first line of the trace.
    pub fn initial(mut self, name: &str, value: impl Into<Value>) -> Recorder {
        self.initial.push((name.to_owned(), value.into()));
        self
    }

    /// Starts to record everything, without watching any property.
    ///
    /// # Errors
    ///
    /// [`Error::File`], [`Error::NoThread`].
    pub fn start(self) -> Result<Sidecar, Error> {
        Sidecar::builder().everything().record(self).start()
    }

    /// The first file, for callers that do not want to overwrite an existing one.
    ///
    /// ```
    /// use portent_sidecar::Recorder;
    ///
    /// let parts = Recorder::to_file("run.jsonl").rotate_bytes(1 << 20);
    /// assert_eq!(parts.first_file(), std::path::Path::new("run.00000.jsonl"));
    /// ```
    pub fn first_file(&self) -> PathBuf {
        self.part(0)
    }

    /// Creates the first file, for events that come from elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn create(self) -> Result<Files, Error> {
        Files::create(self)
    }

    /// Adds these initial values, for variables that have none yet.
    pub(crate) fn knowing(mut self, initial: &[(String, Value)]) -> Recorder {
        for (name, value) in initial {
            if self.initial.iter().all(|(other, _)| other != name) {
                self.initial.push((name.clone(), value.clone()));
            }
        }
        self
    }

    /// Where a part is written.
    fn part(&self, number: u32) -> PathBuf {
        if self.rotate_bytes.is_none() && self.rotate_every.is_none() {
            return self.path.clone();
        }
        let name = self.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        // A name may begin with a point.
        let begins = name.len() - name.trim_start_matches('.').len();
        let stem = name[begins..]
            .find('.')
            .map_or(name.len(), |at| begins + at);
        let (stem, endings) = name.split_at(stem);
        self.path
            .with_file_name(format!("{stem}.{number:05}{endings}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_before_the_endings() {
        let part = |path: &str| {
            let recorder = Recorder::to_file(path).rotate_bytes(1);
            recorder.part(12).display().to_string()
        };
        assert_eq!(part("a.b/run.jsonl.zst"), "a.b/run.00012.jsonl.zst");
        assert_eq!(part("run"), "run.00012");
        assert_eq!(part(".run.gz"), ".run.00012.gz");
        let whole = Recorder::to_file("run.jsonl");
        assert_eq!(whole.part(0), Path::new("run.jsonl"));
    }
}
