//! How clocks are handed over without a lock, or in more than one step, under a model checker: every interleaving and every outcome that the
//! memory model allows, of small programs, with at most two preemptions. Some seconds.
//!
//! **What is checked is the code itself**: `sync/header.rs` (a variable that is read without a lock), `sync/outer_clock.rs` (readers, and failed
//! tries) and `gate.rs` (raw locks) are compiled here once more, with what threads share made by loom (`primitive.rs`), and threads that have
//! real clocks but record nothing (`live.rs`). Each step that the argument needs can be done otherwise, in the same code, and loom must then
//! find a run that goes wrong.
//!
//! | hand-over | how | here |
//! |---|---|---|
//! | atomics | lock-free reads, writes in two steps | `variables` |
//! | `Once`, `OnceLock`, `LazyLock` | the same; the value is set by the real one between two steps | `cells` |
//! | `Mutex`, `RwLock`: holder to holder, readers to writer | inside of the lock; the mark of readers outside | `readers` |
//! | failed tries | the ledger and the lock are two things | `tries`; no step of it is left out here, what a try must know is checked by the stress test |
//! | raw locks | one word, and sleepers | `gates` |
//! | the wake of a task | the token, and a flag that says that there is something in it | `wakes` |
//! | what is recorded | a queue: that of `rtrb` | `queue` |
//! | `Shared`, `mpsc` with all its clocks and its return queue, `Barrier`, `Condvar`, the tokens of threads, fork and join, chains and their reuse | all of it
//!   under one plain mutex each, which is not given back in between: there is no step to leave out | the stress test |

mod control;
#[path = "../../src/gate.rs"]
#[allow(dead_code, reason = "not all of it is asked for here")]
mod gate;
mod gates;
mod live;
mod primitive;
#[allow(dead_code, reason = "not all of the code is asked for here")]
mod sync;

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Mutex as Plain,
        atomic::{AtomicU64 as PlainNumber, Ordering::SeqCst},
    },
};

use loom::{
    sync::atomic::{
        AtomicU64,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
    thread,
};
use portent_monitor_core::{Chain, Chains, Clock, Operation, Role};

use self::{
    gates::gates,
    live::{
        ObjectClock,
        actor::{self, knows, tick},
        lock,
        names::Name,
        operation::{UPDATE, access},
    },
    primitive::{
        Change::{AsBefore, LeftOut, OtherLock, Relaxed as Weakest},
        Site, made,
    },
    sync::{Header, Once, RwLock},
};

/// A step of the argument that is done otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutation {
    None,
    /// A step of the code.
    Step(Site),
    /// The value of an atomic is read and written Relaxed: as the program asks for, and not as `atomic.rs` makes it.
    RelaxedValue,
    /// The writer of a variable does not receive what readers left.
    ReadsLost,
    /// A cell is busy only after its value is there.
    LateCell,
    /// The flag of a task is set before there is something in its token.
    EarlyFlag,
    /// It is set after the task was woken.
    LateFlag,
    /// The end of the queue is written Relaxed.
    RelaxedTail,
}

/// A step that is done otherwise, and the model that finds a run which goes wrong.
type Case = (Mutation, Model);

/// Steps of the code: each is needed.
fn steps() -> Vec<Case> {
    let step = |model: fn(Mutation), file, function, text, change| -> Case {
        (
            Mutation::Step(Site::find(file, function, text, change)),
            model,
        )
    };
    let header = |function, text, change| step(variables, "header.rs", function, text, change);
    let ledger = |model, function, text| step(model, "outer_clock.rs", function, text, LeftOut);
    let gate = |function, text, change| step(gates, "gate.rs", function, text, change);
    vec![
        header("read<R>", "self.version.load(Relaxed) == before", AsBefore),
        header("end(", "seen.store(NOBODY", LeftOut),
        header("begin(header", "| BUSY, Relaxed", LeftOut),
        header("show(self)", "store(version, Release)", Weakest),
        header("read<R>", "self.version.load(Acquire)", Weakest),
        ledger(readers, "note_reader", "self.flags.fetch_or(READ"),
        ledger(readers, "forget_readers", "seen.store(NOBODY"),
        gate("try_exclusive", "fetch_update(Acquire", Weakest),
        gate("try_shared", "fetch_update(Acquire", Weakest),
        gate("leave_exclusive", "fetch_and(!EXCLUSIVE, Release)", Weakest),
        gate("leave_shared", "fetch_update(Release", Weakest),
        gate("downgrade", "fetch_update(AcqRel", Weakest),
        gate("sleep_until", "fetch_or(WAITING", LeftOut),
        gate("wake(", "self.sleepers.lock()", OtherLock),
    ]
}

fn explore(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(f);
}

/// Something that a thread saw of an object, and what it knew before and after.
#[derive(Clone, Debug)]
struct Seen<K> {
    kind: K,
    before: Clock,
    after: Clock,
}

/// What all threads of a run saw.
struct Log<K>(Plain<Vec<Seen<K>>>);

impl<K: Clone + std::fmt::Debug> Log<K> {
    fn see(&self, before: Clock, kind: K) {
        let after = knows();
        self.0.lock().unwrap().push(Seen {
            kind,
            before,
            after,
        });
    }

    /// Whatever was before something else is known there.
    fn check(&self, is_before: impl Fn(&K, &K) -> bool) {
        let all = self.0.lock().unwrap();
        for one in &*all {
            for other in &*all {
                assert!(
                    !is_before(&one.kind, &other.kind) || one.before.le(&other.after),
                    "{one:?} is before {other:?}"
                );
            }
        }
    }
}

/// Runs a program of so many threads, which do `step` one after the other and see something.
fn program<
    S: Copy + Sync + Send + 'static,
    O: Send + Sync + 'static,
    K: Clone + std::fmt::Debug + Send + 'static,
>(
    threads: &'static [&'static [S]],
    object: impl Fn() -> O + Send + Sync + 'static,
    step: fn(&O, S, &Log<K>),
    is_before: fn(&K, &K) -> bool,
) {
    explore(move || {
        let object = Arc::new(object());
        let log = Arc::new(Log(Plain::new(Vec::new())));
        let mut chains = Chains::default();
        let mut chain = || -> Chain { chains.acquire(&Clock::default()).unwrap() };
        let spawned: Vec<_> = (1..)
            .zip(threads)
            .map(|(number, steps)| {
                let (object, log, chain) = (Arc::clone(&object), Arc::clone(&log), chain());
                thread::spawn(move || {
                    actor::begin(number, chain);
                    for one in *steps {
                        step(&object, *one, &log);
                    }
                })
            })
            .collect();
        for thread in spawned {
            thread.join().unwrap();
        }
        log.check(is_before);
    });
}

/// An event, and then something.
#[derive(Clone, Copy)]
enum Step {
    Tick,
    Read,
    Write,
    Try,
    /// As one who records everything.
    Recorded,
}

use Step::{Read, Recorded, Tick, Try, Write};

/// A variable whose value is the number of its writes.
#[derive(Clone, Debug)]
enum Access {
    Read(u64),
    Write(u64),
}

fn variables(mutation: Mutation) {
    const PROGRAMS: [&[&[Step]]; 7] = [
        &[&[Tick, Write], &[Tick, Read]],
        &[&[Tick, Write], &[Read, Tick, Read]],
        &[&[Write, Tick, Write], &[Read, Read]],
        &[&[Tick, Write, Tick, Write], &[Tick, Read, Read]],
        &[&[Tick, Read, Read], &[Write], &[Tick, Write]],
        &[&[Tick, Write], &[Read, Write], &[Read]],
        &[&[Tick, Read], &[Read, Tick, Write]],
    ];
    for threads in PROGRAMS {
        let object = move || {
            let orders = match mutation {
                Mutation::RelaxedValue => (Relaxed, Relaxed),
                _ => (Acquire, AcqRel),
            };
            (
                made(Header::new("AtomicU64", Name)),
                AtomicU64::new(0),
                orders,
            )
        };
        program(
            threads,
            object,
            |(header, value, (load, change)), step, log: &Log<Access>| {
                let before = knows();
                match step {
                    Tick => tick(),
                    Read => {
                        let seen = header.read(None, || value.load(*load));
                        log.see(before, Access::Read(seen));
                    }
                    _ => {
                        let add = || Ok(value.fetch_add(1, *change) + 1);
                        let written = header.write(None, add, UPDATE, || None, || None);
                        let (Ok(number) | Err(number)) = written;
                        log.see(before, Access::Write(number));
                    }
                }
            },
            |one, other| match (one, other) {
                (Access::Write(made), Access::Read(seen)) => made <= seen,
                (Access::Read(seen), Access::Write(made)) => seen < made,
                (Access::Write(first), Access::Write(second)) => first < second,
                _ => false,
            },
        );
    }
}

#[derive(Clone, Debug)]
enum Cell {
    Empty,
    Full,
    Set,
}

fn cells(mutation: Mutation) {
    const PROGRAMS: [&[&[Step]]; 4] = [
        &[&[Tick, Write], &[Tick, Read]],
        &[&[Tick, Read], &[Write], &[Read]],
        &[&[Tick, Write], &[Tick, Write]],
        &[&[Tick, Write], &[Read, Read]],
    ];
    for threads in PROGRAMS {
        program(
            threads,
            move || Once::new(mutation == Mutation::LateCell),
            |cell, step, log: &Log<Cell>| {
                let before = knows();
                match step {
                    Tick => tick(),
                    Read if cell.is_set() => log.see(before, Cell::Full),
                    Read => log.see(before, Cell::Empty),
                    _ if cell.set() => log.see(before, Cell::Set),
                    _ => log.see(before, Cell::Full),
                }
            },
            |one, other| {
                matches!(
                    (one, other),
                    (Cell::Set, Cell::Full) | (Cell::Empty, Cell::Set)
                )
            },
        );
    }
}

/// A section, by how many were before; and a try that failed because of one.
#[derive(Clone, Debug)]
enum Section {
    Lock(u64),
    Unlock(u64),
    ReadLock(u64),
    ReadUnlock(u64),
    Tried(u64),
}

fn sections_are_ordered(one: &Section, other: &Section) -> bool {
    match (one, other) {
        (Section::Unlock(one), Section::Lock(other)) => one < other,
        (Section::Unlock(one), Section::ReadLock(other)) => one <= other,
        (Section::ReadUnlock(one), Section::Lock(other)) => one < other,
        (Section::Lock(one), Section::Tried(other)) => one <= other,
        (Section::Tried(one), Section::Unlock(other)) => one <= other,
        _ => false,
    }
}

/// Readers add to what they have left together; a writer that finds the mark receives it.
fn readers(_: Mutation) {
    const PROGRAMS: [&[&[Step]]; 4] = [
        &[&[Tick, Read], &[Tick, Read], &[Write]],
        &[&[Tick, Read, Read], &[Tick, Write]],
        &[&[Read, Tick, Read], &[Write, Tick, Write]],
        &[&[Tick, Write], &[Tick, Read, Write]],
    ];
    for threads in PROGRAMS {
        program(
            threads,
            RwLock::new,
            |one, step, log: &Log<Section>| {
                let before = knows();
                match step {
                    Tick => tick(),
                    Read => {
                        let guard = one.read();
                        let sections = guard.sections;
                        log.see(before, Section::ReadLock(sections));
                        let inside = knows();
                        one.end_read(guard);
                        log.see(inside, Section::ReadUnlock(sections));
                    }
                    _ => {
                        let guard = one.write();
                        let sections = guard.sections;
                        log.see(before, Section::Lock(sections));
                        let inside = knows();
                        one.end_write(guard);
                        log.see(inside, Section::Unlock(sections));
                    }
                }
            },
            sections_are_ordered,
        );
    }
}

/// A try that fails comes after the lock of the holder and before its unlock. Which section is going on can be seen without a step.
fn tries(_: Mutation) {
    const PROGRAMS: [&[&[Step]]; 4] = [
        &[&[Tick, Write], &[Tick, Try]],
        &[&[Tick, Recorded], &[Tick, Try]],
        &[&[Tick, Try], &[Write], &[Recorded]],
        &[&[Write, Tick, Write], &[Try, Tick, Try]],
    ];
    for threads in PROGRAMS {
        let object = || {
            let mutex = sync::Mutex::new();
            // Who holds it when it is tried for the first time ever is in no ledger.
            actor::begin(0, Chains::default().acquire(&Clock::default()).unwrap());
            mutex.unlock(mutex.try_lock().unwrap());
            (mutex, PlainNumber::new(0), AtomicU64::new(0))
        };
        program(
            threads,
            object,
            |(mutex, section, inside), step, log: &Log<Section>| {
                let before = knows();
                let guard = match step {
                    Tick => return tick(),
                    Try => {
                        let goes_on = section.load(SeqCst);
                        let taken = mutex.try_lock();
                        let blind = actor::with(|actor| std::mem::take(&mut actor.blind));
                        assert_eq!(blind, Some(0), "somebody knows who has it");
                        match taken {
                            Some(guard) => guard,
                            None if goes_on != 0 && section.load(SeqCst) == goes_on => {
                                return log.see(before, Section::Tried(goes_on));
                            }
                            None => return,
                        }
                    }
                    Recorded => mutex.lock_recorded(),
                    _ => mutex.lock(),
                };
                let sections = guard.sections;
                log.see(before, Section::Lock(sections));
                section.store(sections, SeqCst);
                // Somebody may come in between.
                inside.fetch_add(1, Relaxed);
                let within = knows();
                section.store(0, SeqCst);
                mutex.unlock(guard);
                log.see(within, Section::Unlock(sections));
            },
            sections_are_ordered,
        );
    }
}

/// Who wakes a task leaves what it knows in its token, sets a flag, and only then wakes it: as `task/waker.rs` and `live/identity.rs` do. The
/// task looks at the token if the flag is set. To wake it is tokio's, and orders.
fn wakes(mutation: Mutation) {
    const NOTIFY: portent_monitor_core::Access = access(Operation::Notify, Role::Condition);
    const WAIT: portent_monitor_core::Access = access(Operation::Wait, Role::Condition);
    explore(move || {
        let shared = loom::sync::Arc::new((
            made(primitive::Mutex::new(ObjectClock::EMPTY)),
            AtomicU64::new(0),
            [AtomicU64::new(0), AtomicU64::new(0)],
            Plain::new([const { None }; 2]),
        ));
        let mut chains = Chains::default();
        let mut chain = || -> Chain { chains.acquire(&Clock::default()).unwrap() };
        let wakers: Vec<_> = (0..2)
            .map(|index| {
                let (shared, chain) = (shared.clone(), chain());
                thread::spawn(move || {
                    let (token, flag, woken, knew) = &*shared;
                    actor::begin(index as u32 + 1, chain);
                    tick();
                    knew.lock().unwrap()[index] = Some(knows());
                    if mutation == Mutation::EarlyFlag {
                        flag.store(1, Release);
                    }
                    if mutation == Mutation::LateFlag {
                        woken[index].store(1, Release);
                    }
                    let mut inside = lock(token);
                    actor::with(|actor| {
                        actor.receive(&inside, NOTIFY);
                        actor.publish(&mut inside, NOTIFY);
                    });
                    if mutation != Mutation::EarlyFlag {
                        flag.store(1, Release);
                    }
                    drop(inside);
                    woken[index].store(1, Release);
                })
            })
            .collect();
        let (token, flag, woken, knew) = &*shared;
        actor::begin(9, chain());
        for _ in 0..2 {
            let by = [0, 1].map(|index: usize| woken[index].load(Acquire) == 1);
            if flag.load(Relaxed) == 1 && flag.swap(0, Acquire) == 1 {
                let mut inside = lock(token);
                actor::with(|actor| {
                    actor.receive(&inside, WAIT);
                    actor.publish(&mut inside, WAIT);
                });
            }
            let knows = knows();
            for index in (0..2).filter(|&index| by[index]) {
                let knew = knew.lock().unwrap()[index].clone().unwrap();
                assert!(knew.le(&knows), "who was woken knows who woke it");
            }
        }
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
    });
}

/// What is in a queue is there when its end says so.
fn queue(mutation: Mutation) {
    explore(move || {
        let queue = loom::sync::Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let there = queue.clone();
        let order = match mutation {
            Mutation::RelaxedTail => Relaxed,
            _ => Release,
        };
        let producer = thread::spawn(move || {
            there.0.store(7, Relaxed);
            there.1.store(1, order);
        });
        if queue.1.load(Acquire) == 1 {
            assert_eq!(queue.0.load(Relaxed), 7);
        }
        producer.join().unwrap();
    });
}

type Model = fn(Mutation);

const MODELS: [(&str, Model); 7] = [
    ("queue", queue),
    ("gates", gates),
    ("readers", readers),
    ("tries", tries),
    ("cells", cells),
    ("wakes", wakes),
    ("variables", variables),
];

/// Whether the model finds a run that goes wrong.
fn is_found((mutation, model): Case) -> bool {
    actor::lose_reads(mutation == Mutation::ReadsLost);
    primitive::change(match mutation {
        Mutation::Step(site) => Some(site),
        _ => None,
    });
    let found = panic::catch_unwind(AssertUnwindSafe(|| model(mutation))).is_err();
    let was_reached = primitive::was_reached();
    actor::lose_reads(false);
    primitive::change(None);
    println!(
        "{mutation:?}: {}",
        if found { "found" } else { "not found" }
    );
    found && (was_reached || !matches!(mutation, Mutation::Step(_)))
}

#[test]
fn hand_overs_lose_nothing() {
    for (name, model) in MODELS {
        let start = std::time::Instant::now();
        model(Mutation::None);
        println!("{name}: {:.1?}", start.elapsed());
    }
}

#[test]
fn each_step_is_needed() {
    let silent = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let others: [Case; 6] = [
        (Mutation::RelaxedValue, variables),
        (Mutation::ReadsLost, variables),
        (Mutation::LateCell, cells),
        (Mutation::EarlyFlag, wakes),
        (Mutation::LateFlag, wakes),
        (Mutation::RelaxedTail, queue),
    ];
    let all = steps().into_iter().chain(others);
    let missed: Vec<Mutation> = { all.filter(|case| !is_found(*case)) }
        .map(|(mutation, _)| mutation)
        .collect();
    panic::set_hook(silent);
    assert_eq!(missed, []);
}
