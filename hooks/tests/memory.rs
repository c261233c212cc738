//! What is allocated: nothing once a program has done everything once, and little for threads that
//! come and go. A binary of its own and without the usual
//! harness, as nobody else may allocate meanwhile. What else wants a process of its own is here, too: an allocator that uses hooks, a fork,
//! and the first thread of a process.

// Allocators are unsafe to write.
#![allow(unsafe_code)]

use std::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
};

use peak_alloc::PeakAlloc;
use portent_hooks::{
    Recording, Shared, Stream, event,
    sync::{Condvar, Mutex, OnceLock, RwLock, atomic::AtomicU64, mpsc},
    task, thread,
};

static MEMORY: PeakAlloc = PeakAlloc;

/// An allocator that counts under a lock of ours, if it is asked to.
struct CountingAllocator;

static COUNTS_ALLOCATIONS: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: Mutex<u64> = Mutex::new(0);

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: memory is that of `PeakAlloc`; what is done besides does not touch it, and what that allocates goes to `PeakAlloc` at once.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTS_ALLOCATIONS.load(SeqCst) && !IS_INSIDE.replace(true) {
            *ALLOCATIONS.lock().unwrap() += 1;
            event!(tick);
            IS_INSIDE.set(false);
        }
        // SAFETY: the caller promises what `alloc` asks for.
        unsafe { MEMORY.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer is from `alloc`, and so from `PeakAlloc`.
        unsafe { MEMORY.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

struct World {
    mutex: Mutex<u64>,
    rwlock: RwLock<u64>,
    atomic: AtomicU64,
    shared: Shared<u64>,
    cell: OnceLock<u64>,
    condition: Condvar,
}

fn work(
    world: &World,
    (sender, receiver): (&mpsc::Sender<u64>, &mpsc::Receiver<u64>),
    (little, from_little): (&mpsc::SyncSender<u64>, &mpsc::Receiver<u64>),
) {
    *world.mutex.lock().unwrap() += 1;
    event!(tick, n = 7);
    drop(world.mutex.try_lock().unwrap());
    *world.rwlock.write().unwrap() += 1;
    event!(tick);
    drop(world.rwlock.read().unwrap());
    world.atomic.fetch_add(world.atomic.load(SeqCst), SeqCst);
    world.shared.set(world.shared.get() + 1);
    world.cell.get_or_init(|| 7);
    world.condition.notify_all();
    sender.send(1).unwrap();
    receiver.recv().unwrap();
    little.send(1).unwrap();
    from_little.recv().unwrap();
}

fn nothing_is_allocated_after_warming_up() {
    let (recording, mut stream) = Recording::relevant(["tick", "level"]).start();
    let entered = recording.enter();
    let world = World {
        mutex: Mutex::new(0),
        rwlock: RwLock::new(0),
        atomic: AtomicU64::new(0),
        shared: Shared::with_name("level", 0),
        cell: OnceLock::new(),
        condition: Condvar::new(),
    };
    let (sender, receiver) = mpsc::channel();
    let (little, from_little) = mpsc::sync_channel(1);
    let round = |times: usize| {
        for _ in 0..times {
            work(&world, (&sender, &receiver), (&little, &from_little));
        }
    };
    round(100);
    while stream.try_next().is_some() {}
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    round(2_000);
    assert_eq!(
        MEMORY.peak_usage(),
        before,
        "not a byte, not even for a moment"
    );
    drop(entered);
    assert!(stream.finish().len() >= 6_000);
}

fn short_threads(count: usize, stream: &mut Stream) -> usize {
    for _ in 0..count {
        let short = thread::spawn(|| (0..3).for_each(|_| event!(tick)));
        short.join().unwrap();
        while stream.try_next().is_some() {}
    }
    MEMORY.current_usage()
}

fn threads_that_come_and_go_leave_nothing() {
    let (recording, mut stream) = Recording::relevant(["tick"]).start();
    let entered = recording.enter();
    event!(tick);
    let after_some = short_threads(500, &mut stream);
    let after_all = short_threads(10_000, &mut stream);
    assert!(
        after_all < after_some + (1 << 16),
        "{after_some} bytes, then {after_all}"
    );
    drop(entered);
}

/// Threads that nobody joins, one after the other as far as the system knows, and as far as anybody can tell who does not look. What
/// they do when they end is `last_words`, and `hears` is what their spawner does about it. Returns the bytes in use, and how many
/// components the longest clock had.
fn detached_threads(
    count: usize,
    stream: &mut Stream,
    last_words: fn(),
    mut hears: impl FnMut(&mut Stream),
) -> (usize, usize) {
    let mut longest = 0;
    for _ in 0..count {
        let detached = thread::spawn(move || {
            (0..3).for_each(|_| event!(tick));
            last_words();
        });
        // It orders nothing.
        while !detached.is_finished() {
            std::thread::yield_now();
        }
        drop(detached);
        hears(stream);
        while let Some(recorded) = stream.try_next() {
            longest = longest.max(recorded.stamp.clock.counts().len());
        }
    }
    (MEMORY.current_usage(), longest)
}

fn detached_threads_leave_nothing(last_words: fn(), mut hears: impl FnMut(&mut Stream)) {
    // A thread may still be about to end when the next one begins: small queues, so that one more is no matter.
    let (recording, mut stream) = Recording::relevant(["tick"]).capacity(64).start();
    let entered = recording.enter();
    event!(tick);
    let (after_some, _) = detached_threads(500, &mut stream, last_words, &mut hears);
    let (after_all, longest) = detached_threads(10_000, &mut stream, last_words, &mut hears);
    assert!(
        after_all < after_some + (1 << 16),
        "{after_some} bytes, then {after_all}"
    );
    assert!((1..64).contains(&longest), "{longest} chains");
    drop(entered);
}

/// Tasks that come and go, four at a time, and what their spawner does about them; returns the bytes in use, and how many components the
/// longest clock had.
async fn short_tasks(count: usize, joins: bool, stream: &mut Stream) -> (usize, usize) {
    let mut longest = 0;
    for _ in 0..count / 4 {
        let tasks: [_; 4] = std::array::from_fn(|_| {
            task::spawn(async {
                event!(tick);
                task::yield_now().await;
                event!(tick);
            })
        });
        for task in tasks {
            if joins {
                task.await.unwrap();
            } else {
                // It orders nothing.
                while !task.is_finished() {
                    task::yield_now().await;
                }
            }
        }
        while let Some(recorded) = stream.try_next() {
            longest = longest.max(recorded.stamp.clock.counts().len());
        }
        if !joins {
            stream.settle();
        }
    }
    (MEMORY.current_usage(), longest)
}

/// A hundred thousand, whether somebody waits for them or not.
fn tasks_that_come_and_go_leave_nothing(joins: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    let (recording, mut stream) = Recording::relevant(["tick"]).start();
    let entered = recording.enter();
    event!(tick);
    runtime.block_on(async {
        let (after_some, _) = short_tasks(400, joins, &mut stream).await;
        let (after_all, longest) = short_tasks(100_000, joins, &mut stream).await;
        assert!(
            after_all < after_some + (1 << 14),
            "{after_some} bytes, then {after_all}"
        );
        assert!((4..16).contains(&longest), "{longest} chains");
    });
    drop(entered);
}

/// Hooks allocate, the allocator uses hooks: those go through, and are counted.
fn an_allocator_may_use_hooks() {
    let (recording, mut stream) = Recording::relevant(["tick"]).start();
    let entered = recording.enter();
    COUNTS_ALLOCATIONS.store(true, SeqCst);
    let mutexes: Vec<Mutex<u64>> = (0..100).map(Mutex::new).collect();
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for mutex in &mutexes {
                    *mutex.lock().unwrap() += 1;
                    event!(tick, text = "a text is allocated".to_owned());
                }
            });
        }
    });
    COUNTS_ALLOCATIONS.store(false, SeqCst);
    drop(entered);
    let events = stream.finish();
    let told = |event: &&portent_hooks::Recorded| {
        { event.event.action() }.is_some_and(|action| !action.args.is_empty())
    };
    assert_eq!(events.iter().filter(told).count(), 400);
    assert!(*ALLOCATIONS.lock().unwrap() > 400);
    assert!(stream.counts().late > 0, "some were inside of hooks");
}

/// Nobody spawned it, so nothing is missing before it, whoever began the recording.
fn the_first_thread_is_not_foreign() {
    let (recording, mut stream) = Recording::relevant(["tick"]).start();
    let global = std::thread::spawn(move || {
        let global = recording.make_global();
        (recording, global)
    });
    let kept = global.join().unwrap();
    event!(tick);
    assert!(stream.try_next().is_some());
    assert_eq!(stream.counts().foreign, 0);
    drop(kept);
}

/// A thread that takes part in another recording, as that of a sidecar does, is not foreign to the global one.
fn who_enters_a_recording_is_not_foreign_to_the_global_one() {
    let (recording, mut stream) = Recording::relevant(["tick"]).start();
    let kept = recording.make_global();
    let other = std::thread::spawn(|| {
        let (other, _stream) = Recording::relevant::<&str>([]).start();
        let _entered = other.enter();
        event!(tick);
    });
    other.join().unwrap();
    event!(tick);
    assert!(stream.try_next().is_some());
    assert_eq!(stream.counts().foreign, 0);
    drop(kept);
}

/// The child of a fork has queues, but nobody who empties them: it goes on without.
fn a_fork_does_not_wait_for_a_reader() {
    let (recording, stream) = Recording::relevant(["tick"]).capacity(64).start();
    let entered = recording.enter();
    event!(tick);
    let (mut from_child, to_parent) = std::io::pipe().unwrap();
    // SAFETY: no other thread of the process runs, and the child only does what a program does.
    match unsafe { libc::fork() } {
        0 => {
            drop(from_child);
            (0..10_000).for_each(|_| event!(tick));
            std::io::Write::write_all(&mut &to_parent, b"done").unwrap();
            std::process::exit(0);
        }
        child => {
            assert!(child > 0, "a fork");
            drop(to_parent);
            let mut said = String::new();
            std::io::Read::read_to_string(&mut from_child, &mut said).unwrap();
            assert_eq!(said, "done");
        }
    }
    drop(entered);
    let mut stream = stream;
    assert_eq!(stream.finish().len(), 1, "what the child did is its own");
}

fn main() {
    #[cfg(unix)]
    a_fork_does_not_wait_for_a_reader();
    the_first_thread_is_not_foreign();
    who_enters_a_recording_is_not_foreign_to_the_global_one();
    nothing_is_allocated_after_warming_up();
    threads_that_come_and_go_leave_nothing();
    // Their spawner knows of their end, by something else than a join.
    static ENDED: AtomicU64 = AtomicU64::new(0);
    detached_threads_leave_nothing(
        || {
            ENDED.fetch_add(1, SeqCst);
        },
        |_| assert!(ENDED.load(SeqCst) > 0),
    );
    // Nobody knows of it, and the reader does not care.
    detached_threads_leave_nothing(|| {}, Stream::settle);
    tasks_that_come_and_go_leave_nothing(true);
    tasks_that_come_and_go_leave_nothing(false);
    an_allocator_may_use_hooks();
}
