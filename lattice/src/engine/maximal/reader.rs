//! Reads the demands of a trace off its events, one by one in observed order.
//!
//! What must come before what is followed along the same table of edges as happens-before is
//! ([`portent_monitor_core::edges`]), except through variables and locks: of those the model demands
//! less.

use portent_monitor_core::{Event, Flow, Knowledge, LockId, Object, Op, ThreadId, VarId};
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
    flow: Flow<Places>,
    tries: FxHashMap<LockId, Tries>,
}

/// What failed tries of a lock are kept in order with, if no holder explains them.
#[derive(Clone, Debug, Default)]
struct Tries {
    /// The last exclusive operation of each thread on the lock.
    operations: Vec<Place>,
    /// The last such try of each thread.
    unexplained: Vec<Place>,
}

/// What a thread's next event comes after, apart from the thread's own events, and where the thread
/// is.
#[derive(Clone, Debug)]
struct Places {
    here: Option<Place>,
    after: Vec<Place>,
}

impl Knowledge for Places {
    type Left = Vec<Place>;

    fn new(_: ThreadId) -> Places {
        Places {
            here: None,
            after: Vec::new(),
        }
    }

    fn travels(object: Object) -> bool {
        !matches!(object, Object::Var(_) | Object::Lock(_))
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
        let (lock, exclusive) = match *op {
            Op::Lock(lock) | Op::Unlock(lock) | Op::TryLock(lock) => (lock, true),
            Op::Waiting(_, Some(lock)) | Op::Wait(_, Some(lock)) => (lock, true),
            Op::ReadLock(lock) | Op::ReadUnlock(lock) => (lock, false),
            _ => {
                demands.takes = takes.into();
                return;
            }
        };
        let this = Held { lock, exclusive };
        match op {
            Op::Lock(_) | Op::ReadLock(_) => {
                self.take(here, this);
                takes.push(this);
            }
            // If its lock was not seen to be given back it is not taken again either.
            Op::Wait(..) if !self.is_holding(here.thread, this) => {
                self.take(here, this);
                takes.push(this);
            }
            Op::Wait(..) => {}
            Op::TryLock(_) => self.fail(here, lock, demands),
            _ => {
                self.end(here, this);
                demands.releases = Some(this);
            }
        }
        if exclusive && !matches!(op, Op::TryLock(_)) {
            let order = self.tries.entry(lock).or_default();
            demands.add_after(&order.unexplained, here.thread);
            here.join(&mut order.operations);
        }
        demands.takes = takes.into();
    }

    fn take(&mut self, here: Place, held: Held) {
        self.suspend(here.thread, held);
        self.begin(here, held);
    }

    fn is_holding(&self, thread: u32, held: Held) -> bool {
        let holders = self.rules.locks.get(&held.lock).into_iter().flatten();
        holders
            .filter(|holder| holder.thread == thread && holder.exclusive == held.exclusive)
            .any(|holder| holder.depth > 0)
    }

    /// A try that failed fails again, since somebody holds the lock. If nobody was seen to hold it, or
    /// only readers were, which happens-before does not order with it, it stays where it was among the
    /// exclusive operations on that lock.
    fn fail(&mut self, here: Place, lock: LockId, demands: &mut Demands) {
        let holders = self.rules.locks.entry(lock).or_default();
        if holders
            .iter()
            .any(|holder| holder.exclusive && holder.depth > 0)
        {
            demands.tries = Some(lock);
            here.join(self.rules.tries.entry(lock).or_default());
        } else {
            let order = self.tries.entry(lock).or_default();
            demands.add_after(&order.operations, here.thread);
            here.join(&mut order.unexplained);
        }
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
