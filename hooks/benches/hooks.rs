//! What hooks cost, as ratios to the standard library in the same run.
//!
//! `cargo bench -p portent-hooks --features monitor,tokio`; compare the lines of a group. What is recorded is
//! taken out between the measurements, by the same thread: the figures are those of the program alone.
//!
//! Best of several runs on two busy cores of a virtual machine, nanoseconds:
//!
//! | | std | hooks | ratio | aim |
//! |---|---:|---:|---:|---:|
//! | `Mutex`, lock and unlock, nothing relevant | 4.4 | 4.9 | 1.1 | 1.2 |
//! | the same with an event inside | 4.4 | 16.0 | 3.6 | 3.5 |
//! | `RwLock`, read; of one who knows more than the last writer | 4.8 | 5.2; 5.2 | 1.1 | 1.8 |
//! | `RwLock`, write | 4.9 | 4.6 | 0.9 | 1.3 |
//! | atomic load | 0.28 | 0.56 | 2.0 | 2.5 |
//! | atomic store, sequentially consistent; release | 2.1; 0.28 | 6.7; 4.4 | 3.2; 16 | 3.5; 7 |
//! | `fetch_add` | 2.1 | 7.0 | 3.4 | 3.5 |
//! | `mpsc`, send and receive, nothing relevant | 11.9 | 14.3 | 1.2 | 2.5 |
//! | an event, next to one of `tracing` with a layer that counts | 7.0 | 9.1 | 1.3 | 1.6 |
//! | an event with a number | | 12.1 | | |
//! | a write of a relevant `Shared`, next to a `Mutex` | 4.4 | 23.0 | 5.2 | 4.5 |
//! | poll of a task that records nothing; with an event inside | 0.6 | 6.2; 55 | +5.6 | +3 |
//!
//! The polls were measured while ten others used the machine. A poll is still dearer than was aimed at: about 88 instructions, of which most are to swap
//! the actor of the thread, twice. A section with an event inside and the write of a variable are still a little dearer than was aimed at. In instructions, by
//! callgrind: `Mutex` 44 (std 26), an event 156, a section with one inside 276, a write of a `Shared` 399.

use std::{
    future::poll_fn,
    hint::black_box,
    pin::pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use criterion::{
    BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use portent_hooks::{Entered, Recording, Shared, Stream, event, sync, task};
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
        mut operation: impl FnMut(),
    ) {
        const AT_ONCE: u64 = 500;
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|mut times| {
                let mut taken = Duration::ZERO;
                while times > 0 {
                    let now = times.min(AT_ONCE);
                    let start = Instant::now();
                    (0..now).for_each(|_| operation());
                    taken += start.elapsed();
                    times -= now;
                    self.empty();
                }
                taken
            });
        });
    }
}

fn mutex(c: &mut Criterion) {
    let mut group = c.benchmark_group("mutex");
    let native = std::sync::Mutex::new(0u64);
    group.bench_function("std", |b| b.iter(|| *native.lock().unwrap() += 1));
    let mutex = sync::Mutex::new(0u64);
    group.bench_function("nothing recorded", |b| {
        b.iter(|| *mutex.lock().unwrap() += 1)
    });
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
    group.bench_function("std read", |b| b.iter(|| *native.read().unwrap()));
    group.bench_function("std write", |b| b.iter(|| *native.write().unwrap() += 1));
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
    group.bench_function("std load", |b| b.iter(|| native.load(Ordering::SeqCst)));
    group.bench_function("std store", |b| {
        b.iter(|| native.store(1, Ordering::SeqCst))
    });
    group.bench_function("std store release", |b| {
        b.iter(|| native.store(1, Ordering::Release));
    });
    group.bench_function("std fetch_add", |b| {
        b.iter(|| native.fetch_add(1, Ordering::SeqCst));
    });
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
        group.bench_function("tracing, a layer that counts", |b| {
            b.iter(|| tracing::info!(target: "tick", "tick"));
        });
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

fn channel(c: &mut Criterion) {
    let mut group = c.benchmark_group("mpsc send and receive");
    let (sender, receiver) = std::sync::mpsc::channel();
    group.bench_function("std", |b| {
        b.iter(|| {
            sender.send(1u64).unwrap();
            receiver.recv().unwrap()
        });
    });
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
    group.bench_function("tokio", |b| b.iter(|| native.as_mut().poll(&mut cx)));
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
    targets = mutex, rwlock, atomic, events, channel, tasks, workload
}
criterion_main!(hooks);
