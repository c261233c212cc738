//! What can be found in all runs of a small trace, by looking at each of them. It knows no clocks, sections or closures.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use portent_findings::Model;
use portent_monitor_core::{Event, LockId, Mark, Op, ThreadId, VarId};
use portent_testing::{RunModel, Runs};

/// The model of runs by which the findings of a model are defined.
pub(crate) fn runs_of(model: Model) -> RunModel {
    match model {
        Model::HappensBefore => RunModel::HappensBefore,
        Model::Strong => RunModel::Strong,
    }
}

/// The sets of events, as bits, that runs of a trace have done.
pub(crate) struct AllRuns<'e> {
    events: &'e [Event],
    runs: Runs<'e>,
    pub(crate) reached: HashSet<u64>,
}

impl<'e> AllRuns<'e> {
    pub(crate) fn new(events: &'e [Event], model: RunModel) -> AllRuns<'e> {
        let runs = Runs::new(events, model);
        AllRuns {
            events,
            reached: runs.reached(),
            runs,
        }
    }

    /// The same, of which no set was asked for.
    pub(crate) fn of(runs: &Runs<'e>) -> AllRuns<'e> {
        AllRuns {
            events: runs.events(),
            runs: runs.clone(),
            reached: HashSet::new(),
        }
    }

    /// Who holds a lock, and whether exclusively.
    pub(crate) fn holders(&self, done: u64, lock: LockId) -> BTreeSet<(ThreadId, bool)> {
        let mut holds: Vec<(ThreadId, bool)> = Vec::new();
        for index in (0..self.events.len()).filter(|&index| done >> index & 1 == 1) {
            let event = &self.events[index];
            let (other, exclusive, takes) = match event.op {
                Op::Lock(other) | Op::Wait(_, Some(other)) => (other, true, true),
                Op::Unlock(other) | Op::Waiting(_, Some(other)) => (other, true, false),
                Op::ReadLock(other) => (other, false, true),
                Op::ReadUnlock(other) => (other, false, false),
                _ => continue,
            };
            let hold = (event.thread, exclusive);
            match { holds.iter() }.position(|&other| other == hold) {
                _ if other != lock => {}
                _ if takes => holds.push(hold),
                Some(index) => drop(holds.remove(index)),
                None => panic!("{event:?} gives back what it has not"),
            }
        }
        holds.into_iter().collect()
    }

    /// All pairs of events that race, with the number of variables on which they do.
    pub(crate) fn races(&self) -> BTreeMap<[usize; 2], u64> {
        let mut races = BTreeMap::new();
        let next: BTreeSet<u64> = { self.reached.iter() }
            .map(|&done| self.runs.next(done))
            .collect();
        for later in 0..self.events.len() {
            for earlier in 0..later {
                let [one, other] = [earlier, later].map(|index| &self.events[index]);
                let both_next = |&next: &u64| next >> earlier & next >> later & 1 == 1;
                let vars = racy_vars(one, other);
                if one.thread != other.thread && vars > 0 && next.iter().any(both_next) {
                    races.insert([earlier, later], vars);
                }
            }
        }
        races
    }

    /// Whether these two race if both are next after others.
    pub(crate) fn is_race_at(&self, done: u64, [one, other]: [usize; 2]) -> bool {
        self.events[one].thread != self.events[other].thread
            && racy_vars(&self.events[one], &self.events[other]) > 0
            && self.runs.is_next(done, one)
            && self.runs.is_next(done, other)
    }

    /// Whether the observed run comes to where two events are next.
    pub(crate) fn is_observed(&self, [one, other]: [usize; 2]) -> bool {
        let is_so = |count: usize| {
            let done = (1 << count) - 1;
            self.runs.is_next(done, one) && self.runs.is_next(done, other)
        };
        (0..self.events.len()).any(is_so)
    }

    /// All sets of acquires that a run can come to, each of which waits for the next.
    pub(crate) fn deadlocks(&self) -> BTreeSet<Vec<usize>> {
        let at = |&done: &u64| self.deadlocks_at(done);
        self.reached.iter().flat_map(at).collect()
    }

    /// Those among the events that are next after others.
    pub(crate) fn deadlocks_at(&self, done: u64) -> BTreeSet<Vec<usize>> {
        let next = self.runs.next(done);
        let waits: Vec<(usize, LockId, BTreeSet<ThreadId>)> = { 0..self.events.len() }
            .filter(|&index| next >> index & 1 == 1)
            .filter_map(|index| self.wait(done, index))
            .collect();
        let mut deadlocks = BTreeSet::new();
        let mut paths: Vec<Vec<usize>> = (0..waits.len()).map(|index| vec![index]).collect();
        while let Some(path) = paths.pop() {
            let waits_for = |index: usize, other: usize| {
                waits[index].2.contains(&self.events[waits[other].0].thread)
            };
            let last = *path.last().expect("not empty");
            if path.len() > 1 && waits_for(last, path[0]) {
                let mut set: Vec<usize> = path.iter().map(|&index| waits[index].0).collect();
                set.sort_unstable();
                deadlocks.insert(set);
            }
            for other in 0..waits.len() {
                let is_fresh = path.iter().all(|&index| waits[index].1 != waits[other].1);
                if is_fresh && waits_for(last, other) {
                    let mut longer = path.clone();
                    longer.push(other);
                    paths.push(longer);
                }
            }
        }
        deadlocks
    }

    /// The lock that an event waits for, and who holds it.
    fn wait(&self, done: u64, index: usize) -> Option<(usize, LockId, BTreeSet<ThreadId>)> {
        let event = &self.events[index];
        let mut later = self.events[index + 1..].iter();
        let (lock, exclusive) = match event.op {
            _ if event.mark == Some(Mark::Try) => return None,
            Op::Lock(lock) | Op::Wait(_, Some(lock)) => (lock, true),
            Op::ReadLock(lock) => (lock, false),
            Op::Request(lock) if later.all(|other| other.thread != event.thread) => (lock, false),
            _ => return None,
        };
        let holders = self.holders(done, lock);
        // Who has it already does not wait for others.
        let has_it = holders.iter().any(|(thread, _)| *thread == event.thread);
        let excluding = holders.iter().filter(|(_, theirs)| exclusive || *theirs);
        let threads: BTreeSet<ThreadId> = excluding.map(|(thread, _)| *thread).collect();
        (!has_it && !threads.is_empty()).then_some((index, lock, threads))
    }
}

/// The variables that an event accesses, and whether it reads, writes or updates them.
fn accesses(event: &Event) -> Vec<(VarId, u8)> {
    match event.op {
        Op::Read(var) => vec![(var, 0)],
        Op::Update(var, _) => vec![(var, 2)],
        _ => event.writes().map(|(var, _)| (var, 1)).collect(),
    }
}

/// On how many variables two accesses are a race if nothing keeps them apart.
fn racy_vars(one: &Event, other: &Event) -> u64 {
    if [one, other]
        .iter()
        .any(|event| event.mark == Some(Mark::Atomic))
    {
        return 0;
    }
    let theirs = accesses(other);
    let mut vars: Vec<VarId> = { accesses(one).into_iter() }
        .filter(|(var, kind)| {
            let mut same = theirs.iter().filter(|(theirs, _)| theirs == var);
            same.any(|(_, theirs)| kind != theirs || *kind == 1)
        })
        .map(|(var, _)| var)
        .collect();
    vars.sort_unstable();
    vars.dedup();
    vars.len() as u64
}
