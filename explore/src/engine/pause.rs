//! Spin loops: threads that check again and again whether something has changed.
//!
//! A thread that pauses twice at the same place, and only read objects in between, would do the same for ever unless one of these objects
//! changes. So it waits for such a change, like a read of a new value. If no other thread can proceed, it continues anyway, as the loop
//! may have a bound of its own; after some rounds of this it is reported as spinning for ever.

use super::{Mode, State};
use crate::{
    operation::{Kind, ObjectIndex, Op},
    run::{NONE, Place},
};

/// Rounds in which nothing changed, before a thread is said to spin for ever.
const ROUNDS: u32 = 20;
/// Pauses in a row, without a look at anything.
const BLIND: u32 = 1000;

/// When a thread last paused, and what it looked at between that and the time before.
#[derive(Debug, Default)]
pub(super) struct Pause {
    place: Place,
    /// How many events there were.
    since: usize,
    /// What it looked at, and at which event.
    watched: Vec<(ObjectIndex, u32)>,
    rounds: u32,
    blind: u32,
}

/// What comes of a pause.
pub(super) enum Paused {
    /// Nothing: it goes on.
    Not,
    /// It waits until something has changed.
    Waits(Op),
    /// It never looks at anything.
    Blind,
}

impl State {
    /// The thread pauses.
    pub(super) fn pauses(&mut self, me: usize, place: Place) -> Paused {
        let pause = &mut self.threads[me].pause;
        let since = std::mem::replace(&mut pause.since, self.run.happened().len());
        if pause.place != place || since > self.run.happened().len() {
            pause.place = place;
            pause.rounds = 0;
            pause.blind = 0;
            return Paused::Not;
        }
        pause.watched.clear();
        for number in since..self.run.happened().len() {
            let event = &self.run.happened()[number];
            if usize::from(event.thread) != me {
                continue;
            }
            if !event.only_looked() {
                pause.rounds = 0;
                pause.blind = 0;
                return Paused::Not;
            }
            if event.op.kind != Kind::Await {
                let objects = [event.op.object, event.op.second];
                let seen = objects.into_iter().filter(|object| *object != NONE);
                pause
                    .watched
                    .extend(seen.map(|object| (object, number as u32)));
            }
        }
        let Some(&(object, looked)) = pause.watched.first() else {
            pause.blind += 1;
            return if pause.blind > BLIND {
                Paused::Blind
            } else {
                Paused::Not
            };
        };
        pause.blind = 0;
        let is_alone = pause.watched.len() == 1;
        self.run.awaits(me, if is_alone { looked } else { NONE });
        Paused::Waits(Op::new(Kind::Await, object))
    }

    /// Whether something has changed that the thread looked at.
    pub(super) fn can_look_again(&self, me: usize) -> bool {
        self.mode == Mode::Recording && self.changed(me).is_some()
    }

    /// Whether the thread may look again if nobody else can go on.
    pub(crate) fn may_look_again(&self, me: usize) -> bool {
        self.threads[me].pause.rounds < ROUNDS
    }

    fn changed(&self, me: usize) -> Option<(ObjectIndex, u32)> {
        let watched = &self.threads[me].pause.watched;
        watched.iter().copied().find(|&(object, looked)| {
            let change = self.run.last_change(object);
            change != NONE && change > looked
        })
    }

    /// What a thread waited for that goes on after a pause.
    pub(super) fn awaited(&mut self, me: usize, op: Op) -> Op {
        self.pauses = true;
        let changed = self.changed(me);
        if let Some((object, looked)) = changed {
            let first = self.run.first_change(object, looked);
            if Kind::Await.commutes_with(self.run.events()[first as usize].op.kind) {
                // Nothing else orders the two, but without it the thread would still wait.
                self.run.teach(me, first);
            }
        }
        let pause = &mut self.threads[me].pause;
        match changed {
            Some((object, _)) => {
                pause.rounds = 0;
                Op { object, ..op }
            }
            None => {
                pause.rounds += 1;
                op
            }
        }
    }
}
