//! How clocks are handed over without a lock, under a model checker: every interleaving and every
//! outcome that the memory model allows, of small programs, with at most two preemptions. Some seconds.
//!
//! These are models: the protocols of `sync/header.rs` (a variable that is read without a lock), of the
//! readers in `sync/outer_clock.rs` and of the queue, written down again with clocks that are sets of bits; and `gate.rs`, which raw
//! locks are made of.
//! Each step that the argument needs can be left out, and loom must then find a run that
//! goes wrong. That the code does what the model does is what the stress test
//! (`tests/main/stress.rs`) is there for.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex as Plain},
};

use loom::{
    sync::{
        Condvar, Mutex, RwLock,
        atomic::{
            AtomicU64,
            Ordering::{self, AcqRel, Acquire, Relaxed, Release},
        },
    },
    thread,
};

/// A step of the argument that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutation {
    None,
    /// The reader does not look at the version again.
    NoSecondLook,
    /// The value is read and written Relaxed.
    RelaxedValue,
    /// The list of readers stays when somebody writes.
    ReadersStay,
    /// The new version is written Relaxed.
    RelaxedVersion,
    /// The reader's first look at the version is Relaxed.
    RelaxedFirstLook,
    /// The writer does not receive what readers left.
    ReadersNotReceived,
    /// The end of the queue is written Relaxed.
    RelaxedTail,
    /// The gate is taken Relaxed.
    RelaxedTake,
    /// The gate is given back Relaxed.
    RelaxedGiveBack,
    /// Who cannot have the gate does not try again after it has said that it waits.
    NoSecondTry,
    /// Who gives back the gate wakes sleepers without waiting for those who fall asleep.
    HastyWake,
    /// Readers do not look whether somebody is exclusive.
    ReadersComeIn,
}

const NOBODY: u64 = 1;

/// A thread: the set of events that it knows, and the version of that set.
struct Actor {
    index: u64,
    clock: u64,
    version: u64,
    made: u64,
}

impl Actor {
    fn new(index: u64) -> Actor {
        Actor {
            index,
            clock: 0,
            version: 0,
            made: 0,
        }
    }

    fn fresh(&mut self) {
        self.made += 2;
        self.version = ((self.index + 1) << 36) | self.made;
    }

    fn tick(&mut self) {
        self.made += 2;
        // Events are numbered by thread and count.
        self.clock |= 1 << (self.index * 16 + self.made / 2);
        self.version = ((self.index + 1) << 36) | self.made;
    }

    fn learn(&mut self, clock: u64, version: Option<u64>) {
        if clock & !self.clock == 0 {
            return;
        }
        match version {
            Some(version) if self.clock & !clock == 0 => {
                (self.clock, self.version) = (clock, version);
            }
            _ => {
                self.clock |= clock;
                self.fresh();
            }
        }
    }
}

#[derive(Default)]
struct Kept {
    updates: u64,
    version: u64,
    reads: u64,
}

/// A variable whose value is the number of its writes.
struct Var {
    mutation: Mutation,
    version: AtomicU64,
    value: AtomicU64,
    seen: [AtomicU64; 2],
    kept: Mutex<Kept>,
}

/// What happened: by whom does not matter.
#[derive(Clone, Copy)]
enum Happened {
    /// A write that made this value, and what its writer knew.
    Write(u64, u64),
    /// A read of this value, and what its reader knew before and after.
    Read(u64, u64, u64),
}

impl Var {
    fn new(mutation: Mutation) -> Var {
        Var {
            mutation,
            version: AtomicU64::new(0),
            value: AtomicU64::new(0),
            seen: [AtomicU64::new(NOBODY), AtomicU64::new(NOBODY)],
            kept: Mutex::new(Kept::default()),
        }
    }

    fn unless(&self, mutation: Mutation, order: Ordering) -> Ordering {
        if self.mutation == mutation {
            Relaxed
        } else {
            order
        }
    }

    fn slot(&self, version: u64) -> &AtomicU64 {
        &self.seen[(version >> 36) as usize & 1]
    }

    fn read(&self, actor: &mut Actor) -> Happened {
        let knew = actor.clock;
        let load = || {
            self.value
                .load(self.unless(Mutation::RelaxedValue, Acquire))
        };
        let before = self
            .version
            .load(self.unless(Mutation::RelaxedFirstLook, Acquire));
        if before == actor.version
            || (self.slot(actor.version).load(Relaxed) == actor.version && before & 1 == 0)
        {
            let value = load();
            if self.mutation == Mutation::NoSecondLook || self.version.load(Relaxed) == before {
                return Happened::Read(value, knew, actor.clock);
            }
        }
        let mut kept = self.kept.lock().unwrap();
        let value = load();
        actor.learn(kept.updates, Some(kept.version));
        if actor.version != kept.version {
            kept.reads |= actor.clock;
        }
        self.slot(actor.version).store(actor.version, Relaxed);
        Happened::Read(value, knew, actor.clock)
    }

    fn write(&self, actor: &mut Actor) -> Happened {
        let mut kept = self.kept.lock().unwrap();
        let order = self.unless(Mutation::RelaxedValue, AcqRel);
        if kept.version == actor.version && kept.reads == 0 {
            return Happened::Write(self.value.fetch_add(1, order) + 1, actor.clock);
        }
        self.version.store(kept.version | 1, Relaxed);
        let value = self.value.fetch_add(1, order) + 1;
        actor.learn(kept.updates, Some(kept.version));
        if self.mutation != Mutation::ReadersNotReceived {
            actor.learn(kept.reads, None);
        }
        (kept.updates, kept.version, kept.reads) = (actor.clock, actor.version, 0);
        if self.mutation != Mutation::ReadersStay {
            for seen in &self.seen {
                seen.store(NOBODY, Relaxed);
            }
        }
        let order = self.unless(Mutation::RelaxedVersion, Release);
        self.version.store(kept.version, order);
        Happened::Write(value, actor.clock)
    }
}

#[derive(Clone, Copy)]
enum Step {
    Tick,
    Read,
    Write,
}

use Step::{Read, Tick, Write};

/// Small programs, one list of steps a thread.
const PROGRAMS: [&[&[Step]]; 7] = [
    &[&[Tick, Write], &[Tick, Read]],
    &[&[Tick, Write], &[Read, Tick, Read]],
    &[&[Write, Tick, Write], &[Read, Read]],
    &[&[Tick, Write, Tick, Write], &[Tick, Read, Read]],
    &[&[Tick, Read, Read], &[Write], &[Tick, Write]],
    &[&[Tick, Write], &[Read, Write], &[Read]],
    &[&[Tick, Read], &[Read, Tick, Write]],
];

fn check(happened: &[Happened]) {
    for one in happened {
        for other in happened {
            match (*one, *other) {
                (Happened::Write(made, knew), Happened::Read(seen, _, knows)) if made <= seen => {
                    assert_eq!(
                        knew & !knows,
                        0,
                        "a read of {seen} knows the write of {made}"
                    );
                }
                (Happened::Read(seen, knew, _), Happened::Write(made, knows)) if seen < made => {
                    assert_eq!(
                        knew & !knows,
                        0,
                        "the write of {made} knows the read of {seen}"
                    );
                }
                (Happened::Write(first, knew), Happened::Write(second, knows))
                    if first < second =>
                {
                    assert_eq!(
                        knew & !knows,
                        0,
                        "the write of {second} knows that of {first}"
                    );
                }
                _ => {}
            }
        }
    }
}

fn explore(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(f);
}

fn variable(mutation: Mutation) {
    for program in PROGRAMS {
        explore(move || {
            let var = loom::sync::Arc::new(Var::new(mutation));
            let happened = Arc::new(Plain::new(Vec::new()));
            let threads: Vec<_> = (0u64..)
                .zip(program)
                .map(|(index, steps)| {
                    let (var, happened) = (var.clone(), Arc::clone(&happened));
                    thread::spawn(move || {
                        let mut actor = Actor::new(index);
                        for step in *steps {
                            let done = match step {
                                Tick => {
                                    actor.tick();
                                    continue;
                                }
                                Read => var.read(&mut actor),
                                Write => var.write(&mut actor),
                            };
                            happened.lock().unwrap().push(done);
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            check(&happened.lock().unwrap());
        });
    }
}

/// Readers add to what they have left together; a writer that finds the mark receives it. The lock itself
/// orders one after the other.
fn readers(mutation: Mutation) {
    explore(move || {
        let lock = loom::sync::Arc::new((RwLock::new(0u64), AtomicU64::new(0), Mutex::new(0u64)));
        let reader = |index: u64| {
            let lock = lock.clone();
            thread::spawn(move || {
                let mut actor = Actor::new(index);
                actor.tick();
                let (inner, marked, reads) = &*lock;
                let guard = inner.read().unwrap();
                let wrote = *guard;
                *reads.lock().unwrap() |= actor.clock;
                marked.store(1, Relaxed);
                drop(guard);
                (wrote, actor.clock)
            })
        };
        let all = [reader(0), reader(1)];
        let (inner, marked, reads) = &*lock;
        let mut guard = inner.write().unwrap();
        let mut knows = 0;
        if marked.load(Relaxed) != 0 && mutation != Mutation::ReadersNotReceived {
            knows |= *reads.lock().unwrap();
        }
        *guard = 1;
        drop(guard);
        for one in all {
            let (wrote, clock) = one.join().unwrap();
            assert!(
                wrote == 1 || clock & !knows == 0,
                "the write knows who read before it"
            );
        }
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

const EXCLUSIVE: u64 = 1;
const WAITING: u64 = 2;
const SHARED: u64 = 4;

/// The gate of raw locks.
struct Gate {
    mutation: Mutation,
    state: AtomicU64,
    sleepers: Mutex<()>,
    freed: Condvar,
}

impl Gate {
    fn new(mutation: Mutation) -> Gate {
        Gate {
            mutation,
            state: AtomicU64::new(0),
            sleepers: Mutex::new(()),
            freed: Condvar::new(),
        }
    }

    fn unless(&self, mutation: Mutation, order: Ordering) -> Ordering {
        if self.mutation == mutation {
            Relaxed
        } else {
            order
        }
    }

    fn attempt(&self, exclusive: bool) -> bool {
        let order = self.unless(Mutation::RelaxedTake, Acquire);
        let next = |state: u64| {
            if exclusive {
                (state & !WAITING == 0).then_some(state | EXCLUSIVE)
            } else {
                let free = state & EXCLUSIVE == 0 || self.mutation == Mutation::ReadersComeIn;
                free.then_some(state + SHARED)
            }
        };
        self.state.fetch_update(order, Relaxed, next).is_ok()
    }

    fn take(&self, exclusive: bool) {
        if self.attempt(exclusive) {
            return;
        }
        let mut sleepers = self.sleepers.lock().unwrap();
        loop {
            self.state.fetch_or(WAITING, Relaxed);
            if self.mutation != Mutation::NoSecondTry && self.attempt(exclusive) {
                return;
            }
            sleepers = self.freed.wait(sleepers).unwrap();
            if self.mutation == Mutation::NoSecondTry && self.attempt(exclusive) {
                return;
            }
        }
    }

    fn give_back(&self, exclusive: bool) {
        let order = self.unless(Mutation::RelaxedGiveBack, Release);
        let wakes = if exclusive {
            self.state.fetch_and(!EXCLUSIVE, order) & WAITING != 0
        } else {
            let before = self.state.fetch_sub(SHARED, order);
            before & WAITING != 0 && before < 2 * SHARED
        };
        if wakes {
            self.wake();
        }
    }

    fn downgrade(&self) {
        let order = self.unless(Mutation::RelaxedGiveBack, AcqRel);
        if self.state.fetch_add(SHARED - EXCLUSIVE, order) & WAITING != 0 {
            self.wake();
        }
    }

    fn wake(&self) {
        if self.mutation == Mutation::HastyWake {
            self.state.fetch_and(!WAITING, Relaxed);
        } else {
            let sleepers = self.sleepers.lock().unwrap();
            self.state.fetch_and(!WAITING, Relaxed);
            drop(sleepers);
        }
        self.freed.notify_all();
    }
}

/// What the threads of a small program do with a gate; one who sleeps for ever is a deadlock, which loom finds.
#[derive(Clone, Copy)]
enum Visit {
    Exclusive,
    Shared,
    Downgraded,
}

const VISITS: [&[&[Visit]]; 4] = [
    &[&[Visit::Exclusive], &[Visit::Exclusive]],
    &[&[Visit::Exclusive, Visit::Exclusive], &[Visit::Shared]],
    &[&[Visit::Downgraded], &[Visit::Exclusive]],
    &[&[Visit::Exclusive], &[Visit::Shared], &[Visit::Exclusive]],
];

/// Nobody is inside with one who is exclusive, and all see what the last one of these did: two numbers that only the gate protects.
fn gate(mutation: Mutation) {
    for program in VISITS {
        explore(move || {
            let gate = Arc::new((Gate::new(mutation), AtomicU64::new(0), AtomicU64::new(0)));
            let threads: Vec<_> = program
                .iter()
                .map(|visits| {
                    let gate = gate.clone();
                    thread::spawn(move || {
                        let (gate, one, two) = &*gate;
                        let look = || assert_eq!(one.load(Relaxed), two.load(Relaxed));
                        for visit in *visits {
                            if let Visit::Shared = visit {
                                gate.take(false);
                                look();
                                gate.give_back(false);
                                continue;
                            }
                            gate.take(true);
                            one.store(one.load(Relaxed) + 1, Relaxed);
                            two.store(two.load(Relaxed) + 1, Relaxed);
                            if let Visit::Downgraded = visit {
                                gate.downgrade();
                                look();
                                gate.give_back(false);
                            } else {
                                gate.give_back(true);
                            }
                        }
                    })
                })
                .collect();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            let visits = program.iter().flat_map(|visits| visits.iter());
            let writes = visits
                .filter(|visit| !matches!(visit, Visit::Shared))
                .count();
            assert_eq!(gate.1.load(Relaxed), writes as u64, "no write was lost");
        });
    }
}

fn all(mutation: Mutation) {
    queue(mutation);
    gate(mutation);
    readers(mutation);
    variable(mutation);
}

#[test]
fn hand_overs_lose_nothing() {
    all(Mutation::None);
}

#[test]
fn each_step_is_needed() {
    let silent = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let missed: Vec<Mutation> = [
        Mutation::NoSecondLook,
        Mutation::RelaxedValue,
        Mutation::ReadersStay,
        Mutation::RelaxedVersion,
        Mutation::RelaxedFirstLook,
        Mutation::ReadersNotReceived,
        Mutation::RelaxedTail,
        Mutation::RelaxedTake,
        Mutation::RelaxedGiveBack,
        Mutation::NoSecondTry,
        Mutation::HastyWake,
        Mutation::ReadersComeIn,
    ]
    .into_iter()
    .filter(|&mutation| panic::catch_unwind(AssertUnwindSafe(|| all(mutation))).is_ok())
    .collect();
    panic::set_hook(silent);
    assert_eq!(missed, []);
}
