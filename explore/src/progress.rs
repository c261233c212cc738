//! How far a running search has come: for a callback, or as a line on a terminal.
//!
//! A run may be shorter than reading the clock takes, so the clock is read about once a millisecond.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Runs so far, including those that were cut.
    pub runs: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Time since the search began.
    pub elapsed: Duration,
    /// Runs a second since the last report.
    pub rate: f64,
    /// Choices in the last run.
    pub depth: usize,
    /// **An estimate** of the completed fraction of the search, from 0 to 1. It assumes that the open branches are as large as those
    /// already searched. `None` if the strategy has no estimate.
    pub part: Option<f64>,
}

impl Progress {
    /// An estimate of the remaining time, derived from [`part`](Progress::part).
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        let part = self.part.filter(|part| *part > 0.0)?;
        let left = self.elapsed.as_secs_f64() * (1.0 - part).max(0.0) / part;
        Duration::try_from_secs_f64(left).ok()
    }
}

/// A function that is called with the progress.
pub(crate) type Listener = dyn Fn(&Progress) + Send + Sync;

/// The time between two reports, and the time after which a line is shown on a terminal.
const PAUSE: Duration = Duration::from_millis(250);
const BEFORE_LINE: Duration = Duration::from_secs(1);

/// Looks at the clock, but not after every run.
#[derive(Debug)]
pub(crate) struct Ticker {
    begun: Instant,
    /// The number of runs between two readings of the clock, and those left until the next one.
    stride: u32,
    left: u32,
    looked: Instant,
}

impl Ticker {
    pub(crate) fn new() -> Ticker {
        let now = Instant::now();
        Ticker {
            begun: now,
            stride: 1,
            left: 1,
            looked: now,
        }
    }

    /// Called after each run: the time, if the clock is read after this one.
    #[inline]
    pub(crate) fn tick(&mut self) -> Option<Instant> {
        self.left -= 1;
        (self.left == 0).then(|| self.look())
    }

    fn look(&mut self) -> Instant {
        let now = Instant::now();
        self.stride = if now - self.looked < Duration::from_millis(1) {
            (self.stride * 2).min(4096)
        } else {
            (self.stride / 2).max(1)
        };
        self.left = self.stride;
        self.looked = now;
        now
    }
}

/// Reports the progress of a search periodically.
pub(crate) struct Reporter<'a> {
    listener: Option<&'a Listener>,
    /// There is a terminal and no listener.
    has_line: bool,
    shows_line: bool,
    last: Instant,
    runs: u64,
}

impl<'a> Reporter<'a> {
    /// `leads`: this OS thread is the one that reports.
    pub(crate) fn new(listener: Option<&'a Listener>, leads: bool) -> Reporter<'a> {
        Reporter {
            listener: listener.filter(|_| leads),
            has_line: leads && listener.is_none() && io::stderr().is_terminal(),
            shows_line: false,
            last: Instant::now(),
            runs: 0,
        }
    }

    /// Whether a report is due.
    pub(crate) fn is_due(&self, ticker: &Ticker, now: Instant) -> bool {
        let has_reader =
            self.listener.is_some() || self.has_line && now - ticker.begun >= BEFORE_LINE;
        has_reader && now - self.last >= PAUSE
    }

    pub(crate) fn report(&mut self, ticker: &Ticker, now: Instant, progress: Progress) {
        let since = (now - self.last).as_secs_f64().max(1e-9);
        let progress = Progress {
            elapsed: now - ticker.begun,
            rate: progress.runs.saturating_sub(self.runs) as f64 / since,
            ..progress
        };
        self.last = now;
        self.runs = progress.runs;
        match self.listener {
            Some(listener) => listener(&progress),
            None => {
                self.shows_line = true;
                let _ = write!(io::stderr(), "\r\x1b[K{}", line(&progress));
            }
        }
    }
}

/// The line is cleared when the search ends.
impl Drop for Reporter<'_> {
    fn drop(&mut self) {
        if self.shows_line {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(progress: &Progress) -> String {
    let Progress {
        runs, rate, depth, ..
    } = progress;
    let mut line = format!("{runs} runs, {rate:.0} a second, {depth} choices deep");
    if let Some(part) = progress.part {
        line.push_str(&format!("; estimated: {:.1} % done", part * 100.0));
        if let Some(left) = progress.left() {
            line.push_str(&format!(", {} s left", left.as_secs()));
        }
    }
    line
}
