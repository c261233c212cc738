//! What a program has got to, and what each thread can do next.

mod channel;
mod locks;

use std::collections::VecDeque;

use super::program::{Instruction, MUTEXES, Program, Receivers, VARIABLES};

/// The mutex under which several threads receive.
const RECEIVER: usize = MUTEXES;

/// What steps are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Variable(usize),
    Mutex(usize),
    ReadWrite,
    /// Who asks to have the read-write lock alone.
    Asking,
    Condition,
    Sends,
    Receives,
    Barrier,
    Token(usize),
    Once,
    Done,
}

/// What somebody looks at that is no event else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    /// Locks are tried, so unlocks are events.
    locks: bool,
    /// Receives are tried, so ends of senders are events.
    channels: bool,
    /// Locks are shared twice, so to ask for one alone is an event.
    requests: bool,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// What it is about, and whether it commutes with its like.
    touches: [Option<(Object, bool)>; 2],
    /// What it comes after besides that.
    pub(crate) after: Vec<usize>,
    /// Whether it is an event.
    pub(crate) counts: bool,
    /// Whether it writes a variable.
    pub(crate) writes: bool,
}

/// What a thread can do next.
pub(crate) enum Next {
    Ended,
    Waits,
    /// One of these.
    Can(Vec<(State, Step)>),
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    variables: [u32; VARIABLES],
    owners: [Option<usize>; MUTEXES + 1],
    /// Who has the read-write lock alone; who shares it, as often as that; who asks to have it alone.
    writer: Option<usize>,
    readers: Vec<usize>,
    asking: Vec<usize>,
    /// Who waits for the condition.
    waiting: Vec<usize>,
    channel: Channel,
    /// Who waits at the barrier.
    met: Option<usize>,
    /// Who was unparked.
    tokens: Vec<bool>,
    /// Whether what is done once is being done, and what came of it.
    calling: bool,
    done: Option<u32>,
    threads: Vec<Thread>,
    /// Who panics: until that is over nobody else goes on.
    unwinding: Option<usize>,
}

#[derive(Clone, Debug)]
struct Channel {
    /// What was sent and not received, and when.
    messages: VecDeque<(u32, usize)>,
    sent: usize,
    /// When something was received.
    receives: Vec<usize>,
    senders: usize,
    /// When a sender went.
    ends: Vec<usize>,
    has_receiver: bool,
}

/// What a thread is about within an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Begins,
    /// It waits for the condition, and may have been notified.
    Waiting {
        notified: bool,
    },
    /// It has waited, and wants the mutex.
    Woken,
    /// It asked to have the read-write lock alone.
    Asked,
    /// Its message is the one of this number, and was not received.
    Sent(usize),
    /// It received under a mutex.
    Received,
    /// It waits for another at the barrier.
    Met,
    /// It does what is done once: it has not read, or it has.
    Calling(Option<u32>),
}

#[derive(Clone, Debug)]
struct Thread {
    at: usize,
    register: u32,
    phase: Phase,
    /// What its next step comes after besides others.
    after: Vec<usize>,
    /// What it has of the read-write lock: alone or not.
    held: Vec<bool>,
    has_sender: bool,
    has_receiver: bool,
    spurious: u32,
    choices: Vec<u32>,
    failed: bool,
}

impl Step {
    fn of(object: Object, changes: bool) -> Step {
        Step {
            touches: [Some((object, !changes)), None],
            after: Vec::new(),
            counts: true,
            writes: changes && matches!(object, Object::Variable(_)),
        }
    }

    fn changes(object: Object) -> Step {
        Step::of(object, true)
    }

    fn reads(object: Object) -> Step {
        Step::of(object, false)
    }

    fn and(mut self, object: Object, changes: bool) -> Step {
        self.touches[1] = Some((object, !changes));
        self
    }

    fn counts_if(mut self, counts: bool) -> Step {
        self.counts = counts;
        self
    }

    fn after(mut self, steps: &[usize]) -> Step {
        self.after.extend(steps);
        self
    }

    /// Whether two steps do not commute because of what they are about.
    pub(crate) fn conflicts(&self, other: &Step) -> bool {
        let touches = self.touches.iter().flatten();
        touches.copied().any(|(object, reads)| {
            let others = other.touches.iter().flatten();
            others
                .copied()
                .any(|(same, also)| object == same && !(reads && also))
        })
    }
}

impl State {
    pub(crate) fn new(program: &Program) -> State {
        let receivers = program.receivers();
        let threads: Vec<Thread> = (0..program.threads.len())
            .map(|number| Thread {
                at: 0,
                register: 0,
                phase: Phase::Begins,
                after: Vec::new(),
                held: Vec::new(),
                has_sender: program.sends(number),
                has_receiver: receivers == Receivers::One(number),
                spurious: 0,
                choices: Vec::new(),
                failed: false,
            })
            .collect();
        let senders = threads.iter().filter(|thread| thread.has_sender).count();
        let mut state = State {
            variables: [0; VARIABLES],
            owners: [None; MUTEXES + 1],
            writer: None,
            readers: Vec::new(),
            asking: Vec::new(),
            waiting: Vec::new(),
            channel: Channel {
                messages: VecDeque::new(),
                sent: 0,
                receives: Vec::new(),
                senders: senders + usize::from(program.keeps_sender),
                ends: Vec::new(),
                has_receiver: true,
            },
            met: None,
            tokens: vec![false; threads.len()],
            calling: false,
            done: None,
            threads,
            unwinding: None,
        };
        for number in 0..program.threads.len() {
            state.settle(program, number);
        }
        state
    }

    pub(crate) fn choices(&self) -> Vec<Vec<u32>> {
        let threads = self.threads.iter();
        threads.map(|thread| thread.choices.clone()).collect()
    }

    /// What each thread knows in the end, if it has done all of its instructions.
    pub(crate) fn ends(&self, program: &Program) -> Vec<Option<u32>> {
        let all = self.threads.iter().zip(&program.threads);
        all.map(|(thread, instructions)| {
            if thread.failed {
                Some(u32::MAX)
            } else {
                (thread.at >= instructions.len()).then_some(thread.register)
            }
        })
        .collect()
    }

    /// What this thread can do; `now` is the number of that step.
    pub(crate) fn next(
        &self,
        program: &Program,
        looks: Looks,
        found: &mut Looks,
        number: usize,
        now: usize,
    ) -> Next {
        if self.unwinding.is_some_and(|other| other != number) {
            return Next::Waits;
        }
        let mut next = self.clone();
        let after = std::mem::take(&mut next.threads[number].after);
        let instruction = program.threads[number].get(next.threads[number].at);
        let all = match instruction {
            None => match next.end(looks, number, now) {
                Some(step) => vec![(next, step)],
                None => return Next::Ended,
            },
            Some(Instruction::NotifyOne | Instruction::NotifyAll) => next.notify(
                program,
                number,
                instruction == Some(&Instruction::NotifyAll),
                now,
            ),
            Some(instruction) => {
                match next.step(program, looks, found, number, now, *instruction) {
                    Some(step) => vec![(next, step)],
                    None => return Next::Waits,
                }
            }
        };
        let settled = all.into_iter().map(|(mut next, step)| {
            next.settle(program, number);
            for other in 0..program.threads.len() {
                next.settle(program, other);
            }
            (next, step.after(&after))
        });
        Next::Can(settled.collect())
    }

    /// What a thread does by itself, up to its next step.
    fn settle(&mut self, program: &Program, number: usize) {
        let instructions = &program.threads[number];
        while let Some(instruction) = instructions.get(self.threads[number].at) {
            let thread = &mut self.threads[number];
            if thread.phase != Phase::Begins {
                return;
            }
            let nothing = match *instruction {
                Instruction::SkipIf(value, count) => {
                    thread.at += if thread.register == value { count } else { 0 };
                    true
                }
                Instruction::FailIf(value) if thread.register == value => {
                    thread.failed = true;
                    thread.at = instructions.len();
                    self.unwinding = Some(number);
                    true
                }
                Instruction::FailIf(_) => true,
                Instruction::Unlock(mutex) => self.owners[mutex] != Some(number),
                Instruction::TryLock(mutex) => self.owners[mutex] == Some(number),
                Instruction::Leave => thread.held.is_empty(),
                Instruction::Send | Instruction::TrySend | Instruction::CloseSender => {
                    !thread.has_sender
                }
                Instruction::CloseReceiver => !thread.has_receiver,
                Instruction::Receive | Instruction::TryReceive | Instruction::ReceiveTimeout => {
                    !thread.has_receiver && program.receivers() != Receivers::Several
                }
                _ => false,
            };
            if !nothing {
                return;
            }
            self.threads[number].at += 1;
        }
        if self.unwinding == Some(number) && self.clone().end(Looks::default(), number, 0).is_none()
        {
            self.unwinding = None;
        }
    }

    /// At the end of a thread what it still has is given back, in order.
    fn end(&mut self, looks: Looks, number: usize, now: usize) -> Option<Step> {
        if let Some(mutex) = (0..=MUTEXES).find(|mutex| self.owners[*mutex] == Some(number)) {
            return Some(self.unlock(looks, mutex));
        }
        if !self.threads[number].held.is_empty() {
            let alone = self.threads[number].held.remove(0);
            return Some(self.leave(looks, number, alone));
        }
        if self.threads[number].has_receiver {
            return Some(self.close_receiver(number, now));
        }
        if self.threads[number].has_sender {
            return Some(self.close_sender(looks, number, now));
        }
        None
    }

    /// One step of an instruction; `None` if it has to wait.
    fn step(
        &mut self,
        program: &Program,
        looks: Looks,
        found: &mut Looks,
        number: usize,
        now: usize,
        instruction: Instruction,
    ) -> Option<Step> {
        let phase = self.threads[number].phase;
        let thread = &mut self.threads[number];
        let step = match instruction {
            Instruction::Read(var) => {
                thread.register = self.variables[var];
                Step::reads(Object::Variable(var))
            }
            Instruction::Write(var, value) => {
                self.variables[var] = value;
                Step::changes(Object::Variable(var))
            }
            Instruction::Add(var) => {
                thread.register = self.variables[var];
                self.variables[var] += 1;
                Step::changes(Object::Variable(var))
            }
            Instruction::Lock(mutex) => self.lock(mutex, number)?,
            Instruction::Unlock(mutex) => self.unlock(looks, mutex),
            Instruction::TryLock(mutex) => {
                found.locks = true;
                thread.register = u32::from(self.owners[mutex].is_none());
                self.owners[mutex].get_or_insert(number);
                Step::changes(Object::Mutex(mutex))
            }
            Instruction::ReadLock
            | Instruction::WriteLock
            | Instruction::TryReadLock
            | Instruction::TryWriteLock
            | Instruction::Leave => {
                return self.read_write(looks, found, number, instruction);
            }
            Instruction::Wait(mutex) | Instruction::WaitTimeout(mutex) => {
                return self.wait(program, number, mutex, instruction.is_timed());
            }
            Instruction::Send | Instruction::TrySend => {
                found.channels |= instruction == Instruction::TrySend
                    && program.bound.is_some_and(|bound| bound > 0);
                return self.send(program, number, now, instruction);
            }
            Instruction::Receive | Instruction::TryReceive | Instruction::ReceiveTimeout => {
                return self.receive_one(program, looks, found, number, now, instruction);
            }
            Instruction::CloseSender => self.close_sender(looks, number, now),
            Instruction::CloseReceiver => self.close_receiver(number, now),
            Instruction::Meet if phase == Phase::Met => return None,
            Instruction::Meet => {
                let step = Step::changes(Object::Barrier);
                let Some(other) = self.met.take() else {
                    self.met = Some(number);
                    thread.phase = Phase::Met;
                    return Some(step);
                };
                thread.register = 1;
                let other = &mut self.threads[other];
                other.phase = Phase::Begins;
                other.register = 0;
                other.at += 1;
                other.after.push(now);
                step
            }
            Instruction::Park | Instruction::ParkTimeout => {
                if !std::mem::take(&mut self.tokens[number]) {
                    let is_timed = instruction.is_timed();
                    if !is_timed && thread.spurious >= program.spurious {
                        return None;
                    }
                    thread.spurious += u32::from(!is_timed);
                }
                Step::changes(Object::Token(number))
            }
            Instruction::Unpark(other) => {
                self.tokens[other] = true;
                Step::changes(Object::Token(other))
            }
            Instruction::Call => return self.call(number),
            Instruction::IsDone => {
                thread.register = u32::from(self.done.is_some());
                Step::reads(Object::Done)
            }
            Instruction::SkipIf(..)
            | Instruction::FailIf(_)
            | Instruction::NotifyOne
            | Instruction::NotifyAll => unreachable!("done elsewhere"),
        };
        self.threads[number].at += 1;
        Some(step)
    }

    fn call(&mut self, number: usize) -> Option<Step> {
        let thread = &mut self.threads[number];
        match (thread.phase, self.done) {
            (Phase::Calling(None), _) => {
                thread.phase = Phase::Calling(Some(self.variables[0]));
                Some(Step::reads(Object::Variable(0)))
            }
            (Phase::Calling(Some(value)), _) => {
                self.done = Some(value);
                self.calling = false;
                thread.register = value;
                thread.phase = Phase::Begins;
                thread.at += 1;
                Some(Step::changes(Object::Done).and(Object::Once, true))
            }
            (_, Some(value)) => {
                thread.register = value;
                thread.at += 1;
                Some(Step::reads(Object::Once))
            }
            _ if self.calling => None,
            _ => {
                self.calling = true;
                thread.phase = Phase::Calling(None);
                Some(Step::changes(Object::Once))
            }
        }
    }
}
