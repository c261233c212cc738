//! What hooks cost, as ratios to the standard library in the same run.
//!
//! `cargo bench -p portent-hooks --features monitor,tokio`; compare the lines of a group. What is recorded is
//! taken out between the measurements, by the same thread: the figures are those of the program alone.
//!
//! Nanoseconds on a machine with two cores of an AMD EPYC (virtual, Linux 6.18, Rust 1.95) that did nothing else. An instruction with a `lock`
//! prefix takes 4.6 ns there.
//!
//! | | std | hooks | ratio | aim |
//! |---|---:|---:|---:|---:|
//! | `Mutex`, lock and unlock, nothing relevant | 9.5 | 9.6 | 1.00 | 1.2 |
//! | the same with an event inside | 9.5 | 17.0 | 1.8 | 3.5 |
//! | `RwLock`, read | 9.5 | 9.9 | 1.04 | 1.8 |
//! | the same by a thread that knows more than the last writer | 9.5 | 9.9 | 1.04 | 1.8 |
//! | `RwLock`, write | 9.3 | 9.7 | 1.05 | 1.3 |
//! | atomic load | 0.26 | 0.33 | 1.3 | 2.5 |
//! | atomic store, sequentially consistent | 4.6 | 15.4 | 3.3 | 3.5 |
//! | atomic store, release | 0.14 | 11.5 | 82 | |
//! | `fetch_add` | 4.7 | 14.6 | 3.1 | 3.5 |
//! | `mpsc`, send and receive, nothing relevant | 27.2 | 25.0 | 0.92 | 2.5 |
//! | an event, next to one of `tracing` with a layer that counts | 8.0 | 5.5 | 0.68 | 1.6 |
//! | an event with a number | | 8.2 | | |
//! | an event, 8 threads at once; median | | 6.4 | | 15 ns |
//! | a write of a relevant `Shared`, next to a `Mutex` | 9.5 | 20.3 | 2.1 | 4.5 |
//! | poll of a task that records nothing | 0.49 | 4.1 | +3.6 ns | +3 ns |
//! | poll of a task with an event inside | 0.49 | 42.1 | | |
//!
//! A store that was a plain one takes a lock, and with it two locked instructions: that is why a release store is the most expensive by comparison. A
//! poll swaps the actor of the thread twice, and looks whether the task was woken.
//!
//! A work queue with a cache and four threads, 20,000 jobs, everything included, on two cores: 2.4 ms with the standard library; 3.0 ms (1.3 times) with
//! hooks and no recording; 10.4 ms (4.4 times) with an event a job and a reader that shares the two cores; 59 ms (25 times) if every operation
//! is recorded and read. Its threads compete for the same locks: in another run the first three all took 9 to 10 ms, when both cores contended for them all the time. ThreadSanitizer is said to slow programs down 13 to 60 times. On disk an event
//! takes 3.8 bytes, 6.3 with clocks (`sidecar/tests/recording.rs`).

use std::{
    future::poll_fn,
    hint::black_box,
    pin::pin,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use criterion::{
    BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use portent_hooks::{Entered, Recording, Shared, Stream, event, sync, task, thread};
use tracing_subscriber::{Layer, layer::SubscriberExt};

/// A recording of `tick` and `x` that this thread takes part in.
struct Monitored {
    _entered: Entered,
    stream: Stream,
}

impl Monitored {
    fn new() -> Monitored {
        let builder = Recording::relevant(["tick", "x"]).capacity(1 << 11);
        let (recording, stream) = builder.start();
        let mut monitored = Monitored {
            _entered: recording.enter(),
            stream,
        };
        // So that clocks are not empty.
        event!(tick);
        monitored.empty();
        monitored
    }

    fn empty(&mut self) {
        while self.stream.try_next().is_some() {}
    }

    /// Measures the program alone: what is recorded is taken out in between, by the thread itself.
    fn bench(
        &mut self,
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        operation: impl FnMut(),
    ) {
        bench(group, name, operation, || self.empty());
    }
}

/// The time of an operation is that of the fastest batch of a sample: the others had to share the processor, or were moved to another one. After each batch
/// comes what is not measured.
fn bench(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut operation: impl FnMut(),
    mut afterwards: impl FnMut(),
) {
    const BATCH: u32 = 500;
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            let batches = times.div_ceil(u64::from(BATCH)).max(5);
            let fastest = { 0..batches }.map(|_| {
                let start = Instant::now();
                (0..BATCH).for_each(|_| operation());
                let taken = start.elapsed();
                afterwards();
                taken
            });
            let fastest = fastest.min().unwrap_or_default();
            fastest.mul_f64(times as f64 / f64::from(BATCH))
        });
    });
}

fn mutex(c: &mut Criterion) {
    let mut group = c.benchmark_group("mutex");
    let native = std::sync::Mutex::new(0u64);
    bench(&mut group, "std", || *native.lock().unwrap() += 1, || {});
    let mutex = sync::Mutex::new(0u64);
    bench(
        &mut group,
        "nothing recorded",
        || *mutex.lock().unwrap() += 1,
        || {},
    );
    let mut monitored = Monitored::new();
    monitored.bench(&mut group, "nothing relevant", || {
        *mutex.lock().unwrap() += 1
    });
    monitored.bench(&mut group, "event inside", || {
        let mut guard = mutex.lock().unwrap();
        *guard += 1;
        event!(tick);
    });
}

fn rwlock(c: &mut Criterion) {
    let mut group = c.benchmark_group("rwlock");
    let native = std::sync::RwLock::new(0u64);
    let read = || {
        black_box(*native.read().unwrap());
    };
    bench(&mut group, "std read", read, || {});
    bench(
        &mut group,
        "std write",
        || *native.write().unwrap() += 1,
        || {},
    );
    let mut monitored = Monitored::new();
    let lock = sync::RwLock::new(0u64);
    monitored.bench(&mut group, "write", || *lock.write().unwrap() += 1);
    monitored.bench(&mut group, "read, equal clocks", || {
        black_box(*lock.read().unwrap());
    });
    event!(tick);
    monitored.bench(&mut group, "read, knows more than the last writer", || {
        black_box(*lock.read().unwrap());
    });
}

fn atomic(c: &mut Criterion) {
    let mut group = c.benchmark_group("atomic");
    let native = AtomicU64::new(0);
    let load = || {
        black_box(native.load(Ordering::SeqCst));
    };
    bench(&mut group, "std load", load, || {});
    bench(
        &mut group,
        "std store",
        || native.store(1, Ordering::SeqCst),
        || {},
    );
    let store = || native.store(1, Ordering::Release);
    bench(&mut group, "std store release", store, || {});
    let add = || {
        black_box(native.fetch_add(1, Ordering::SeqCst));
    };
    bench(&mut group, "std fetch_add", add, || {});
    let mut monitored = Monitored::new();
    let atomic = sync::atomic::AtomicU64::new(0);
    atomic.store(1, Ordering::SeqCst);
    monitored.bench(&mut group, "load", || {
        black_box(atomic.load(Ordering::SeqCst));
    });
    monitored.bench(&mut group, "store", || atomic.store(1, Ordering::SeqCst));
    monitored.bench(&mut group, "store release", || {
        atomic.store(1, Ordering::Release)
    });
    monitored.bench(&mut group, "fetch_add", || {
        black_box(atomic.fetch_add(1, Ordering::SeqCst));
    });
}

struct Counting(AtomicU64);

impl<S: tracing::Subscriber> Layer<S> for Counting {
    fn on_event(&self, _: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn events(c: &mut Criterion) {
    let mut group = c.benchmark_group("event");
    let subscriber = tracing_subscriber::registry().with(Counting(AtomicU64::new(0)));
    tracing::subscriber::with_default(subscriber, || {
        let event = || tracing::info!(target: "tick", "tick");
        bench(&mut group, "tracing, a layer that counts", event, || {});
    });
    let mut monitored = Monitored::new();
    monitored.bench(&mut group, "event", || event!(tick));
    monitored.bench(&mut group, "event with a number", || {
        event!(tick, n = black_box(7))
    });
    monitored.bench(&mut group, "irrelevant event", || event!(tock));
    let shared = Shared::with_name("x", 0);
    monitored.bench(&mut group, "write of a variable", || {
        shared.set(black_box(1))
    });
}

/// Eight threads at once, with a reader beside them that throws events away. The time of an event is the median over all batches of all threads: one in
/// which the system gave the processor to another thread says nothing about hooks. No queue is ever full.
fn crowd(c: &mut Criterion) {
    const THREADS: u64 = 8;
    const BATCH: u64 = 500;
    let mut group = c.benchmark_group("8 threads");
    let shared = Shared::with_name("x", 0);
    for (name, operation) in [
        ("event", (|_| event!(tick)) as fn(&Shared<i32>)),
        ("write of a variable of all", |shared| shared.set(1)),
    ] {
        let (recording, mut stream) = Recording::relevant(["tick", "x"]).start();
        let (is_over, read) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|s| {
            s.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let found = stream.next_within(Duration::from_millis(1)).is_some();
                    read.fetch_add(u64::from(found), Ordering::Relaxed);
                }
            });
            let entered = recording.enter();
            let mut written = 0;
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|times| {
                    // Less than a queue holds.
                    let batches = times.div_ceil(THREADS * BATCH).clamp(4, 8);
                    let batch = || {
                        let start = Instant::now();
                        (0..BATCH).for_each(|_| operation(&shared));
                        let taken = start.elapsed();
                        std::thread::yield_now();
                        taken
                    };
                    let mut taken: Vec<Duration> = thread::scope(|s| {
                        let run = || (0..batches).map(|_| batch()).collect::<Vec<_>>();
                        let threads: Vec<_> = (0..THREADS).map(|_| s.spawn(run)).collect();
                        let taken = threads.into_iter().map(|thread| thread.join().unwrap());
                        taken.flatten().collect()
                    });
                    written += THREADS * BATCH * batches;
                    while read.load(Ordering::Relaxed) < written {
                        std::thread::sleep(Duration::from_micros(100));
                    }
                    taken.sort_unstable();
                    taken[taken.len() / 2].mul_f64(times as f64 / BATCH as f64)
                });
            });
            drop(entered);
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

fn channel(c: &mut Criterion) {
    let mut group = c.benchmark_group("mpsc send and receive");
    let (sender, receiver) = std::sync::mpsc::channel();
    let there_and_back = || {
        sender.send(1u64).unwrap();
        black_box(receiver.recv().unwrap());
    };
    bench(&mut group, "std", there_and_back, || {});
    let (sender, receiver) = sync::mpsc::channel();
    let mut monitored = Monitored::new();
    monitored.bench(&mut group, "nothing relevant", || {
        sender.send(1u64).unwrap();
        black_box(receiver.recv().unwrap());
    });
    monitored.bench(&mut group, "an event before each", || {
        event!(tick);
        sender.send(1u64).unwrap();
        black_box(receiver.recv().unwrap());
    });
}

/// A task that is never done, polled again and again.
fn tasks(c: &mut Criterion) {
    let mut group = c.benchmark_group("poll of a task");
    let mut polls = 0u64;
    let never = |polls: &mut u64| {
        *polls = black_box(*polls + 1);
        Poll::<()>::Pending
    };
    let mut cx = Context::from_waker(Waker::noop());
    let mut native = pin!(poll_fn(|_| never(&mut polls)));
    let poll = || {
        black_box(native.as_mut().poll(&mut cx)).is_ready();
    };
    bench(&mut group, "tokio", poll, || {});
    let mut monitored = Monitored::new();
    let mut polls = 0u64;
    let mut task = pin!(task::tracked(poll_fn(|_| never(&mut polls))));
    monitored.bench(&mut group, "nothing recorded", || {
        black_box(task.as_mut().poll(&mut cx)).is_ready();
    });
    let mut task = pin!(task::tracked(poll_fn(|_| {
        event!(tick);
        Poll::<()>::Pending
    })));
    monitored.bench(&mut group, "an event inside", || {
        black_box(task.as_mut().poll(&mut cx)).is_ready();
    });
}

/// A work queue whose workers look into a cache: the same program with both kinds of locks and threads.
macro_rules! workload {
    ($name:ident, $sync:path, $thread:path) => {
        mod $name {
            use std::{
                collections::{HashMap, VecDeque},
                hash::{DefaultHasher, Hash, Hasher},
            };

            use portent_hooks::event;
            use $sync::{
                Mutex, RwLock,
                atomic::{AtomicU64, Ordering::SeqCst},
            };
            use $thread as thread;

            struct World {
                jobs: Mutex<VecDeque<u64>>,
                cache: RwLock<HashMap<u64, u64>>,
                hits: AtomicU64,
                results: Mutex<Vec<u64>>,
            }

            /// What a job is about: some tens of microseconds, as long as it is not known.
            fn compute(key: u64) -> u64 {
                let mut hasher = DefaultHasher::new();
                (0..2_000u64).for_each(|round| (key, round).hash(&mut hasher));
                hasher.finish()
            }

            fn look_up(world: &World, key: u64) -> u64 {
                if let Some(value) = world.cache.read().unwrap().get(&key) {
                    world.hits.fetch_add(1, SeqCst);
                    return *value;
                }
                let value = compute(key);
                world.cache.write().unwrap().insert(key, value);
                value
            }

            fn work(world: &World) {
                loop {
                    let Some(job) = world.jobs.lock().unwrap().pop_front() else {
                        return;
                    };
                    let mut hasher = DefaultHasher::new();
                    // The rest of the job: about half a microsecond.
                    (look_up(world, job % 64), job).hash(&mut hasher);
                    (0..20u64).for_each(|round| round.hash(&mut hasher));
                    let result = hasher.finish();
                    world.results.lock().unwrap().push(result);
                    event!(tick);
                }
            }

            pub(super) fn run(jobs: u64) -> usize {
                let world = World {
                    jobs: Mutex::new((0..jobs).collect()),
                    cache: RwLock::new(HashMap::new()),
                    hits: AtomicU64::new(0),
                    results: Mutex::new(Vec::new()),
                };
                thread::scope(|s| {
                    for _ in 0..4 {
                        s.spawn(|| work(&world));
                    }
                });
                world.results.into_inner().unwrap().len()
            }
        }
    };
}

workload!(plain, std::sync, std::thread);
workload!(hooked, portent_hooks::sync, portent_hooks::thread);

/// All of a program, with the thread that takes the events out.
fn workload(c: &mut Criterion) {
    const JOBS: u64 = 20_000;
    let mut group = c.benchmark_group("work queue and cache, 4 threads");
    group.bench_function("std", |b| b.iter(|| plain::run(JOBS)));
    group.bench_function("nothing recorded", |b| b.iter(|| hooked::run(JOBS)));
    for (name, builder) in [
        ("an event a job", Recording::relevant(["tick"])),
        ("everything", Recording::everything()),
    ] {
        let (recording, mut stream) = builder.start();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|s| {
            s.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    black_box(stream.next_within(Duration::from_millis(1)));
                }
            });
            let entered = recording.enter();
            group.bench_function(name, |b| b.iter(|| hooked::run(JOBS)));
            drop(entered);
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

criterion_group! {
    name = hooks;
    config = Criterion::default()
        .sample_size(40)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400));
    targets = mutex, rwlock, atomic, events, crowd, channel, tasks, workload
}
criterion_main!(hooks);
