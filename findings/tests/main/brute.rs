//! All runs of a small trace, by trying every next event, for each of two models. It knows no clocks, sections or closures.

use std::collections::{BTreeSet, HashSet};

use portent_findings::Model;
use portent_monitor_core::{Event, LockId, Mark, Op, ThreadId, definition::Relation};

/// The sets of events, as bits, that runs of a trace have done.
pub(crate) struct AllRuns<'e> {
    events: &'e [Event],
    pub(crate) reached: HashSet<u64>,
}

impl<'e> AllRuns<'e> {
    pub(crate) fn new(events: &'e [Event], model: Model) -> AllRuns<'e> {
        assert!(events.len() <= 64);
        let relation = Relation::new(events);
        let mut runs = AllRuns {
            events,
            reached: HashSet::from([0]),
        };
        let mut open = vec![0u64];
        while let Some(done) = open.pop() {
            for next in 0..events.len() {
                let follows = match model {
                    Model::HappensBefore => {
                        let needs = |other: usize| relation.precedes(other, next);
                        (0..next).all(|other| !needs(other) || done >> other & 1 == 1)
                    }
                    Model::Strong => runs.can_follow(done, next),
                };
                let longer = done | 1 << next;
                if follows && longer != done && runs.reached.insert(longer) {
                    open.push(longer);
                }
            }
        }
        runs
    }

    /// Whether an event is the next of its thread, which has begun.
    pub(crate) fn is_next(&self, done: u64, event: usize) -> bool {
        let thread = self.events[event].thread;
        let before = (0..event).filter(|&other| {
            self.events[other].thread == thread || self.events[other].op == Op::Fork(thread)
        });
        done >> event & 1 == 0 && { before }.all(|other| done >> other & 1 == 1)
    }

    fn can_follow(&self, done: u64, next: usize) -> bool {
        let event = &self.events[next];
        let has = |other: usize| done >> other & 1 == 1;
        if !self.is_next(done, next) {
            return false;
        }
        if let Op::Join(child) = event.op {
            let life = |other: usize| {
                self.events[other].thread == child || self.events[other].op == Op::Fork(child)
            };
            if (0..next).any(|other| life(other) && !has(other)) {
                return false;
            }
        }
        // The write that it reads is there; one that came after that must not be.
        let var = match event.op {
            Op::Read(var) | Op::Update(var, _) => Some(var),
            _ => None,
        };
        let writes = |other: usize| match self.events[other].op {
            Op::Write(written, _) | Op::Update(written, _) => Some(written) == var,
            _ => false,
        };
        let seen = (0..next).rev().find(|&other| writes(other));
        if var.is_some() && seen.is_some_and(|seen| !has(seen)) {
            return false;
        }
        // Of two that conflict the order is as observed.
        if (next + 1..self.events.len())
            .any(|later| has(later) && conflict(event, &self.events[later]))
        {
            return false;
        }
        let (lock, exclusive) = match event.op {
            Op::Lock(lock) => (lock, true),
            Op::ReadLock(lock) => (lock, false),
            _ => return true,
        };
        let mut held = self.holders(done, lock).into_iter();
        !held.any(|(thread, theirs)| thread != event.thread && (exclusive || theirs))
    }

    /// Who holds a lock, and whether exclusively.
    fn holders(&self, done: u64, lock: LockId) -> BTreeSet<(ThreadId, bool)> {
        let mut holds: Vec<(ThreadId, bool)> = Vec::new();
        for index in (0..self.events.len()).filter(|&index| done >> index & 1 == 1) {
            let event = &self.events[index];
            match event.op {
                Op::Lock(other) if other == lock => holds.push((event.thread, true)),
                Op::ReadLock(other) if other == lock => holds.push((event.thread, false)),
                Op::Unlock(other) | Op::ReadUnlock(other) if other == lock => {
                    let hold = (event.thread, matches!(event.op, Op::Unlock(_)));
                    let index = holds.iter().position(|&other| other == hold);
                    holds.remove(index.expect("the trace is disciplined"));
                }
                _ => {}
            }
        }
        holds.into_iter().collect()
    }

    /// All pairs of accesses that race.
    pub(crate) fn races(&self) -> BTreeSet<[usize; 2]> {
        let mut races = BTreeSet::new();
        for later in 0..self.events.len() {
            for earlier in 0..later {
                let [one, other] = [earlier, later].map(|index| &self.events[index]);
                let both_next =
                    |&done: &u64| self.is_next(done, earlier) && self.is_next(done, later);
                if one.thread != other.thread
                    && is_race(one, other)
                    && self.reached.iter().any(both_next)
                {
                    races.insert([earlier, later]);
                }
            }
        }
        races
    }

    /// All sets of acquires that a run can come to, each of which waits for the next.
    pub(crate) fn deadlocks(&self) -> BTreeSet<Vec<usize>> {
        let mut deadlocks = BTreeSet::new();
        let is_last = |index: usize| {
            let thread = self.events[index].thread;
            self.events[index + 1..]
                .iter()
                .all(|event| event.thread != thread)
        };
        for &done in &self.reached {
            let wants = |index: usize| match self.events[index].op {
                Op::Lock(lock) if self.events[index].mark != Some(Mark::Try) => Some((lock, true)),
                Op::ReadLock(lock) if self.events[index].mark != Some(Mark::Try) => {
                    Some((lock, false))
                }
                Op::Request(lock) if is_last(index) => Some((lock, true)),
                _ => None,
            };
            let next = (0..self.events.len()).filter(|&index| self.is_next(done, index));
            let next: Vec<usize> = next.filter(|&index| wants(index).is_some()).collect();
            let waits = |index: usize, other: usize| {
                let (lock, exclusive) = wants(index).expect("it wants one");
                let holders = self.holders(done, lock);
                let own = self.events[index].thread;
                // Who has it already does not wait for others.
                !holders.iter().any(|(thread, _)| *thread == own)
                    && holders.iter().any(|&(thread, theirs)| {
                        thread == self.events[other].thread && (exclusive || theirs)
                    })
            };
            let mut paths: Vec<Vec<usize>> = next.iter().map(|&index| vec![index]).collect();
            while let Some(path) = paths.pop() {
                let last = *path.last().expect("not empty");
                if path.len() > 1 && waits(last, path[0]) {
                    let mut set = path.clone();
                    set.sort_unstable();
                    deadlocks.insert(set);
                }
                for &other in &next {
                    let lock = |index: usize| wants(index).map(|(lock, _)| lock);
                    let fresh = path.iter().all(|&index| lock(index) != lock(other));
                    if !path.contains(&other) && fresh && waits(last, other) {
                        let mut longer = path.clone();
                        longer.push(other);
                        paths.push(longer);
                    }
                }
            }
        }
        deadlocks
    }
}

fn conflict(one: &Event, other: &Event) -> bool {
    let var = |event: &Event| match event.op {
        Op::Read(var) => Some((var, false)),
        Op::Write(var, _) | Op::Update(var, _) => Some((var, true)),
        _ => None,
    };
    let lock = |event: &Event| match event.op {
        Op::Lock(lock) | Op::Unlock(lock) => Some((lock, true)),
        Op::ReadLock(lock) | Op::ReadUnlock(lock) => Some((lock, false)),
        _ => None,
    };
    let accesses =
        matches!((var(one), var(other)), (Some((a, w)), Some((b, v))) if a == b && (w || v));
    let sections =
        matches!((lock(one), lock(other)), (Some((a, w)), Some((b, v))) if a == b && (w || v));
    accesses || sections
}

fn is_race(one: &Event, other: &Event) -> bool {
    let kind = |event: &Event| match event.op {
        Op::Read(var) => Some((var, 0)),
        Op::Write(var, _) => Some((var, 1)),
        Op::Update(var, _) => Some((var, 2)),
        _ => None,
    };
    let is_atomic = |event: &Event| event.mark == Some(Mark::Atomic);
    match (kind(one), kind(other)) {
        (Some((a, of_one)), Some((b, of_other))) => {
            let both_alike = of_one == of_other && of_one != 1;
            a == b && !both_alike && !is_atomic(one) && !is_atomic(other)
        }
        _ => false,
    }
}
