//! Stacks for the threads of the explored program, and the switch between them. **The only unsafe code of this crate.**
//!
//! A stack is mapped once and kept as long as the pool lives: its coroutine is a loop that takes a job, runs it and
//! waits for the next one. One loop resumes all of them, and they never resume each other. So no coroutine is ever resumed while one
//! that it resumed is still running, and the pool may grow between any two switches.
//!
//! Two things need unsafe code. A coroutine suspends itself through a handle that lies on its own stack, far below the code that wants to
//! wait; and jobs borrow from the code that spawned them, which types cannot express for something stored in a pool.

#![expect(unsafe_code)]

#[cfg(unix)]
mod overflow;

use std::{
    cell::{Cell, RefCell},
    io, mem, ptr,
    rc::Rc,
};

use corosensei::{
    Coroutine, CoroutineResult, Yielder,
    stack::{DefaultStack, Stack as _},
};
use portent_hooks::control::{Ended, Job};

/// What a coroutine runs.
pub(crate) struct Work(Box<dyn FnOnce() -> Ended>);

impl Work {
    /// What a thread of the program does.
    pub(crate) fn of_job(job: Job<'_>) -> Work {
        // SAFETY: only the hooks make jobs, and what a job borrows is there until it has run: its spawner waits for it, or
        // it borrows nothing. A thread that is stopped unwinds before its spawner does; one that cannot be is abandoned
        // together with all who spawned it, whose stacks are then never unwound, resumed or freed.
        unsafe { Work::erase(job.into_inner()) }
    }

    /// Lends out what the first thread of a run does. `drive` must bring that to its end, or abandon it.
    pub(crate) fn lend<R>(main: &dyn Fn() -> Ended, drive: impl FnOnce(Work) -> R) -> R {
        /// Something went wrong in the middle: nobody knows what still borrows.
        struct Armed;
        impl Drop for Armed {
            fn drop(&mut self) {
                std::process::abort();
            }
        }
        // SAFETY: `main` is there until this function returns, and it returns when the work is done. Who leaves it otherwise does
        // not leave it at all.
        let work = unsafe { Work::erase(Box::new(main)) };
        let armed = Armed;
        let driven = drive(work);
        mem::forget(armed);
        driven
    }

    /// # Safety
    ///
    /// What the closure borrows is there as long as it runs.
    unsafe fn erase<'a>(work: Box<dyn FnOnce() -> Ended + 'a>) -> Work {
        // SAFETY: the two types differ in a lifetime only, and the caller keeps it.
        Work(unsafe {
            mem::transmute::<Box<dyn FnOnce() -> Ended + 'a>, Box<dyn FnOnce() -> Ended>>(work)
        })
    }
}

/// What a coroutine says when it lets others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// This one is next.
    Switch(usize),
    /// All have to end.
    Stop,
    /// It has to end, but others have to before it.
    Later,
    /// It will not go on, ever: it waits for something that nobody can give it.
    Abandon,
    /// It did its work.
    Done(Ended),
}

type Handle = Yielder<Option<Work>, Signal>;

/// One coroutine; the handle is null until it first runs.
struct Fiber {
    coroutine: Coroutine<Option<Work>, Signal, (), DefaultStack>,
    handle: Rc<Cell<*const Handle>>,
    /// Where its stack ends.
    #[cfg_attr(not(unix), expect(dead_code))]
    limit: usize,
}

thread_local! {
    /// The stacks of the last exploration on this thread of the operating system, for the next one.
    static UNUSED: Cell<Option<Pool>> = const { Cell::new(None) };
}

/// Coroutines by the number of the thread that each of them runs.
pub(crate) struct Pool {
    fibers: RefCell<Vec<Fiber>>,
    handles: RefCell<Vec<Rc<Cell<*const Handle>>>>,
    stack_size: usize,
}

impl Pool {
    pub(crate) fn new(stack_size: usize) -> Pool {
        let unused = UNUSED.take();
        unused
            .filter(|pool| pool.stack_size == stack_size)
            .unwrap_or_else(|| Pool::empty(stack_size))
    }

    /// Keeps the stacks for the next one who wants some. Only while no coroutine has work.
    pub(crate) fn put_back(&mut self) {
        let pool = std::mem::replace(self, Pool::empty(self.stack_size));
        let _ = UNUSED.try_with(|unused| unused.set(Some(pool)));
    }

    fn empty(stack_size: usize) -> Pool {
        Pool {
            fibers: RefCell::default(),
            handles: RefCell::default(),
            stack_size,
        }
    }

    /// Makes sure that there is a coroutine of this number. Only while none runs.
    pub(crate) fn provide(&self, number: usize) -> io::Result<()> {
        let mut fibers = self.fibers.borrow_mut();
        while fibers.len() <= number {
            let fiber = Fiber::new(self.stack_size)?;
            self.handles.borrow_mut().push(Rc::clone(&fiber.handle));
            fibers.push(fiber);
        }
        Ok(())
    }

    /// Begins some work on a coroutine, or goes on with it, until it lets others run. Only while none runs.
    #[inline]
    pub(crate) fn resume(&self, number: usize, work: Option<Work>) -> Signal {
        let fiber = &mut self.fibers.borrow_mut()[number];
        #[cfg(unix)]
        overflow::runs_on(fiber.limit, number);
        match fiber.coroutine.resume(work) {
            CoroutineResult::Yield(signal) => signal,
            CoroutineResult::Return(()) => unreachable!("a coroutine ends with its pool"),
        }
    }

    /// Lets others run; returns when it is resumed. Only in the coroutine of this number.
    #[inline]
    pub(crate) fn suspend(&self, number: usize, signal: Signal) {
        let handle = self.handles.borrow()[number].get();
        // SAFETY: the handle lies at the bottom of the coroutine's own stack, as long as that runs, and we are on it.
        let woken_by = unsafe { &*handle }.suspend(signal);
        debug_assert!(woken_by.is_none(), "work is given to idle coroutines only");
    }

    /// Puts a new coroutine in the place of one that will never go on.
    pub(crate) fn abandon(&self, number: usize) -> io::Result<()> {
        let fresh = Fiber::new(self.stack_size)?;
        self.handles.borrow_mut()[number] = Rc::clone(&fresh.handle);
        // What is on its stack may be borrowed, so nothing of it is dropped.
        mem::forget(mem::replace(&mut self.fibers.borrow_mut()[number], fresh));
        Ok(())
    }
}

impl Fiber {
    fn new(stack_size: usize) -> io::Result<Fiber> {
        let handle = Rc::new(Cell::new(ptr::null()));
        let there = Rc::clone(&handle);
        #[cfg(unix)]
        overflow::listen();
        let stack = DefaultStack::new(stack_size)?;
        let limit = stack.limit().get();
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Handle, first| {
            there.set(ptr::from_ref(yielder));
            let mut work: Option<Work> = first;
            while let Some(Work(run)) = work {
                work = yielder.suspend(Signal::Done(run()));
            }
        });
        Ok(Fiber {
            coroutine,
            handle,
            limit,
        })
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        // It waits for work, and returns if there is none.
        if self.coroutine.started() && !self.coroutine.done() {
            self.coroutine.resume(None);
        }
    }
}
