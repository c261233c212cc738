//! Reads the demands of a trace off its events, one by one in observed order.

use portent_monitor_core::{BarrierId, ChanId, CondId, Event, Msg, Op, ThreadId, VarId};
use rustc_hash::FxHashMap;

use super::rules::{Demands, Held, Holder, Place, Rules, Variable};

/// The rules so far, and what the next events may refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct RulesReader {
    rules: Rules,
    threads: FxHashMap<ThreadId, u32>,
    variables: FxHashMap<VarId, u32>,
    /// The locks that threads released in a wait, and take again with their next event.
    waiting: FxHashMap<u32, Vec<Held>>,
    /// The forks of threads, by the child.
    forks: FxHashMap<ThreadId, Place>,
    sends: FxHashMap<(ChanId, Msg), Vec<Place>>,
    notifies: FxHashMap<CondId, Vec<Place>>,
    /// The lines of each round of a barrier.
    rounds: FxHashMap<(BarrierId, u64), Vec<Place>>,
    /// The rounds that each thread has arrived at and may not have gone on from.
    arrived: FxHashMap<ThreadId, (BarrierId, u64)>,
    /// The lines of threads that bring clocks: own component and place.
    lines: FxHashMap<ThreadId, Vec<(u32, Place)>>,
}

impl RulesReader {
    /// Takes the next event.
    pub(crate) fn read(&mut self, event: &Event) {
        let index = self.rules.events.len() as u32;
        let thread = self.thread(event.thread);
        let of_thread = &mut self.rules.threads[thread as usize];
        of_thread.push(index);
        let here = Place {
            thread,
            position: of_thread.len() as u32,
        };
        let mut after = Vec::new();
        if here.position == 1 {
            join_all(&mut after, self.forks.get(&event.thread));
        }
        // What follows a barrier line comes after all lines of the round.
        if let Some(round) = self.arrived.remove(&event.thread) {
            join_all(&mut after, self.rounds.get(&round).into_iter().flatten());
        }
        self.synchronize(here, event, &mut after);
        after.retain(|place| place.thread != thread);
        let mut demands = Demands {
            thread,
            after: after.into(),
            ..Demands::default()
        };
        self.hold(here, &event.op, &mut demands);
        self.access(index, here, event, &mut demands);
        self.rules.events.push(demands);
    }

    /// The trace has ended.
    pub(crate) fn finish(mut self) -> Rules {
        self.rules.compare_writers();
        self.rules
    }

    fn thread(&mut self, thread: ThreadId) -> u32 {
        let fresh = self.threads.len() as u32;
        let number = *self.threads.entry(thread).or_insert(fresh);
        if number == fresh {
            self.rules.threads.push(Vec::new());
        }
        number
    }

    fn variable(&mut self, variable: VarId) -> u32 {
        let fresh = self.variables.len() as u32;
        let number = *self.variables.entry(variable).or_insert(fresh);
        if number == fresh {
            self.rules.variables.push(Variable::default());
        }
        number
    }

    fn synchronize(&mut self, here: Place, event: &Event, after: &mut Vec<Place>) {
        match &event.op {
            Op::Fork(child) => {
                self.forks.insert(*child, here);
            }
            Op::Join(child) => self.end_of(*child, after),
            Op::Send(chan, msg) => {
                here.join(self.sends.entry((*chan, *msg)).or_default());
            }
            Op::Recv(chan, msg) => {
                join_all(after, self.sends.get(&(*chan, *msg)).into_iter().flatten());
            }
            Op::Notify(cond) => here.join(self.notifies.entry(*cond).or_default()),
            Op::Wait(cond) => join_all(after, self.notifies.get(cond).into_iter().flatten()),
            Op::Barrier(barrier, round) => {
                let key = (*barrier, *round);
                here.join(self.rounds.entry(key).or_default());
                self.arrived.insert(event.thread, key);
            }
            Op::Stamped(stamped) => {
                for &(other, count) in &stamped.clock {
                    if other == event.thread {
                        continue;
                    }
                    let lines = self.lines.get(&other).map_or(&[][..], Vec::as_slice);
                    let known = lines.partition_point(|&(component, _)| component <= count);
                    join_all(after, lines[..known].last().map(|(_, place)| place));
                }
                let component = stamped.component(event.thread);
                let lines = self.lines.entry(event.thread).or_default();
                lines.push((component, here));
            }
            _ => {}
        }
    }

    /// A join comes after all that the child did.
    fn end_of(&self, child: ThreadId, after: &mut Vec<Place>) {
        join_all(after, self.forks.get(&child));
        if let Some(&thread) = self.threads.get(&child) {
            let position = self.rules.threads[thread as usize].len() as u32;
            Place { thread, position }.join(after);
        }
        // That the child ended is after the barrier that it came to last.
        if let Some(round) = self.arrived.get(&child) {
            join_all(after, self.rounds.get(round).into_iter().flatten());
        }
    }

    fn access(&mut self, index: u32, here: Place, event: &Event, demands: &mut Demands) {
        if let Op::Read(variable) | Op::Update(variable, _) = &event.op {
            let number = self.variable(*variable);
            let variable = &mut self.rules.variables[number as usize];
            demands.reads = [(number, variable.writes.last().copied())].into();
            here.join(&mut variable.last_reads);
        }
        let writes = event.writes().map(|(variable, _)| self.variable(variable));
        demands.writes = writes.collect();
        for &variable in &demands.writes {
            self.rules.variables[variable as usize].writes.push(index);
        }
    }

    /// Follows the locks.
    fn hold(&mut self, here: Place, op: &Op, demands: &mut Demands) {
        let mut takes = self.waiting.remove(&here.thread).unwrap_or_default();
        for &held in &takes {
            self.begin(here, held);
        }
        let (Op::Lock(lock) | Op::Unlock(lock) | Op::ReadLock(lock) | Op::ReadUnlock(lock)) = *op
        else {
            demands.takes = takes.into();
            return;
        };
        let this = Held {
            lock,
            exclusive: matches!(op, Op::Lock(_) | Op::Unlock(_)),
        };
        if matches!(op, Op::Lock(_) | Op::ReadLock(_)) {
            self.suspend(here.thread, this);
            self.begin(here, this);
            takes.push(this);
        } else {
            self.end(here, this);
            demands.releases = Some(this);
        }
        demands.takes = takes.into();
    }

    fn begin(&mut self, here: Place, held: Held) {
        let holders = self.rules.locks.entry(held.lock).or_default();
        let index = holders
            .iter()
            .position(|holder| holder.thread == here.thread && holder.exclusive == held.exclusive);
        let holder = match index {
            Some(index) => &mut holders[index],
            None => {
                holders.push(Holder {
                    thread: here.thread,
                    exclusive: held.exclusive,
                    sections: Vec::new(),
                    depth: 0,
                });
                holders.last_mut().expect("just pushed")
            }
        };
        if holder.depth == 0 {
            holder.sections.push((here.position, u32::MAX));
        }
        holder.depth += 1;
    }

    fn end(&mut self, here: Place, held: Held) {
        let mut holders = self.rules.locks.get_mut(&held.lock).into_iter().flatten();
        let holder = holders
            .find(|holder| holder.thread == here.thread && holder.exclusive == held.exclusive);
        if let Some(holder) = holder.filter(|holder| holder.depth > 0) {
            holder.depth -= 1;
            if holder.depth == 0
                && let Some(section) = holder.sections.last_mut()
            {
                section.1 = here.position;
            }
        }
    }

    /// A lock is taken that somebody else holds: that thread must have released it without a line,
    /// as a wait does, and takes it again when it wakes up.
    fn suspend(&mut self, thread: u32, taken: Held) {
        let holders = self.rules.locks.get_mut(&taken.lock).into_iter().flatten();
        for holder in holders {
            let excludes = taken.exclusive || holder.exclusive;
            if holder.thread == thread || holder.depth == 0 || !excludes {
                continue;
            }
            let events = &self.rules.threads[holder.thread as usize];
            if let (Some(section), Some(&last)) = (holder.sections.last_mut(), events.last()) {
                section.1 = events.len() as u32;
                let held = Held {
                    lock: taken.lock,
                    exclusive: holder.exclusive,
                };
                self.rules.events[last as usize].yields.push(held);
                self.waiting.entry(holder.thread).or_default().push(held);
            }
            holder.depth = 0;
        }
    }
}

fn join_all<'p>(after: &mut Vec<Place>, places: impl IntoIterator<Item = &'p Place>) {
    for place in places {
        place.join(after);
    }
}
