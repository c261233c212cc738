//! The standard library itself.

#[path = "atomics.rs"]
mod atomics;
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

use std::{sync, thread};

fn run(test: impl FnOnce()) {
    test();
}
