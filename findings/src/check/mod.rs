//! Checks a witness by replaying it: is this a run of the same program, and does it end as claimed?
//!
//! It is independent of how the witness was found. A run may stop anywhere, but its events must be as observed: those of each
//! thread in their order, every read after the write that it saw, no lock held by two threads, and all [hard](self) order kept:
//! fork, join, messages, wake-ups, barriers, lines that a clock counts. A block that is not atomic is a statement about the
//! observed run, so only the cycle of its transactions is checked.

mod hard;

use portent_monitor_core::{
    Event, Id, LockAction, LockId, Locking, Mark, Marker, Object, Op, ThreadId, edges,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

use self::hard::{Objects, Tries};
use crate::{
    record::{AccessKind, EventId, Record},
    run::Run,
};

/// The claimed end of a run: these events are next in their threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Two accesses of one variable.
    Race([EventId; 2]),
    /// Each is about to take a lock that the next of them holds.
    Deadlock(Vec<EventId>),
}

/// Why a run is invalid, or does not end as claimed.
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
    /// The claim about the end is false.
    #[error("the run does not end as claimed")]
    NotAsClaimed,
}

/// The data of a trace that is needed to check runs of it.
#[derive(Clone, Debug)]
pub struct Checker<'r> {
    record: &'r Record,
    /// The write that each event read.
    seen: Vec<Written>,
    /// What each event comes after, other than through variables and locks.
    after: FxHashMap<EventId, Vec<EventId>>,
    /// The failed tries that a holder of the lock explains.
    explained: FxHashSet<EventId>,
    /// The outermost blocks of each thread, as the first and the last event of each.
    blocks: Vec<Vec<[EventId; 2]>>,
    /// The state of the observed run after some of its events: most runs begin with these.
    observed: RefCell<Observed>,
}

#[derive(Clone, Debug, Default)]
struct Observed {
    events: usize,
    state: State,
}

/// Runs checked one after the other may begin with shorter parts of the observed run than before, but rarely shorter by more
/// than this.
const BEHIND: usize = 4096;

/// The last write of a variable, stored compactly: one more than its number, or 0 if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Written(u32);

impl Written {
    fn by(id: EventId) -> Written {
        // No event has the highest number.
        Written(id.index() as u32 + 1)
    }
}

impl<'r> Checker<'r> {
    /// Reads the whole trace.
    pub fn new(record: &'r Record) -> Checker<'r> {
        let mut checker = Checker {
            record,
            seen: vec![Written::default(); record.len()],
            after: FxHashMap::default(),
            explained: FxHashSet::default(),
            blocks: Vec::new(),
            observed: RefCell::default(),
        };
        let mut state = State::default();
        let mut tries = Tries::default();
        let mut depths: Vec<u32> = Vec::new();
        let mut last: Vec<Written> = Vec::new();
        let mut objects = Objects::default();
        for id in record.ids() {
            let event = record.event(id);
            if let Some(var) = event.reads() {
                checker.seen[id.index()] = *var.entry(&mut last);
            }
            for (var, _) in event.writes() {
                *var.entry(&mut last) = Written::by(id);
            }
            let is_explained = state.is_taken(&event);
            if is_explained {
                checker.explained.insert(id);
            }
            // Whether the trace itself takes a lock twice is not judged here.
            let _ = state.hold(id, &event);
            if let Op::Marker(marker, Some(_)) = event.op {
                let depth = event.thread.entry(&mut depths);
                checker.mark(id, event.thread, marker, depth);
            }
            let mut after = objects.after(id, &event, record);
            after.extend(tries.after(id, &event, is_explained));
            if !after.is_empty() {
                checker.after.insert(id, after);
            }
        }
        checker
    }

    /// A block begins or ends.
    fn mark(&mut self, id: EventId, thread: ThreadId, marker: Marker, depth: &mut u32) {
        let blocks = thread.entry(&mut self.blocks);
        match marker {
            Marker::Begin => {
                *depth += 1;
                if *depth == 1 {
                    let end = self.record.of_thread(thread).last();
                    blocks.push([id, end.copied().unwrap_or(id)]);
                }
            }
            Marker::End => {
                if *depth == 1
                    && let Some([_, end]) = blocks.last_mut()
                {
                    *end = id;
                }
                *depth = depth.saturating_sub(1);
            }
        }
    }

    /// The first event of the transaction of an event: an outermost block, or any other single event.
    fn transaction(&self, id: EventId) -> EventId {
        let blocks = self.blocks.get(self.record.thread(id).index());
        let blocks = blocks.map_or(&[][..], Vec::as_slice);
        let begun = blocks.partition_point(|&[begin, _]| begin <= id);
        match begun.checked_sub(1).map(|last| blocks[last]) {
            Some([begin, end]) if id <= end => begin,
            _ => id,
        }
    }

    /// Replays a run.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self, run: &[EventId], claim: &Claim) -> Result<(), Flaw> {
        self.check_run(&Run::from(run), claim)
    }

    /// The current cost of replaying a run, in steps.
    pub(crate) fn steps(&self, run: &Run) -> usize {
        let carried_out = self.observed.borrow().events;
        let carried_out = if carried_out <= run.observed {
            carried_out
        } else {
            0
        };
        run.len() - carried_out
    }

    /// The state of a run after this many events of the observed one.
    fn after_observed(&self, events: usize) -> Result<State, Flaw> {
        let mut observed = self.observed.take();
        if observed.events > events {
            observed = Observed::default();
        }
        let behind = events.saturating_sub(BEHIND).max(observed.events);
        for id in EventId::range(observed.events..behind) {
            self.step(id, &mut observed.state)?;
        }
        observed.events = behind;
        let mut state = observed.state.clone();
        self.observed.replace(observed);
        for id in EventId::range(behind..events) {
            self.step(id, &mut state)?;
        }
        Ok(state)
    }

    pub(crate) fn check_run(&self, run: &Run, claim: &Claim) -> Result<(), Flaw> {
        let mut state = self.after_observed(run.observed)?;
        for &id in &run.rest {
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

    /// Whether the block that begins with an event of the observed run is in this cycle of its transactions. In each pair, the
    /// first event comes before the second because of these two events, and the second belongs to the same transaction as the
    /// first of the next pair.
    ///
    /// # Errors
    ///
    /// [`Flaw::NotAsClaimed`], or [`Flaw::TooEarly`] if nothing orders a pair.
    pub fn check_cycle(&self, begin: EventId, cycle: &[[EventId; 2]]) -> Result<(), Flaw> {
        let of = |id: EventId| self.transaction(id);
        let nexts = cycle.iter().cycle().skip(1);
        let goes_on = |(pair, next): (&[EventId; 2], &[EventId; 2])| {
            of(pair[0]) != of(pair[1]) && of(pair[1]) == of(next[0])
        };
        let mut all = cycle.iter();
        if !all.any(|pair| of(pair[0]) == begin) || !cycle.iter().zip(nexts).all(goes_on) {
            return Err(Flaw::NotAsClaimed);
        }
        match cycle
            .iter()
            .find(|pair| !self.comes_before(pair[0], pair[1]))
        {
            Some(&[one, other]) => Err(Flaw::TooEarly(other, one)),
            None => Ok(()),
        }
    }

    /// Whether an event comes before another because of these two, or because of a later event in the first one's thread; or
    /// because of events of several threads in between.
    fn comes_before(&self, one: EventId, other: EventId) -> bool {
        let mut looked_at: FxHashSet<EventId> = FxHashSet::default();
        let mut open = vec![other];
        while let Some(later) = open.pop() {
            if self.comes_directly_before(one, later) {
                return true;
            }
            for &needed in self.after.get(&later).into_iter().flatten() {
                let is_joint = !self.record.event(needed).partners().is_empty();
                if is_joint && needed > one && looked_at.insert(needed) {
                    open.push(needed);
                }
            }
        }
        false
    }

    fn comes_directly_before(&self, one: EventId, other: EventId) -> bool {
        let place = self.record.place(one);
        let is_followed_by = |&needed: &EventId| {
            let needed = self.record.place(needed);
            needed.thread == place.thread && needed.position >= place.position
        };
        let [earlier, later] = [one, other].map(|id| self.record.event(id));
        let mut conflict = false;
        edges(&earlier, |object, access| {
            if let Object::Var(_) | Object::Lock(_) = object {
                edges(&later, |theirs, next| {
                    conflict |= object == theirs && access.orders(next);
                });
            }
        });
        let has_common = { earlier.threads() }.any(|own| later.threads().any(|t| t == own));
        let mut after = self.after.get(&other).into_iter().flatten();
        one < other && (conflict || has_common || after.any(is_followed_by))
    }

    fn step(&self, id: EventId, state: &mut State) -> Result<(), Flaw> {
        let place = self.record.place(id);
        let done = place.thread.entry(&mut state.done);
        if place.position != *done + 1 {
            return Err(Flaw::OutOfTurn(id));
        }
        *done += 1;
        for &needed in self.after.get(&id).into_iter().flatten() {
            if !state.has(self.record, needed) {
                return Err(Flaw::TooEarly(id, needed));
            }
        }
        // Most events are of this kind.
        if let Some((var, kind)) = self.record.access(id) {
            let last = var.entry(&mut state.last);
            if kind != AccessKind::Write && *last != self.seen[id.index()] {
                return Err(Flaw::OtherWrite(id));
            }
            if kind != AccessKind::Read {
                *last = Written::by(id);
            }
            return Ok(());
        }
        let event = self.record.event(id);
        if let Some(var) = event.reads()
            && *var.entry(&mut state.last) != self.seen[id.index()]
        {
            return Err(Flaw::OtherWrite(id));
        }
        for (var, _) in event.writes() {
            *var.entry(&mut state.last) = Written::by(id);
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

    /// Whether each waits for a lock that the next holds, and all these locks are distinct.
    fn is_deadlock(&self, events: &[EventId], state: &State) -> bool {
        let holders = events.iter().map(|&id| self.record.thread(id));
        let mut locks: Vec<LockId> = Vec::new();
        let waits = |(&id, holder): (&EventId, ThreadId)| {
            let waited = self.waits_for(id, holder, state);
            locks.extend(waited);
            waited.is_some()
        };
        let all_wait = events.iter().zip(holders.cycle().skip(1)).all(waits);
        locks.sort_unstable();
        locks.dedup();
        all_wait && events.len() > 1 && locks.len() == events.len()
    }

    /// The lock that an event cannot take because a thread holds it.
    fn waits_for(&self, id: EventId, holder: ThreadId, state: &State) -> Option<LockId> {
        let event = self.record.event(id);
        let is_last = || self.record.of_thread(event.thread).last() == Some(&id);
        let (lock, exclusive) = match (event.op.locking(), &event.op) {
            _ if event.mark == Some(Mark::Try) => return None,
            (Some(taken), _) if taken.action.acquires() => (taken.lock, taken.exclusive),
            // It may be a reader's.
            (None, Op::Request(lock)) if is_last() => (*lock, false),
            _ => return None,
        };
        let holders = state.held.get(lock.index()).map_or(&[][..], Vec::as_slice);
        // A thread that already holds the lock does not wait.
        let has_it = holders.iter().any(|(thread, _)| *thread == event.thread);
        let excludes =
            |&(thread, theirs): &(ThreadId, bool)| thread == holder && (exclusive || theirs);
        (!has_it && holders.iter().any(excludes)).then_some(lock)
    }
}

/// The state of a run.
#[derive(Clone, Debug, Default)]
struct State {
    /// The number of events of each thread that have happened.
    done: Vec<u32>,
    /// The last write of each variable.
    last: Vec<Written>,
    /// The holders of each lock, one entry for each time it was taken; and whether exclusively.
    held: Vec<Vec<(ThreadId, bool)>>,
}

impl State {
    fn has(&self, record: &Record, id: EventId) -> bool {
        let place = record.place(id);
        let done = self.done.get(place.thread.index());
        done.is_some_and(|&done| place.position <= done)
    }

    /// Whether an event fails to take a lock that is held.
    fn is_taken(&self, event: &Event) -> bool {
        let locking = event.op.locking();
        let tried = locking.filter(|locking| locking.action == LockAction::Fail);
        let holders = tried.and_then(|tried| self.held.get(tried.lock.index()));
        { holders.into_iter().flatten() }.any(|&(_, exclusive)| exclusive)
    }

    fn hold(&mut self, id: EventId, event: &Event) -> Result<(), Flaw> {
        let Some(Locking {
            lock,
            exclusive,
            action,
        }) = event.op.locking()
        else {
            return Ok(());
        };
        let holders = lock.entry(&mut self.held);
        let own = (event.thread, exclusive);
        let mut others = holders.iter().filter(|(thread, _)| *thread != event.thread);
        let is_held = others.any(|(_, theirs)| exclusive || *theirs);
        match action {
            LockAction::Release => {
                if let Some(index) = holders.iter().position(|&holder| holder == own) {
                    holders.swap_remove(index);
                }
            }
            LockAction::Fail => {}
            LockAction::Reacquire if holders.contains(&own) => {}
            _ if is_held => return Err(Flaw::LockHeld(id)),
            _ => holders.push(own),
        }
        Ok(())
    }
}
