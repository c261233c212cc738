//! Everything that the body of a test does.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Release},
    },
    thread,
    time::Duration,
};

use crate::{Counts, Recorded, Recording, Stream, Value, events::CausalRelease};

/// One run of a body.
pub(super) struct Record {
    pub(super) events: Vec<Recorded>,
    /// What the variables that were written had before.
    pub(super) initial: Vec<(String, Value)>,
    pub(super) counts: Counts,
    pub(super) stream: Stream,
}

impl Record {
    /// Runs a body; if it panics, so does this.
    pub(super) fn of<R>(body: fn() -> R) -> (R, Record) {
        let (recording, stream) = Recording::everything().start();
        let has_ended = AtomicBool::new(false);
        // Threads wait when their queues are full, so somebody else has to empty them.
        thread::scope(|scope| {
            let reader = scope.spawn(|| Record::read(stream, &has_ended));
            let entered = recording.enter();
            let outcome = panic::catch_unwind(AssertUnwindSafe(body));
            drop(entered);
            has_ended.store(true, Release);
            let record = reader.join();
            match (outcome, record) {
                (Ok(outcome), Ok(record)) => (outcome, record),
                (Err(panic), _) | (_, Err(panic)) => panic::resume_unwind(panic),
            }
        })
    }

    fn read(mut stream: Stream, has_ended: &AtomicBool) -> Record {
        let mut events = Vec::new();
        while !has_ended.load(Acquire) {
            events.extend(stream.next_within(Duration::from_millis(1)));
        }
        events.extend(stream.finish());
        let events = as_they_were(events);
        Record {
            events,
            initial: stream.initial_values(),
            counts: stream.counts(),
            stream,
        }
    }

    /// The value that a variable begins with, if somebody wrote it.
    pub(super) fn initial(&self, name: &str) -> Option<Value> {
        let found = self.initial.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone())
    }
}

/// Events in the order in which they happened. Causality goes before places: it is what is known for certain.
fn as_they_were(mut events: Vec<Recorded>) -> Vec<Recorded> {
    events.sort_by_key(|recorded| recorded.place);
    let mut release = CausalRelease::default();
    let mut ordered = Vec::with_capacity(events.len());
    for recorded in events {
        release.push(recorded);
        ordered.extend(std::iter::from_fn(|| release.pop()));
    }
    release.close();
    ordered.extend(std::iter::from_fn(|| release.pop()));
    ordered
}
