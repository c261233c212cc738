//! Locks: one exclusive holder, or several shared ones.

use portent_hooks::control::Release;

use super::Body;
use crate::{
    engine::{Performed, State},
    operation::{Kind, ObjectIndex, Op},
    run::NONE,
    thread_set::ThreadSet,
};

/// Who has a lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lock {
    owner: Option<u8>,
    /// Who shares it.
    readers: ThreadSet,
    /// Who shares it once more, as often as that.
    again: Vec<u8>,
    /// Who has asked to have it alone, as far as that is an event.
    asking: ThreadSet,
}

impl Lock {
    /// Whether somebody can have it alone.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.owner.is_none() && self.readers.is_empty()
    }

    /// Whether somebody can share it.
    #[inline]
    fn is_open(&self) -> bool {
        self.owner.is_none()
    }

    /// Whether this thread has it alone.
    pub(crate) fn is_owned_by(&self, thread: usize) -> bool {
        self.owner.is_some_and(|owner| usize::from(owner) == thread)
    }

    #[inline]
    fn take(&mut self, thread: usize) {
        self.owner = Some(thread as u8);
        self.asking.remove(thread);
    }

    #[inline]
    pub(crate) fn give_back(&mut self) {
        self.owner = None;
    }

    fn share(&mut self, thread: usize) {
        if self.readers.contains(thread) {
            self.again.push(thread as u8);
        }
        self.readers.insert(thread);
    }

    fn leave(&mut self, thread: usize) {
        match self
            .again
            .iter()
            .position(|&reader| usize::from(reader) == thread)
        {
            Some(at) => {
                self.again.swap_remove(at);
            }
            None => self.readers.remove(thread),
        }
    }
}

impl State {
    #[inline]
    pub(crate) fn lock(&mut self, object: ObjectIndex) -> &mut Lock {
        match &mut self.objects[object as usize].body {
            Body::Lock(lock) => lock,
            _ => unreachable!("only locks are locked"),
        }
    }

    #[inline]
    pub(crate) fn can_lock(&self, op: Op) -> bool {
        let Body::Lock(lock) = &self.objects[op.object as usize].body else {
            unreachable!("only locks are locked");
        };
        match op.kind {
            Kind::Lock => lock.is_free(),
            // Who shares it already may have to wait for one who waits for that.
            _ => lock.is_open() && (op.second == NONE || lock.asking.is_empty()),
        }
    }

    /// If one who shares a lock already waits for those who want it alone: the first of their requests, before which it would not have to.
    pub(crate) fn first_request(&self, op: Op) -> Option<u32> {
        if op.kind != Kind::ReadLock || op.second == NONE {
            return None;
        }
        let Body::Lock(lock) = &self.objects[op.object as usize].body else {
            unreachable!("only locks are locked");
        };
        { lock.asking.into_iter() }
            .map(|thread| self.run.last_request(op.second, thread))
            .min()
    }

    /// A lock is taken, tried, or given back where that is an event.
    #[inline]
    pub(crate) fn perform_lock(&mut self, thread: usize, mut op: Op) -> Performed {
        let lock = self.lock(op.object);
        let mut succeeds = true;
        match op.kind {
            Kind::Lock => lock.take(thread),
            Kind::ReadLock => lock.share(thread),
            Kind::Unlock => lock.give_back(),
            Kind::ReadUnlock => lock.leave(thread),
            Kind::Downgrade => {
                lock.give_back();
                lock.share(thread);
                if !self.tries.locks && self.is_recording() {
                    self.run.release(thread, op.object, false);
                }
            }
            Kind::TryLock if lock.is_free() => lock.take(thread),
            Kind::TryReadLock if lock.is_open() => lock.share(thread),
            Kind::TryLock => {
                op.kind = Kind::FailedTryLock;
                succeeds = false;
            }
            _ => {
                op.kind = Kind::FailedTryReadLock;
                succeeds = false;
            }
        }
        Performed { op, succeeds }
    }

    /// Gives a lock back where that is no event.
    #[inline]
    pub(crate) fn unlock(&mut self, thread: usize, object: ObjectIndex, release: Release) {
        let shared = release == Release::ReadUnlock;
        let lock = self.lock(object);
        if shared {
            lock.leave(thread);
        } else {
            lock.give_back();
        }
        if self.is_recording() {
            self.run.release(thread, object, shared);
        }
    }

    /// To share a lock. Who does so already may have to wait for one who waits to have it alone, and then for ever.
    pub(crate) fn share(&mut self, thread: usize, object: ObjectIndex) -> Op {
        let second = if self.lock(object).readers.contains(thread) {
            object + 1
        } else {
            NONE
        };
        Op {
            second,
            ..Op::new(Kind::ReadLock, object)
        }
    }

    /// A thread asks to have a lock alone.
    pub(crate) fn ask(&mut self, thread: usize, side: ObjectIndex) {
        self.lock(side - 1).asking.insert(thread);
    }
}
