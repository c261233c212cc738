//! Every interleaving of a program, unlocks as steps of their own, and the classes of these from the definition: two runs are
//! equivalent if the same events come after the same.

use std::collections::BTreeMap;

use super::program::{Instruction, MUTEXES, Program, VARIABLES};

/// For each event, in order of threads: how many events of each thread it comes after, itself included.
pub(crate) type Class = Vec<(usize, Vec<u16>)>;

/// What happened at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happened {
    Read(usize),
    Write(usize),
    Lock(usize),
    Unlock(usize),
    Try(usize),
}

#[derive(Clone)]
struct State {
    variables: [u32; VARIABLES],
    owners: [Option<usize>; MUTEXES],
    threads: Vec<ThreadState>,
}

#[derive(Clone, Default)]
struct ThreadState {
    at: usize,
    register: u32,
}

struct Search<'a> {
    program: &'a Program,
    /// Whether unlocks are events.
    unlocks: bool,
    tried: bool,
    classes: BTreeMap<Class, bool>,
    interleavings: usize,
    most: usize,
    run: Vec<(usize, Happened)>,
}

/// All classes, and whether they end in a deadlock; and how many interleavings there are. `None` if those are too many.
pub(crate) fn enumerate(program: &Program, most: usize) -> Option<(BTreeMap<Class, bool>, usize)> {
    let (classes, interleavings, tried) = enumerate_with(program, most, false)?;
    if !tried {
        return Some((classes, interleavings));
    }
    let (classes, interleavings, _) = enumerate_with(program, most, true)?;
    Some((classes, interleavings))
}

/// The same, and whether somebody tries to lock.
fn enumerate_with(
    program: &Program,
    most: usize,
    unlocks: bool,
) -> Option<(BTreeMap<Class, bool>, usize, bool)> {
    let mut search = Search {
        program,
        unlocks,
        tried: false,
        classes: BTreeMap::new(),
        interleavings: 0,
        most,
        run: Vec::new(),
    };
    let state = State {
        variables: [0; VARIABLES],
        owners: [None; MUTEXES],
        threads: vec![ThreadState::default(); program.threads.len()],
    };
    search.all(&state).then_some(())?;
    Some((search.classes, search.interleavings, search.tried))
}

impl Search<'_> {
    /// Whether it was not too much.
    fn all(&mut self, state: &State) -> bool {
        let mut waiting = false;
        let mut went_on = false;
        for thread in 0..state.threads.len() {
            let mut next = state.clone();
            match self.step(&mut next, thread) {
                Step::Ended => {}
                Step::Waits => waiting = true,
                Step::Did(happened) => {
                    went_on = true;
                    self.tried |= matches!(happened, Happened::Try(_));
                    self.run.push((thread, happened));
                    let more = self.all(&next);
                    self.run.pop();
                    if !more {
                        return false;
                    }
                }
            }
        }
        if !went_on {
            self.interleavings += 1;
            let class = self.class();
            self.classes.insert(class, waiting);
        }
        self.interleavings <= self.most
    }

    fn step(&self, state: &mut State, number: usize) -> Step {
        let instructions = &self.program.threads[number];
        loop {
            let thread = &mut state.threads[number];
            let Some(instruction) = instructions.get(thread.at) else {
                // What it still has is given back, in order.
                return match (0..MUTEXES).find(|mutex| state.owners[*mutex] == Some(number)) {
                    Some(mutex) => {
                        state.owners[mutex] = None;
                        Step::Did(Happened::Unlock(mutex))
                    }
                    None => Step::Ended,
                };
            };
            let happened = match *instruction {
                Instruction::Read(var) => {
                    thread.register = state.variables[var];
                    Happened::Read(var)
                }
                Instruction::Write(var, value) => {
                    state.variables[var] = value;
                    Happened::Write(var)
                }
                Instruction::Add(var) => {
                    thread.register = state.variables[var];
                    state.variables[var] += 1;
                    Happened::Write(var)
                }
                Instruction::SkipIf(value, count) => {
                    thread.at += 1 + if thread.register == value { count } else { 0 };
                    continue;
                }
                Instruction::Lock(mutex) => {
                    if state.owners[mutex].is_some() {
                        return Step::Waits;
                    }
                    state.owners[mutex] = Some(number);
                    Happened::Lock(mutex)
                }
                Instruction::Unlock(mutex) => {
                    if state.owners[mutex] != Some(number) {
                        thread.at += 1;
                        continue;
                    }
                    state.owners[mutex] = None;
                    Happened::Unlock(mutex)
                }
                Instruction::TryLock(mutex) => {
                    if state.owners[mutex] == Some(number) {
                        thread.at += 1;
                        continue;
                    }
                    thread.register = u32::from(state.owners[mutex].is_none());
                    state.owners[mutex].get_or_insert(number);
                    Happened::Try(mutex)
                }
            };
            state.threads[number].at += 1;
            return Step::Did(happened);
        }
    }

    fn class(&self) -> Class {
        let run = &self.run;
        // For each event those that it comes after, itself included.
        let mut past = vec![0_u64; run.len()];
        for later in 0..run.len() {
            past[later] = 1 << later;
            for earlier in 0..later {
                let (one, other) = (run[earlier], run[later]);
                if one.0 == other.0 || dependent(one.1, other.1) {
                    past[later] |= past[earlier];
                }
            }
        }
        let counts = |event: usize| self.unlocks || !matches!(run[event].1, Happened::Unlock(_));
        let mut class = Class::new();
        for thread in 0..self.program.threads.len() {
            for (number, event) in run.iter().enumerate() {
                if event.0 != thread || !counts(number) {
                    continue;
                }
                let mut row = vec![0; self.program.threads.len()];
                for other in 0..run.len() {
                    if past[number] >> other & 1 != 0 && counts(other) {
                        row[run[other].0] += 1;
                    }
                }
                class.push((thread, row));
            }
        }
        class
    }
}

enum Step {
    Ended,
    Waits,
    Did(Happened),
}

fn dependent(one: Happened, other: Happened) -> bool {
    use Happened::{Lock, Read, Try, Unlock, Write};
    match (one, other) {
        (Read(_), Read(_)) => false,
        (Read(one) | Write(one), Read(other) | Write(other)) => one == other,
        (Lock(one) | Unlock(one) | Try(one), Lock(other) | Unlock(other) | Try(other)) => {
            one == other
        }
        _ => false,
    }
}
