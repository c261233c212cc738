//! Lines that a server has not acknowledged yet.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The number of bytes that are kept for a server that does not answer.
const MOST_BYTES: usize = 4 << 20;

/// What the thread of the sidecar and the one that sends have in common.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// How many lines the server has, or will never have.
    taken: u64,
    /// How many of them it will never have.
    #[cfg(feature = "nats")]
    refused: u64,
    /// No more lines come.
    is_closed: bool,
    /// The time after which the server is no longer waited for.
    deadline: Option<Instant>,
    /// The last error of the server or the system that was not reported yet.
    problem: Option<String>,
}

/// What is to be done next.
pub(super) enum Work {
    /// These are the lines after the first ones, of which this is the number.
    Send(Vec<u8>, u64),
    /// There is nothing to be sent now.
    Rest,
    /// Everything was sent, or the time for waiting is over.
    Over,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; waits until there is room, or until it is over: then the line is not added.
    pub(super) fn push(&self, line: Vec<u8>) -> bool {
        let mut state = self.lock();
        while state.bytes >= MOST_BYTES {
            if state.is_late() {
                return false;
            }
            state = self.wait(state, Duration::from_millis(50));
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        self.changed.notify_all();
        true
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The next lines, of about this many bytes; waits for some.
    pub(super) fn work(&self, most: usize) -> Work {
        let mut state = self.lock();
        if state.lines.is_empty() && !state.is_closed {
            state = self.wait(state, Duration::from_millis(20));
        }
        if state.is_late() || (state.lines.is_empty() && state.is_closed) {
            return Work::Over;
        }
        let mut bytes = Vec::new();
        let mut count = 0;
        for line in &state.lines {
            if bytes.len() >= most {
                break;
            }
            bytes.extend_from_slice(line);
            count += 1;
        }
        if count == 0 {
            return Work::Rest;
        }
        Work::Send(bytes, state.taken + count)
    }

    /// How many lines the server has.
    pub(super) fn acknowledge(&self, taken: u64) {
        let mut state = self.lock();
        while state.taken < taken
            && let Some(line) = state.lines.pop_front()
        {
            state.bytes -= line.len();
            state.taken += 1;
        }
        self.changed.notify_all();
    }

    /// The first line will never be taken.
    #[cfg(feature = "nats")]
    pub(super) fn refuse(&self, problem: String) {
        let taken = {
            let mut state = self.lock();
            state.refused += 1;
            state.problem = Some(problem);
            state.taken
        };
        self.acknowledge(taken + 1);
    }

    /// How many lines the server has, and how many wait, or were refused.
    pub(super) fn counts(&self) -> (u64, u64) {
        let state = self.lock();
        #[cfg(feature = "nats")]
        let refused = state.refused;
        #[cfg(not(feature = "nats"))]
        let refused = 0;
        (state.taken - refused, state.lines.len() as u64 + refused)
    }

    /// Sets the time after which the server is no longer waited for.
    pub(super) fn hurry(&self, linger: Duration) {
        let mut state = self.lock();
        state
            .deadline
            .get_or_insert_with(|| Instant::now() + linger);
        self.changed.notify_all();
    }

    /// No more lines come.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    pub(super) fn is_late(&self) -> bool {
        self.lock().is_late()
    }

    /// Sleeps, but not beyond the end.
    pub(super) fn sleep(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut state = self.lock();
        while Instant::now() < until && !state.is_late() {
            state = self.wait(state, Duration::from_millis(20).min(time));
        }
    }

    pub(super) fn complain(&self, problem: String) {
        self.lock().problem = Some(problem);
    }

    pub(super) fn problem(&self) -> Option<String> {
        self.lock().problem.take()
    }
}

impl State {
    fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }
}
