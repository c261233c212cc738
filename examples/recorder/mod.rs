//! Writes what the threads of an example do, one JSON object a line, to standard output.
//!
//! An action and its line happen under one lock, so that the lines are in the order of the actions.
//! The lock is the recorder's, not the program's: it orders nothing that the program relies on.

use std::{io::Write, sync::Mutex};

/// The log that all threads write to.
#[derive(Default)]
pub(crate) struct Recorder(Mutex<()>);

impl Recorder {
    /// Does something, and writes `{"t": thread, rest}`.
    pub(crate) fn record<T>(&self, thread: &str, rest: &str, action: impl FnOnce() -> T) -> T {
        let guard = self.0.lock().expect("no thread panics while it records");
        let result = action();
        writeln!(std::io::stdout(), "{{\"t\": \"{thread}\", {rest}}}").expect("standard output");
        drop(guard);
        result
    }
}
