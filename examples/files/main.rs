//! A file is opened by one thread and read by another, to which it is handed over a channel; the
//! first one closes it without waiting for the reader. Another file never leaves its thread.
//!
//! `cargo run --example files > files.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{sync::mpsc::channel, thread, time::Duration};

fn main() {
    let log = &Recorder::default();
    let event = |thread: &str, name: &str, file: &str| {
        let line = format!("\"op\": \"event\", \"name\": \"{name}\", \"args\": [\"{file}\"]");
        log.record(thread, &line, || ());
    };
    let (hand_over, handed_over) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            event("owner", "open", "shared.txt");
            let line = "\"op\": \"send\", \"chan\": \"files\", \"msg\": 1";
            let sent = log.record("owner", line, || hand_over.send("shared.txt"));
            sent.expect("the reader is there");
            event("owner", "open", "own.txt");
            event("owner", "read", "own.txt");
            event("owner", "read", "own.txt");
            event("owner", "close", "own.txt");
            thread::sleep(Duration::from_millis(50));
            event("owner", "close", "shared.txt");
        });
        scope.spawn(move || {
            let file = handed_over.recv().expect("the owner sends one");
            let line = "\"op\": \"recv\", \"chan\": \"files\", \"msg\": 1";
            log.record("reader", line, || ());
            event("reader", "read", file);
            event("reader", "read", file);
        });
    });
}
