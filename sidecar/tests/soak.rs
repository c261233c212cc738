//! Memory is flat however long a program runs. It runs for three seconds; `ci/soak.sh` makes it a minute, `ci/soak.sh 600` ten.
//!
//! Ten minutes on 18 November 2026, on two cores that others kept busy (a load of 20 to 28, so that it got 45 s of a processor): of the 4.2 million events
//! after the first third of the time the process kept 132 KB.

use std::{
    env,
    process::Command,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use portent_hooks::{event, sync, thread};
use portent_monitor_dsl::Property;
use portent_sidecar::Sidecar;

fn resident() -> usize {
    memory_stats::memory_stats().map_or(0, |memory| memory.physical_mem)
}

/// In a process of its own: what other tests keep is no business of this one.
#[test]
fn memory_is_flat_at_full_rate() {
    const SECONDS: &str = "PORTENT_SOAK";
    if let Ok(text) = env::var(SECONDS) {
        return soak(text.parse().expect("a number of seconds"));
    }
    let output = Command::new(env::current_exe().expect("this program"))
        .args([
            "--exact",
            "soak::memory_is_flat_at_full_rate",
            "--nocapture",
        ])
        .env(SECONDS, "3")
        .output()
        .expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&text)
    );
}

fn soak(seconds: f64) {
    let text = "property job(w) { event take(w), give(w)  ere: (take give)* take? }";
    let sidecar = Sidecar::builder()
        .property(Property::parse(text).unwrap())
        .start()
        .unwrap();
    let entered = sidecar.enter();
    let is_over = AtomicBool::new(false);
    let lock = sync::Mutex::new(0u64);
    let mut sizes = Vec::new();
    thread::scope(|s| {
        for worker in 0..4 {
            let (is_over, lock) = (&is_over, &lock);
            s.spawn(move || {
                while !is_over.load(Relaxed) {
                    event!(take, worker);
                    *lock.lock().unwrap() += 1;
                    event!(give, worker);
                }
            });
        }
        let (begun, time) = (Instant::now(), Duration::from_secs_f64(seconds));
        while begun.elapsed() < time {
            std::thread::sleep(Duration::from_millis(20));
            sizes.push((sidecar.counts().events, resident()));
        }
        is_over.store(true, Relaxed);
    });
    drop(entered);
    let summary = sidecar.stop().unwrap();
    assert!(!summary.report.is_violated());
    assert!(summary.counts.lost.is_nothing());
    // After a third of the time all is warm.
    let warm = sizes.len() / 3;
    let (events, before) = sizes[warm];
    let (all, after) = sizes[sizes.len() - 1];
    let grown = after.saturating_sub(before);
    assert!(all > events);
    eprintln!("{} events, {} KB more", all - events, grown / 1024);
    assert!(
        grown < 8 << 20,
        "{grown} bytes for {} events: {sizes:?}",
        all - events
    );
}
