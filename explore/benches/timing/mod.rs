//! How much processor time a call takes that is over within microseconds.
//!
//! The kernel updates a thread's account only every few milliseconds, and reading it takes as long as a short exploration. So calls are
//! timed in batches of at least 50 ms, where neither matters.

use std::{fs, sync::LazyLock, time::Instant};

const BATCH: u64 = 50_000_000;

/// Nanoseconds of processor time that this thread has used; of wall-clock time where the system does not tell.
pub(crate) fn used() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let account = fs::read_to_string("/proc/thread-self/schedstat").ok();
    account
        .and_then(|account| account.split(' ').next()?.parse().ok())
        .unwrap_or_else(|| START.elapsed().as_nanos() as u64)
}

/// Nanoseconds of processor time a call takes: the median of seven batches.
pub(crate) fn per_call(mut call: impl FnMut()) -> f64 {
    let mut time = |calls: u64| {
        let before = used();
        for _ in 0..calls {
            call();
        }
        used() - before
    };
    let mut calls = 1;
    while time(calls) < BATCH {
        calls *= 2;
    }
    let mut times: Vec<u64> = (0..7).map(|_| time(calls)).collect();
    times.sort_unstable();
    times[3] as f64 / calls as f64
}
