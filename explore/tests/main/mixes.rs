//! Random small programs over all primitives: one run of each class is as many runs as there are classes among all interleavings, and
//! shows whatever these show. (`oracle/` compares with interleavings that the explorer has no part in.)

use std::{cell::RefCell, collections::BTreeSet, sync::Arc};

use portent_explore::{
    Explorer, Report, Stopped,
    strategy::{Exhaustive, Flipping, Optimal, Source, Strategy},
};
use portent_hooks::{
    sync::{
        Barrier, Condvar, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};
use std::time::Duration;

/// What a thread of such a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Read(usize),
    Write(usize),
    Add(usize),
    Lock(usize),
    TryLock(usize),
    /// Gives back what was taken last.
    Unlock,
    ReadLock,
    WriteLock,
    TryReadLock,
    TryWriteLock,
    Wait,
    WaitTimeout,
    NotifyOne,
    NotifyAll,
    Send,
    TrySend,
    Receive,
    TryReceive,
    ReceiveTimeout,
    CloseSender,
    CloseReceiver,
    Meet,
    Initialise,
    IsInitialised,
    Park,
    ParkTimeout,
    Unpark(usize),
    Yield,
}

/// What programs are made of.
struct Mix {
    name: &'static str,
    steps: &'static [Step],
    /// Room in the channel.
    bound: Option<usize>,
    spurious: u32,
}

const MIXES: &[Mix] = &[
    Mix {
        name: "variables and mutexes",
        steps: &[
            Step::Read(0),
            Step::Write(0),
            Step::Add(1),
            Step::Lock(0),
            Step::Lock(1),
            Step::Unlock,
        ],
        bound: None,
        spurious: 0,
    },
    Mix {
        name: "read-write locks",
        steps: &[
            Step::Read(0),
            Step::Add(0),
            Step::ReadLock,
            Step::ReadLock,
            Step::WriteLock,
            Step::Unlock,
            Step::Send,
            Step::Receive,
        ],
        bound: None,
        spurious: 0,
    },
    Mix {
        name: "read-write locks that are tried",
        steps: &[
            Step::Add(0),
            Step::ReadLock,
            Step::WriteLock,
            Step::TryReadLock,
            Step::TryWriteLock,
            Step::Unlock,
        ],
        bound: None,
        spurious: 0,
    },
    Mix {
        name: "conditions",
        steps: &[
            Step::Write(0),
            Step::Lock(0),
            Step::Unlock,
            Step::Wait,
            Step::Wait,
            Step::NotifyOne,
            Step::NotifyAll,
        ],
        bound: None,
        spurious: 0,
    },
    Mix {
        name: "conditions, timed and tried",
        steps: &[
            Step::Write(0),
            Step::TryLock(0),
            Step::Unlock,
            Step::Wait,
            Step::WaitTimeout,
            Step::NotifyOne,
        ],
        bound: None,
        spurious: 0,
    },
    Mix {
        name: "conditions, spurious",
        steps: &[
            Step::Write(0),
            Step::Wait,
            Step::Wait,
            Step::NotifyOne,
            Step::Park,
            Step::Unpark(0),
        ],
        bound: None,
        spurious: 1,
    },
    Mix {
        name: "channels",
        steps: &[
            Step::Write(0),
            Step::Read(0),
            Step::Send,
            Step::Send,
            Step::Receive,
            Step::CloseSender,
            Step::CloseReceiver,
        ],
        bound: None,
        spurious: 0,
    },
    Mix {
        name: "channels with room for one",
        steps: &[
            Step::Write(0),
            Step::Send,
            Step::Send,
            Step::Receive,
            Step::CloseSender,
            Step::CloseReceiver,
        ],
        bound: Some(1),
        spurious: 0,
    },
    Mix {
        name: "channels with no room",
        steps: &[
            Step::Write(0),
            Step::Send,
            Step::Send,
            Step::Receive,
            Step::Receive,
            Step::CloseSender,
            Step::CloseReceiver,
        ],
        bound: Some(0),
        spurious: 0,
    },
    Mix {
        name: "channels that are tried",
        steps: &[
            Step::Write(0),
            Step::Send,
            Step::TrySend,
            Step::Receive,
            Step::TryReceive,
            Step::ReceiveTimeout,
            Step::CloseSender,
            Step::Yield,
        ],
        bound: Some(1),
        spurious: 0,
    },
    Mix {
        name: "meetings, tokens and what is done once",
        steps: &[
            Step::Read(0),
            Step::Write(0),
            Step::Meet,
            Step::Initialise,
            Step::IsInitialised,
            Step::Park,
            Step::ParkTimeout,
            Step::Unpark(0),
            Step::Unpark(1),
            Step::Yield,
        ],
        bound: None,
        spurious: 0,
    },
];

std::thread_local! {
    /// What each thread of the last run knew in the end, if it got there, and the variables.
    static OUTCOME: RefCell<Vec<Option<u32>>> = const { RefCell::new(Vec::new()) };
}

/// What somebody who looks at runs from outside sees of one: what threads knew in the end, and whether it is a deadlock.
type Outcome = (Vec<Option<u32>>, bool);

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

struct Objects {
    numbers: [AtomicU32; 2],
    mutexes: [Mutex<()>; 2],
    shared: RwLock<()>,
    condition: Condvar,
    barrier: Barrier,
    once: OnceLock<u32>,
    threads: std::sync::Mutex<Vec<thread::Thread>>,
}

enum Held<'a> {
    Mutex(#[expect(dead_code)] MutexGuard<'a, ()>),
    Read(#[expect(dead_code)] RwLockReadGuard<'a, ()>),
    Write(#[expect(dead_code)] RwLockWriteGuard<'a, ()>),
}

fn run(
    program: &[Step],
    objects: &Objects,
    sender: mpsc::SyncSender<u32>,
    unbounded: Option<mpsc::Sender<u32>>,
    receiver: Option<mpsc::Receiver<u32>>,
) -> u32 {
    let (mut sender, mut unbounded, mut receiver) = (Some(sender), unbounded, receiver);
    let mut held = Vec::new();
    let mut seen = 0;
    let time = Duration::from_secs(1);
    for &step in program {
        match step {
            Step::Read(number) => seen = objects.numbers[number].load(SeqCst),
            Step::Write(number) => objects.numbers[number].store(seen + 1, SeqCst),
            Step::Add(number) => seen = objects.numbers[number].fetch_add(1, SeqCst),
            Step::Lock(number) => held.push(Held::Mutex(objects.mutexes[number].lock().unwrap())),
            Step::TryLock(number) => {
                if let Ok(guard) = objects.mutexes[number].try_lock() {
                    held.push(Held::Mutex(guard));
                }
            }
            Step::Unlock => drop(held.pop()),
            Step::ReadLock => held.push(Held::Read(objects.shared.read().unwrap())),
            Step::WriteLock => held.push(Held::Write(objects.shared.write().unwrap())),
            Step::TryReadLock => {
                if let Ok(guard) = objects.shared.try_read() {
                    held.push(Held::Read(guard));
                }
            }
            Step::TryWriteLock => {
                if let Ok(guard) = objects.shared.try_write() {
                    held.push(Held::Write(guard));
                }
            }
            Step::Wait => drop(objects.condition.wait(objects.mutexes[1].lock().unwrap())),
            Step::WaitTimeout => {
                let guard = objects.mutexes[1].lock().unwrap();
                let (_guard, result) = objects.condition.wait_timeout(guard, time).unwrap();
                seen += u32::from(result.timed_out());
            }
            Step::NotifyOne => objects.condition.notify_one(),
            Step::NotifyAll => objects.condition.notify_all(),
            Step::Send => {
                let sent = match (&unbounded, &sender) {
                    (Some(sender), _) => sender.send(seen).is_ok(),
                    (None, Some(sender)) => sender.send(seen).is_ok(),
                    _ => false,
                };
                seen += u32::from(sent);
            }
            Step::TrySend => {
                if let Some(sender) = &sender {
                    seen += u32::from(sender.try_send(seen).is_ok());
                }
            }
            Step::Receive => {
                if let Some(receiver) = &receiver {
                    seen = receiver.recv().unwrap_or_default();
                }
            }
            Step::TryReceive => {
                if let Some(receiver) = &receiver {
                    seen = receiver.try_recv().unwrap_or_default();
                }
            }
            Step::ReceiveTimeout => {
                if let Some(receiver) = &receiver {
                    seen = receiver.recv_timeout(time).unwrap_or_default();
                }
            }
            Step::CloseSender => {
                unbounded = None;
                sender = None;
            }
            Step::CloseReceiver => receiver = None,
            Step::Meet => seen += u32::from(objects.barrier.wait().is_leader()),
            Step::Initialise => {
                seen = *objects.once.get_or_init(|| objects.numbers[0].load(SeqCst))
            }
            Step::IsInitialised => seen += u32::from(objects.once.get().is_some()),
            Step::Park => thread::park(),
            Step::ParkTimeout => thread::park_timeout(time),
            Step::Unpark(number) => {
                let thread = objects.threads.lock().unwrap().get(number).cloned();
                if let Some(thread) = thread {
                    thread.unpark();
                }
            }
            Step::Yield => thread::yield_now(),
        }
    }
    seen
}

fn main(program: &[Vec<Step>], bound: Option<usize>) {
    OUTCOME.set(vec![None; program.len()]);
    let objects = Objects {
        numbers: [AtomicU32::new(0), AtomicU32::new(0)],
        mutexes: [Mutex::new(()), Mutex::new(())],
        shared: RwLock::new(()),
        condition: Condvar::new(),
        barrier: Barrier::new(2),
        once: OnceLock::new(),
        threads: std::sync::Mutex::default(),
    };
    let (sync_sender, sync_receiver) = mpsc::sync_channel(bound.unwrap_or(1));
    let (sender, receiver) = mpsc::channel();
    let mut receiver = Some(if bound.is_some() {
        sync_receiver
    } else {
        receiver
    });
    let gate = AtomicU32::new(0);
    let objects = Arc::new((objects, gate));
    let spawned: Vec<_> = program
        .iter()
        .enumerate()
        .map(|(number, steps)| {
            let objects = Arc::clone(&objects);
            let steps = steps.clone();
            let receives = steps.iter().any(|step| {
                matches!(
                    step,
                    Step::Receive | Step::TryReceive | Step::ReceiveTimeout | Step::CloseReceiver
                )
            });
            let receiver = if receives { receiver.take() } else { None };
            let (sync, unbounded) = (sync_sender.clone(), sender.clone());
            thread::spawn(move || {
                if steps.iter().any(|step| matches!(step, Step::Unpark(_))) {
                    // All are there before it looks for one.
                    objects.1.load(SeqCst);
                }
                let unbounded = bound.is_none().then_some(unbounded);
                let seen = run(&steps, &objects.0, sync, unbounded, receiver);
                OUTCOME.with_borrow_mut(|ends| ends[number] = Some(seen));
            })
        })
        .collect();
    *objects.0.threads.lock().unwrap() = spawned
        .iter()
        .map(|handle| handle.thread().clone())
        .collect();
    drop((sender, sync_sender, receiver));
    for thread in spawned {
        let _ = thread.join();
    }
}

/// What a search says, and all that it shows.
fn search<S: Strategy + 'static>(
    mix: &Mix,
    program: &[Vec<Step>],
    strategy: fn() -> S,
) -> (Report, BTreeSet<Outcome>) {
    let outcomes = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let shown = Arc::clone(&outcomes);
    let report = Explorer::new()
        .spurious_wake_ups(mix.spurious)
        .max_runs(2_000)
        .max_steps(200)
        .keep_going()
        .strategy(strategy)
        .each(move |execution| {
            let outcome = (OUTCOME.with_borrow(Clone::clone), execution.is_deadlock());
            shown.lock().unwrap().insert(outcome);
        })
        .check(|| main(program, mix.bound));
    let outcomes = std::mem::take(&mut *outcomes.lock().unwrap());
    (report, outcomes)
}

fn random(numbers: &mut Numbers, mix: &Mix) -> Vec<Vec<Step>> {
    let count = 2 + numbers.below(2);
    (0..count)
        .map(|_| {
            let length = 1 + numbers.below(if count == 2 { 4 } else { 3 });
            (0..length)
                .map(|_| mix.steps[numbers.below(mix.steps.len())])
                .collect()
        })
        .collect()
}

#[test]
fn one_run_of_each_class() {
    let cases = std::env::var("PORTENT_MIXES")
        .ok()
        .and_then(|cases| cases.parse().ok());
    for (at, mix) in MIXES.iter().enumerate() {
        let mut numbers = Numbers(at as u64 + 7);
        let (mut compared, mut classes, mut deadlocks, mut blocked) = (0, 0, 0, 0);
        for case in 0..cases.unwrap_or(60_u32) {
            let program = random(&mut numbers, mix);
            let (all, outcomes) = search(mix, &program, Exhaustive::new);
            if all.stopped != Stopped::Exhausted {
                continue;
            }
            let what = format!("{}, case {case}: {program:?}", mix.name);
            let (one, shown) = search(mix, &program, Source::new);
            assert_eq!(
                (one.stopped, one.classes, one.failed > 0),
                (Stopped::Exhausted, all.classes, all.failed > 0),
                "{what}\n{one}\n{all}"
            );
            assert_eq!(Some(one.executions), one.classes, "{what}\n{one}");
            assert_eq!(shown, outcomes, "{what}\n{one}");
            let (optimal, shown) = search(mix, &program, Optimal::new);
            assert_eq!(optimal.executions, one.executions, "{what}\n{optimal}");
            assert_eq!(shown, outcomes, "{what}\n{optimal}");
            let (flipped, shown) = search(mix, &program, Flipping::new);
            assert_eq!(flipped.executions, one.executions, "{what}\n{flipped}");
            assert_eq!(shown, outcomes, "{what}\n{flipped}");
            compared += 1;
            classes += one.executions;
            deadlocks += one.deadlocks;
            blocked += one.blocked;
        }
        println!(
            "{}: {compared} programs, {classes} classes, {deadlocks} deadlocks, {blocked} blocked",
            mix.name
        );
        assert!(compared > 0, "{}", mix.name);
    }
}
