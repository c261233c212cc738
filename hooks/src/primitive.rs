//! What threads share, for the protocols that need more than a lock: `sync/header.rs`, `sync/outer_clock.rs` and `gate.rs` take it from here.
//! The model checker (`tests/loom`) compiles the same files with its own in this place.

#![allow(
    unused_imports,
    reason = "without some of the features, some of them are not compiled"
)]

pub(crate) use std::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicU8, AtomicU64, AtomicUsize},
    },
    thread::yield_now,
};
