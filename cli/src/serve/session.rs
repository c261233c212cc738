//! How many lines of a client have arrived, across reconnections.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The largest number of clients with a session.
const MOST: usize = 10_000;

/// All clients that ever introduced themselves.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

/// The session of one client.
#[derive(Default)]
pub(super) struct Session(Mutex<Progress>);

#[derive(Default)]
pub(super) struct Progress {
    /// Lines that were handed on, or that the client no longer has.
    pub(super) taken: u64,
    /// The number of its latest connection: an older one that is still open must not add lines that the newer one sends again.
    connection: u64,
}

impl Sessions {
    /// Joins a client that has just connected, and no longer has its first `gone` lines. Gives its session, the number of the
    /// connection, and how many of its lines will never arrive; `None` if there are too many clients.
    pub(super) fn join(&self, name: &str, gone: u64) -> Option<(Arc<Session>, u64, u64)> {
        let mut sessions = lock(&self.0);
        if sessions.len() >= MOST && !sessions.contains_key(name) {
            return None;
        }
        let session = Arc::clone(sessions.entry(name.to_owned()).or_default());
        drop(sessions);
        let mut progress = lock(&session.0);
        progress.connection += 1;
        let missed = gone.saturating_sub(progress.taken);
        progress.taken = progress.taken.max(gone);
        let connection = progress.connection;
        drop(progress);
        Some((session, connection, missed))
    }
}

impl Session {
    /// The progress, for this connection alone to change; `None` if there is a newer one.
    pub(super) fn of(&self, connection: u64) -> Option<MutexGuard<'_, Progress>> {
        let progress = lock(&self.0);
        (progress.connection == connection).then_some(progress)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
