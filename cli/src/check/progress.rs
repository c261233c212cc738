//! Shows progress on standard error: a line that is overwritten on a terminal, an occasional line in a log
//! file.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use portent_answer::text::numbers::bytes;
use std::{
    io::{self, IsTerminal},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// When to show progress.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Also if standard error is not a terminal
    Always,
    /// Never
    Never,
}

/// The counters of the work; the display thread only reads them.
pub(crate) struct Progress {
    events: Arc<AtomicU64>,
    pub(crate) search: portent_lattice::Progress,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Shows nothing.
    pub(crate) fn hidden() -> Progress {
        Progress {
            events: Arc::default(),
            search: portent_lattice::Progress::default(),
            shown: None,
        }
    }

    pub(crate) fn new(when: When) -> Progress {
        let terminal = io::stderr().is_terminal();
        if when == When::Never || (when == When::Auto && !terminal) {
            return Progress::hidden();
        }
        let mut progress = Progress::hidden();
        progress.search = portent_lattice::Progress::watched();
        let (stop, stopped) = mpsc::channel();
        let (events, search) = (Arc::clone(&progress.events), progress.search.clone());
        let shower = thread::spawn(move || {
            let bar = if terminal {
                ProgressBar::new_spinner()
            } else {
                ProgressBar::hidden()
            };
            let pause = Duration::from_millis(if terminal { 100 } else { 1000 });
            let mut rates = Rates::default();
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let line = rates.line(events.load(Ordering::Relaxed), &search);
                if terminal {
                    if search.levels() > 0 {
                        bar.set_style(level_bar());
                    }
                    bar.set_length(search.levels());
                    bar.set_position(search.level());
                    bar.set_message(line);
                    bar.tick();
                } else {
                    eprintln!("{line}")
                }
            }
            bar.finish_and_clear();
            if !terminal {
                eprintln!("{}", rates.line(events.load(Ordering::Relaxed), &search));
            }
        });
        progress.shown = Some((stop, shower));
        progress
    }

    /// An event was read.
    pub(crate) fn event(&self) {
        if self.shown.is_some() {
            self.events.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Progress {
    /// Clears the line before anything else is printed, including errors.
    fn drop(&mut self) {
        if let Some((stop, shower)) = self.shown.take() {
            drop(stop);
            // If it panicked there is nothing to clear.
            let _ = shower.join();
        }
    }
}

/// A bar for the levels of a lattice; before there is one, only a spinner.
fn level_bar() -> ProgressStyle {
    let style = ProgressStyle::with_template("{spinner} [{bar:24}] {msg}");
    style
        .expect("the template is a constant")
        .progress_chars("=> ")
}

/// Turns counts into speeds.
#[derive(Default)]
struct Rates {
    before: Option<(Instant, u64, u64)>,
}

impl Rates {
    fn line(&mut self, events: u64, search: &portent_lattice::Progress) -> String {
        let (now, cuts) = (Instant::now(), search.cuts());
        let (event_rate, cut_rate) = match self.before.replace((now, events, cuts)) {
            Some((then, events_then, cuts_then)) => {
                let seconds = (now - then).as_secs_f64().max(1e-3);
                let rate = |done: u64| HumanCount((done as f64 / seconds) as u64);
                (rate(events - events_then), rate(cuts - cuts_then))
            }
            None => (HumanCount(0), HumanCount(0)),
        };
        let mut line = format!("{} events", HumanCount(events));
        match (cuts, search.nodes()) {
            (0, 0) => line += &format!(" ({event_rate}/s)"),
            (0, nodes) => line += &format!(", {} nodes", HumanCount(nodes)),
            (cuts, _) => {
                let (level, cuts) = (HumanCount(search.level()), HumanCount(cuts));
                let levels = HumanCount(search.levels());
                // A property may take two passes over its lattice: one to find, one to count.
                line += &format!(
                    ", level {level} of {levels}, {cuts} cuts in all passes ({cut_rate}/s)"
                );
            }
        }
        // Not every system provides it.
        if let Some(memory) = memory_stats::memory_stats() {
            line += &format!(", {}", bytes(memory.physical_mem as u64));
        }
        line
    }
}
