//! What each event synchronises with, and which accesses of plain variables are therefore data races.

use super::{DataRace, EXTRA, NONE, Order, Run};
use crate::operation::{Kind, ObjectIndex, Op};

impl Run {
    /// From now on data races are looked for.
    pub(crate) fn look_for_data_races(&mut self) {
        self.order = Some(Box::new(Order::new(self.width)));
    }

    /// Data races of this run, in the order of their second accesses.
    pub(crate) fn data_races(&self) -> &[DataRace] {
        self.order.as_ref().map_or(&[], |order| order.races())
    }

    /// Whether the last event is in a data race with an earlier one.
    pub(crate) fn is_unordered(&self, event: usize) -> bool {
        { self.data_races().iter().rev() }.any(|race| race.second as usize == event)
    }

    /// An object is a variable that orders nothing.
    pub(crate) fn is_plain(&mut self, object: ObjectIndex) {
        self.chains[object as usize].is_plain = true;
    }

    /// A thread comes after a row, by what the program synchronises by.
    pub(super) fn order_by_row(&mut self, thread: usize, row: u32) {
        let Some(order) = &mut self.order else {
            return;
        };
        if row == NONE {
            return;
        }
        if row & EXTRA == 0 {
            order.receive(thread, row as usize);
        } else {
            order.receive_extra(thread, (row & !EXTRA) as usize);
        }
    }

    /// An event is new: what synchronises it, besides these rows, and what it races with. It is not yet linked with those before it.
    #[cold]
    pub(super) fn put_in_order(&mut self, number: usize, rows: &[u32]) {
        let event = self.events[number];
        let (thread, op) = (usize::from(event.thread), event.op);
        for &row in rows {
            self.order_by_row(thread, row);
        }
        let chain = self.chain(op.object);
        if chain.is_plain {
            self.look_for_unordered(number, op);
        } else {
            self.synchronise(thread, op);
        }
        if let Some(order) = &mut self.order {
            order.add(thread, event.index);
        }
    }

    fn synchronise(&mut self, thread: usize, op: Op) {
        let chain = self.chain(op.object);
        match op.kind {
            Kind::Read | Kind::Update => self.order_by_row(thread, self.last_value(op.object)),
            Kind::Arrive => self.order_by_row(thread, chain.last),
            // What it notices is that the receiver is gone.
            Kind::FailedSend | Kind::FailedTrySend => self.order_by_row(thread, chain.last_write),
            Kind::Park => self.order_by_unparks(thread, op.object),
            Kind::FindDone => self.order_by_release(thread, chain.last_acquire),
            kind if kind.is_shared() => self.order_by_release(thread, chain.last_acquire),
            kind if kind.is_exclusive() => {
                self.order_by_release(thread, chain.last_acquire);
                let mut next = chain.last_shared;
                while let Some(event) = self.shared(next, op.object) {
                    next = event.previous_on(op.object);
                    self.order_by_row(thread, event.released);
                }
            }
            _ => {}
        }
    }

    /// A thread takes what was given back after it was taken by this event.
    fn order_by_release(&mut self, thread: usize, taken: u32) {
        if taken != NONE {
            self.order_by_row(thread, self.events[taken as usize].released);
        }
    }

    /// A thread was unparked, by all who did so since it last parked.
    fn order_by_unparks(&mut self, thread: usize, token: ObjectIndex) {
        let mut next = self.chain(token).last;
        while next != NONE && self.events[next as usize].op.kind == Kind::Unpark {
            self.order_by_row(thread, next);
            next = self.events[next as usize].previous_on(token);
        }
    }

    /// The event that wrote what is in an atomic.
    fn last_value(&self, object: ObjectIndex) -> u32 {
        let mut next = self.chain(object).last_write;
        while next != NONE && self.events[next as usize].only_looked() {
            next = self.events[next as usize].previous_on(object);
        }
        next
    }

    /// All accesses of the same variable before an event that nothing orders with it.
    fn look_for_unordered(&mut self, number: usize, op: Op) {
        let Some(mut order) = self.order.take() else {
            return;
        };
        let thread = usize::from(self.events[number].thread);
        let mut next = self.chain(op.object).last;
        while next != NONE {
            let event = &self.events[next as usize];
            let are_reads = op.kind.is_read() && event.op.kind.is_read();
            let is_access = event.op.kind != Kind::Await && op.kind != Kind::Await;
            if is_access && !are_reads && order.is_concurrent(thread, event) {
                order.race(next, number as u32);
            }
            next = event.previous_on(op.object);
        }
        self.order = Some(order);
    }
}
