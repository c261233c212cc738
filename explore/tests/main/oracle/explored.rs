//! The same programs on the hooks, under the explorer.

use std::sync::{self, Arc, TryLockError};

use portent_explore::{Explorer, Report, Stopped};
use portent_hooks::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

use super::{
    interpreter::Class,
    program::{Instruction, MUTEXES, Program, VARIABLES},
};

struct Objects {
    variables: [AtomicU32; VARIABLES],
    mutexes: [Mutex<()>; MUTEXES],
}

/// The classes of all runs of the threads, which the first thread spawns after it has used all objects, or not, in order, and whether they end in a deadlock.
pub(crate) fn explore(
    program: &Program,
    is_named: bool,
    workers: usize,
    explorer: Explorer,
) -> (Vec<(Class, bool)>, Report) {
    let found = Arc::new(sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&found);
    let count = program.threads.len();
    let report = explorer
        .keep_going()
        .each(move |execution| {
            let mut class: Class = execution
                .events()
                .filter(|event| event.thread() > 0)
                .map(|event| {
                    let row = event.clock()[1..=count].to_vec();
                    (event.thread() - 1, row)
                })
                .collect();
            class.sort_by_key(|(thread, row)| (*thread, row[*thread]));
            let run = (class, execution.is_deadlock());
            seen.lock().unwrap().push(run);
        })
        .check_in_parallel(workers, || run(program, is_named));
    assert_eq!(report.stopped, Stopped::Exhausted, "{program}\n{report}");
    // If the search began anew, only what came after that counts.
    let mut found = std::mem::take(&mut *found.lock().unwrap());
    let found = found.split_off(found.len() - report.executions as usize);
    (found, report)
}

fn run(program: &Program, is_named: bool) {
    let objects = Arc::new(Objects {
        variables: [const { AtomicU32::new(0) }; VARIABLES],
        mutexes: [const { Mutex::new(()) }; MUTEXES],
    });
    if is_named {
        // Objects are met before there is a choice.
        for variable in &objects.variables {
            variable.load(SeqCst);
        }
        for mutex in &objects.mutexes {
            drop(mutex.lock());
        }
    }
    let threads: Vec<_> = program
        .threads
        .iter()
        .map(|instructions| {
            let objects = Arc::clone(&objects);
            let instructions = instructions.clone();
            thread::spawn(move || follow(&instructions, &objects))
        })
        .collect();
    for thread in threads {
        let _ = thread.join();
    }
}

fn follow(instructions: &[Instruction], objects: &Objects) {
    let mut held: [Option<MutexGuard<'_, ()>>; MUTEXES] = [const { None }; MUTEXES];
    let mut register = 0;
    let mut at = 0;
    while let Some(instruction) = instructions.get(at) {
        at += 1;
        match *instruction {
            Instruction::Read(var) => register = objects.variables[var].load(SeqCst),
            Instruction::Write(var, value) => objects.variables[var].store(value, SeqCst),
            Instruction::Add(var) => register = objects.variables[var].fetch_add(1, SeqCst),
            Instruction::SkipIf(value, count) if register == value => at += count,
            Instruction::SkipIf(..) => {}
            Instruction::Lock(mutex) => held[mutex] = Some(objects.mutexes[mutex].lock().unwrap()),
            Instruction::Unlock(mutex) => held[mutex] = None,
            Instruction::TryLock(mutex) if held[mutex].is_none() => {
                held[mutex] = match objects.mutexes[mutex].try_lock() {
                    Ok(guard) => Some(guard),
                    Err(TryLockError::WouldBlock) => None,
                    Err(TryLockError::Poisoned(_)) => unreachable!("nobody panics"),
                };
                register = u32::from(held[mutex].is_some());
            }
            Instruction::TryLock(_) => {}
        }
    }
}
