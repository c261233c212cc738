//! Parking, and letting others go first.
//!
//! A thread that yields, sleeps, or stops to wait because time is over, looks again for something that was not there. To do so again
//! and again would have no end. So it does not do that twice unless something may have changed meanwhile, or nobody else can go on.

use super::Body;
use crate::{
    engine::{Performed, Seen, State},
    operation::{Kind, ObjectIndex, Op},
    run::NONE,
};

/// Whether a thread was unparked, and by which event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Token {
    unparked: bool,
    row: u32,
}

/// How much had been changed when a thread last looked in vain, by itself and by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looked {
    own: u64,
    others: u64,
}

impl State {
    /// The token of a thread.
    pub(crate) fn token(&mut self, thread: usize) -> ObjectIndex {
        if self.threads[thread].token == NONE {
            let index = self.add_object(Seen {
                kind: "thread",
                made: None,
                given: None,
                thread: Some(thread),
                body: Body::Token(Token::default()),
                variable: None,
            });
            self.threads[thread].token = index;
        }
        self.threads[thread].token
    }

    fn token_of(&self, op: Op) -> Token {
        match &self.objects[op.object as usize].body {
            Body::Token(token) => *token,
            _ => unreachable!("threads park by tokens"),
        }
    }

    pub(crate) fn can_park(&self, thread: usize, op: Op) -> bool {
        let parked = &self.threads[thread];
        self.token_of(op).unparked
            || parked.timed && self.may_repeat(thread)
            || !parked.timed && parked.spurious < self.options.spurious
    }

    /// What parking comes after irrevocably.
    pub(crate) fn token_rows(&self, thread: usize, op: Op, rows: &mut Vec<u32>) {
        let token = self.token_of(op);
        if op.kind == Kind::Park
            && token.unparked
            && token.row != NONE
            && !self.wakes_by_itself(thread)
        {
            rows.push(token.row);
        }
    }

    pub(crate) fn perform_token(&mut self, thread: usize, op: Op) -> Performed {
        if op.kind == Kind::Park && !self.token_of(op).unparked {
            if self.threads[thread].timed {
                self.repeats(thread);
            } else {
                self.threads[thread].spurious += 1;
            }
        }
        Performed { op, succeeds: true }
    }

    pub(crate) fn performed_token(&mut self, op: Op, event: u32) {
        let Body::Token(token) = &mut self.objects[op.object as usize].body else {
            return;
        };
        match op.kind {
            Kind::Park => token.unparked = false,
            // The first one is what the thread needs.
            Kind::Unpark if !token.unparked => {
                *token = Token {
                    unparked: true,
                    row: event,
                };
            }
            _ => {}
        }
    }

    fn looked(&self, thread: usize) -> Looked {
        let own = self.threads[thread].changes;
        Looked {
            own,
            others: self.changes - self.threads[thread].may_have_changed,
        }
    }

    /// Whether something may have changed since the thread last looked in vain.
    pub(crate) fn may_repeat(&self, thread: usize) -> bool {
        self.nobody_else || self.threads[thread].looked != Some(self.looked(thread))
    }

    /// The thread looked in vain.
    pub(crate) fn repeats(&mut self, thread: usize) {
        let looked = self.looked(thread);
        self.threads[thread].looked = Some(looked);
    }
}
