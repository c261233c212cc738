//! The events on each object in sequence, and what they add to the clock of a thread.

use super::{Event, NONE, Run};
use crate::operation::{Kind, ObjectIndex, Op};

/// Marks rows that are not those of an event.
pub(super) const EXTRA: u32 = 1 << 31;

/// The events on one object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) last: u32,
    pub(super) last_write: u32,
    /// Of a lock: the event that took it alone last.
    pub(super) last_acquire: u32,
    /// Of a lock: the event that shares it since, the last of them.
    pub(super) last_shared: u32,
    /// Whether it is a variable that orders nothing.
    pub(super) is_plain: bool,
}

pub(super) const EMPTY: Chain = Chain {
    last: NONE,
    last_write: NONE,
    last_acquire: NONE,
    last_shared: NONE,
    is_plain: false,
};

impl Run {
    #[inline]
    pub(super) fn chain(&self, object: ObjectIndex) -> Chain {
        match object {
            NONE => EMPTY,
            object => self.chains[object as usize],
        }
    }

    /// The event is the last one on its objects and of its thread.
    #[inline]
    pub(super) fn link(&mut self, number: usize, thread: usize, op: Op) {
        let number = number as u32;
        self.last_of[thread] = number;
        if op.object != NONE {
            let chain = &mut self.chains[op.object as usize];
            chain.last = number;
            if !op.kind.is_read() {
                chain.last_write = number;
            }
            if op.kind.is_exclusive() {
                chain.last_acquire = number;
                chain.last_shared = NONE;
            } else if op.kind.is_shared() {
                chain.last_shared = number;
            }
        }
        if op.second != NONE {
            let chain = &mut self.chains[op.second as usize];
            chain.last = number;
            if !op.reads(op.second) {
                chain.last_write = number;
            }
        }
        match op.kind {
            Kind::Unlock => self.released(thread, op.object, false, number),
            Kind::ReadUnlock => self.released(thread, op.object, true, number),
            Kind::Wait if op.second != NONE => self.released(thread, op.second, false, number),
            _ => {}
        }
    }

    /// A thread learns what it comes after when it does this.
    pub(super) fn receive(&mut self, thread: usize, op: Op) {
        let chain = self.chain(op.object);
        if op.second != NONE {
            self.receive_accesses(thread, op, op.second, self.chain(op.second));
        }
        if !op.kind.is_acquire(self.tries) {
            self.receive_accesses(thread, op, op.object, chain);
            return;
        }
        if chain.last_acquire != NONE {
            self.receive_row(thread, self.events[chain.last_acquire as usize].released);
        }
        if op.kind.is_exclusive() {
            let mut next = chain.last_shared;
            while let Some(event) = self.shared(next, op.object) {
                next = event.previous_on(op.object);
                self.receive_row(thread, event.released);
            }
        }
    }

    /// This event, or the last one before it that shares a lock, since somebody had it alone.
    pub(super) fn shared(&self, mut number: u32, object: ObjectIndex) -> Option<Event> {
        while number != NONE {
            let event = self.events[number as usize];
            if event.op.kind.is_shared() {
                return Some(event);
            }
            if event.op.kind.is_exclusive() {
                return None;
            }
            number = event.previous_on(object);
        }
        None
    }

    fn receive_accesses(&mut self, thread: usize, op: Op, object: ObjectIndex, chain: Chain) {
        let mut next = if op.reads(object) {
            chain.last_write
        } else {
            chain.last
        };
        while next != NONE {
            self.receive_row(thread, next);
            let event = &self.events[next as usize];
            next = if event.op.reads(object) {
                event.previous_on(object)
            } else {
                NONE
            };
        }
    }

    #[inline]
    pub(super) fn receive_row(&mut self, thread: usize, row: u32) {
        if row == NONE {
            return;
        }
        let rows = if row & EXTRA == 0 {
            &self.clocks
        } else {
            &self.extra
        };
        let from = (row & !EXTRA) as usize * self.width;
        let mine = &mut self.current[thread * self.width..][..self.width];
        for (mine, other) in mine.iter_mut().zip(&rows[from..from + self.width]) {
            *mine = (*mine).max(*other);
        }
    }

    /// The thread gives back what it took of this object.
    pub(crate) fn release(&mut self, thread: usize, object: ObjectIndex, shared: bool) {
        if self.analysed {
            let row = self.row(thread);
            self.released(thread, object, shared, row);
        }
    }

    /// The row of what a thread knows now.
    pub(crate) fn row(&mut self, thread: usize) -> u32 {
        if !self.analysed {
            return NONE;
        }
        if !self.learned[thread] {
            return self.last_of[thread];
        }
        // It has seen others end since its last event.
        let row = self.extra.len() / self.width;
        let mine = thread * self.width..(thread + 1) * self.width;
        self.extra.extend_from_slice(&self.current[mine]);
        if let Some(order) = &mut self.order {
            order.keep(thread);
        }
        row as u32 | EXTRA
    }

    fn released(&mut self, thread: usize, object: ObjectIndex, shared: bool, row: u32) {
        let chain = self.chain(object);
        if !shared {
            if chain.last_acquire != NONE {
                self.events[chain.last_acquire as usize].released = row;
            }
            return;
        }
        let mut next = chain.last_shared;
        while next != NONE && !self.events[next as usize].op.kind.is_exclusive() {
            let event = &mut self.events[next as usize];
            let is_mine = event.op.kind.is_shared() && usize::from(event.thread) == thread;
            if is_mine && event.released == NONE {
                event.released = row;
                return;
            }
            next = event.previous_on(object);
        }
    }

    #[inline]
    pub(super) fn row_at(&self, row: u32) -> &[u16] {
        let rows = if row & EXTRA == 0 {
            &self.clocks
        } else {
            &self.extra
        };
        let from = (row & !EXTRA) as usize * self.width;
        &rows[from..from + self.width]
    }

    /// The first event after this one that changed an object, of which there is one.
    pub(crate) fn first_change(&self, object: ObjectIndex, looked: u32) -> u32 {
        let mut first = NONE;
        let mut next = self.chain(object).last;
        while next != NONE && next > looked {
            if !self.events[next as usize].only_looked() {
                first = next;
            }
            next = self.events[next as usize].previous_on(object);
        }
        first
    }

    /// The last event that changed an object.
    pub(crate) fn last_change(&self, object: ObjectIndex) -> u32 {
        let mut next = self.chain(object).last;
        while next != NONE && self.events[next as usize].only_looked() {
            next = self.events[next as usize].previous_on(object);
        }
        next
    }
}
