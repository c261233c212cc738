//! What a recording of everything says for those who look for races, deadlocks and blocks that are not atomic.

use std::time::Duration;

use portent_hooks::{
    Recorded, Recording, Shared, atomic_block, symbols,
    sync::{
        Condvar, Mutex, RwLock,
        atomic::{AtomicU32, Ordering::SeqCst},
        lock_api::{RawMutex, RawRwLock},
    },
    task, thread,
};
use portent_monitor_core::{Mark, Marker, Op, Operation, Role, access_of};

use crate::tasks::runtime;

/// All that `f` does.
fn record(f: impl FnOnce()) -> Vec<Recorded> {
    let (recording, mut stream) = Recording::everything().start();
    let entered = recording.enter();
    f();
    drop(entered);
    stream.finish()
}

/// The operations on one object, with their marks.
fn on(events: &[Recorded], name: &str) -> Vec<(Operation, Option<Mark>)> {
    let symbols = symbols();
    { events.iter() }
        .filter(|recorded| recorded.event.op.object(&symbols) == Some(name))
        .filter_map(|recorded| Some((recorded.event.op.operation()?, recorded.event.mark)))
        .collect()
}

#[test]
fn accesses_of_atomics_are_marked_and_others_are_not() {
    let events = record(|| {
        let atomic = AtomicU32::with_name("marked atomic", 0);
        let shared = Shared::with_name("marked shared", 0);
        atomic.store(1, SeqCst);
        atomic.load(SeqCst);
        atomic.fetch_add(1, SeqCst);
        shared.set(1);
        shared.get();
    });
    let atomic = Some(Mark::Atomic);
    assert_eq!(
        on(&events, "marked atomic"),
        [
            (Operation::Write, atomic),
            (Operation::Read, atomic),
            (Operation::Update, atomic)
        ]
    );
    assert_eq!(
        on(&events, "marked shared"),
        [(Operation::Write, None), (Operation::Read, None)]
    );
}

/// One side of a lock: what it is called to take it and to give it back, and how that is done.
struct Side<'a> {
    name: &'a str,
    take: Operation,
    give_back: Operation,
    /// Takes it by a try and gives it back; whether the try succeeded.
    tries: Tries<'a>,
    /// Takes it, maybe after waiting, and gives it back.
    takes: Takes<'a>,
    /// Does something while nobody else can have the lock.
    alone: Alone<'a>,
}

/// What was done with locks by the thread that recorded, and by others.
fn on_locks(events: &[Recorded]) -> [Vec<(Operation, Option<Mark>)>; 2] {
    let is_own = |recorded: &&Recorded| recorded.event.thread == events[0].event.thread;
    let (own, others): (Vec<_>, Vec<_>) = events.iter().partition(is_own);
    [own, others].map(|events| {
        let of_lock = events.iter().filter_map(|recorded| {
            let event = &recorded.event;
            let operation = event.op.operation()?;
            let is_of_lock = access_of(operation, Role::Lock).is_some();
            (is_of_lock || operation == Operation::Request).then_some((operation, event.mark))
        });
        of_lock.collect()
    })
}

type Tries<'a> = &'a (dyn Fn() -> bool + Sync);
type Takes<'a> = &'a (dyn Fn() + Sync);
type Alone<'a> = &'a dyn Fn(&mut dyn FnMut());

impl<'a> Side<'a> {
    fn exclusive(name: &'a str, tries: Tries<'a>, takes: Takes<'a>, alone: Alone<'a>) -> Self {
        Side {
            name,
            take: Operation::Lock,
            give_back: Operation::Unlock,
            tries,
            takes,
            alone,
        }
    }

    fn shared(name: &'a str, tries: Tries<'a>, takes: Takes<'a>, alone: Alone<'a>) -> Self {
        Side {
            take: Operation::ReadLock,
            give_back: Operation::ReadUnlock,
            ..Side::exclusive(name, tries, takes, alone)
        }
    }

    /// A try that succeeds is marked, one that fails is another operation, and who need not wait does not ask.
    fn check_tries(&self) {
        let events = record(|| {
            assert!((self.tries)(), "{}", self.name);
            (self.takes)();
            (self.alone)(&mut || {
                let succeeded = thread::scope(|s| s.spawn(|| (self.tries)()).join().unwrap());
                assert!(!succeeded, "{}", self.name);
            });
        });
        let [own, others] = on_locks(&events);
        let expected = [
            (self.take, Some(Mark::Try)),
            (self.give_back, None),
            (self.take, None),
            (self.give_back, None),
        ];
        assert_eq!(own[..4], expected, "{}", self.name);
        assert_eq!(own.len(), 6, "{}: {own:?}", self.name);
        assert_eq!(others, [(Operation::TryLock, None)], "{}", self.name);
    }

    /// One who has to wait asks before.
    fn check_waits(&self) {
        let contend = || {
            let events = record(|| {
                thread::scope(|s| {
                    let mut waiting = None;
                    (self.alone)(&mut || {
                        waiting = Some(s.spawn(|| (self.takes)()));
                        std::thread::sleep(Duration::from_millis(20));
                    });
                    waiting.expect("it was spawned").join().unwrap();
                });
            });
            let [_, others] = on_locks(&events);
            let asked = [
                (Operation::Request, None),
                (self.take, None),
                (self.give_back, None),
            ];
            let is_as_expected = others == asked || others == asked[1..];
            assert!(is_as_expected, "{}: {others:?}", self.name);
            others == asked
        };
        // The other thread may be so late that it does not have to wait, but not always.
        assert!((0..50).any(|_| contend()), "{}", self.name);
    }
}

/// All sides of all locks.
fn each_side(check: impl Fn(&Side<'_>)) {
    let lock = Mutex::new(());
    let alone = |f: &mut dyn FnMut()| {
        let _held = lock.lock().unwrap();
        f();
    };
    let takes = || drop(lock.lock().unwrap());
    check(&Side::exclusive(
        "Mutex",
        &|| lock.try_lock().is_ok(),
        &takes,
        &alone,
    ));

    let lock = RwLock::new(());
    let alone = |f: &mut dyn FnMut()| {
        let _held = lock.write().unwrap();
        f();
    };
    let (reads, writes) = (
        || drop(lock.read().unwrap()),
        || drop(lock.write().unwrap()),
    );
    check(&Side::shared(
        "RwLock::read",
        &|| lock.try_read().is_ok(),
        &reads,
        &alone,
    ));
    check(&Side::exclusive(
        "RwLock::write",
        &|| lock.try_write().is_ok(),
        &writes,
        &alone,
    ));

    let lock = lock_api::Mutex::<RawMutex, ()>::new(());
    let alone = |f: &mut dyn FnMut()| {
        let _held = lock.lock();
        f();
    };
    let takes = || drop(lock.lock());
    check(&Side::exclusive(
        "RawMutex",
        &|| lock.try_lock().is_some(),
        &takes,
        &alone,
    ));

    let lock = lock_api::RwLock::<RawRwLock, ()>::new(());
    let alone = |f: &mut dyn FnMut()| {
        let _held = lock.write();
        f();
    };
    let (reads, writes) = (|| drop(lock.read()), || drop(lock.write()));
    check(&Side::shared(
        "RawRwLock, shared",
        &|| lock.try_read().is_some(),
        &reads,
        &alone,
    ));
    check(&Side::exclusive(
        "RawRwLock",
        &|| lock.try_write().is_some(),
        &writes,
        &alone,
    ));

    let lock = task::Mutex::new(());
    let alone = |f: &mut dyn FnMut()| {
        let _held = lock.blocking_lock();
        f();
    };
    let tries = || lock.try_lock().is_ok();
    let blocking = || drop(lock.blocking_lock());
    check(&Side::exclusive(
        "task::Mutex, blocking",
        &tries,
        &blocking,
        &alone,
    ));
    let awaits = || runtime(1).block_on(async { drop(lock.lock().await) });
    check(&Side::exclusive("task::Mutex", &tries, &awaits, &alone));

    let lock = task::RwLock::new(());
    let alone = |f: &mut dyn FnMut()| {
        let _held = lock.blocking_write();
        f();
    };
    let tries = || lock.try_read().is_ok();
    let blocking = || drop(lock.blocking_read());
    check(&Side::shared(
        "task::RwLock::read, blocking",
        &tries,
        &blocking,
        &alone,
    ));
    let awaits = || runtime(1).block_on(async { drop(lock.read().await) });
    check(&Side::shared("task::RwLock::read", &tries, &awaits, &alone));
    let tries = || lock.try_write().is_ok();
    let blocking = || drop(lock.blocking_write());
    check(&Side::exclusive(
        "task::RwLock::write, blocking",
        &tries,
        &blocking,
        &alone,
    ));
    let awaits = || runtime(1).block_on(async { drop(lock.write().await) });
    check(&Side::exclusive(
        "task::RwLock::write",
        &tries,
        &awaits,
        &alone,
    ));
}

#[test]
fn a_try_that_succeeds_is_marked_on_every_side_of_every_lock() {
    each_side(|side| side.check_tries());
}

#[test]
fn one_who_waits_asks_on_every_side_of_every_lock() {
    each_side(|side| side.check_waits());
}

/// Who wakes up from a wait takes its lock again without a mark, and does not ask.
#[test]
fn a_wake_up_is_no_try() {
    let (lock, is_ready) = (Mutex::new(false), Condvar::new());
    let events = record(|| {
        thread::scope(|s| {
            let guard = lock.lock().unwrap();
            s.spawn(|| {
                *lock.lock().unwrap() = true;
                is_ready.notify_all();
            });
            drop(is_ready.wait_while(guard, |ready| !*ready).unwrap());
        });
    });
    let [own, _] = on_locks(&events);
    assert!(own.iter().all(|(_, mark)| mark.is_none()), "{own:?}");
    let asked = |operation| own.iter().any(|(other, _)| *other == operation);
    assert!(
        asked(Operation::Wait) && !asked(Operation::Request),
        "{own:?}"
    );
}

#[test]
fn blocks_begin_and_end_in_the_recording_that_they_began_in() {
    let mut left_open = None;
    let events = record(|| {
        let _outer = atomic_block("outer block");
        drop(atomic_block("inner block"));
        left_open = Some(atomic_block("open block"));
    });
    let markers: Vec<(Marker, String)> = { events.iter() }
        .filter_map(|recorded| match recorded.event.op {
            Op::Marker(marker, Some(name)) => {
                assert!(recorded.event.loc.is_some());
                Some((marker, symbols().names.name(name).to_owned()))
            }
            _ => None,
        })
        .collect();
    let expected = [
        (Marker::Begin, "outer block"),
        (Marker::Begin, "inner block"),
        (Marker::End, "inner block"),
        (Marker::Begin, "open block"),
        (Marker::End, "outer block"),
    ];
    assert_eq!(
        markers,
        expected.map(|(marker, name)| (marker, name.to_owned()))
    );
    let later = record(|| drop(left_open));
    assert!(
        later
            .iter()
            .all(|recorded| !matches!(recorded.event.op, Op::Marker(..)))
    );
    // Whoever records only some names is not told.
    let (recording, mut stream) = Recording::relevant(["outer block"]).start();
    let entered = recording.enter();
    drop(atomic_block("outer block"));
    drop(entered);
    assert!(stream.finish().is_empty());
}
