//! Who holds a lock, and how often.

use rustc_hash::FxHashMap;

use crate::ThreadId;

/// How often each thread holds a lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders {
    exclusive: Side,
    shared: Side,
}

/// Who holds one side of a lock. One thread is the rule; a trace that never releases may have a
/// million.
#[derive(Clone, Debug, Default)]
struct Side {
    first: Option<(ThreadId, u32)>,
    others: Option<Box<FxHashMap<ThreadId, u32>>>,
    /// Those who must have given it back in a wait, since another took it. They are kept apart so that
    /// nobody is looked at twice.
    suspended: Option<Box<FxHashMap<ThreadId, u32>>>,
}

impl Holders {
    fn side(&mut self, exclusive: bool) -> &mut Side {
        if exclusive {
            &mut self.exclusive
        } else {
            &mut self.shared
        }
    }

    /// Whether a thread holds a side, or will when it wakes up.
    pub(super) fn holds(&self, thread: ThreadId, exclusive: bool) -> bool {
        if exclusive {
            self.exclusive.holds(thread)
        } else {
            self.shared.holds(thread)
        }
    }

    pub(super) fn take(&mut self, thread: ThreadId, exclusive: bool) {
        self.side(exclusive).add(thread, 1);
    }

    pub(super) fn give_back(&mut self, thread: ThreadId, exclusive: bool) {
        self.side(exclusive).give_back(thread);
    }

    /// A thread other than `thread` whose hold excludes that it takes a side.
    pub(super) fn excluding(&self, thread: ThreadId, exclusive: bool) -> Option<ThreadId> {
        let other = self.exclusive.other_than(thread);
        let shared = || self.shared.other_than(thread);
        other.or_else(|| exclusive.then(shared).flatten())
    }

    /// Suspends those who exclude that a thread takes a side, and names them.
    pub(super) fn suspend(&mut self, thread: ThreadId, exclusive: bool) -> Vec<ThreadId> {
        let mut suspended = Vec::new();
        self.exclusive.suspend_others(thread, &mut suspended);
        if exclusive {
            self.shared.suspend_others(thread, &mut suspended);
        }
        suspended
    }

    /// A thread holds again what it held before it waited.
    pub(super) fn resume(&mut self, thread: ThreadId) {
        self.exclusive.resume(thread);
        self.shared.resume(thread);
    }
}

impl Side {
    fn holds(&self, thread: ThreadId) -> bool {
        let is_in = |map: &Option<Box<FxHashMap<ThreadId, u32>>>| {
            map.as_ref().is_some_and(|map| map.contains_key(&thread))
        };
        self.first.is_some_and(|(holder, _)| holder == thread)
            || is_in(&self.others)
            || is_in(&self.suspended)
    }

    fn other_than(&self, thread: ThreadId) -> Option<ThreadId> {
        match self.first {
            Some((holder, _)) if holder != thread => return Some(holder),
            _ => {}
        }
        let mut others = self.others.iter().flat_map(|others| others.keys());
        others.find(|&&holder| holder != thread).copied()
    }

    /// How often a thread holds it, if it does.
    fn depth(&mut self, thread: ThreadId) -> Option<&mut u32> {
        match &mut self.first {
            Some((holder, depth)) if *holder == thread => Some(depth),
            _ => self.others.as_mut()?.get_mut(&thread),
        }
    }

    fn add(&mut self, thread: ThreadId, times: u32) {
        if let Some(depth) = self.depth(thread) {
            *depth = depth.saturating_add(times);
        } else if self.first.is_none() {
            self.first = Some((thread, times));
        } else {
            self.others.get_or_insert_default().insert(thread, times);
        }
    }

    fn give_back(&mut self, thread: ThreadId) {
        let Some(depth) = self.depth(thread) else {
            return;
        };
        *depth -= 1;
        if *depth > 0 {
            return;
        }
        if self.first.is_some_and(|(holder, _)| holder == thread) {
            self.first = None;
        } else if let Some(others) = &mut self.others {
            others.remove(&thread);
            if others.is_empty() {
                self.others = None;
            }
        }
    }

    fn suspend_others(&mut self, thread: ThreadId, names: &mut Vec<ThreadId>) {
        if self.other_than(thread).is_none() {
            return;
        }
        let others = self.others.take();
        let others = others.into_iter().flat_map(|others| *others);
        let holders: Vec<(ThreadId, u32)> = self.first.take().into_iter().chain(others).collect();
        for (holder, depth) in holders {
            if holder == thread {
                self.add(holder, depth);
            } else {
                names.push(holder);
                let suspended = self.suspended.get_or_insert_default();
                suspended.insert(holder, depth);
            }
        }
    }

    fn resume(&mut self, thread: ThreadId) {
        let suspended = self.suspended.as_mut();
        if let Some(depth) = suspended.and_then(|suspended| suspended.remove(&thread)) {
            self.add(thread, depth);
        }
    }
}
