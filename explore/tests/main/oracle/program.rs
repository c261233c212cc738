//! What threads may do, and random programs.

use std::fmt;

use portent_testing::Rng;

/// What one thread does at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// The value goes to the register.
    Read(usize),
    Write(usize, u32),
    /// Adds one; the value before goes to the register.
    Add(usize),
    /// Leaves the next instructions out if the register has this value.
    SkipIf(u32, usize),
    /// Nothing if the thread has it already... which it then waits for, for ever.
    Lock(usize),
    /// Of one that the thread does not have: nothing.
    Unlock(usize),
    /// The register says whether it was taken; nothing if the thread has it.
    TryLock(usize),
}

/// Which instructions there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    mutexes: bool,
    tries: bool,
}

impl Mix {
    pub(crate) const VARIABLES: Mix = Mix {
        mutexes: false,
        tries: false,
    };

    pub(crate) fn and_mutexes(self) -> Mix {
        Mix {
            mutexes: true,
            ..self
        }
    }

    pub(crate) fn and_tries(self) -> Mix {
        Mix {
            tries: true,
            ..self
        }
    }

    pub(crate) fn can_deadlock(self) -> bool {
        self.mutexes
    }
}

/// The instructions of each thread.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Instruction>>,
}

pub(crate) const VARIABLES: usize = 3;
pub(crate) const MUTEXES: usize = 2;

impl Program {
    pub(crate) fn random(rng: &mut Rng, mix: Mix) -> Program {
        let threads = (0..rng.between(2, 3)).map(|_| thread(rng, mix)).collect();
        Program { threads }
    }
}

fn thread(rng: &mut Rng, mix: Mix) -> Vec<Instruction> {
    let mut instructions = Vec::new();
    let mut held = Vec::new();
    for _ in 0..rng.between(1, 5) {
        let var = rng.below(VARIABLES);
        let kinds = match (mix.mutexes, mix.tries) {
            (false, _) => 5,
            (true, false) => 8,
            (true, true) => 10,
        };
        let instruction = match rng.below(kinds) {
            0 | 1 => Instruction::Read(var),
            2 => Instruction::Write(var, rng.between(1, 2) as u32),
            3 => Instruction::Add(var),
            4 => Instruction::SkipIf(rng.below(2) as u32, rng.between(1, 2)),
            5 | 6 => {
                let mutex = rng.below(MUTEXES);
                if held.contains(&mutex) {
                    held.retain(|other| *other != mutex);
                    Instruction::Unlock(mutex)
                } else {
                    held.push(mutex);
                    Instruction::Lock(mutex)
                }
            }
            7 => match held.pop() {
                Some(mutex) => Instruction::Unlock(mutex),
                None => Instruction::Add(var),
            },
            _ => {
                let mutex = rng.below(MUTEXES);
                if !held.contains(&mutex) {
                    held.push(mutex);
                }
                Instruction::TryLock(mutex)
            }
        };
        instructions.push(instruction);
    }
    instructions
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for thread in &self.threads {
            writeln!(f, "{thread:?}")?;
        }
        Ok(())
    }
}
