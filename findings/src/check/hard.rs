//! The direct predecessors of events other than through variables and locks: hard edges, and failed tries that no holder
//! explains.

use portent_monitor_core::{Access, Event, LockAction, LockId, Locking, Object, ThreadId, edges};
use rustc_hash::FxHashMap;

use crate::record::{EventId, Record};

/// Failed tries that no holder of the lock explains: they keep their place among the exclusive operations.
#[derive(Default)]
pub(super) struct Tries {
    unexplained: LastOfThreads,
    exclusive: LastOfThreads,
}

/// The last event of each thread at each lock.
type LastOfThreads = FxHashMap<LockId, Vec<(ThreadId, EventId)>>;

impl Tries {
    pub(super) fn after(&mut self, id: EventId, event: &Event, is_explained: bool) -> Vec<EventId> {
        let exclusive = event.op.locking().filter(|locking| locking.exclusive);
        let Some(Locking { lock, action, .. }) = exclusive else {
            return Vec::new();
        };
        let (own, others) = match action {
            LockAction::Fail if is_explained => return Vec::new(),
            LockAction::Fail => (&mut self.unexplained, &self.exclusive),
            _ => (&mut self.exclusive, &self.unexplained),
        };
        let own = own.entry(lock).or_default();
        own.retain(|&(thread, _)| thread != event.thread);
        own.push((event.thread, id));
        let others = others.get(&lock).into_iter().flatten();
        others.map(|&(_, other)| other).collect()
    }
}

/// The earlier accesses to each object, as far as later ones come after them.
#[derive(Default)]
pub(super) struct Objects {
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
    pub(super) fn after(&mut self, id: EventId, event: &Event, record: &Record) -> Vec<EventId> {
        let mut after: Vec<EventId> = Vec::new();
        for thread in event.threads() {
            // Later events come after this.
            after.extend(self.forks.remove(&thread));
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
                // The thread's earlier access comes before this anyway, and so does everything before an update.
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
