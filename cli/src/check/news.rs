//! News while a trace is still coming in: one line per violation, with the event that completes it.
//!
//! The report at the end covers the whole trace and is complete. This does not wait for it, so that a program can be piped into
//! `portent check -` and stopped at the first result.

use std::io;

use portent_lattice::{Options, Watch, report::PropertyReport};
use portent_monitor_core::{Event, Symbols, Value};
use portent_monitor_dsl::{Monitor, Verdict};

use portent_answer::text::Status;

use crate::terminal;

/// Watches a trace as it arrives.
pub(super) struct News {
    watch: Option<Watch>,
    /// With more threads than this, their clocks take too much memory.
    max_threads: usize,
    /// The names of the run are stored a second time here, and may take this many bytes.
    max_names: u64,
    /// Whether it was reported that some violations appear at the end only.
    is_cut: bool,
}

/// News may take this fraction of the memory.
const SHARE: u64 = 16;
/// The approximate memory for each binding.
const BINDING_BYTES: u64 = 10_000;

impl News {
    /// No news is wanted before the end.
    pub(super) fn none() -> News {
        News {
            watch: None,
            max_threads: 0,
            max_names: 0,
            is_cut: false,
        }
    }

    pub(super) fn new(
        monitors: &[Monitor],
        initial: impl FnMut(&str) -> Option<Value>,
        options: &Options,
    ) -> News {
        // The reader has refused impossible events, and errors in initial values were reported.
        let memory = options.memory / SHARE;
        let bindings = usize::try_from(memory / BINDING_BYTES).unwrap_or(usize::MAX);
        // A thread has a clock and a position, and both have a component for each thread.
        let max_threads = (memory / 8).isqrt() as usize;
        let options = Options::default()
            .admitted(true)
            .history(0)
            .memory(memory)
            .max_bindings(options.max_bindings.min(bindings));
        News {
            max_threads,
            max_names: memory,
            is_cut: false,
            watch: Watch::new(monitors.iter().cloned(), initial, options).ok(),
        }
    }

    /// Takes the next event, which was made with these symbols, and prints what it reveals.
    pub(super) fn take(&mut self, event: &Event, symbols: &Symbols) -> io::Result<()> {
        let Some(watch) = &mut self.watch else {
            return Ok(());
        };
        let fits =
            symbols.threads.len() <= self.max_threads && symbols.bytes() as u64 <= self.max_names;
        let found = if fits && watch.symbols_mut().catch_up(symbols).is_ok() {
            watch.take(event).ok()
        } else {
            None
        };
        let is_cut = found.is_none() || watch.leaves_out_bindings();
        if is_cut && !std::mem::replace(&mut self.is_cut, true) {
            let place = place(event);
            eprintln!(
                "note: {place}: from here on some violations are reported at the end only, as to follow all of them takes more memory \
                 than --memory allows for that"
            );
        }
        let Some(found) = found else {
            self.watch = None;
            return Ok(());
        };
        found
            .iter()
            .try_for_each(|found| terminal::print(&line(event, found)))
    }
}

fn place(event: &Event) -> String {
    match event.line {
        Some(line) => format!("line {line}"),
        None => "now".to_owned(),
    }
}

/// `line 7: PREDICTED file, f = "a"`.
fn line(event: &Event, found: &PropertyReport) -> String {
    let status = match found.observed.verdict {
        Verdict::Violated => Status::Observed,
        _ => Status::Predicted,
    };
    let place = place(event);
    let binding: String = { found.binding.iter() }
        .map(|(name, value)| format!(", {name} = {value}"))
        .collect();
    format!("{place}: {} {}{binding}\n", status.word(), found.name)
}
