//! Mutexes, the read-write lock and the condition.

use super::super::program::{Instruction, Program};
use super::{Looks, Object, Phase, State, Step};

impl State {
    pub(super) fn unlock(&mut self, looks: Looks, mutex: usize) -> Step {
        self.owners[mutex] = None;
        Step::changes(Object::Mutex(mutex)).counts_if(looks.locks)
    }

    pub(super) fn leave(&mut self, looks: Looks, number: usize, alone: bool) -> Step {
        if alone {
            self.writer = None;
        } else if let Some(at) = self.readers.iter().position(|reader| *reader == number) {
            self.readers.remove(at);
        }
        Step::of(Object::ReadWrite, alone).counts_if(looks.locks)
    }

    pub(super) fn notify(
        mut self,
        program: &Program,
        number: usize,
        all: bool,
        now: usize,
    ) -> Vec<(State, Step)> {
        self.threads[number].at += 1;
        let step = Step::changes(Object::Condition);
        if all || self.waiting.len() < 2 || program.first_waiter {
            let count = if all { self.waiting.len() } else { 1 };
            for waiter in std::mem::take(&mut self.waiting).into_iter().enumerate() {
                match waiter {
                    (place, waiter) if place < count => self.wake(program, waiter, now),
                    (_, waiter) => self.waiting.push(waiter),
                }
            }
            return vec![(self, step)];
        }
        let one = |place: usize| {
            let mut next = self.clone();
            next.threads[number].choices.push(place as u32);
            let waiter = next.waiting.remove(place);
            next.wake(program, waiter, now);
            (next, step.clone())
        };
        (0..self.waiting.len()).map(one).collect()
    }

    pub(super) fn wake(&mut self, program: &Program, waiter: usize, now: usize) {
        let thread = &mut self.threads[waiter];
        let instruction = program.threads[waiter][thread.at];
        if instruction.is_timed() || thread.spurious < program.spurious {
            // It may wake up at any time, so to do so is a step.
            thread.phase = Phase::Waiting { notified: true };
        } else {
            thread.phase = Phase::Woken;
            thread.after.push(now);
        }
    }

    pub(super) fn lock(&mut self, mutex: usize, number: usize) -> Option<Step> {
        if self.owners[mutex].is_some() {
            return None;
        }
        self.owners[mutex] = Some(number);
        Some(Step::changes(Object::Mutex(mutex)))
    }

    pub(super) fn read_write(
        &mut self,
        looks: Looks,
        found: &mut Looks,
        number: usize,
        instruction: Instruction,
    ) -> Option<Step> {
        let is_open = self.writer.is_none();
        let is_free = is_open && self.readers.is_empty();
        let thread = &mut self.threads[number];
        let step = match instruction {
            Instruction::ReadLock => {
                let again = self.readers.contains(&number);
                found.requests |= again;
                if !is_open || again && !self.asking.is_empty() {
                    return None;
                }
                self.readers.push(number);
                thread.held.push(false);
                let step = Step::reads(Object::ReadWrite);
                if again {
                    step.and(Object::Asking, false)
                } else {
                    step
                }
            }
            Instruction::WriteLock if looks.requests && thread.phase == Phase::Begins => {
                thread.phase = Phase::Asked;
                self.asking.push(number);
                return Some(Step::changes(Object::Asking));
            }
            Instruction::WriteLock => {
                if !is_free {
                    return None;
                }
                self.asking.retain(|other| *other != number);
                self.writer = Some(number);
                thread.held.push(true);
                Step::changes(Object::ReadWrite)
            }
            Instruction::TryReadLock => {
                found.locks = true;
                thread.register = u32::from(is_open);
                if is_open {
                    self.readers.push(number);
                    thread.held.push(false);
                }
                Step::reads(Object::ReadWrite)
            }
            Instruction::TryWriteLock => {
                found.locks = true;
                thread.register = u32::from(is_free);
                if is_free {
                    self.writer = Some(number);
                    thread.held.push(true);
                }
                Step::changes(Object::ReadWrite)
            }
            _ => {
                let alone = thread.held.pop()?;
                self.leave(looks, number, alone)
            }
        };
        let thread = &mut self.threads[number];
        thread.phase = Phase::Begins;
        thread.at += 1;
        Some(step)
    }

    pub(super) fn wait(
        &mut self,
        program: &Program,
        number: usize,
        mutex: usize,
        is_timed: bool,
    ) -> Option<Step> {
        let thread = &mut self.threads[number];
        match thread.phase {
            Phase::Waiting { notified } => {
                if !notified && !is_timed && thread.spurious >= program.spurious {
                    return None;
                }
                if is_timed {
                    thread.register = u32::from(!notified);
                }
                if !notified {
                    thread.spurious += u32::from(!is_timed);
                    self.waiting.retain(|other| *other != number);
                }
                thread.phase = Phase::Woken;
                Some(Step::changes(Object::Condition))
            }
            Phase::Woken => {
                let step = self.lock(mutex, number)?;
                let thread = &mut self.threads[number];
                thread.phase = Phase::Begins;
                thread.at += 1;
                Some(step)
            }
            _ if self.owners[mutex] != Some(number) => self.lock(mutex, number),
            _ => {
                self.owners[mutex] = None;
                self.waiting.push(number);
                thread.phase = Phase::Waiting { notified: false };
                Some(Step::changes(Object::Condition).and(Object::Mutex(mutex), true))
            }
        }
    }
}
