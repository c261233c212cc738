//! The requests that the program's hooks make of the engine.
//!
//! A thread of the program makes such a call before each visible operation; the call returns when the operation has happened.

use std::{any::Any, rc::Rc};

use portent_hooks::control::{Callsite, Class, Controller, Job, Object, Release, Step, Turn};
use portent_monitor_core::Value;

use super::{Engine, Fault, GO, Mode, NOTHING, Next, Status, ending::PATIENCE, pause::Paused};
use crate::{
    coroutine::{Signal, Work},
    operation::{Kind, Op},
    run::{NONE, Place},
    thread_set::MOST_THREADS,
};

impl Controller for Engine {
    fn step(&self, step: Step, object: Object<'_>, place: Place) -> Turn {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        match state.mode {
            Mode::Recording | Mode::Draining => {}
            Mode::Idle => return GO,
            Mode::Stopping => {
                drop(state);
                return self.step_at_end(me, step);
            }
        }
        if step == Step::Lock && state.tries.requests && object.class() == Class::ReadWrite {
            drop(state);
            self.go(place, GO, |state, _| {
                Op::new(Kind::Request, state.object(object) + 1)
            });
            state = self.state.borrow_mut();
        }
        let op = state.operation(step, object);
        state.announce(me, op, place);
        let next = state.next();
        let turn = state.threads[me].turn;
        drop(state);
        if matches!(next, Next::Run(thread) if thread == me) {
            return turn;
        }
        self.switch(me, next);
        self.state.borrow().threads[me].turn
    }

    fn release(&self, release: Release, object: Object<'_>) {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        match state.mode {
            Mode::Recording | Mode::Draining => {}
            Mode::Idle | Mode::Stopping => return,
        }
        let index = state.object(object);
        let Some(op) = state.give_back(me, release, index) else {
            return;
        };
        state.announce(me, op, None);
        let next = state.next();
        drop(state);
        self.switch(me, next);
    }

    fn wrote(&self, before: Option<Value>, value: Option<Value>) {
        let mut state = self.state.borrow_mut();
        if state.mode == Mode::Recording {
            state.wrote(before, value);
        }
    }

    fn obstructed(&self, object: Object<'_>, place: Place) -> ! {
        self.end(|state, me| Fault::Obstructed(me, state.object(object), place))
    }

    fn try_again(&self) -> bool {
        let me = {
            let mut state = self.state.borrow_mut();
            let me = state.current;
            if state.mode != Mode::Stopping || state.threads[me].swallowed > PATIENCE {
                return false;
            }
            state.threads[me].swallowed += 1;
            me
        };
        self.pool.suspend(me, Signal::Later);
        true
    }

    fn refuse(&self, what: &'static str, place: Place) -> ! {
        self.end(|_, me| Fault::Refused(me, what, place))
    }

    fn wants(&self, event: &'static str) -> bool {
        let mut state = self.state.borrow_mut();
        if !matches!(state.mode, Mode::Recording | Mode::Draining) {
            return false;
        }
        let relevance = state.relevance.as_ref();
        let wants = relevance.is_some_and(|relevance| relevance.wants(event));
        // Those that are chosen are points already.
        if !(wants && state.chooses_events) {
            state.events += 1;
        }
        if state.is_too_long() {
            let me = state.current;
            state.cut();
            drop(state);
            self.pool.suspend(me, Signal::Stop);
            self.leave(me);
        }
        wants && state.mode == Mode::Recording
    }

    fn event(&self, callsite: &'static Callsite, args: &[Value]) {
        let mut state = self.state.borrow_mut();
        if state.mode != Mode::Recording {
            return;
        }
        let relevance = state.relevance.as_mut();
        let Some(label) = relevance.and_then(|all| all.event(callsite.called(), args)) else {
            return;
        };
        let op = Op::new(Kind::Event, NONE);
        if state.chooses_events {
            let me = state.current;
            state.announce(me, op, None);
            let next = state.next();
            drop(state);
            self.switch(me, next);
            state = self.state.borrow_mut();
            if state.mode != Mode::Recording {
                return;
            }
        } else if !state.follow_event(op) {
            return;
        }
        state.happened(callsite, label);
    }

    fn spawn(&self, name: Option<&str>, job: Job<'_>, place: Place) -> u32 {
        let work = Work::of_job(job);
        let mut state = self.state.borrow_mut();
        let me = state.current;
        if !matches!(state.mode, Mode::Recording | Mode::Draining) {
            drop(state);
            self.leave(me);
        }
        if state.threads.len() == MOST_THREADS {
            state.fault(Fault::TooManyThreads(place));
            drop(state);
            self.pool.suspend(me, Signal::Stop);
            self.leave(me);
        }
        let child = state.add_thread(name, Some(me));
        state.jobs[child] = Some(work);
        state.ready.push(me);
        state.current = child;
        drop(state);
        self.switch(me, Next::Run(child));
        child as u32
    }

    fn join(&self, thread: u32, place: Place) {
        let thread = thread as usize;
        let mut state = self.state.borrow_mut();
        let me = state.current;
        if !matches!(state.mode, Mode::Recording | Mode::Draining) {
            let has_ended = state.threads[thread].status == Status::Ended;
            let is_idle = state.mode == Mode::Idle;
            drop(state);
            if has_ended || is_idle {
                return;
            }
            self.leave(me);
        }
        if state.threads[thread].status == Status::Ended {
            state.run.learn(me, thread);
            return;
        }
        state.threads[me].status = Status::Joining(thread, place);
        let next = state.next();
        drop(state);
        self.switch(me, next);
    }

    fn has_ended(&self, thread: u32) -> bool {
        let state = self.state.borrow();
        state
            .threads
            .get(thread as usize)
            .is_none_or(|thread| thread.status == Status::Ended)
    }

    fn pause(&self, place: Place) {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        let op = match state.mode {
            Mode::Idle => return,
            Mode::Stopping => {
                drop(state);
                if !self.unwinds(me) {
                    self.leave(me);
                }
                return;
            }
            // What it has seen is not known, so all others come first.
            Mode::Draining => NOTHING,
            Mode::Recording => match state.pauses(me, place) {
                Paused::Not => return,
                Paused::Waits(op) => op,
                Paused::Blind => {
                    state.fault(Fault::Spins(me, place));
                    drop(state);
                    self.pool.suspend(me, Signal::Stop);
                    self.leave(me)
                }
            },
        };
        state.announce(
            me,
            Op {
                kind: Kind::Await,
                ..op
            },
            place,
        );
        let next = state.next();
        drop(state);
        self.switch(me, next);
    }

    fn steps(&self) -> u64 {
        self.state.borrow().point as u64
    }

    fn pick(&self, values: u32) -> u32 {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        match state.mode {
            Mode::Idle | Mode::Stopping => return 0,
            // A thread may do nothing else for ever.
            Mode::Draining => state.events += 1,
            Mode::Recording => {}
        }
        if state.is_too_long() {
            state.cut();
            drop(state);
            self.pool.suspend(me, Signal::Stop);
            self.leave(me);
        }
        state.pick(me, values)
    }

    fn local(&self, key: usize, make: &dyn Fn() -> Rc<dyn Any>) -> Rc<dyn Any> {
        let find = || {
            let state = self.state.borrow();
            let locals = &state.threads.get(state.current)?.locals;
            let local = locals.iter().find(|(other, _)| *other == key)?;
            Some(Rc::clone(&local.1))
        };
        if let Some(local) = find() {
            return local;
        }
        // The program's own code, which may do anything.
        let local = make();
        let mut state = self.state.borrow_mut();
        let me = state.current;
        if let Some(thread) = state.threads.get_mut(me) {
            thread.locals.push((key, Rc::clone(&local)));
        }
        local
    }

    fn drop_locals(&self) {
        loop {
            let mut state = self.state.borrow_mut();
            let me = state.current;
            let local = state.threads.get_mut(me).and_then(|me| me.locals.pop());
            drop(state);
            if local.is_none() {
                return;
            }
        }
    }

    fn current(&self) -> u32 {
        self.state.borrow().current as u32
    }

    fn name(&self) -> Option<String> {
        let state = self.state.borrow();
        let name = &state.threads.get(state.current)?.name;
        name.as_deref().map(String::from)
    }

    fn wait(&self, condition: Object<'_>, mutex: Object<'_>, place: Place) {
        self.go(place, GO, |state, me| {
            let (condition, mutex) = (state.object(condition), state.object(mutex));
            state.threads[me].mutex = mutex;
            Op {
                second: if state.tries.locks { mutex } else { NONE },
                ..Op::new(Kind::Wait, condition)
            }
        });
        let mut state = self.state.borrow_mut();
        if matches!(state.mode, Mode::Recording | Mode::Draining) && !state.tries.locks {
            let me = state.current;
            let mutex = state.threads[me].mutex;
            state.unlock(me, mutex, Release::Unlock);
        }
    }

    fn wake(&self, condition: Object<'_>, mutex: Object<'_>, timed: bool, place: Place) -> bool {
        let turn = self.go(place, GO, |state, me| {
            state.threads[me].timed = timed;
            Op::new(Kind::Wake, state.object(condition))
        });
        let has_mutex = {
            let state = self.state.borrow();
            state.pending[state.current].kind == Kind::Lock
        };
        if !has_mutex {
            self.step(Step::Lock, mutex, place);
        }
        turn.succeeds
    }

    fn deliver(&self, channel: Object<'_>, _: Place) {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        if !matches!(state.mode, Mode::Recording | Mode::Draining) {
            return;
        }
        let channel = state.object(channel);
        state.waits_for_delivery(me, channel);
        state.threads[me].status = Status::Held;
        let next = state.next();
        drop(state);
        self.switch(me, next);
    }

    fn park(&self, timed: bool, place: Place) {
        self.go(place, GO, |state, me| {
            state.threads[me].timed = timed;
            Op::new(Kind::Park, state.token(me))
        });
    }

    fn unpark(&self, thread: u32, place: Place) {
        let thread = thread as usize;
        // It may be one of an earlier run.
        if thread < self.state.borrow().threads.len() {
            self.go(place, GO, |state, _| {
                Op::new(Kind::Unpark, state.token(thread))
            });
        }
    }

    fn unchanged(&self) {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        if state.mode == Mode::Recording {
            state.run.was_in_vain(me);
        }
        if matches!(state.mode, Mode::Recording | Mode::Draining) {
            state.threads[me].changes -= 1;
        }
    }
}
