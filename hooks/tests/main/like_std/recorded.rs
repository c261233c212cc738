//! Ours, while everything is recorded.

#[path = "any_channel.rs"]
mod any_channel;
#[path = "api.rs"]
mod api;
#[path = "atomics.rs"]
mod atomics;
#[path = "channel_cases.rs"]
mod channel_cases;
#[path = "channel_contents.rs"]
mod channel_contents;
#[path = "channels.rs"]
mod channels;
#[path = "conditions.rs"]
mod conditions;
#[path = "locks.rs"]
mod locks;
#[path = "once.rs"]
mod once;
#[path = "threads.rs"]
mod threads;

use portent_hooks::{sync, thread, thread_local};

/// Records all that the test does, and compares the clocks with those of one who only reads.
fn run(test: impl FnOnce()) {
    let (recording, stream) = portent_hooks::Recording::everything().start();
    let (events, counts) = std::thread::scope(|s| {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        let reader = s.spawn(move || crate::stress::collect(stream, &stopped));
        let entered = recording.enter();
        let end = Stop(stop);
        test();
        drop(entered);
        drop(end);
        reader.join().unwrap()
    });
    assert_eq!(counts.dropped, 0);
    crate::stress::same_offline(&events);
}

/// The reader stops, also if the test panics.
struct Stop(std::sync::Arc<std::sync::atomic::AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Release);
    }
}
