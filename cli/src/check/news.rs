//! What is known while a trace still flows in: one line for each violation, with the event that completes it.
//!
//! The report at the end searches the whole trace and says everything. This does not wait for it, so that a program can be piped into
//! `portent check -` and be stopped as soon as there is something to look at.

use std::io;

use portent_lattice::{Options, Watch, report::PropertyReport};
use portent_monitor_core::{Event, Symbols, Value};
use portent_monitor_dsl::{Monitor, Verdict};

use crate::{terminal, text::Status};

/// Watches a trace that flows in.
pub(super) struct News {
    watch: Option<Watch>,
    /// With more threads than this their clocks take too much memory.
    max_threads: usize,
}

/// What news may take of the memory.
const SHARE: u64 = 16;
/// About what is kept for each binding.
const BINDING_BYTES: u64 = 10_000;

impl News {
    /// Nobody wants to know before the end.
    pub(super) fn none() -> News {
        News {
            watch: None,
            max_threads: 0,
        }
    }

    pub(super) fn new(
        monitors: &[Monitor],
        initial: impl FnMut(&str) -> Option<Value>,
        options: &Options,
    ) -> News {
        // The reader has refused what no run can do; and what is wrong with initial values was said.
        let memory = options.memory / SHARE;
        let bindings = usize::try_from(memory / BINDING_BYTES).unwrap_or(usize::MAX);
        // A thread has a clock and is known by where it stands, and both count for each thread.
        let max_threads = (memory / 8).isqrt() as usize;
        let options = Options::default()
            .admitted(true)
            .history(0)
            .memory(memory)
            .max_bindings(options.max_bindings.min(bindings));
        News {
            max_threads,
            watch: Watch::new(monitors.iter().cloned(), initial, options).ok(),
        }
    }

    /// Takes the next event, and tells what is known with it.
    pub(super) fn take(&mut self, event: &Event, symbols: &Symbols) -> io::Result<()> {
        let Some(watch) = &mut self.watch else {
            return Ok(());
        };
        if symbols.threads.len() > self.max_threads {
            self.watch = None;
            return Ok(());
        }
        match watch.take(event, symbols) {
            Ok(found) => found
                .iter()
                .try_for_each(|found| terminal::print(&line(event, found))),
            Err(_) => {
                // Too many bindings to be followed as well: the report will tell.
                self.watch = None;
                Ok(())
            }
        }
    }
}

/// `line 7: PREDICTED file, f = "a"`.
fn line(event: &Event, found: &PropertyReport) -> String {
    let status = match found.observed.verdict {
        Verdict::Violated => Status::Observed,
        _ => Status::Predicted,
    };
    let place = match event.line {
        Some(line) => format!("line {line}"),
        None => "now".to_owned(),
    };
    let binding: String = { found.binding.iter() }
        .map(|(name, value)| format!(", {name} = {value}"))
        .collect();
    format!("{place}: {} {}{binding}\n", status.word(), found.name)
}
