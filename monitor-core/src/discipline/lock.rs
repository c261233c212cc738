//! Which threads hold a lock, and how often.

use std::num::NonZeroU64;

use rustc_hash::FxHashMap;

use crate::ThreadId;

/// How often each thread holds a lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders {
    exclusive: SideHolders,
    shared: SideHolders,
    /// Threads that must have released the exclusive side in a wait, since another thread took the lock. They are kept
    /// separately so that each holder is examined only once.
    suspended: Option<Box<FxHashMap<ThreadId, LockHold>>>,
}

/// The hold of a thread on one side.
#[derive(Clone, Copy, Debug)]
struct LockHold {
    times: u32,
    /// Where the thread first took it.
    line: Option<NonZeroU64>,
}

/// The holders of one side of a lock. Usually there is one thread; a trace that never releases may have a
/// million.
#[derive(Clone, Debug, Default)]
struct SideHolders {
    first: Option<(ThreadId, LockHold)>,
    others: Option<Box<FxHashMap<ThreadId, LockHold>>>,
}

impl Holders {
    fn side(&mut self, exclusive: bool) -> &mut SideHolders {
        if exclusive {
            &mut self.exclusive
        } else {
            &mut self.shared
        }
    }

    /// Whether a thread holds a side, or will when it wakes up.
    pub(super) fn holds(&self, thread: ThreadId, exclusive: bool) -> bool {
        let is_suspended = || { self.suspended.iter() }.any(|those| those.contains_key(&thread));
        if exclusive {
            self.exclusive.holds(thread) || is_suspended()
        } else {
            self.shared.holds(thread)
        }
    }

    pub(super) fn take(&mut self, thread: ThreadId, exclusive: bool, line: Option<NonZeroU64>) {
        let hold = LockHold { times: 1, line };
        self.side(exclusive).add(thread, hold);
    }

    pub(super) fn give_back(&mut self, thread: ThreadId, exclusive: bool) {
        self.side(exclusive).give_back(thread);
    }

    /// A thread other than `thread` whose hold prevents it from taking a side.
    pub(super) fn excluding(&self, thread: ThreadId, exclusive: bool) -> Option<ThreadId> {
        let other = self.exclusive.other_than(thread);
        let shared = || self.shared.other_than(thread);
        let other = other.or_else(|| exclusive.then(shared).flatten());
        other.map(|(holder, _)| holder)
    }

    /// A thread other than `thread` that holds the exclusive side, and the line where it took it.
    pub(super) fn owner_other_than(
        &self,
        thread: ThreadId,
    ) -> Option<(ThreadId, Option<NonZeroU64>)> {
        let owner = self.exclusive.other_than(thread);
        owner.map(|(owner, hold)| (owner, hold.line))
    }

    /// A thread other than `thread` that holds the shared side, and the line where it took it.
    pub(super) fn reader_other_than(
        &self,
        thread: ThreadId,
    ) -> Option<(ThreadId, Option<NonZeroU64>)> {
        let reader = self.shared.other_than(thread);
        reader.map(|(reader, hold)| (reader, hold.line))
    }

    /// Suspends the holders of the exclusive side except `thread`, and returns them.
    pub(super) fn suspend_others(&mut self, thread: ThreadId) -> Vec<ThreadId> {
        let others = self.exclusive.remove_others(thread);
        if !others.is_empty() {
            let suspended = self.suspended.get_or_insert_default();
            suspended.extend(others.iter().copied());
        }
        others.into_iter().map(|(holder, _)| holder).collect()
    }

    /// Restores what a thread held before it waited.
    pub(super) fn resume(&mut self, thread: ThreadId) {
        let suspended = self.suspended.as_mut();
        if let Some(hold) = suspended.and_then(|suspended| suspended.remove(&thread)) {
            self.exclusive.add(thread, hold);
        }
    }
}

impl SideHolders {
    fn holds(&self, thread: ThreadId) -> bool {
        self.first.is_some_and(|(holder, _)| holder == thread) || { self.others.iter() }
            .any(|others| others.contains_key(&thread))
    }

    fn other_than(&self, thread: ThreadId) -> Option<(ThreadId, LockHold)> {
        match self.first {
            Some((holder, hold)) if holder != thread => return Some((holder, hold)),
            _ => {}
        }
        let mut others = self.others.iter().flat_map(|others| others.iter());
        let other = others.find(|(holder, _)| **holder != thread);
        other.map(|(&holder, &hold)| (holder, hold))
    }

    /// The hold of a thread, if any.
    fn hold(&mut self, thread: ThreadId) -> Option<&mut LockHold> {
        match &mut self.first {
            Some((holder, hold)) if *holder == thread => Some(hold),
            _ => self.others.as_mut()?.get_mut(&thread),
        }
    }

    fn add(&mut self, thread: ThreadId, more: LockHold) {
        if let Some(hold) = self.hold(thread) {
            hold.times = hold.times.saturating_add(more.times);
        } else if self.first.is_none() {
            self.first = Some((thread, more));
        } else {
            self.others.get_or_insert_default().insert(thread, more);
        }
    }

    fn give_back(&mut self, thread: ThreadId) {
        let Some(hold) = self.hold(thread) else {
            return;
        };
        hold.times -= 1;
        if hold.times > 0 {
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

    fn remove_others(&mut self, thread: ThreadId) -> Vec<(ThreadId, LockHold)> {
        if self.other_than(thread).is_none() {
            return Vec::new();
        }
        let others = self.others.take();
        let others = others.into_iter().flat_map(|others| *others);
        let holders = self.first.take().into_iter().chain(others);
        let (own, others): (Vec<_>, Vec<_>) = holders.partition(|(holder, _)| *holder == thread);
        self.first = own.into_iter().next();
        others
    }
}
