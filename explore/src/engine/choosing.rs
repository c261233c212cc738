//! Which threads can proceed, which one does, and what is recorded of it.

use std::thread;

use portent_hooks::control::Turn;

use super::{Mode, Next, Performed, State, Status};
use crate::{
    operation::{Kind, Op},
    run::{After, NONE, Place},
    strategy::{Choice, End, Point},
    thread_set::ThreadSet,
    token::Chosen,
};

impl State {
    #[inline]
    pub(super) fn announce(&mut self, thread: usize, op: Op, place: Place) {
        self.pending[thread] = op;
        self.parked.insert(thread);
        self.waits_again |= self.threads[thread].timed
            && matches!(op.kind, Kind::Wake | Kind::Park | Kind::Receive)
            && !self.is_free(thread);
        let thread = &mut self.threads[thread];
        thread.status = Status::Parked;
        thread.place = place;
    }

    /// Whether what a thread wants to do can happen now.
    #[inline]
    fn can_go_on(&self, thread: usize) -> bool {
        let op = self.pending[thread];
        match op.kind {
            Kind::Lock | Kind::ReadLock => self.can_lock(op),
            Kind::Send | Kind::Receive | Kind::TryReceive => self.can_use_channel(thread, op),
            Kind::Wake => self.can_wake(thread),
            Kind::Initialise | Kind::FindDone => self.can_call(op),
            Kind::Park => self.can_park(thread, op),
            Kind::Await => self.can_look_again(thread),
            _ => true,
        }
    }

    fn enabled(&self) -> ThreadSet {
        let mut enabled = ThreadSet::EMPTY;
        for thread in self.parked {
            if self.can_go_on(thread) {
                enabled.insert(thread);
            }
        }
        enabled
    }

    /// Who runs now.
    #[inline]
    pub(super) fn next(&mut self) -> Next {
        if let Some(thread) = self.ready.pop() {
            self.current = thread;
            self.threads[thread].status = Status::Running;
            return Next::Run(thread);
        }
        self.choose()
    }

    fn choose(&mut self) -> Next {
        let next = self.choose_next();
        if thread::panicking() && matches!(next, Next::Stop) {
            self.stops_while_it_unwinds();
        }
        next
    }

    fn choose_next(&mut self) -> Next {
        if self.restart.is_some() {
            return self.cut();
        }
        if self.is_too_long() {
            return self.cut();
        }
        let mut enabled = self.enabled();
        if enabled.is_empty() {
            match self.last_resort() {
                Some(thread) => enabled.insert(thread),
                None => return self.deadlock(),
            }
        }
        self.choose_among(enabled)
    }

    /// Whether the run has had as many steps and application events as it may have.
    pub(super) fn is_too_long(&mut self) -> bool {
        let is_too_long = self.point + self.events >= self.limits.steps;
        // One that is only brought to its end leaves nothing out.
        self.too_long |= is_too_long && self.mode == Mode::Recording;
        is_too_long
    }

    fn choose_among(&mut self, mut enabled: ThreadSet) -> Next {
        // What happens while a thread unwinds is not interrupted: all threads share what the standard library knows of panics.
        if thread::panicking() {
            if !enabled.contains(self.current) {
                return self.unwinds_for_ever();
            }
            let others = enabled - ThreadSet::only(self.current);
            self.kept_waiting |= !others.is_empty() && self.mode == Mode::Recording;
            enabled = ThreadSet::only(self.current);
        }
        self.had_choice |= enabled.len() > 1;
        let at = Point {
            step: self.point,
            current: self.current,
            enabled,
            pending: &self.pending,
            parked: self.parked,
            threads: &self.threads,
            objects: &self.objects,
            relevance: self.relevance.as_ref(),
        };
        let stay = at.stay(enabled).unwrap_or_default();
        let chosen = if self.mode == Mode::Draining {
            stay
        } else if self.point < self.kept {
            let Chosen::Thread(chosen) = Chosen::of(self.schedule[self.point]) else {
                return self.diverged(self.current);
            };
            if !enabled.has(chosen) {
                return self.diverged(chosen as usize);
            }
            chosen as usize
        } else {
            match self.strategy.choose(&at, &self.run) {
                Choice::Run(chosen) if !enabled.contains(chosen) => return self.diverged(chosen),
                Choice::Run(chosen) => {
                    self.schedule.push(chosen as u32);
                    chosen
                }
                Choice::Drain => {
                    self.close();
                    self.end = End::Blocked;
                    self.mode = Mode::Draining;
                    stay
                }
            }
        };
        self.commit(chosen)
    }

    /// The run has ended.
    pub(super) fn over(&mut self) {
        let at = Point {
            step: self.point,
            current: self.current,
            enabled: ThreadSet::EMPTY,
            pending: &self.pending,
            parked: self.parked,
            threads: &self.threads,
            objects: &self.objects,
            relevance: self.relevance.as_ref(),
        };
        self.strategy.over(&at);
    }

    /// What the thread announced happens.
    pub(super) fn commit(&mut self, thread: usize) -> Next {
        let mut announced = self.pending[thread];
        if announced.kind == Kind::Await && self.mode == Mode::Recording {
            announced = self.awaited(thread, announced);
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let reversible = self.comes_after(thread, announced, &mut rows);
        if self.last_resort.take().is_some() {
            self.resort(thread);
        }
        let Performed { op, mut succeeds } = self.perform(thread, announced);
        let mut event = NONE;
        if self.mode == Mode::Recording {
            let place = self.threads[thread].place;
            let after = After {
                rows: &rows,
                reversible,
                instead: self.races_instead(announced),
                only_instead: false,
            };
            match self.run.commit(thread, op, place, self.point, after) {
                Ok(number) => {
                    event = number as u32;
                    succeeds &= !self.run.is_unordered(number);
                }
                Err(_) => return self.diverged(thread),
            }
        }
        self.rows = rows;
        self.point += 1;
        self.current = thread;
        self.parked.remove(thread);
        let thread_state = &mut self.threads[thread];
        let object = self.objects.get(op.object as usize);
        thread_state.turn = Turn {
            succeeds,
            tell: object.is_some_and(|object| object.variable.is_some()),
        };
        thread_state.status = Status::Running;
        thread_state.changes += u64::from(op.kind.changes());
        if self.performed(thread, op, event) {
            Next::Run(thread)
        } else {
            self.threads[thread].status = Status::Held;
            self.next()
        }
    }

    /// One of this many values, for this thread.
    pub(crate) fn pick(&mut self, thread: usize, values: u32) -> u32 {
        if self.mode == Mode::Draining || values < 2 {
            return 0;
        }
        let value = if self.point < self.kept {
            match Chosen::of(self.schedule[self.point]) {
                Chosen::Value(value) if value < values => value,
                _ => {
                    let _ = self.diverged(thread);
                    0
                }
            }
        } else {
            let value = self.strategy.pick(self.point, values);
            self.schedule.push(Chosen::Value(value).entry());
            value
        };
        self.point += 1;
        self.run.has_picked = true;
        let choices = &mut self.threads[thread].choices;
        *choices = crate::random::mix(*choices ^ u64::from(value + 1));
        value
    }
}
