//! A server that handles requests in threads of their own. It waits for Alice's request before it
//! logs her out; Bob and Carol are logged out when their time is up.
//!
//! `cargo run --example sessions > sessions.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{
    thread::{self, Scope},
    time::Duration,
};

fn event(log: &Recorder, thread: &str, name: &str, user: &str) {
    let line = format!("\"op\": \"event\", \"name\": \"{name}\", \"args\": [\"{user}\"]");
    log.record(thread, &line, || ());
}

/// Handles a request of a user in a new thread.
fn handle<'scope>(
    scope: &'scope Scope<'scope, '_>,
    log: &'scope Recorder,
    worker: &'static str,
    user: &'static str,
) -> thread::ScopedJoinHandle<'scope, ()> {
    let line = format!("\"op\": \"fork\", \"child\": \"{worker}\"");
    log.record("main", &line, || ());
    scope.spawn(move || event(log, worker, "request", user))
}

fn main() {
    let log = &Recorder::default();
    let a_while = Duration::from_millis(30);
    thread::scope(|scope| {
        event(log, "main", "login", "alice");
        let worker = handle(scope, log, "worker1", "alice");
        worker.join().expect("the worker does not panic");
        let line = "\"op\": \"join\", \"child\": \"worker1\"";
        log.record("main", line, || ());
        event(log, "main", "logout", "alice");

        event(log, "main", "login", "bob");
        handle(scope, log, "worker2", "bob");
        thread::sleep(a_while);
        event(log, "main", "logout", "bob");

        event(log, "main", "login", "carol");
        handle(scope, log, "worker3", "carol");
        thread::sleep(a_while);
        handle(scope, log, "worker4", "carol");
        thread::sleep(a_while);
        event(log, "main", "logout", "carol");
    });
}
