//! From hook to verdict.
//!
//! `cargo bench -p portent-sidecar`
//!
//! Four program threads and a property of the fast class, on a machine with two cores of an AMD EPYC (virtual, Linux 6.18) that did nothing
//! else; the best of five runs, `Full::Block`, nothing lost:
//!
//! | | | aim |
//! |---|---:|---:|
//! | events taken from a stream and thrown away | 2.51 million a second | |
//! | hook to verdict | 1.06 million a second, 2.37 times as long | 500,000 |
//! | the same, and recorded to a compressed file | 670,000 a second, 3.74 times as long | |
//! | latency at 50,000 events a second: median, 90 %, 99 % | 0.13 ms, 0.29 ms, 0.51 ms | 1 ms (median) |
//! | latency at 4,000 events a second: median, 90 %, 99 % | 0.43 ms, 0.92 ms, 1.1 ms | |

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

use portent_hooks::{Recording, event, sync, thread};
use portent_monitor_dsl::Property;
use portent_sidecar::{Recorder, Sidecar};

const THREADS: u64 = 4;
/// Events of each thread.
const EACH: u64 = 250_000;

fn property() -> Property {
    let text = "property job(w) { event take(w), give(w)  ere: (take give)* take? }";
    Property::parse(text).expect("a good property")
}

/// The program: jobs under a lock now and then.
fn program(each: u64) {
    let lock = sync::Mutex::new(0u64);
    thread::scope(|s| {
        for worker in 0..THREADS {
            let lock = &lock;
            s.spawn(move || {
                for number in 0..each / 2 {
                    event!(take, worker);
                    if number % 16 == 0 {
                        *lock.lock().expect("no panic") += 1;
                    }
                    event!(give, worker);
                }
            });
        }
    });
}

fn rate(time: Duration) -> u64 {
    ((THREADS * EACH) as f64 / time.as_secs_f64()) as u64
}

/// The least of several times.
fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Events are taken out and thrown away: what a sidecar cannot be faster than.
fn stream_alone() {
    let (recording, mut stream) = Recording::relevant(["take", "give"]).start();
    let reader = std::thread::spawn(move || {
        let mut taken = 0;
        while taken < THREADS * EACH {
            taken += u64::from(stream.next_within(Duration::from_secs(1)).is_some());
        }
    });
    let entered = recording.enter();
    program(EACH);
    drop(entered);
    reader.join().expect("no panic");
}

fn watched(recorder: Option<Recorder>) {
    let mut builder = Sidecar::builder().property(property());
    if let Some(recorder) = recorder {
        builder = builder.record(recorder);
    }
    let sidecar = builder.start().expect("it starts");
    let entered = sidecar.enter();
    program(EACH);
    drop(entered);
    let summary = sidecar.stop().expect("a report");
    assert_eq!(summary.counts.events, THREADS * EACH);
    assert!(!summary.report.is_violated() && summary.counts.lost.is_nothing());
}

/// How long after the event that completes a violation the callback is called, while the program does `rate` events a second;
/// in order.
fn latencies(rate: u64) -> Vec<Duration> {
    const ALERTS: u64 = 500;
    let begun = Instant::now();
    // When the event of each alert happened.
    let sent: Arc<Vec<AtomicU64>> = Arc::new((0..ALERTS).map(|_| AtomicU64::new(0)).collect());
    let (told, latency) = mpsc::channel();
    let times = Arc::clone(&sent);
    let bad = "property bad(n) { event good(n), bad(n)  ltl: always (bad -> once good) }";
    let sidecar = Sidecar::builder()
        .property(property())
        .property(Property::parse(bad).expect("a good property"))
        .on_violation(move |violation| {
            let now = begun.elapsed().as_nanos() as u64;
            if let portent_monitor_core::Value::Int(number) = violation.report.binding[0].1 {
                let sent = times[number as usize].load(Relaxed);
                let _ = told.send(Duration::from_nanos(now - sent));
            }
        })
        .start()
        .expect("it starts");
    let entered = sidecar.enter();
    thread::scope(|s| {
        for worker in 0..THREADS {
            let sent = &sent;
            s.spawn(move || {
                // In small bursts, as nobody sleeps for microseconds; the alert is at the end of one.
                let burst = rate / THREADS / 1000;
                for round in 0..ALERTS * 4 {
                    let next = begun.elapsed() + Duration::from_millis(1);
                    for _ in 0..burst / 2 {
                        event!(take, worker);
                        event!(give, worker);
                    }
                    if round % (4 * THREADS) == worker * 4 {
                        let number = round / 4;
                        sent[number as usize].store(begun.elapsed().as_nanos() as u64, Relaxed);
                        event!(bad, number);
                    }
                    std::thread::sleep(next.saturating_sub(begun.elapsed()));
                }
            });
        }
    });
    drop(entered);
    sidecar.stop().expect("a report");
    let mut all: Vec<Duration> = latency.iter().collect();
    assert_eq!(all.len() as u64, ALERTS);
    all.sort_unstable();
    all
}

fn main() {
    // Nobody measures in the tests of `--all-targets`.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl.zst");
    let alone = best(stream_alone);
    let seen = best(|| watched(None));
    let recorded = best(|| watched(Some(Recorder::to_file(&path))));
    let ratio = |time: Duration| time.as_secs_f64() / alone.as_secs_f64();
    println!("stream alone      {:>9} events/s", rate(alone));
    println!(
        "sidecar           {:>9} events/s, {:.2} times as long",
        rate(seen),
        ratio(seen)
    );
    println!(
        "sidecar, recorder {:>9} events/s, {:.2} times as long",
        rate(recorded),
        ratio(recorded)
    );
    for rate in [50_000, 4_000] {
        let all = latencies(rate);
        let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize];
        println!(
            "latency at {rate} events/s: median {:?}, 90 % {:?}, 99 % {:?}",
            at(0.5),
            at(0.9),
            at(0.99)
        );
    }
}
