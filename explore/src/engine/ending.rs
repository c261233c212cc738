//! Ends all threads of a run early: by unwinding them or, if that fails, by abandoning their stacks.

use std::{panic, thread};

use portent_hooks::control::{Step, Stop, Turn};

use super::{Engine, Mode, Status};
use crate::{
    coroutine::Signal,
    thread_set::{MOST_THREADS, ThreadSet},
};

/// How often a thread may swallow that it has to end.
pub(super) const PATIENCE: u32 = 1000;

impl Engine {
    /// Unwinds all threads, before those that spawned them, so that nobody's borrowed data are gone before it is.
    #[cold]
    pub(super) fn stop(&self) {
        let mut left = {
            let mut state = self.state.borrow_mut();
            state.mode = Mode::Stopping;
            state.suspended = u32::from(thread::panicking());
            let threads = &state.threads;
            let mut left = ThreadSet::EMPTY;
            for thread in
                (0..threads.len()).filter(|&thread| threads[thread].status != Status::Ended)
            {
                left.insert(thread);
            }
            left
        };
        // Who waits in a destructor for what another one still holds comes again when that one has ended.
        let mut before = usize::MAX;
        while left.len() < before {
            before = left.len();
            for thread in (0..MOST_THREADS).rev() {
                if left.contains(thread)
                    && !self.has_descendant(thread, left)
                    && self.unwind(thread)
                {
                    left.remove(thread);
                }
            }
        }
        for thread in left {
            self.abandon(thread);
        }
    }

    /// Whether one of these was spawned by a thread, or by one that it spawned.
    fn has_descendant(&self, thread: usize, among: ThreadSet) -> bool {
        let state = self.state.borrow();
        let spawner = |&other: &usize| state.threads[other].spawner;
        let mut among = among;
        among.any(|other| {
            std::iter::successors(spawner(&other), spawner).any(|above| above == thread)
        })
    }

    /// Lets a thread unwind; whether it has ended.
    fn unwind(&self, thread: usize) -> bool {
        {
            let mut state = self.state.borrow_mut();
            state.current = thread;
            let me = &mut state.threads[thread];
            if std::mem::take(&mut me.suspended) {
                state.suspended -= 1;
            }
        }
        match self.pool.resume(thread, None) {
            Signal::Done(_) => {
                self.state.borrow_mut().threads[thread].status = Status::Ended;
                true
            }
            Signal::Later => {
                let mut state = self.state.borrow_mut();
                state.threads[thread].suspended = true;
                state.suspended += 1;
                false
            }
            _ => false,
        }
    }

    /// A thread does not end. Those that spawned it may have lent it something, and are abandoned too.
    fn abandon(&self, thread: usize) {
        {
            let mut state = self.state.borrow_mut();
            state.threads[thread].status = Status::Ended;
            state.abandoned += 1;
        }
        if self.pool.abandon(thread).is_err() {
            panic!("there is no memory for the stack of another thread");
        }
    }

    /// Whether the thread that runs unwinds: what the standard library knows of that is the same for all of them.
    pub(super) fn unwinds(&self, me: usize) -> bool {
        let state = self.state.borrow();
        thread::panicking() && (state.suspended == 0 || state.threads[me].unwinding)
    }

    /// The thread has to end.
    #[cold]
    pub(super) fn leave(&self, me: usize) -> ! {
        let unwinds = self.unwinds(me);
        let swallowed = {
            let mut state = self.state.borrow_mut();
            let me = &mut state.threads[me];
            me.unwinding = true;
            me.swallowed += 1;
            me.swallowed
        };
        if unwinds || swallowed > PATIENCE {
            loop {
                self.pool.suspend(me, Signal::Abandon);
            }
        }
        panic::resume_unwind(Box::new(Stop))
    }

    /// A step of a thread that has to end: what its destructors do happens at once, or never.
    #[cold]
    pub(super) fn step_at_end(&self, me: usize, step: Step) -> Turn {
        if !self.unwinds(me) {
            self.leave(me);
        }
        let fails = matches!(
            step,
            Step::TryLock
                | Step::TryReadLock
                | Step::TrySend
                | Step::Receive
                | Step::TryReceive { .. }
        );
        Turn {
            succeeds: !fails,
            tell: false,
        }
    }
}
