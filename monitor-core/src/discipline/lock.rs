//! Who holds a lock, and how often.

use rustc_hash::FxHashMap;

use crate::ThreadId;

/// How often each thread holds a lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders {
    pub(super) exclusive: Side,
    pub(super) shared: Side,
}

/// Who holds one side of a lock. One thread is the rule; a trace that never releases may have a
/// million.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    first: Option<(ThreadId, u32)>,
    others: Option<Box<FxHashMap<ThreadId, u32>>>,
}

impl Side {
    pub(super) fn holds(&self, thread: ThreadId) -> bool {
        self.first.is_some_and(|(holder, _)| holder == thread)
            || self
                .others
                .as_ref()
                .is_some_and(|others| others.contains_key(&thread))
    }

    /// How often a thread holds it, if it does.
    fn depth(&mut self, thread: ThreadId) -> Option<&mut u32> {
        match &mut self.first {
            Some((holder, depth)) if *holder == thread => Some(depth),
            _ => self.others.as_mut()?.get_mut(&thread),
        }
    }

    pub(super) fn take(&mut self, thread: ThreadId) {
        if let Some(depth) = self.depth(thread) {
            *depth = depth.saturating_add(1);
        } else if self.first.is_none() {
            self.first = Some((thread, 1));
        } else {
            self.others.get_or_insert_default().insert(thread, 1);
        }
    }

    pub(super) fn give_back(&mut self, thread: ThreadId) {
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
}
