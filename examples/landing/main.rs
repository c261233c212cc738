//! A landing controller. It asks for approval over the radio, and lands if it got it; meanwhile
//! the radio may fail. The controller looks at the radio once, and not again before it lands.
//!
//! `cargo run --example landing > landing.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

fn main() {
    let radio = AtomicBool::new(true);
    let (approved, landing) = (AtomicBool::new(false), AtomicBool::new(false));
    let log = Recorder::default();
    let set = |thread: &str, name: &str, variable: &AtomicBool, value: bool| {
        let line = format!("\"op\": \"write\", \"var\": \"{name}\", \"val\": {value}");
        log.record(thread, &line, || variable.store(value, Ordering::SeqCst));
    };
    println!(
        "{{\"portent\": 1, \"init\": {{\"radio\": true, \"approved\": false, \"landing\": false}}}}"
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            let line = "\"op\": \"read\", \"var\": \"radio\"";
            let heard = log.record("controller", line, || radio.load(Ordering::SeqCst));
            if heard {
                set("controller", "approved", &approved, true);
            }
            if approved.load(Ordering::SeqCst) {
                set("controller", "landing", &landing, true);
            }
        });
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            set("radio", "radio", &radio, false);
        });
    });
}
