//! Random small programs whose threads share plain variables.

use portent_testing::Rng;

pub(crate) const VARIABLES: usize = 2;
pub(crate) const ATOMICS: usize = 2;
pub(crate) const MUTEXES: usize = 2;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Of a plain variable.
    Read(usize),
    Write(usize),
    /// Of an atomic; what was read is kept.
    Load(usize),
    Store(usize),
    Add(usize),
    /// From 0 to 7.
    Exchange(usize),
    /// The next instruction is for those who have kept 0 only.
    Unless0,
    Lock(usize),
    TryLock(usize),
    /// Of a mutex, if the thread has it.
    Unlock(usize),
    ReadLock,
    WriteLock,
    /// Gives the read-write lock back, if the thread has it.
    Leave,
    Send,
    /// By the second thread only.
    Receive,
    /// By the first thread only: another one begins, or has ended.
    Spawn(usize),
    Join(usize),
}

/// What programs synchronise by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mix {
    Mutexes,
    TriedMutexes,
    ReadWriteLocks,
    Atomics,
    Channels,
    All,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Instruction>>,
}

impl Mix {
    pub(crate) const ALL: [Mix; 6] = [
        Mix::Mutexes,
        Mix::TriedMutexes,
        Mix::ReadWriteLocks,
        Mix::Atomics,
        Mix::Channels,
        Mix::All,
    ];

    fn instructions(self) -> Vec<Instruction> {
        use Instruction::*;
        let mutexes = [Lock(0), Lock(1), Unlock(0), Unlock(1)];
        let tries = [TryLock(0), Lock(0), Unlock(0)];
        let shared = [ReadLock, ReadLock, WriteLock, Leave, Leave];
        let atomics = [
            Load(0),
            Store(0),
            Add(0),
            Exchange(0),
            Load(1),
            Store(1),
            Unless0,
        ];
        let channels = [Send, Send, Receive, Load(0)];
        match self {
            Mix::Mutexes => mutexes.to_vec(),
            Mix::TriedMutexes => tries.to_vec(),
            Mix::ReadWriteLocks => shared.to_vec(),
            Mix::Atomics => atomics.to_vec(),
            Mix::Channels => channels.to_vec(),
            Mix::All => [&mutexes[..], &tries, &shared, &atomics, &channels].concat(),
        }
    }
}

impl Program {
    pub(crate) fn random(rng: &mut Rng, mix: Mix) -> Program {
        let synchronising = mix.instructions();
        let count = rng.between(2, 3);
        let threads = (0..count).map(|thread| {
            let length = rng.between(1, 4);
            let mut instructions: Vec<Instruction> = (0..length)
                .map(|_| match rng.below(5) {
                    0 => Instruction::Read(rng.below(VARIABLES)),
                    1 => Instruction::Write(rng.below(VARIABLES)),
                    _ => rng.pick(&synchronising),
                })
                .filter(|&instruction| thread == 1 || instruction != Instruction::Receive)
                .collect();
            if thread == 0 {
                for other in 1..count {
                    let at = rng.below(instructions.len() + 1);
                    let then = at + 1 + rng.below(instructions.len() + 1 - at);
                    instructions.insert(at, Instruction::Spawn(other));
                    instructions.insert(then, Instruction::Join(other));
                }
                // What comes after all joins is often a race if one of them orders nothing.
                instructions.push(Instruction::Write(rng.below(VARIABLES)));
            }
            instructions
        });
        let mut threads: Vec<Vec<Instruction>> = threads.collect();
        // They are numbered as they begin.
        let spawned = { threads[0].iter() }.find(|step| matches!(step, Instruction::Spawn(_)));
        if spawned == Some(&Instruction::Spawn(2)) {
            for instruction in &mut threads[0] {
                match instruction {
                    Instruction::Spawn(other) | Instruction::Join(other) => *other = 3 - *other,
                    _ => {}
                }
            }
        }
        Program { threads }
    }
}
