//! Every interleaving, by copying states, and data races by the definition of happens-before. It shares no code with the explorer.

use std::collections::BTreeSet;

use super::{
    Pair,
    program::{ATOMICS, Instruction, MUTEXES, Program},
};

/// What there is to find.
pub(crate) struct Races {
    pub(crate) unordered: BTreeSet<Pair>,
    /// In some interleaving two accesses that conflict are next to each other.
    pub(crate) some_adjacent: bool,
}

/// What happened at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The number of the variable, and of the access among those of its thread.
    Read(usize, usize),
    Write(usize, usize),
    Load(usize),
    Store(usize),
    Add(usize),
    Lock(usize),
    Unlock(usize),
    Share,
    Own,
    Unshare,
    Disown,
    Send,
    Receive,
    Spawn(usize),
    Join(usize),
    /// Nobody notices.
    Nothing,
}

#[derive(Clone, Default)]
struct Thread {
    runs: bool,
    at: usize,
    kept: u32,
    accesses: usize,
    shares: bool,
}

#[derive(Clone)]
struct State {
    threads: Vec<Thread>,
    atomics: [u32; ATOMICS],
    owners: [Option<usize>; MUTEXES],
    writer: Option<usize>,
    messages: usize,
}

struct Search<'a> {
    program: &'a Program,
    run: Vec<(usize, Step)>,
    left: usize,
    races: Races,
}

/// The races of a program; `None` if it has too many interleavings.
pub(crate) fn races(program: &Program, most: usize) -> Option<Races> {
    let mut threads = vec![Thread::default(); program.threads.len()];
    threads[0].runs = true;
    let state = State {
        threads,
        atomics: [0; ATOMICS],
        owners: [None; MUTEXES],
        writer: None,
        messages: 0,
    };
    let mut search = Search {
        program,
        run: Vec::new(),
        left: most,
        races: Races {
            unordered: BTreeSet::new(),
            some_adjacent: false,
        },
    };
    search.all(&state).then_some(search.races)
}

impl Search<'_> {
    fn all(&mut self, state: &State) -> bool {
        let mut went_on = false;
        for thread in 0..state.threads.len() {
            let mut next = state.clone();
            if let Some(step) = self.step(&mut next, thread) {
                went_on = true;
                self.run.push((thread, step));
                let more = self.all(&next);
                self.run.pop();
                if !more {
                    return false;
                }
            }
        }
        if went_on {
            return true;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.look();
        true
    }

    /// What a thread does next, if it can.
    fn step(&self, state: &mut State, number: usize) -> Option<Step> {
        let me = &mut state.threads[number];
        if !me.runs {
            return None;
        }
        let Some(&instruction) = self.program.threads[number].get(me.at) else {
            return give_back(state, number);
        };
        me.at += 1;
        let step = match instruction {
            Instruction::Read(var) => {
                me.accesses += 1;
                Step::Read(var, me.accesses - 1)
            }
            Instruction::Write(var) => {
                me.accesses += 1;
                Step::Write(var, me.accesses - 1)
            }
            Instruction::Load(var) => {
                me.kept = state.atomics[var];
                Step::Load(var)
            }
            Instruction::Store(var) => {
                state.atomics[var] = 5;
                Step::Store(var)
            }
            Instruction::Add(var) => {
                me.kept = state.atomics[var];
                state.atomics[var] += 1;
                Step::Add(var)
            }
            Instruction::Exchange(var) => {
                me.kept = state.atomics[var];
                if me.kept == 0 {
                    state.atomics[var] = 7;
                    Step::Add(var)
                } else {
                    Step::Load(var)
                }
            }
            Instruction::Unless0 => {
                me.at += usize::from(me.kept != 0);
                Step::Nothing
            }
            Instruction::Lock(mutex) | Instruction::TryLock(mutex)
                if state.owners[mutex] == Some(number) =>
            {
                Step::Nothing
            }
            Instruction::Lock(mutex) | Instruction::TryLock(mutex) => match state.owners[mutex] {
                None => {
                    state.owners[mutex] = Some(number);
                    Step::Lock(mutex)
                }
                Some(_) if instruction == Instruction::TryLock(mutex) => Step::Nothing,
                Some(_) => return None,
            },
            Instruction::Unlock(mutex) if state.owners[mutex] == Some(number) => {
                state.owners[mutex] = None;
                Step::Unlock(mutex)
            }
            Instruction::Unlock(_) => Step::Nothing,
            Instruction::ReadLock | Instruction::WriteLock
                if me.shares || state.writer == Some(number) =>
            {
                Step::Nothing
            }
            Instruction::ReadLock if state.writer.is_none() => {
                me.shares = true;
                Step::Share
            }
            Instruction::WriteLock
                if state.writer.is_none() && !state.threads.iter().any(|other| other.shares) =>
            {
                state.writer = Some(number);
                Step::Own
            }
            Instruction::ReadLock | Instruction::WriteLock => return None,
            Instruction::Leave => leave(state, number).unwrap_or(Step::Nothing),
            Instruction::Send => {
                state.messages += 1;
                Step::Send
            }
            Instruction::Receive => {
                state.messages = state.messages.checked_sub(1)?;
                Step::Receive
            }
            Instruction::Spawn(other) => {
                state.threads[other].runs = true;
                Step::Spawn(other)
            }
            Instruction::Join(other) => {
                let mut after = state.clone();
                let has_ended = state.threads[other].at >= self.program.threads[other].len();
                if !has_ended || give_back(&mut after, other).is_some() {
                    return None;
                }
                Step::Join(other)
            }
        };
        Some(step)
    }

    /// The races of an interleaving.
    fn look(&mut self) {
        let run = &self.run;
        let mut past = vec![0_u64; run.len()];
        for later in 0..run.len() {
            past[later] = 1 << later;
            for earlier in 0..later {
                if self.synchronises(earlier, later) {
                    past[later] |= past[earlier];
                }
            }
        }
        for later in 0..run.len() {
            for earlier in 0..later {
                if let Some(pair) = conflict(run[earlier], run[later]) {
                    self.races.some_adjacent |= earlier + 1 == later;
                    if past[later] >> earlier & 1 == 0 {
                        self.races.unordered.insert(pair);
                    }
                }
            }
        }
    }

    /// Whether one step orders another one directly.
    fn synchronises(&self, earlier: usize, later: usize) -> bool {
        let ((one, first), (other, second)) = (self.run[earlier], self.run[later]);
        let between = &self.run[earlier + 1..later];
        match (first, second) {
            _ if one == other => true,
            (Step::Spawn(child), _) if child == other => true,
            (_, Step::Join(child)) if child == one => true,
            (Step::Unlock(given), Step::Lock(taken)) => given == taken,
            (Step::Unshare | Step::Disown, Step::Own) | (Step::Disown, Step::Share) => true,
            (Step::Store(var) | Step::Add(var), Step::Load(read) | Step::Add(read)) => {
                let is_write = |step: &(usize, Step)| matches!(step.1, Step::Store(other) | Step::Add(other) if other == var);
                var == read && !between.iter().any(is_write)
            }
            (Step::Send, Step::Receive) => {
                let sent = self.run[..earlier]
                    .iter()
                    .filter(|step| step.1 == Step::Send);
                let received = self.run[..later]
                    .iter()
                    .filter(|step| step.1 == Step::Receive);
                sent.count() == received.count()
            }
            _ => false,
        }
    }
}

/// Who has ended gives back what it still has: mutexes, then the lock.
fn give_back(state: &mut State, number: usize) -> Option<Step> {
    for mutex in 0..MUTEXES {
        if state.owners[mutex] == Some(number) {
            state.owners[mutex] = None;
            return Some(Step::Unlock(mutex));
        }
    }
    leave(state, number)
}

fn leave(state: &mut State, number: usize) -> Option<Step> {
    let me = &mut state.threads[number];
    if std::mem::take(&mut me.shares) {
        return Some(Step::Unshare);
    }
    if state.writer == Some(number) {
        state.writer = None;
        return Some(Step::Disown);
    }
    None
}

fn conflict(one: (usize, Step), other: (usize, Step)) -> Option<Pair> {
    let access = |step| match step {
        Step::Read(var, access) => Some((var, access, false)),
        Step::Write(var, access) => Some((var, access, true)),
        _ => None,
    };
    let (first, second) = (access(one.1)?, access(other.1)?);
    let conflicts = one.0 != other.0 && first.0 == second.0 && (first.2 || second.2);
    let mut pair = [(one.0, first.1), (other.0, second.1)];
    pair.sort_unstable();
    conflicts.then_some(pair)
}
