//! Parking, timeouts and yielding.
//!
//! A thread whose wait times out checks again for something that was not there. It could do that for ever, and would see nothing that a
//! later check would not. So the first timeout since the thread last changed something may come at any moment; further ones come only
//! when no other thread can proceed.

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

impl State {
    /// The token of a thread. All threads get theirs when the first one is used, so that a token has the same number in every run,
    /// whichever thread parks first.
    pub(crate) fn token(&mut self, thread: usize) -> ObjectIndex {
        if self.threads[thread].token == NONE {
            for thread in 0..self.threads.len() {
                self.add_token(thread);
            }
        }
        self.threads[thread].token
    }

    fn add_token(&mut self, thread: usize) {
        if self.threads[thread].token != NONE {
            return;
        }
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

    fn token_of(&self, op: Op) -> Token {
        match &self.objects[op.object as usize].body {
            Body::Token(token) => *token,
            _ => unreachable!("threads park by tokens"),
        }
    }

    pub(crate) fn can_park(&self, thread: usize, op: Op) -> bool {
        let parked = &self.threads[thread];
        self.token_of(op).unparked
            || parked.timed && self.is_free(thread)
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

    /// Whether a thread that looks in vain may do so at any moment.
    pub(crate) fn is_free(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        thread.looked != Some(thread.changes)
    }

    /// The thread looked in vain.
    pub(crate) fn repeats(&mut self, thread: usize) {
        let thread = &mut self.threads[thread];
        thread.looked = Some(thread.changes);
    }

    /// Who goes on when nobody can: the one who did so least often.
    pub(crate) fn last_resort(&mut self) -> Option<usize> {
        let looks = |thread: usize| match self.pending_of(thread).kind {
            Kind::Await => self.may_look_again(thread),
            Kind::Wake | Kind::Park | Kind::Receive => self.threads[thread].timed,
            _ => false,
        };
        let waiting = self.parked().filter(|&thread| looks(thread));
        self.last_resort = waiting.min_by_key(|&thread| self.threads[thread].last_resorts);
        self.last_resort
    }

    /// The thread goes on because nobody else can: after all that happened.
    pub(crate) fn resort(&mut self, thread: usize) {
        self.threads[thread].last_resorts += 1;
        if self.is_recording() {
            self.run.is_last(thread);
        }
    }
}
