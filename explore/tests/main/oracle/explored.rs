//! The same programs on the hooks, under the explorer.

use std::{
    cell::RefCell,
    sync::{self, Arc, PoisonError, TryLockError},
    time::Duration,
};

use portent_explore::{Explorer, Kind, Report, Stopped};
use portent_hooks::{
    sync::{
        Barrier, Condvar, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc::{
            Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError, channel,
            sync_channel,
        },
    },
    thread::{self, Thread},
};

use super::{
    interpreter::Class,
    program::{CLOSED, EMPTY, FULL, Instruction, MUTEXES, NOT_SENT, Program, Receivers, VARIABLES},
};

/// How long threads wait: no time passes.
const TIME: Duration = Duration::from_secs(1);

std::thread_local! {
    /// What the threads of the last run on this thread of the operating system knew in the end.
    static ENDS: RefCell<Vec<Option<u32>>> = const { RefCell::new(Vec::new()) };
}

struct Objects {
    variables: [AtomicU32; VARIABLES],
    mutexes: [Mutex<()>; MUTEXES],
    lock: RwLock<()>,
    condition: Condvar,
    barrier: Barrier,
    once: OnceLock<u32>,
    /// The receiver, if it is not that of one thread.
    receiver: Mutex<Option<Receiver<u32>>>,
    has_shared: bool,
    threads: sync::Mutex<Vec<Thread>>,
}

#[derive(Clone)]
enum Sends {
    Unbounded(Sender<u32>),
    Bounded(SyncSender<u32>, usize),
}

/// What a thread has, in the order in which it gives that back.
struct Hands<'a> {
    mutexes: [Option<MutexGuard<'a, ()>>; MUTEXES],
    shares: Vec<Share<'a>>,
    receiver: Option<Receiver<u32>>,
    sender: Option<Sends>,
}

#[expect(dead_code, reason = "they are held")]
enum Share<'a> {
    Read(RwLockReadGuard<'a, ()>),
    Write(RwLockWriteGuard<'a, ()>),
}

/// What a search found.
pub(crate) struct Found {
    pub(crate) runs: Vec<Run>,
    pub(crate) report: Report,
}

/// A run of it.
pub(crate) struct Run {
    pub(crate) class: Class,
    pub(crate) is_deadlock: bool,
    /// Which threads wrote variables, in order, and the rows of these events.
    pub(crate) writes: Vec<(usize, Vec<u16>)>,
}

/// The classes of all runs of the threads, which the first thread spawns after it has used all objects, or not, in order, and whether they end in a deadlock.
pub(crate) fn explore(
    program: &Program,
    is_named: bool,
    workers: usize,
    explorer: Explorer,
) -> Found {
    let found = Arc::new(sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&found);
    let count = program.threads.len();
    let explorer = if program.first_waiter {
        explorer.first_waiter()
    } else {
        explorer
    };
    let report = explorer
        .spurious_wake_ups(program.spurious)
        .keep_going()
        .each(move |execution| {
            let rows = |writes: bool| {
                execution
                    .events()
                    .filter(|event| event.thread() > 0)
                    .filter(|event| !writes || matches!(event.kind(), Kind::Write | Kind::Update))
                    .map(|event| {
                        let row = event.clock()[1..=count].to_vec();
                        (event.thread() - 1, row)
                    })
                    .collect::<Vec<_>>()
            };
            let writes = rows(true);
            let mut rows = rows(false);
            rows.sort_by_key(|(thread, row)| (*thread, row[*thread]));
            let class = Class {
                rows,
                choices: choices(execution.schedule(), count),
                ends: ENDS.with_borrow(Clone::clone),
            };
            seen.lock().unwrap().push(Run {
                class,
                is_deadlock: execution.is_deadlock(),
                writes,
            });
        })
        .check_in_parallel(workers, || run(program, is_named));
    assert_eq!(report.stopped, Stopped::Exhausted, "{program}\n{report}");
    // If the search began anew, only what came after that counts.
    let mut runs = std::mem::take(&mut *found.lock().unwrap());
    let runs = runs.split_off(runs.len() - report.executions as usize);
    Found { runs, report }
}

/// What each thread chose: in a schedule a value comes after the thread that chose it, and has the highest bit.
fn choices(schedule: &[u32], threads: usize) -> Vec<Vec<u32>> {
    const VALUE: u32 = 1 << 31;
    let mut choices = vec![Vec::new(); threads];
    let mut last = 0;
    for &entry in schedule {
        if entry & VALUE == 0 {
            last = entry as usize;
        } else {
            choices[last - 1].push(entry & !VALUE);
        }
    }
    choices
}

fn run(program: &Program, is_named: bool) {
    let count = program.threads.len();
    ENDS.set(vec![None; count]);
    let (sender, receiver) = match program.bound {
        None => {
            let (sender, receiver) = channel();
            (Sends::Unbounded(sender), receiver)
        }
        Some(bound) => {
            let (sender, receiver) = sync_channel(bound);
            (Sends::Bounded(sender, bound), receiver)
        }
    };
    let (mut own, shared) = match program.receivers() {
        Receivers::One(_) => (Some(receiver), None),
        _ => (None, Some(receiver)),
    };
    let objects = Arc::new(Objects {
        variables: [const { AtomicU32::new(0) }; VARIABLES],
        mutexes: [const { Mutex::new(()) }; MUTEXES],
        lock: RwLock::new(()),
        condition: Condvar::new(),
        barrier: Barrier::new(2),
        once: OnceLock::new(),
        has_shared: shared.is_some(),
        receiver: Mutex::new(shared),
        threads: sync::Mutex::default(),
    });
    if is_named {
        meet(&objects, &sender);
    }
    // A sender that nobody needs would go in the middle of the run, as a step of the main thread.
    let mut sender = Some(sender);
    let last = (0..count).rfind(|number| program.sends(*number));
    if last.is_none() && !program.keeps_sender {
        sender = None;
    }
    let mut threads = Vec::new();
    for (number, instructions) in program.threads.iter().enumerate() {
        let objects = Arc::clone(&objects);
        let instructions = instructions.clone();
        let sender = if !program.sends(number) {
            None
        } else if last == Some(number) && !program.keeps_sender {
            sender.take()
        } else {
            sender.clone()
        };
        let receives = program.receivers() == Receivers::One(number);
        let receiver = own.take_if(|_| receives);
        threads.push(thread::spawn(move || {
            let mut hands = Hands {
                mutexes: [const { None }; MUTEXES],
                shares: Vec::new(),
                receiver,
                sender,
            };
            let register = follow(number, &instructions, &objects, &mut hands);
            ENDS.with_borrow_mut(|ends| ends[number] = Some(register));
            // One after the other, as when they are dropped all together.
            let Hands {
                mutexes,
                shares,
                receiver,
                sender,
            } = hands;
            drop(mutexes);
            drop(shares);
            drop(receiver);
            drop(sender);
        }));
    }
    let handles = threads.iter().map(|thread| thread.thread().clone());
    *objects.threads.lock().unwrap() = handles.collect();
    for thread in threads {
        let _ = thread.join();
    }
    drop(sender);
}

/// Objects are met before there is a choice.
fn meet(objects: &Objects, sender: &Sends) {
    for variable in &objects.variables {
        variable.load(SeqCst);
    }
    for mutex in &objects.mutexes {
        drop(mutex.lock());
    }
    drop(objects.lock.read());
    objects.condition.notify_all();
    drop(objects.receiver.lock());
    objects.once.get();
    drop(sender.clone());
}

fn follow<'a>(
    number: usize,
    instructions: &[Instruction],
    objects: &'a Objects,
    hands: &mut Hands<'a>,
) -> u32 {
    let mut register = 0;
    let mut at = 0;
    while let Some(instruction) = instructions.get(at) {
        at += 1;
        match *instruction {
            Instruction::SkipIf(value, count) if register == value => at += count,
            Instruction::FailIf(value) if register == value => {
                ENDS.with_borrow_mut(|ends| ends[number] = Some(u32::MAX));
                panic!("the register is {value}");
            }
            instruction => one(instruction, objects, hands, &mut register),
        }
    }
    register
}

fn one<'a>(
    instruction: Instruction,
    objects: &'a Objects,
    hands: &mut Hands<'a>,
    register: &mut u32,
) {
    match instruction {
        Instruction::Read(var) => *register = objects.variables[var].load(SeqCst),
        Instruction::Write(var, value) => objects.variables[var].store(value, SeqCst),
        Instruction::Add(var) => *register = objects.variables[var].fetch_add(1, SeqCst),
        Instruction::Lock(mutex) => hands.mutexes[mutex] = Some(lock(&objects.mutexes[mutex])),
        Instruction::Unlock(mutex) => hands.mutexes[mutex] = None,
        Instruction::TryLock(mutex) if hands.mutexes[mutex].is_none() => {
            hands.mutexes[mutex] = taken(objects.mutexes[mutex].try_lock());
            *register = u32::from(hands.mutexes[mutex].is_some());
        }
        Instruction::Wait(mutex) => {
            let held = hands.mutexes[mutex].take();
            let held = held.unwrap_or_else(|| lock(&objects.mutexes[mutex]));
            let woken = objects.condition.wait(held);
            hands.mutexes[mutex] = Some(woken.unwrap_or_else(PoisonError::into_inner));
        }
        Instruction::WaitTimeout(mutex) => {
            let held = hands.mutexes[mutex].take();
            let held = held.unwrap_or_else(|| lock(&objects.mutexes[mutex]));
            let woken = objects.condition.wait_timeout(held, TIME);
            let (held, result) = woken.unwrap_or_else(PoisonError::into_inner);
            hands.mutexes[mutex] = Some(held);
            *register = u32::from(result.timed_out());
        }
        Instruction::NotifyOne => objects.condition.notify_one(),
        Instruction::NotifyAll => objects.condition.notify_all(),
        Instruction::Meet => *register = u32::from(objects.barrier.wait().is_leader()),
        Instruction::Park => thread::park(),
        Instruction::ParkTimeout => thread::park_timeout(TIME),
        Instruction::Unpark(other) => {
            let other = objects.threads.lock().unwrap()[other].clone();
            other.unpark();
        }
        Instruction::Call => {
            *register = *objects
                .once
                .get_or_init(|| objects.variables[0].load(SeqCst));
        }
        Instruction::IsDone => *register = u32::from(objects.once.get().is_some()),
        Instruction::Send
        | Instruction::TrySend
        | Instruction::Receive
        | Instruction::TryReceive
        | Instruction::ReceiveTimeout
        | Instruction::CloseSender
        | Instruction::CloseReceiver => channels(instruction, objects, hands, register),
        _ => read_write(instruction, objects, hands, register),
    }
}

fn read_write<'a>(
    instruction: Instruction,
    objects: &'a Objects,
    hands: &mut Hands<'a>,
    register: &mut u32,
) {
    let lock = &objects.lock;
    let share = match instruction {
        Instruction::ReadLock => Some(Share::Read(
            lock.read().unwrap_or_else(PoisonError::into_inner),
        )),
        Instruction::WriteLock => Some(Share::Write(
            lock.write().unwrap_or_else(PoisonError::into_inner),
        )),
        Instruction::TryReadLock => {
            let share = taken(lock.try_read()).map(Share::Read);
            *register = u32::from(share.is_some());
            share
        }
        Instruction::TryWriteLock => {
            let share = taken(lock.try_write()).map(Share::Write);
            *register = u32::from(share.is_some());
            share
        }
        Instruction::Leave => {
            drop(hands.shares.pop());
            None
        }
        _ => None,
    };
    hands.shares.extend(share);
}

fn channels(
    instruction: Instruction,
    objects: &Objects,
    hands: &mut Hands<'_>,
    register: &mut u32,
) {
    match instruction {
        Instruction::Send | Instruction::TrySend => {
            let tries = instruction == Instruction::TrySend;
            let failed = match &hands.sender {
                Some(Sends::Bounded(sender, 1..)) if tries => match sender.try_send(*register) {
                    Ok(()) => None,
                    Err(TrySendError::Full(_)) => Some(FULL),
                    Err(TrySendError::Disconnected(_)) => Some(NOT_SENT),
                },
                Some(Sends::Bounded(sender, _)) => {
                    sender.send(*register).is_err().then_some(NOT_SENT)
                }
                Some(Sends::Unbounded(sender)) => {
                    sender.send(*register).is_err().then_some(NOT_SENT)
                }
                None => None,
            };
            *register = failed.unwrap_or(*register);
        }
        Instruction::Receive | Instruction::TryReceive | Instruction::ReceiveTimeout => {
            let shared;
            let receiver = match &hands.receiver {
                None => {
                    // One that was closed, or that of several.
                    if !objects.has_shared {
                        return;
                    }
                    shared = lock(&objects.receiver);
                    shared.as_ref()
                }
                own => own.as_ref(),
            };
            let Some(receiver) = receiver else { return };
            *register = match instruction {
                Instruction::Receive => receiver.recv().unwrap_or(CLOSED),
                Instruction::TryReceive => {
                    receiver.try_recv().unwrap_or_else(|error| match error {
                        TryRecvError::Empty => EMPTY,
                        TryRecvError::Disconnected => CLOSED,
                    })
                }
                _ => receiver
                    .recv_timeout(TIME)
                    .unwrap_or_else(|error| match error {
                        RecvTimeoutError::Timeout => EMPTY,
                        RecvTimeoutError::Disconnected => CLOSED,
                    }),
            };
        }
        Instruction::CloseSender => hands.sender = None,
        _ => hands.receiver = None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken<T>(tried: Result<T, TryLockError<T>>) -> Option<T> {
    match tried {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
