//! What threads may do, and random programs.

use std::fmt;

use portent_testing::Rng;

/// What one thread does at one place. What it learns goes to its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    Read(usize),
    Write(usize, u32),
    /// Adds one; the value before goes to the register.
    Add(usize),
    /// Leaves the next instructions out if the register has this value.
    SkipIf(u32, usize),
    /// Panics if the register has this value.
    FailIf(u32),
    /// Waits for ever if the thread has it already.
    Lock(usize),
    /// Of one that the thread does not have: nothing.
    Unlock(usize),
    /// The register says whether it was taken; nothing if the thread has it.
    TryLock(usize),
    ReadLock,
    WriteLock,
    TryReadLock,
    TryWriteLock,
    /// Gives back what it has of the read-write lock and took last.
    Leave,
    /// For the condition, once, without a loop. Takes the mutex before that if it does not have it.
    Wait(usize),
    /// The same; the register says whether it was given up because time was over, which it may be at any moment.
    WaitTimeout(usize),
    NotifyOne,
    NotifyAll,
    Send,
    TrySend,
    /// Under a mutex, if several threads receive.
    Receive,
    TryReceive,
    ReceiveTimeout,
    CloseSender,
    /// Nothing if several threads receive.
    CloseReceiver,
    /// Two at a time.
    Meet,
    Park,
    ParkTimeout,
    Unpark(usize),
    /// Does once what reads the first variable.
    Call,
    /// Whether that was done.
    IsDone,
}

/// What instructions are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Variables,
    Mutexes,
    Tries,
    ReadWrite,
    ReadWriteTries,
    Conditions,
    Channel,
    ChannelTries,
    Failures,
    Barrier,
    Tokens,
    Once,
    /// Waits for some time. One in each thread: a second one may have to wait until nobody else can go on.
    Timed,
}

/// Which programs are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    pub(crate) name: &'static str,
    pub(crate) parts: &'static [Part],
    /// How often each thread may wake up for no reason.
    pub(crate) spurious: u32,
}

/// The instructions of each thread, and what they meet.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Instruction>>,
    /// Room in the channel.
    pub(crate) bound: Option<usize>,
    /// The main thread has a sender, too, and keeps it.
    pub(crate) keeps_sender: bool,
    /// Who is notified is the one who has waited longest.
    pub(crate) first_waiter: bool,
    pub(crate) spurious: u32,
}

/// Who receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receivers {
    Nobody,
    One(usize),
    Several,
}

pub(crate) const VARIABLES: usize = 3;
pub(crate) const MUTEXES: usize = 2;

/// What the register says of what failed.
pub(crate) const FULL: u32 = 6;
pub(crate) const NOT_SENT: u32 = 7;
pub(crate) const EMPTY: u32 = 8;
pub(crate) const CLOSED: u32 = 9;

impl Program {
    pub(crate) fn random(rng: &mut Rng, mix: &Mix) -> Program {
        let count = rng.between(2, 3);
        let longest = if count == 2 { 6 } else { 4 };
        let threads = (0..count).map(|_| thread(rng, mix.parts, count, longest));
        Program {
            threads: threads.collect(),
            bound: [None, None, Some(1), Some(2), Some(0)][rng.below(5)],
            keeps_sender: rng.below(2) == 0,
            first_waiter: rng.below(2) == 0,
            spurious: mix.spurious,
        }
    }

    /// Who has the receiver of the channel.
    pub(crate) fn receivers(&self) -> Receivers {
        let receives = |thread: &Vec<Instruction>| {
            thread.iter().any(|instruction| {
                matches!(
                    instruction,
                    Instruction::Receive
                        | Instruction::TryReceive
                        | Instruction::ReceiveTimeout
                        | Instruction::CloseReceiver
                )
            })
        };
        let mut who = (0..self.threads.len()).filter(|thread| receives(&self.threads[*thread]));
        match (who.next(), who.next()) {
            (None, _) => Receivers::Nobody,
            (Some(one), None) => Receivers::One(one),
            _ => Receivers::Several,
        }
    }

    /// Whether a thread has a sender of the channel.
    pub(crate) fn sends(&self, thread: usize) -> bool {
        self.threads[thread].iter().any(|instruction| {
            matches!(
                instruction,
                Instruction::Send | Instruction::TrySend | Instruction::CloseSender
            )
        })
    }
}

impl Instruction {
    /// Whether it waits for some time.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(
            self,
            Instruction::WaitTimeout(_) | Instruction::ReceiveTimeout | Instruction::ParkTimeout
        )
    }
}

fn thread(rng: &mut Rng, parts: &[Part], threads: usize, longest: usize) -> Vec<Instruction> {
    let mut instructions = Vec::new();
    let mut held = Vec::new();
    for _ in 0..rng.between(1, longest) {
        let mut part = parts[rng.below(parts.len())];
        if part == Part::Timed && instructions.iter().any(Instruction::is_timed) {
            part = Part::Variables;
        }
        instructions.push(instruction(rng, part, threads, &mut held));
    }
    if instructions
        .iter()
        .any(|instruction| matches!(instruction, Instruction::Unpark(_)))
    {
        // Threads run up to their first step as soon as they are spawned, when the others are not there yet.
        instructions.insert(0, Instruction::Read(0));
    }
    instructions
}

fn instruction(rng: &mut Rng, part: Part, threads: usize, held: &mut Vec<usize>) -> Instruction {
    let var = rng.below(VARIABLES);
    let mutex = rng.below(MUTEXES);
    match (part, rng.below(6)) {
        (Part::Variables, 0 | 1) => Instruction::Read(var),
        (Part::Variables, 2) => Instruction::Write(var, rng.between(1, 2) as u32),
        (Part::Variables, 3 | 4) => Instruction::Add(var),
        (Part::Variables, _) => Instruction::SkipIf(rng.below(2) as u32, rng.between(1, 2)),
        (Part::Mutexes, 0..4) => {
            if held.contains(&mutex) {
                held.retain(|other| *other != mutex);
                Instruction::Unlock(mutex)
            } else {
                held.push(mutex);
                Instruction::Lock(mutex)
            }
        }
        (Part::Mutexes, _) => match held.pop() {
            Some(mutex) => Instruction::Unlock(mutex),
            None => Instruction::Add(var),
        },
        (Part::Tries, _) => {
            if !held.contains(&mutex) {
                held.push(mutex);
            }
            Instruction::TryLock(mutex)
        }
        (Part::ReadWrite, 0 | 1) => Instruction::ReadLock,
        (Part::ReadWrite, 2 | 3) => Instruction::WriteLock,
        (Part::ReadWrite, _) => Instruction::Leave,
        (Part::ReadWriteTries, 0..3) => Instruction::TryReadLock,
        (Part::ReadWriteTries, _) => Instruction::TryWriteLock,
        (Part::Conditions, 0..3) => Instruction::Wait(mutex),
        (Part::Conditions, 3 | 4) => Instruction::NotifyOne,
        (Part::Conditions, _) => Instruction::NotifyAll,
        (Part::Channel, 0 | 1) => Instruction::Send,
        (Part::Channel, 2 | 3) => Instruction::Receive,
        (Part::Channel, 4) if rng.below(2) == 0 => Instruction::CloseSender,
        (Part::Channel, 4) => Instruction::CloseReceiver,
        (Part::Channel, _) => {
            let value = [0, 1, NOT_SENT, CLOSED][rng.below(4)];
            Instruction::SkipIf(value, rng.between(1, 2))
        }
        (Part::ChannelTries, 0..3) => Instruction::TryReceive,
        (Part::ChannelTries, 3 | 4) => Instruction::TrySend,
        (Part::ChannelTries, _) => {
            let value = [0, EMPTY, FULL, CLOSED][rng.below(4)];
            Instruction::SkipIf(value, rng.between(1, 2))
        }
        (Part::Failures, _) => Instruction::FailIf(rng.below(2) as u32),
        (Part::Barrier, _) => Instruction::Meet,
        (Part::Tokens, 0..3) => Instruction::Park,
        (Part::Tokens, _) => Instruction::Unpark(rng.below(threads)),
        (Part::Timed, 0 | 1) => Instruction::WaitTimeout(mutex),
        (Part::Timed, 2 | 3) => Instruction::ReceiveTimeout,
        (Part::Timed, _) => Instruction::ParkTimeout,
        (Part::Once, 0..3) => Instruction::Call,
        (Part::Once, _) => Instruction::IsDone,
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "bound {:?}, keeps a sender: {}, first waiter: {}, spurious: {}",
            self.bound, self.keeps_sender, self.first_waiter, self.spurious
        )?;
        for thread in &self.threads {
            writeln!(f, "{thread:?}")?;
        }
        Ok(())
    }
}
