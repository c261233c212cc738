//! Ours, while nothing is recorded.

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

fn run(test: impl FnOnce()) {
    test();
}
