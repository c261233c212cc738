//! Checks a witness by carrying it out: is this a run of the same program, and does it end as claimed?
//!
//! It knows nothing of how the witness was found. A run may stop anywhere, but what it has it has as observed: the events of each thread in
//! their order, every read after the write that it saw, no lock held by two, and what is [hard](self) after what it was after: fork, join,
//! messages, wake-ups, barriers, lines that a clock counts.

use portent_monitor_core::{Access, Event, Id, Mark, Object, Op, ThreadId, edges};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::record::{EventId, Record};

/// What a run is said to end in: these events are next in their threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Two accesses of one variable.
    Race([EventId; 2]),
    /// Each is about to take a lock that the next of them holds.
    Deadlock(Vec<EventId>),
}

/// Why a run is not one, or does not end as claimed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The events of a thread are not a prefix of it.
    #[error("event {0:?} is out of turn in its thread")]
    OutOfTurn(EventId),
    /// A lock is held by another thread.
    #[error("event {0:?} takes a lock that another holds")]
    LockHeld(EventId),
    /// A failed try finds its lock free.
    #[error("event {0:?} tries in vain to take a lock that is free")]
    LockFree(EventId),
    /// A read sees another write.
    #[error("event {0:?} reads another value")]
    OtherWrite(EventId),
    /// Something that it waits for has not happened.
    #[error("event {0:?} comes before {1:?}")]
    TooEarly(EventId, EventId),
    /// What is claimed of the end is not so.
    #[error("the run does not end as claimed")]
    NotAsClaimed,
}

/// What is to be known of a trace to check runs of it.
#[derive(Clone, Debug)]
pub struct Checker<'r> {
    record: &'r Record,
    /// The write that each event read, if it read one.
    seen: Vec<Option<EventId>>,
    /// What each event comes after, other than by variables and locks.
    after: FxHashMap<EventId, Vec<EventId>>,
    /// The failed tries that somebody who held the lock explains.
    explained: FxHashSet<EventId>,
}

impl<'r> Checker<'r> {
    /// Looks at the whole trace.
    pub fn new(record: &'r Record) -> Checker<'r> {
        let mut checker = Checker {
            record,
            seen: vec![None; record.len()],
            after: FxHashMap::default(),
            explained: FxHashSet::default(),
        };
        let mut state = State::default();
        let mut last: Vec<Option<EventId>> = Vec::new();
        let mut objects = Objects::default();
        for id in record.ids() {
            let event = record.event(id);
            if let Op::Read(var) | Op::Update(var, _) = event.op {
                checker.seen[id.index()] = *var.entry(&mut last);
            }
            for (var, _) in event.writes() {
                *var.entry(&mut last) = Some(id);
            }
            if state.is_taken(&event) {
                checker.explained.insert(id);
            }
            // That a lock is taken twice in the trace itself is not for here to judge.
            let _ = state.hold(id, &event);
            let after = objects.after(id, &event, record);
            if !after.is_empty() {
                checker.after.insert(id, after);
            }
        }
        checker
    }

    /// Carries a run out.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self, run: &[EventId], claim: &Claim) -> Result<(), Flaw> {
        let mut state = State::default();
        for &id in run {
            self.step(id, &mut state)?;
        }
        let (events, is_so) = match claim {
            Claim::Race(pair) => (pair.as_slice(), self.is_race(*pair)),
            Claim::Deadlock(events) => (events.as_slice(), self.is_deadlock(events, &state)),
        };
        let is_next = |&id: &EventId| self.is_next(id, &state);
        if is_so && events.iter().all(is_next) {
            Ok(())
        } else {
            Err(Flaw::NotAsClaimed)
        }
    }

    fn step(&self, id: EventId, state: &mut State) -> Result<(), Flaw> {
        let event = self.record.event(id);
        let done = event.thread.entry(&mut state.done);
        if self.record.place(id).position != *done + 1 {
            return Err(Flaw::OutOfTurn(id));
        }
        *done += 1;
        for &needed in self.after.get(&id).into_iter().flatten() {
            if !state.has(self.record, needed) {
                return Err(Flaw::TooEarly(id, needed));
            }
        }
        if let Op::Read(var) | Op::Update(var, _) = event.op
            && *var.entry(&mut state.last) != self.seen[id.index()]
        {
            return Err(Flaw::OtherWrite(id));
        }
        for (var, _) in event.writes() {
            *var.entry(&mut state.last) = Some(id);
        }
        if self.explained.contains(&id) && !state.is_taken(&event) {
            return Err(Flaw::LockFree(id));
        }
        state.hold(id, &event)
    }

    /// Whether everything has happened that the thread did before it, or awaited.
    fn is_next(&self, id: EventId, state: &State) -> bool {
        let place = self.record.place(id);
        let done = state.done.get(place.thread.index()).copied().unwrap_or(0);
        let needs = self.after.get(&id).into_iter().flatten();
        done + 1 == place.position && { needs }.all(|&needed| state.has(self.record, needed))
    }

    fn is_race(&self, [one, other]: [EventId; 2]) -> bool {
        let [one, other] = [one, other].map(|id| self.record.event(id));
        let plain = |event: &Event| event.mark != Some(Mark::Atomic);
        let is_write = |event: &Event| !matches!(event.op, Op::Read(_) | Op::Update(..));
        let is_update = |event: &Event| matches!(event.op, Op::Update(..));
        let vars = |event: &Event| match event.op {
            Op::Read(var) => vec![var],
            _ => event.writes().map(|(var, _)| var).collect(),
        };
        let theirs = vars(&other);
        let differ = is_write(&one) || is_write(&other) || is_update(&one) != is_update(&other);
        let same = vars(&one).iter().any(|var| theirs.contains(var));
        one.thread != other.thread && plain(&one) && plain(&other) && differ && same
    }

    fn is_deadlock(&self, events: &[EventId], state: &State) -> bool {
        let threads = events.iter().map(|&id| self.record.thread(id));
        events.len() > 1
            && events
                .iter()
                .zip(threads.cycle().skip(1))
                .all(|(&id, holder)| {
                    let event = self.record.event(id);
                    let (lock, exclusive) = match event.op {
                        Op::Lock(lock) | Op::Request(lock) | Op::Wait(_, Some(lock)) => {
                            (lock, true)
                        }
                        Op::ReadLock(lock) => (lock, false),
                        _ => return false,
                    };
                    let holders = state.held.get(lock.index()).into_iter().flatten();
                    let excludes = |&(thread, theirs): &(ThreadId, bool)| {
                        thread == holder && (exclusive || theirs)
                    };
                    event.mark != Some(Mark::Try) && { holders }.any(excludes)
                })
    }
}

/// Where a run stands.
#[derive(Default)]
struct State {
    /// How many events of each thread have happened.
    done: Vec<u32>,
    /// The last write of each variable.
    last: Vec<Option<EventId>>,
    /// Who holds each lock, once for each time; and whether exclusively.
    held: Vec<Vec<(ThreadId, bool)>>,
}

impl State {
    fn has(&self, record: &Record, id: EventId) -> bool {
        let place = record.place(id);
        let done = self.done.get(place.thread.index());
        done.is_some_and(|&done| place.position <= done)
    }

    /// Whether an event fails to take a lock that another holds.
    fn is_taken(&self, event: &Event) -> bool {
        let Op::TryLock(lock) = event.op else {
            return false;
        };
        let mut holders = self.held.get(lock.index()).into_iter().flatten();
        holders.any(|&(thread, exclusive)| thread != event.thread && exclusive)
    }

    fn hold(&mut self, id: EventId, event: &Event) -> Result<(), Flaw> {
        let (lock, exclusive) = match event.op {
            Op::Lock(lock) | Op::Unlock(lock) | Op::TryLock(lock) => (lock, true),
            Op::Wait(_, Some(lock)) | Op::Waiting(_, Some(lock)) => (lock, true),
            Op::ReadLock(lock) | Op::ReadUnlock(lock) => (lock, false),
            _ => return Ok(()),
        };
        let holders = lock.entry(&mut self.held);
        let own = (event.thread, exclusive);
        let mut others = holders.iter().filter(|(thread, _)| *thread != event.thread);
        let is_held = others.any(|(_, theirs)| exclusive || *theirs);
        match event.op {
            Op::Unlock(_) | Op::ReadUnlock(_) | Op::Waiting(..) => {
                if let Some(index) = holders.iter().position(|&holder| holder == own) {
                    holders.swap_remove(index);
                }
            }
            Op::TryLock(_) => {}
            Op::Wait(..) if holders.contains(&own) => {}
            _ if is_held => return Err(Flaw::LockHeld(id)),
            _ => holders.push(own),
        }
        Ok(())
    }
}

/// What was done with each object, for those who come after it.
#[derive(Default)]
struct Objects {
    done: FxHashMap<Object, Vec<(EventId, Access)>>,
    /// In a trace with clocks, the lines of each thread.
    lines: FxHashMap<ThreadId, Vec<(u32, EventId)>>,
    /// What the next event of a thread comes after.
    awaited: FxHashMap<ThreadId, Vec<EventId>>,
    forks: FxHashMap<ThreadId, EventId>,
    /// The rounds and deliveries that threads wait for.
    awaits: FxHashMap<ThreadId, Object>,
    sends: FxHashMap<Object, usize>,
}

impl Objects {
    fn after(&mut self, id: EventId, event: &Event, record: &Record) -> Vec<EventId> {
        let mut after: Vec<EventId> = Vec::new();
        for thread in event.threads() {
            after.extend(self.forks.get(&thread));
            after.extend(self.awaited.remove(&thread).into_iter().flatten());
            if let Some(object) = self.awaits.remove(&thread) {
                after.extend(self.contributions(object));
            }
            // What the others of an event of several threads did before.
            if thread != event.thread {
                let done = record
                    .of_thread(thread)
                    .partition_point(|&other| other < id);
                after.extend(record.of_thread(thread)[..done].last());
                self.awaited.insert(thread, vec![id]);
            }
        }
        edges(event, |object, access| match (object, access) {
            (Object::Var(_) | Object::Lock(_), _) => {}
            (Object::Thread(child), Access::Contribute) => {
                self.forks.insert(child, id);
            }
            (Object::Thread(child), _) => {
                let of_child = record.of_thread(child);
                let done = of_child.partition_point(|&other| other < id);
                after.extend(of_child[..done].last());
                after.extend(self.forks.get(&child));
                if let Some(object) = self.awaits.get(&child) {
                    after.extend(self.contributions(*object));
                }
                after.extend(self.awaited.get(&child).into_iter().flatten());
            }
            (_, Access::Await) => {
                self.awaits.insert(event.thread, object);
            }
            (Object::Room(_, capacity), Access::Observe) => {
                let sent = self.sends.entry(object).or_default();
                *sent += 1;
                let needed = sent.saturating_sub(capacity as usize);
                // The receives before it are ordered.
                let last = needed.checked_sub(1);
                let received = self.done.get(&object).zip(last);
                after.extend(
                    received
                        .and_then(|(all, last)| all.get(last))
                        .map(|&(id, _)| id),
                );
            }
            (Object::Lines(thread, count), Access::Observe) => {
                let lines = self.lines.get(&thread).map_or(&[][..], Vec::as_slice);
                let counted = lines.partition_point(|&(line, _)| line <= count);
                after.extend(lines[..counted].last().map(|&(_, id)| id));
            }
            _ => {
                let done = self.done.get(&object).into_iter().flatten();
                let before = done.filter(|(_, earlier)| earlier.orders(access));
                after.extend(before.map(|&(id, _)| id));
            }
        });
        edges(event, |object, access| match object {
            Object::Var(_) | Object::Lock(_) | Object::Thread(_) => {}
            Object::Lines(thread, line) if access == Access::Contribute => {
                self.lines.entry(thread).or_default().push((line, id));
            }
            Object::Lines(..) => {}
            Object::Room(..) if access == Access::Observe => {}
            Object::Room(..) => self.done.entry(object).or_default().push((id, access)),
            _ => {
                // What the same thread did there before comes before this anyway, and so does everything before an update.
                let done = self.done.entry(object).or_default();
                let same = |&(other, earlier): &(EventId, Access)| {
                    access == Access::Update
                        || (earlier == access && record.thread(other) == event.thread)
                };
                done.retain(|entry| !same(entry));
                done.push((id, access));
            }
        });
        after.retain(|&other| other != id);
        after
    }

    fn contributions(&self, object: Object) -> impl Iterator<Item = EventId> {
        let done = self.done.get(&object).into_iter().flatten();
        let given = done.filter(|(_, access)| *access == Access::Contribute);
        given.map(|&(id, _)| id)
    }
}
