//! Such programs on the hooks, under the explorer.

use std::{
    collections::BTreeSet,
    mem::ManuallyDrop,
    sync::{self, Arc},
};

use portent_explore::{Execution, Explorer, FailureKind, Stopped};
use portent_hooks::{
    Shared,
    sync::{
        Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use super::{
    Pair,
    program::{ATOMICS, Instruction, MUTEXES, Program, VARIABLES},
};

struct Objects {
    variables: [Shared<u32>; VARIABLES],
    atomics: [AtomicU32; ATOMICS],
    mutexes: [Mutex<()>; MUTEXES],
    lock: RwLock<()>,
    receiver: sync::Mutex<Option<mpsc::Receiver<()>>>,
    sender: mpsc::Sender<()>,
}

#[derive(Default)]
struct Held<'a> {
    mutexes: [Option<MutexGuard<'a, ()>>; MUTEXES],
    reads: Option<RwLockReadGuard<'a, ()>>,
    writes: Option<RwLockWriteGuard<'a, ()>>,
}

/// All pairs that are unordered in some run.
pub(crate) fn explore(program: &Program) -> BTreeSet<Pair> {
    let found = Arc::new(sync::Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&found);
    let look = move |execution: &Execution<'_>| {
        let events: Vec<_> = execution.events().collect();
        let is_access = |number: &usize| events[*number].object().starts_with("plain");
        let access = |number: usize| {
            let thread = events[number].thread();
            let before = (0..number).filter(is_access);
            (
                thread,
                before
                    .filter(|&other| events[other].thread() == thread)
                    .count(),
            )
        };
        for (first, second) in execution.data_races() {
            let mut pair = [access(first), access(second)];
            pair.sort_unstable();
            seen.lock().unwrap().insert(pair);
        }
    };
    let program = Arc::new(program.clone());
    let explorer = Explorer::new().races().keep_going().each(look);
    let report = explorer.check(|| {
        let (sender, receiver) = mpsc::channel();
        // Nobody ever finds it closed.
        std::mem::forget(sender.clone());
        let objects = Arc::new(Objects {
            variables: [(); VARIABLES].map(|()| Shared::with_name("plain", 0)),
            atomics: [(); ATOMICS].map(|()| AtomicU32::new(0)),
            mutexes: [(); MUTEXES].map(|()| Mutex::new(())),
            lock: RwLock::new(()),
            receiver: sync::Mutex::new(Some(receiver)),
            sender,
        });
        run(&program, 0, &objects);
    });
    assert_eq!(report.stopped, Stopped::Exhausted, "{program:?}\n{report}");
    let panicked = { report.failures.iter() }.any(|one| one.kind == FailureKind::Panic);
    assert!(!panicked, "{program:?}\n{report}");
    let found = found.lock().unwrap();
    found.clone()
}

fn run(program: &Arc<Program>, number: usize, objects: &Arc<Objects>) {
    let mut held = Held::default();
    let mut threads: Vec<Option<thread::JoinHandle<()>>> = Vec::new();
    threads.resize_with(program.threads.len(), || None);
    // It never goes, so that nobody finds that it has.
    let receiver = (number == 1).then(|| objects.receiver.lock().unwrap().take().unwrap());
    let receiver = ManuallyDrop::new(receiver);
    let (mut kept, mut at) = (0, 0);
    while let Some(&instruction) = program.threads[number].get(at) {
        at += 1;
        match instruction {
            Instruction::Read(var) => drop(objects.variables[var].get()),
            Instruction::Write(var) => objects.variables[var].set(1),
            Instruction::Load(var) => kept = objects.atomics[var].load(SeqCst),
            Instruction::Store(var) => objects.atomics[var].store(5, SeqCst),
            Instruction::Add(var) => kept = objects.atomics[var].fetch_add(1, SeqCst),
            Instruction::Exchange(var) => {
                let exchanged = objects.atomics[var].compare_exchange(0, 7, SeqCst, SeqCst);
                kept = exchanged.unwrap_or_else(|there| there);
            }
            Instruction::Unless0 => at += usize::from(kept != 0),
            Instruction::Lock(mutex) => {
                if held.mutexes[mutex].is_none() {
                    held.mutexes[mutex] = Some(objects.mutexes[mutex].lock().unwrap());
                }
            }
            Instruction::TryLock(mutex) => {
                if held.mutexes[mutex].is_none() {
                    held.mutexes[mutex] = objects.mutexes[mutex].try_lock().ok();
                }
            }
            Instruction::Unlock(mutex) => drop(held.mutexes[mutex].take()),
            Instruction::ReadLock if held.reads.is_none() && held.writes.is_none() => {
                held.reads = Some(objects.lock.read().unwrap());
            }
            Instruction::WriteLock if held.reads.is_none() && held.writes.is_none() => {
                held.writes = Some(objects.lock.write().unwrap());
            }
            Instruction::ReadLock | Instruction::WriteLock => {}
            Instruction::Leave => drop((held.reads.take(), held.writes.take())),
            Instruction::Send => objects.sender.send(()).unwrap(),
            Instruction::Receive => {
                receiver.as_ref().unwrap().recv().unwrap();
            }
            Instruction::Spawn(other) => {
                let (program, objects) = (Arc::clone(program), Arc::clone(objects));
                threads[other] = Some(thread::spawn(move || run(&program, other, &objects)));
            }
            Instruction::Join(other) => threads[other].take().unwrap().join().unwrap(),
        }
    }
    // What it still has is given back in this order.
    drop((held.mutexes, held.reads, held.writes));
}
