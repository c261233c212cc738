//! What a trace demands of the order of its events.

use portent_monitor_core::{BarrierId, ChanId, CondId, Event, LockId, Msg, Op, ThreadId, VarId};
use std::collections::HashMap;

/// The demands of a trace: made once, for any number of properties.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The events of each thread, as indices in observed order.
    pub(super) threads: Vec<Vec<usize>>,
    pub(super) events: Vec<Demands>,
    /// For each variable the events that read it, as thread and position from 1: a cut that
    /// contains them all has no use for its last writer.
    pub(super) readers: Vec<Vec<(usize, u32)>>,
}

/// What one event demands and does.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    pub(super) thread: usize,
    /// How many events of which threads must have happened.
    pub(super) after: Vec<(usize, u32)>,
    /// The variables that it reads, each with the write that it must see; `None` is the initial
    /// value.
    pub(super) reads: Vec<(usize, Option<usize>)>,
    /// The variables that it writes.
    pub(super) writes: Vec<usize>,
    pub(super) takes: Option<Held>,
    /// The locks that its thread holds after it.
    pub(super) held: Vec<Held>,
}

/// A lock that is held, or to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    lock: LockId,
    exclusive: bool,
}

impl Held {
    /// Whether two threads cannot hold these at once.
    pub(super) fn excludes(self, other: Held) -> bool {
        self.lock == other.lock && (self.exclusive || other.exclusive)
    }
}

impl Rules {
    /// The demands of a trace that a [`Discipline`](portent_monitor_core::Discipline) admitted.
    pub fn new(trace: &[Event]) -> Rules {
        let mut reader = Reader::default();
        for (index, event) in trace.iter().enumerate() {
            reader.read(index, event);
        }
        reader.rules
    }

    /// How many events the trace has.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether the trace is empty.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

/// Reads a trace once, in observed order.
#[derive(Default)]
struct Reader {
    rules: Rules,
    threads: HashMap<ThreadId, usize>,
    variables: HashMap<VarId, usize>,
    /// The last write of each variable.
    last_write: Vec<Option<usize>>,
    /// What each thread holds.
    held: Vec<Vec<Held>>,
    /// The forks of threads, by the child.
    forks: HashMap<ThreadId, usize>,
    sends: HashMap<(ChanId, Msg), Vec<usize>>,
    notifies: HashMap<CondId, Vec<usize>>,
    /// The lines of each round of a barrier.
    rounds: HashMap<(BarrierId, u64), Vec<usize>>,
    /// The rounds that each thread has arrived at and may not have gone on from.
    arrived: HashMap<ThreadId, (BarrierId, u64)>,
    /// The lines of threads that bring clocks: own component and event.
    lines: HashMap<ThreadId, Vec<(u32, usize)>>,
}

impl Reader {
    fn read(&mut self, index: usize, event: &Event) {
        let thread = self.thread(event.thread);
        let first = self.rules.threads[thread].is_empty();
        self.rules.threads[thread].push(index);
        let mut demands = Demands {
            thread,
            ..Demands::default()
        };
        let mut after = Vec::new();
        if first {
            after.extend(self.forks.get(&event.thread));
        }
        self.go_on(event.thread, &mut after);
        self.synchronize(index, event, &mut after);
        self.access(index, event, &mut demands);
        demands.takes = self.hold(thread, &event.op);
        demands.held = self.held[thread].clone();
        demands.after = after
            .into_iter()
            .map(|earlier| self.place(earlier))
            .filter(|&(other, _)| other != thread)
            .collect();
        self.rules.events.push(demands);
    }

    fn thread(&mut self, thread: ThreadId) -> usize {
        let fresh = self.threads.len();
        let number = *self.threads.entry(thread).or_insert(fresh);
        if number == fresh {
            self.rules.threads.push(Vec::new());
            self.held.push(Vec::new());
        }
        number
    }

    fn variable(&mut self, variable: VarId) -> usize {
        let fresh = self.variables.len();
        let number = *self.variables.entry(variable).or_insert(fresh);
        if number == fresh {
            self.last_write.push(None);
            self.rules.readers.push(Vec::new());
        }
        number
    }

    /// Thread and position of an earlier event.
    fn place(&self, event: usize) -> (usize, u32) {
        let thread = self.rules.events[event].thread;
        let events = &self.rules.threads[thread];
        let position = events.partition_point(|&other| other <= event);
        (thread, position as u32)
    }

    /// What follows a barrier line comes after all lines of the round.
    fn go_on(&mut self, thread: ThreadId, after: &mut Vec<usize>) {
        if let Some(round) = self.arrived.remove(&thread) {
            after.extend(self.rounds.get(&round).into_iter().flatten());
        }
    }

    fn synchronize(&mut self, index: usize, event: &Event, after: &mut Vec<usize>) {
        match &event.op {
            Op::Fork(child) => {
                self.forks.insert(*child, index);
            }
            Op::Join(child) => {
                after.extend(self.forks.get(child));
                let number = self.threads.get(child);
                let last = number.and_then(|&number| self.rules.threads[number].last());
                after.extend(last);
                // That the child ended is after the barrier that it came to last.
                if let Some(round) = self.arrived.get(child) {
                    after.extend(self.rounds.get(round).into_iter().flatten());
                }
            }
            Op::Send(chan, msg) => self.sends.entry((*chan, *msg)).or_default().push(index),
            Op::Recv(chan, msg) => {
                after.extend(self.sends.get(&(*chan, *msg)).into_iter().flatten());
            }
            Op::Notify(cond) => self.notifies.entry(*cond).or_default().push(index),
            Op::Wait(cond) => after.extend(self.notifies.get(cond).into_iter().flatten()),
            Op::Barrier(barrier, round) => {
                let key = (*barrier, *round);
                self.rounds.entry(key).or_default().push(index);
                self.arrived.insert(event.thread, key);
            }
            Op::Stamped(stamped) => {
                for &(other, count) in &stamped.clock {
                    if other == event.thread {
                        continue;
                    }
                    let lines = self.lines.get(&other).map_or(&[][..], Vec::as_slice);
                    let known = lines.partition_point(|&(component, _)| component <= count);
                    after.extend(lines[..known].last().map(|&(_, event)| event));
                }
                let component = stamped.component(event.thread);
                let lines = self.lines.entry(event.thread).or_default();
                lines.push((component, index));
            }
            _ => {}
        }
    }

    fn access(&mut self, index: usize, event: &Event, demands: &mut Demands) {
        if let Op::Read(variable) | Op::Update(variable, _) = &event.op {
            let variable = self.variable(*variable);
            demands.reads.push((variable, self.last_write[variable]));
            let position = self.rules.threads[demands.thread].len() as u32;
            self.rules.readers[variable].push((demands.thread, position));
        }
        for (variable, _) in event.writes() {
            let variable = self.variable(variable);
            self.last_write[variable] = Some(index);
            demands.writes.push(variable);
        }
    }

    /// Follows the locks of a thread; what the operation takes, if it takes one.
    fn hold(&mut self, thread: usize, op: &Op) -> Option<Held> {
        let held = &mut self.held[thread];
        let (Op::Lock(lock) | Op::Unlock(lock) | Op::ReadLock(lock) | Op::ReadUnlock(lock)) = *op
        else {
            return None;
        };
        let this = Held {
            lock,
            exclusive: matches!(op, Op::Lock(_) | Op::Unlock(_)),
        };
        if matches!(op, Op::Lock(_) | Op::ReadLock(_)) {
            held.push(this);
            return Some(this);
        }
        if let Some(position) = held.iter().rposition(|&other| other == this) {
            held.remove(position);
        }
        None
    }
}
