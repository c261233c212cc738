//! What comes out of a recording, into files.

use std::{collections::HashMap, path::PathBuf, time::Instant};

use portent_hooks::Recorded;
use portent_monitor_core::{Action, Event, Op, Stamped, Symbols, Value, VarId};
use portent_trace::Header;

use super::{Recorder, frames::Frames, thread_clocks::ThreadClocks};
use crate::Error;

/// Writes the events of one recording.
pub(crate) struct Writer {
    recorder: Recorder,
    files: Vec<PathBuf>,
    frames: Frames,
    /// Of a recording of some names: what its lines need.
    lines: Option<Lines>,
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

impl Writer {
    /// Makes the first file, for a recording of everything or of some names.
    pub(crate) fn create(recorder: Recorder, everything: bool) -> Result<Writer, Error> {
        let (path, now) = (recorder.part(0), Instant::now());
        let mut frames = Frames::create(path.clone())?;
        let init = recorder.initial.clone();
        frames.header(&Header { init })?;
        // At once, so that a path that cannot be written to is told before the program begins.
        frames.flush(&Symbols::default())?;
        Ok(Writer {
            recorder,
            files: vec![path],
            frames,
            lines: (!everything).then(Lines::default),
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
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Events that are in files.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Events that will never be.
    pub(crate) fn unwritten(&self) -> u64 {
        if self.has_failed {
            self.taken - self.written
        } else {
            self.left_out
        }
    }

    /// Takes the next event. After an error of a file nothing is written any more, and no other error is given.
    pub(crate) fn take(&mut self, recorded: &Recorded, symbols: &Symbols) -> Result<(), Error> {
        self.taken += 1;
        if self.has_failed {
            return Ok(());
        }
        if !is_finite(&recorded.event) {
            self.left_out += 1;
            let number = self.taken;
            return Err(Error::NotFinite { number });
        }
        let result = self.try_take(recorded, symbols);
        self.note(result)
    }

    fn try_take(&mut self, recorded: &Recorded, symbols: &Symbols) -> Result<(), Error> {
        if self.is_due {
            self.rotate(symbols)?;
        }
        let is_full = match &mut self.lines {
            None => self.frames.event(&recorded.event, symbols)?,
            Some(lines) => self.frames.event(&lines.event(recorded), symbols)?,
        };
        if is_full {
            self.flush(symbols)?;
        }
        Ok(())
    }

    /// Writes what is pending if it is time.
    pub(crate) fn tick(&mut self, now: Instant, symbols: &Symbols) -> Result<(), Error> {
        if self.has_failed {
            return Ok(());
        }
        let age = now.saturating_duration_since(self.begun);
        self.is_due |= self.recorder.rotate_every.is_some_and(|time| age >= time);
        if now.saturating_duration_since(self.flushed) < self.recorder.flush_every {
            return Ok(());
        }
        self.flushed = now;
        let result = self.flush(symbols);
        self.note(result)
    }

    /// Writes all that is pending.
    pub(crate) fn finish(&mut self, symbols: &Symbols) -> Result<(), Error> {
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

    /// Begins another part.
    fn rotate(&mut self, symbols: &Symbols) -> Result<(), Error> {
        self.flush(symbols)?;
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let path = self.recorder.part(number);
        self.frames = Frames::create(path.clone())?;
        self.files.push(path);
        self.begun = Instant::now();
        self.is_due = false;
        // A recording of everything goes on where it was.
        if let Some(lines) = &mut self.lines {
            lines.clocks = ThreadClocks::default();
            let init = lines.values(&self.recorder.initial, symbols);
            self.frames.header(&Header { init })?;
        }
        Ok(())
    }
}

/// The lines of a recording of some names: what they have in place of the operations that are not recorded.
#[derive(Default)]
struct Lines {
    clocks: ThreadClocks,
    /// What variables are now.
    values: HashMap<VarId, Value>,
}

impl Lines {
    /// The event with its clock.
    fn event(&mut self, recorded: &Recorded) -> Event {
        let Recorded { event, stamp, .. } = recorded;
        let clock = self.clocks.clock(event.thread, stamp);
        let action = match &event.op {
            Op::Event(action) => Action::clone(action),
            _ => {
                let writes = event.writes();
                Action::default()
                    .set(writes.filter_map(|(var, value)| Some((var, value.cloned()?))))
            }
        };
        for (var, value) in &action.set {
            self.values.insert(*var, value.clone());
        }
        let mut line = Event::new(event.thread, Stamped::new(action, clock));
        line.loc = event.loc;
        line
    }

    /// What variables are now, those that were never written as they were.
    fn values(&self, initial: &[(String, Value)], symbols: &Symbols) -> Vec<(String, Value)> {
        let name = |var: VarId| symbols.vars.name(var).to_owned();
        let written = self.values.iter();
        let mut values: Vec<(String, Value)> =
            { written.map(|(&var, value)| (name(var), value.clone())) }.collect();
        for (name, value) in initial {
            if values.iter().all(|(other, _)| other != name) {
                values.push((name.clone(), value.clone()));
            }
        }
        values.sort_by(|one, other| one.0.cmp(&other.0));
        values
    }
}

/// Whether its numbers can be spelled.
fn is_finite(event: &Event) -> bool {
    let is_finite = |value: &Value| !matches!(value, Value::Float(number) if !number.is_finite());
    let mut args = { event.action().into_iter() }.flat_map(|action| &action.args);
    args.all(is_finite) && event.writes().all(|(_, value)| value.is_none_or(is_finite))
}
