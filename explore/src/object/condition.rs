//! Condition variables: which threads wait, and which one is woken.

use super::Body;
use crate::{
    engine::{Performed, State},
    operation::{Kind, ObjectIndex, Op},
    run::NONE,
};

/// Who waits for a condition, in the order in which they began to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    waiting: Vec<u8>,
}

impl State {
    fn condition(&mut self, object: ObjectIndex) -> &mut Condition {
        match &mut self.objects[object as usize].body {
            Body::Condition(condition) => condition,
            _ => unreachable!("only conditions are waited for"),
        }
    }

    /// Whether one who waits for a condition can go on before somebody notifies it.
    pub(crate) fn can_wake(&self, thread: usize) -> bool {
        let waiter = &self.threads[thread];
        waiter.notified || self.wakes_by_itself(thread)
    }

    /// Somebody begins to wait, or does so no more.
    pub(crate) fn perform_condition(&mut self, thread: usize, op: Op) -> Performed {
        let condition = self.condition(op.object);
        let mut succeeds = true;
        match op.kind {
            Kind::Wait => {
                condition.waiting.push(thread as u8);
                self.threads[thread].notified = false;
                if op.second != NONE {
                    self.lock(op.second).give_back();
                }
            }
            Kind::Wake => {
                let waiter = &mut self.threads[thread];
                succeeds = waiter.notified;
                if !succeeds {
                    self.condition(op.object)
                        .waiting
                        .retain(|&waiter| usize::from(waiter) != thread);
                    let waiter = &mut self.threads[thread];
                    if waiter.timed {
                        self.repeats(thread);
                    } else {
                        waiter.spurious += 1;
                        // Nobody can tell it from one who was notified.
                        succeeds = true;
                    }
                }
            }
            _ => {}
        }
        Performed { op, succeeds }
    }

    /// Wakes up those who are notified by this event.
    pub(crate) fn notify(&mut self, thread: usize, op: Op, event: u32) {
        let waiting = std::mem::take(&mut self.condition(op.object).waiting);
        if op.kind == Kind::NotifyAll || waiting.len() < 2 {
            for waiter in waiting {
                self.wake(usize::from(waiter), event);
            }
            return;
        }
        let chosen = if self.options.first_waiter {
            0
        } else {
            self.pick(thread, waiting.len() as u32) as usize
        };
        let mut waiting = waiting;
        let waiter = waiting.remove(chosen);
        self.condition(op.object).waiting = waiting;
        self.wake(usize::from(waiter), event);
    }

    fn wake(&mut self, waiter: usize, event: u32) {
        let mutex = self.threads[waiter].mutex;
        self.threads[waiter].notified = true;
        if !self.wakes_by_itself(waiter) {
            // It can only go on now, and wants its mutex next.
            self.run.teach(waiter, event);
            self.set_pending(waiter, Op::new(Kind::Lock, mutex));
        }
    }

    /// Whether one who waits may wake up for no reason, so that to wake up is a step of its own.
    pub(crate) fn wakes_by_itself(&self, thread: usize) -> bool {
        let waiter = &self.threads[thread];
        waiter.timed && self.is_free(thread) || waiter.spurious < self.options.spurious
    }
}
