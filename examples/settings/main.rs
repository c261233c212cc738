//! A thread writes a setting and then counts itself in; another counts itself in and then writes the same setting. The counter has a lock,
//! the setting has none: because the lock happens to be taken in this order, the writes look as if they were ordered.
//!
//! `cargo run --example settings > settings.jsonl`, and then `portent find --causality strong settings.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

/// Stands for a variable without any synchronisation: such a one would be undefined behaviour, which is the point.
static VERBOSITY: AtomicU32 = AtomicU32::new(0);
static USERS: Mutex<u32> = Mutex::new(0);

fn set(log: &Recorder, thread: &str, value: u32, line: u32) {
    let text = format!(
        "\"op\": \"write\", \"var\": \"verbosity\", \"val\": {value}, \"loc\": \"{}:{line}\"",
        file!()
    );
    log.record(thread, &text, || VERBOSITY.store(value, Ordering::Relaxed));
}

fn enter(log: &Recorder, thread: &str) {
    let mut users = USERS.lock().expect("nobody panics");
    log.record(thread, "\"op\": \"lock\", \"lock\": \"users\"", || ());
    *users += 1;
    let text = "\"op\": \"unlock\", \"lock\": \"users\"";
    log.record(thread, text, || drop(users));
}

fn main() {
    let log = Recorder::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            set(&log, "T1", 2, line!());
            enter(&log, "T1");
        });
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            enter(&log, "T2");
            set(&log, "T2", 3, line!());
        });
    });
}
