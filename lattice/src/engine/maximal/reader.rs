//! Reads the demands of a trace off its events, one by one in observed order.
//!
//! The predecessors of an event are found with the same table of edges as for happens-before
//! ([`portent_monitor_core::edges`]), except for variables, locks and channels that are found empty: there, the model
//! demands less.

use portent_monitor_core::{
    Event, Flow, Knowledge, LockAction, LockId, Locking, Object, Op, ThreadId, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    channel::SeenChannels,
    prerequisites::Prerequisites,
    rules::{Demands, HeldLock, Lock, Place, Read, Rules, Section, Variable, Write},
};

/// The needs of events are not worth more bytes than this.
const MOST_PREREQUISITES: u64 = 1 << 28;

/// The rules so far, and what later events may refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct RulesReader {
    rules: Rules,
    threads: FxHashMap<ThreadId, u32>,
    variables: FxHashMap<VarId, u32>,
    locks: FxHashMap<LockId, u32>,
    /// The current holders of each lock.
    holding: Vec<Holders>,
    /// The locks that threads released in a wait, and take again with their next event.
    waiting: FxHashMap<u32, Vec<HeldLock>>,
    flow: Flow<ThreadPlaces>,
    tries: FxHashMap<u32, Tries>,
    channels: SeenChannels,
}

/// The holder of a lock, and how often it took it.
#[derive(Clone, Debug, Default)]
struct Holders {
    depths: FxHashMap<(u32, bool), u32>,
    exclusive: FxHashSet<u32>,
    shared: FxHashSet<u32>,
}

impl Holders {
    fn side(&mut self, exclusive: bool) -> &mut FxHashSet<u32> {
        if exclusive {
            &mut self.exclusive
        } else {
            &mut self.shared
        }
    }

    fn depth(&mut self, thread: u32, exclusive: bool) -> &mut u32 {
        self.depths.entry((thread, exclusive)).or_default()
    }
}

/// The exclusive operations on a lock, and its failed tries that no holder explains: their order is kept.
#[derive(Clone, Debug, Default)]
struct Tries {
    /// The last exclusive operation of each thread on the lock.
    operations: FxHashMap<u32, u32>,
    /// The last such try of each thread.
    unexplained: Vec<Place>,
}

/// The predecessors of a thread's next event, apart from the thread's own events, and the thread's
/// position.
#[derive(Clone, Debug)]
struct ThreadPlaces {
    here: Option<Place>,
    after: Vec<Place>,
}

impl Knowledge for ThreadPlaces {
    type Published = Vec<Place>;

    fn new(_: ThreadId) -> ThreadPlaces {
        ThreadPlaces {
            here: None,
            after: Vec::new(),
        }
    }

    fn travels(object: Object) -> bool {
        !matches!(
            object,
            Object::Var(_) | Object::Lock(_) | Object::Channel(_)
        )
    }

    fn is_empty(left: &Vec<Place>) -> bool {
        left.is_empty()
    }

    fn learn(&mut self, left: &Vec<Place>) {
        for place in left {
            place.join(&mut self.after);
        }
    }

    fn add_to(&mut self, left: &mut Vec<Place>) {
        for place in self.after.iter().chain(&self.here) {
            place.join(left);
        }
    }

    fn merge(&mut self, left: &Vec<Place>, into: &mut Vec<Place>) {
        for place in left {
            place.join(into);
        }
    }

    fn left(&mut self) -> Vec<Place> {
        let mut left = Vec::new();
        self.add_to(&mut left);
        left
    }

    fn is_same(&self, _: &Vec<Place>) -> bool {
        false
    }
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
        let mut after = self.flow.step(event, |places| {
            places.here = Some(here);
            std::mem::take(&mut places.after)
        });
        after.retain(|place| place.thread != thread);
        let mut demands = Demands {
            thread,
            position: here.position,
            after: after.into(),
            ..Demands::default()
        };
        self.hold(here, &event.op, &mut demands);
        self.access(index, here, event, &mut demands);
        self.channels.read(index, event);
        self.rules.events.push(demands);
    }

    /// The trace has ended; the needs of its events are computed if they fit in a part of this many bytes.
    pub(crate) fn finish(self, memory: u64) -> Rules {
        let mut rules = self.rules;
        rules.compare_writers();
        self.channels.finish(&mut rules);
        if Prerequisites::bytes(&rules) <= MOST_PREREQUISITES.min(memory / 4) {
            rules.prerequisites = Some(Prerequisites::new(&rules));
        }
        rules
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

    fn lock(&mut self, lock: LockId) -> u32 {
        let fresh = self.locks.len() as u32;
        let number = *self.locks.entry(lock).or_insert(fresh);
        if number == fresh {
            self.rules.locks.push(Lock::default());
            self.holding.push(Holders::default());
        }
        number
    }

    fn access(&mut self, index: u32, here: Place, event: &Event, demands: &mut Demands) {
        if let Some(variable) = event.reads() {
            let number = self.variable(variable);
            let variable = &mut self.rules.variables[number as usize];
            let write = variable.writes.len() as u32;
            let place = variable.writes.last();
            demands.reads = [Read {
                variable: number,
                write,
                place: place.map(|&event| self.rules.events[event as usize].place()),
            }]
            .into();
            variable.readers.push(here.thread, (here.position, write));
        }
        let mut writes: Vec<Write> = Vec::new();
        for (variable, _) in event.writes() {
            let number = self.variable(variable);
            if writes.iter().any(|write| write.variable == number) {
                continue;
            }
            let variable = &mut self.rules.variables[number as usize];
            variable.writes.push(index);
            variable.writers.push(here.thread, here.position);
            writes.push(Write {
                variable: number,
                number: variable.writes.len() as u32,
                is_read: false,
            });
        }
        demands.writes = writes.into();
    }

    /// Keeps track of the locks.
    fn hold(&mut self, here: Place, op: &Op, demands: &mut Demands) {
        let mut takes = self.waiting.remove(&here.thread).unwrap_or_default();
        for &held in &takes {
            self.begin(here, held);
        }
        let Some(Locking {
            lock,
            exclusive,
            action,
        }) = op.locking()
        else {
            demands.takes = takes.into();
            return;
        };
        let lock = self.lock(lock);
        let this = HeldLock { lock, exclusive };
        match action {
            LockAction::Reacquire
                if *self.holding[lock as usize].depth(here.thread, exclusive) > 0 => {}
            LockAction::Acquire | LockAction::Reacquire => {
                self.take(here, this);
                takes.push(this);
            }
            LockAction::Release => {
                self.end(here, this);
                demands.releases = Some(this);
            }
            LockAction::Fail => self.fail(here, lock, demands),
        }
        if exclusive && action != LockAction::Fail {
            let order = self.tries.entry(lock).or_default();
            demands.add_after(&order.unexplained, here.thread);
            order.operations.insert(here.thread, here.position);
        }
        demands.takes = takes.into();
    }

    fn take(&mut self, here: Place, held: HeldLock) {
        self.suspend(here.thread, held);
        self.begin(here, held);
    }

    /// A failed try fails again because another thread holds the lock. If no holder was seen, or
    /// only readers, which happens-before does not order with it, it keeps its place among the
    /// exclusive operations on the lock.
    fn fail(&mut self, here: Place, lock: u32, demands: &mut Demands) {
        if self.holding[lock as usize].exclusive.is_empty() {
            let order = self.tries.entry(lock).or_default();
            let operations = order.operations.iter();
            let mut before: Vec<Place> = operations
                .map(|(&thread, &position)| Place { thread, position })
                .collect();
            before.sort_unstable_by_key(|place| place.thread);
            demands.add_after(&before, here.thread);
            here.join(&mut order.unexplained);
        } else {
            demands.tries = Some(lock);
            let tries = &mut self.rules.locks[lock as usize].tries;
            tries.push(here.thread, here.position);
        }
    }

    fn begin(&mut self, here: Place, held: HeldLock) {
        let holders = &mut self.holding[held.lock as usize];
        let depth = holders.depth(here.thread, held.exclusive);
        *depth += 1;
        if *depth == 1 {
            holders.side(held.exclusive).insert(here.thread);
            let section = Section {
                from: here.position,
                to: u32::MAX,
            };
            let lock = &mut self.rules.locks[held.lock as usize];
            lock.sections_mut(held.exclusive).push(here.thread, section);
        }
    }

    fn end(&mut self, here: Place, held: HeldLock) {
        let depth = self.holding[held.lock as usize].depth(here.thread, held.exclusive);
        match *depth {
            0 => {}
            1 => self.end_section(here, held),
            _ => *depth -= 1,
        }
    }

    /// A thread no longer holds a lock, however often it took it.
    fn end_section(&mut self, here: Place, held: HeldLock) {
        let holders = &mut self.holding[held.lock as usize];
        holders.depths.remove(&(here.thread, held.exclusive));
        holders.side(held.exclusive).remove(&here.thread);
        let lock = &mut self.rules.locks[held.lock as usize];
        let sections = lock.sections_mut(held.exclusive).of_mut(here.thread);
        if let Some(section) = sections.and_then(|sections| sections.last_mut()) {
            section.to = here.position;
        }
    }

    /// A lock held by another thread is taken: that thread must have released it without a line,
    /// as a wait does, and takes it again when it wakes up.
    fn suspend(&mut self, thread: u32, taken: HeldLock) {
        let holders = &self.holding[taken.lock as usize];
        let shared = holders.shared.iter().filter(|_| taken.exclusive);
        let mut held: Vec<(u32, bool)> = { holders.exclusive.iter().map(|&other| (other, true)) }
            .chain(shared.map(|&other| (other, false)))
            .filter(|&(other, _)| other != thread)
            .collect();
        held.sort_unstable();
        for (other, exclusive) in held {
            let held = HeldLock {
                lock: taken.lock,
                exclusive,
            };
            let events = &self.rules.threads[other as usize];
            let here = Place {
                thread: other,
                position: events.len() as u32,
            };
            if let Some(&last) = events.last() {
                self.rules.events[last as usize].yields.push(held);
                self.waiting.entry(other).or_default().push(held);
            }
            self.end_section(here, held);
        }
    }
}
