//! A reservoir: one thread lets water in, another opens the valve. They go by the clock on the
//! wall and not by each other, which works as long as nobody is late.
//!
//! `cargo run --example reservoir > reservoir.jsonl`

#[path = "../recorder/mod.rs"]
mod recorder;

use recorder::Recorder;
use std::{
    sync::atomic::{AtomicI64, Ordering},
    thread,
    time::Duration,
};

fn main() {
    let (water, valve) = (AtomicI64::new(20), AtomicI64::new(40));
    let log = Recorder::default();
    let set = |thread: &str, name: &str, variable: &AtomicI64, value: i64| {
        let line = format!("\"op\": \"write\", \"var\": \"{name}\", \"val\": {value}");
        log.record(thread, &line, || variable.store(value, Ordering::SeqCst));
    };
    let pause = || thread::sleep(Duration::from_millis(40));
    thread::scope(|scope| {
        scope.spawn(|| {
            for level in [24, 27, 31] {
                set("T2", "w", &water, level);
                pause();
            }
        });
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            for opening in [50, 60, 70] {
                set("T1", "v", &valve, opening);
                pause();
            }
        });
    });
}
