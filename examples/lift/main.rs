//! A lift: one thread runs the motor, another opens the door. All accesses of the state are locked,
//! so that nothing is torn; but the door goes by the clock, and does not look whether the motor has
//! stopped.
//!
//! `cargo run --example lift > lift.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

#[derive(Default)]
struct State {
    motor: bool,
    door: bool,
}

fn main() {
    let log = Recorder::default();
    let state = Mutex::new(State::default());
    let set = |thread: &str, name: &str, value: bool, change: fn(&mut State, bool)| {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken before its line is written, and released after.
        log.record(thread, "\"op\": \"lock\", \"lock\": \"state\"", || ());
        let line = format!("\"op\": \"write\", \"var\": \"{name}\", \"val\": {value}");
        log.record(thread, &line, || change(&mut state, value));
        log.record(thread, "\"op\": \"unlock\", \"lock\": \"state\"", || ());
    };
    println!("{{\"portent\": 1, \"init\": {{\"motor\": false, \"door\": false}}}}");
    thread::scope(|scope| {
        scope.spawn(|| {
            set("cabin", "motor", true, |state, on| state.motor = on);
            thread::sleep(Duration::from_millis(30));
            set("cabin", "motor", false, |state, on| state.motor = on);
        });
        scope.spawn(|| {
            // The ride takes 30 milliseconds.
            thread::sleep(Duration::from_millis(60));
            set("floor", "door", true, |state, open| state.door = open);
        });
    });
}
