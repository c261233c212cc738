//! Saves a search to a file so that it can be resumed: periodically, and when the search is stopped. The file is removed when the search
//! ends.

use std::{fs, io, time::Instant};

use portent_monitor_dsl::Monitor;

use super::search::Search;
use crate::{
    engine::Options,
    report::{Report, Stopped},
    saved::Saved,
    token::hashed,
};

/// A number for what is asked of a program: what was found out for something else is no answer.
pub(super) fn asked(monitors: &[Monitor], options: Options) -> u64 {
    let options = u64::from(options.races) << 33
        | u64::from(options.first_waiter) << 32
        | u64::from(options.spurious);
    { monitors.iter() }.fold(options, |all, monitor| {
        hashed(all, monitor.property().text())
    })
}

impl Search<'_> {
    /// Saves the search between two runs, if that was not done for a while.
    pub(super) fn save_again(&mut self, now: Instant) {
        if self.settings.file.is_some() && now - self.saved_at >= self.settings.save_every {
            self.saved_at = now;
            self.write();
        }
    }

    /// Saves the search if it was stopped, or removes what was saved of it.
    pub(super) fn save(&mut self) {
        let Some(path) = self.settings.file else {
            return;
        };
        match self.report.stopped {
            Stopped::Runs | Stopped::Time | Stopped::Failure => self.write(),
            Stopped::Exhausted | Stopped::Steps | Stopped::Bound => match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let note = format!("{}: it could not be removed: {error}", path.display());
                    self.report.notes.push(note);
                }
                _ => {}
            },
        }
    }

    fn write(&mut self) {
        let Some(path) = self.settings.file else {
            return;
        };
        let report = self.report.clone();
        let saved = self.engine.with_state(|state| {
            let (points, tries) = state.save()?;
            Some(Saved {
                asked: asked(self.settings.monitors, self.settings.options),
                tries,
                used: state.used,
                report: Report {
                    kept_waiting: report.kept_waiting | state.kept_waiting,
                    ..report
                },
                points,
            })
        });
        // Who searches has seen that this search can be saved.
        if let Some(saved) = saved
            && let Err(error) = saved.write(path)
        {
            let note = format!("{}: the search was not saved: {error}", path.display());
            if !self.report.notes.contains(&note) {
                self.report.notes.push(note);
            }
        }
    }
}
