//! One controlled run: threads that wait for their turn, objects and who has them, and who goes on.
//!
//! A thread *announces* what it wants to do next and waits. When all threads wait, one of those that can go on is *chosen*, and what it
//! announced is *committed*: it happens. A thread that is spawned runs at once to its first announcement, and one that waits for
//! another's end goes on by itself; so at every choice it is known of each thread what it will do.
//!
//! The engine knows the state of every primitive, and decides by that who can go on. The real primitive of the program is asked
//! afterwards, in a way that cannot wait.

mod pause;

use std::{
    any::Any,
    cell::RefCell,
    panic,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use portent_hooks::control::{
    Callsite, Class, Controller, Ended, GivenName, Job, Object, Release, Step, Stop, Turn,
};
use portent_monitor_core::Value;

use self::pause::{Pause, Paused};
use crate::{
    coroutine::{Pool, Signal, Work},
    object::Body,
    operation::{Kind, ObjectIndex, Op},
    panics,
    relevance::{Relevance, RelevantStep},
    run::{After, NONE, Place, Run},
    strategy::{Choice, End, Next as Onward, Point, Strategy},
    thread_set::{MOST_THREADS, ThreadSet},
    token::Chosen,
    watchdog::Progress,
};

/// How often a thread may swallow that it has to end.
const PATIENCE: u32 = 1000;

/// The controller of all threads on one thread of the operating system.
pub(crate) struct Engine {
    pool: Pool,
    progress: Arc<Progress>,
    state: RefCell<State>,
}

/// Whether there is a run, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Between runs.
    Idle,
    /// What happens counts.
    Recording,
    /// What happens is known already.
    Draining,
    /// All threads have to end.
    Stopping,
}

/// What a thread is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Running,
    /// It waits for its turn, to do what it announced.
    Parked,
    /// It waits for the end of another.
    Joining(usize, Place),
    /// What it did is not over before others do something; then it goes on by itself.
    Held,
    Ended,
}

pub(crate) struct Thread {
    status: Status,
    place: Place,
    pub(crate) name: Option<Box<str>>,
    pub(crate) spawner: Option<usize>,
    /// How many threads it spawned.
    children: u32,
    /// A name that does not depend on when it was spawned.
    pub(crate) path: u64,
    turn: Turn,
    swallowed: u32,
    /// It unwinds, as far as the engine knows; and waits meanwhile until others have ended.
    unwinding: bool,
    suspended: bool,
    pause: Pause,
    /// What it has for itself, by key.
    locals: Vec<(usize, Rc<dyn Any>)>,
    /// Whether what it waits for may also end because time is over.
    pub(crate) timed: bool,
    /// Of one that waits for a condition: whether it was notified, and the mutex that it wants then.
    pub(crate) notified: bool,
    pub(crate) mutex: ObjectIndex,
    /// How often it woke up for no reason.
    pub(crate) spurious: u32,
    /// With how many it meets at a barrier.
    pub(crate) companions: usize,
    /// The object by which it is unparked; [`NONE`] if nobody asked.
    pub(crate) token: ObjectIndex,
    /// How much it changed, and how much of that when it last looked for something in vain.
    pub(crate) changes: u64,
    pub(crate) looked: Option<u64>,
    /// How often it went on because nobody else could.
    pub(crate) last_resorts: u32,
    /// What it chose, for the class of the run.
    pub(crate) choices: u64,
}

/// An object of this run.
pub(crate) struct Seen {
    pub(crate) kind: &'static str,
    pub(crate) made: Place,
    pub(crate) given: Option<GivenName>,
    /// The thread that it belongs to.
    pub(crate) thread: Option<usize>,
    pub(crate) body: Body,
    /// Which variable of properties it is.
    pub(crate) variable: Option<u32>,
}

/// What came of an operation.
pub(crate) struct Performed {
    /// What it was in the end.
    pub(crate) op: Op,
    pub(crate) succeeds: bool,
}

/// What becomes events because somebody looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tries {
    /// Somebody tries to lock, so unlocks are events.
    pub(crate) locks: bool,
    /// Somebody tries to receive, so ends of senders are events.
    pub(crate) channels: bool,
    /// Somebody shares a lock twice, so to ask for its exclusive side is an event.
    pub(crate) requests: bool,
}

impl Tries {
    /// Why a search begins anew that did not know of all of it.
    fn reason(self, known: Tries) -> &'static str {
        if self.locks != known.locks {
            "locks are tried, so unlocks are steps"
        } else if self.channels != known.channels {
            "receives are tried, so ends of senders are steps"
        } else {
            "locks are shared twice, so requests of their exclusive sides are steps"
        }
    }

    /// As a number.
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.locks) | u64::from(self.channels) << 1 | u64::from(self.requests) << 2
    }

    pub(crate) fn from_bits(bits: u64) -> Tries {
        Tries {
            locks: bits & 1 != 0,
            channels: bits & 2 != 0,
            requests: bits & 4 != 0,
        }
    }
}

/// What primitives may do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Who is notified is the one who has waited longest.
    pub(crate) first_waiter: bool,
    /// How often each thread may wake up for no reason.
    pub(crate) spurious: u32,
}

/// Something that should not have happened.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    Panicked(usize, panics::Message),
    Deadlock(Vec<(usize, Waiting)>),
    Obstructed(usize, ObjectIndex, Place),
    /// A thread did something else than in the run before, up to here the same.
    Diverged(usize, Place),
    TooManyThreads(Place),
    /// A thread does nothing but pause.
    Spins(usize, Place),
    /// Something that is not explored.
    Refused(usize, &'static str, Place),
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    For(Op, Place),
    /// It did this, and cannot go on before others do something.
    In(Op, Place),
    EndOf(usize, Place),
}

/// What the engine is told of an exploration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Points of one run.
    pub(crate) steps: usize,
    pub(crate) stack_size: usize,
    /// How many runs are repeated, to see whether the program does the same again.
    pub(crate) repeated: u32,
    /// What somebody tries, as is known from the beginning.
    pub(crate) tries: Tries,
}

pub(crate) struct State {
    pub(crate) run: Run,
    /// What properties see of the run, if there are any.
    pub(crate) relevance: Option<Relevance>,
    strategy: Box<dyn Strategy>,
    mode: Mode,
    current: usize,
    pub(crate) threads: Vec<Thread>,
    /// What each thread wants to do.
    pending: Vec<Op>,
    parked: ThreadSet,
    /// Threads that go on before anything is chosen.
    ready: Vec<usize>,
    jobs: Vec<Option<Work>>,
    pub(crate) objects: Vec<Seen>,
    /// Which run it is, of all in this process, for the tags of objects.
    number: u64,
    /// What was chosen, point by point; the first ones are to be chosen again.
    pub(crate) schedule: Vec<u32>,
    point: usize,
    /// Whether there was a point at which more than one thread could go on.
    had_choice: bool,
    kept: usize,
    end: End,
    pub(crate) faults: Vec<Fault>,
    limits: Limits,
    pub(crate) options: Options,
    /// Application events are chosen like other steps. A search need not do that, as they commute with everything; a witness may
    /// want one to come before what its thread could do at once.
    pub(crate) chooses_events: bool,
    pub(crate) tries: Tries,
    /// The search begins anew, as more has to be events.
    pub(crate) restart: Option<Tries>,
    /// How many threads unwind and wait meanwhile.
    suspended: u32,
    /// Who goes on because nobody else can.
    pub(crate) last_resort: Option<usize>,
    /// Rows, to be used again.
    rows: Vec<u32>,
    /// Objects that are older than the run.
    pub(crate) survivors: u32,
    pub(crate) abandoned: u32,
    pub(crate) too_long: bool,
    repeated: u32,
    /// Some thread waited until something had changed.
    pub(crate) pauses: bool,
}

/// How a run went.
pub(crate) struct Ran {
    pub(crate) end: End,
    /// How the search goes on.
    pub(crate) next: Onward,
}

enum Next {
    Run(usize),
    Stop,
}

/// The number of the next run. Explorations may go on at the same time, and meet the same statics.
static NUMBER: AtomicU64 = AtomicU64::new(1);
/// How many bits of a tag are the number of an object.
const INDEX_BITS: u32 = 20;

const NOTHING: Op = Op {
    kind: Kind::Read,
    object: NONE,
    second: NONE,
};

const GO: Turn = Turn {
    succeeds: true,
    tell: false,
};

impl Engine {
    pub(crate) fn new(
        strategy: Box<dyn Strategy>,
        relevance: Option<Relevance>,
        limits: Limits,
        options: Options,
    ) -> Engine {
        Engine {
            pool: Pool::new(limits.stack_size),
            progress: Progress::watched(),
            state: RefCell::new(State {
                run: Run::new(),
                relevance,
                strategy,
                mode: Mode::Idle,
                current: 0,
                threads: Vec::new(),
                pending: Vec::new(),
                parked: ThreadSet::EMPTY,
                ready: Vec::new(),
                jobs: Vec::new(),
                objects: Vec::new(),
                number: 0,
                schedule: Vec::new(),
                point: 0,
                had_choice: false,
                kept: 0,
                end: End::Complete,
                faults: Vec::new(),
                limits,
                options,
                chooses_events: false,
                tries: limits.tries,
                restart: None,
                suspended: 0,
                last_resort: None,
                rows: Vec::new(),
                survivors: 0,
                abandoned: 0,
                too_long: false,
                repeated: 0,
                pauses: false,
            }),
        }
    }

    pub(crate) fn with_state<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.borrow_mut())
    }

    /// Whether there is a run.
    pub(crate) fn begins(&self) -> bool {
        self.state.borrow_mut().strategy.begins()
    }

    /// Runs the program once; the first points of the run before are repeated.
    pub(crate) fn run(&self, main: &dyn Fn() -> Ended, keep: usize) -> Ran {
        self.state.borrow_mut().begin(keep);
        let listening = panics::listen();
        Work::lend(main, |work| self.drive(work));
        self.repeat(main);
        drop(listening);
        self.progress.rests();
        let state = &mut *self.state.borrow_mut();
        state.mode = Mode::Idle;
        let end = state.end;
        if end != End::Blocked {
            state.close();
        }
        let next = if let Some(tries) = state.restart.take() {
            let reason = tries.reason(state.tries);
            state.tries = tries;
            state.strategy.restart();
            Onward::Restart(reason)
        } else {
            state.strategy.finished(&state.run, end)
        };
        Ran { end, next }
    }

    /// Runs the program once more, to see whether it does the same again; only the first runs are repeated.
    fn repeat(&self, main: &dyn Fn() -> Ended) {
        let (findings, end, faults, objects) = {
            let state = &mut *self.state.borrow_mut();
            if state.repeated >= state.limits.repeated
                || state.abandoned > 0
                || !matches!(state.end, End::Complete | End::Deadlock)
            {
                return;
            }
            state.repeated += 1;
            let findings = state.run.take_findings();
            let faults = std::mem::take(&mut state.faults);
            let objects = state.objects.len();
            let (points, end) = (state.schedule.len(), state.end);
            state.begin(points);
            (findings, end, faults, objects)
        };
        Work::lend(main, |work| self.drive(work));
        let state = &mut *self.state.borrow_mut();
        state.run.put_back(findings);
        let differs = state.end != end
            || state.objects.len() != objects
            || !state.run.was_followed()
            || state
                .faults
                .iter()
                .any(|fault| matches!(fault, Fault::Diverged(..)));
        if differs
            && !state
                .faults
                .iter()
                .any(|fault| matches!(fault, Fault::Diverged(..)))
        {
            state.faults = vec![Fault::Diverged(state.current, None)];
        } else if !differs {
            state.faults = faults;
        }
    }

    /// Brings a run to its end: whoever is next is resumed from here, and only from here.
    fn drive(&self, main: Work) {
        let mut next = self.state.borrow_mut().start_main(main);
        loop {
            let thread = match next {
                Next::Run(thread) => thread,
                Next::Stop => return self.stop(),
            };
            let work = self.state.borrow_mut().jobs[thread].take();
            if work.is_some() && self.pool.provide(thread).is_err() {
                panic!("there is no memory for the stack of another thread");
            }
            {
                let state = self.state.borrow();
                self.progress.step(state.number, state.point, thread);
            }
            next = match self.pool.resume(thread, work) {
                Signal::Switch(next) => Next::Run(next),
                Signal::Stop => Next::Stop,
                Signal::Abandon | Signal::Later => {
                    unreachable!(
                        "only threads that have to end wait for others to end, or for ever"
                    )
                }
                Signal::Done(ended) => {
                    let mut state = self.state.borrow_mut();
                    state.ended(thread, ended);
                    if state.all_ended() {
                        return;
                    }
                    state.next()
                }
            };
        }
    }

    /// Unwinds all threads, before those that spawned them, so that nobody's borrowed data are gone before it is.
    #[cold]
    fn stop(&self) {
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

    /// Lets others run until it is this thread's turn.
    #[inline]
    fn switch(&self, me: usize, next: Next) {
        match next {
            Next::Run(thread) if thread == me => return,
            Next::Run(thread) => self.pool.suspend(me, Signal::Switch(thread)),
            Next::Stop => self.pool.suspend(me, Signal::Stop),
        }
        if self.state.borrow().mode == Mode::Stopping && !self.unwinds(me) {
            self.leave(me);
        }
    }

    /// Whether the thread that runs unwinds: what the standard library knows of that is the same for all of them.
    fn unwinds(&self, me: usize) -> bool {
        let state = self.state.borrow();
        thread::panicking() && (state.suspended == 0 || state.threads[me].unwinding)
    }

    /// The thread has to end.
    #[cold]
    fn leave(&self, me: usize) -> ! {
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
    fn step_at_end(&self, me: usize, step: Step) -> Turn {
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

    /// The thread that runs announces something; returns when that has happened. `end`: what comes of it if all threads have to end.
    #[inline]
    fn go(&self, place: Place, end: Turn, announce: impl FnOnce(&mut State, usize) -> Op) -> Turn {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        match state.mode {
            Mode::Recording | Mode::Draining => {}
            Mode::Idle => return end,
            Mode::Stopping => {
                drop(state);
                if !self.unwinds(me) {
                    self.leave(me);
                }
                return end;
            }
        }
        let op = announce(&mut state, me);
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

    /// The run ends here, for this reason.
    #[cold]
    fn end(&self, fault: impl FnOnce(&mut State, usize) -> Fault) -> ! {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        let ends = matches!(state.mode, Mode::Recording | Mode::Draining);
        if ends {
            let fault = fault(&mut state, me);
            state.fault(fault);
        }
        drop(state);
        if ends {
            self.pool.suspend(me, Signal::Stop);
        }
        self.leave(me)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.pool.put_back();
    }
}

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
        let state = self.state.borrow();
        let relevance = state.relevance.as_ref();
        state.mode == Mode::Recording && relevance.is_some_and(|relevance| relevance.wants(event))
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

    fn pick(&self, values: u32) -> u32 {
        let mut state = self.state.borrow_mut();
        let me = state.current;
        match state.mode {
            Mode::Recording | Mode::Draining => state.pick(me, values),
            Mode::Idle | Mode::Stopping => 0,
        }
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

impl State {
    fn begin(&mut self, keep: usize) {
        self.number = NUMBER.fetch_add(1, Relaxed);
        let is_ordered = self.strategy.wants_clocks() || self.relevance.is_some();
        self.run.begin(keep, is_ordered, self.tries.locks);
        if let Some(relevance) = &mut self.relevance {
            relevance.begin();
        }
        self.mode = Mode::Recording;
        self.threads.clear();
        self.pending.clear();
        self.parked = ThreadSet::EMPTY;
        self.ready.clear();
        self.objects.clear();
        self.schedule.truncate(keep);
        self.kept = keep;
        self.point = 0;
        self.had_choice = false;
        self.end = End::Complete;
        self.faults.clear();
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.mode == Mode::Recording
    }

    pub(crate) fn parked(&self) -> ThreadSet {
        self.parked
    }

    pub(crate) fn pending_of(&self, thread: usize) -> Op {
        self.pending[thread]
    }

    /// What a thread that waits wants to do has become something else.
    pub(crate) fn set_pending(&mut self, thread: usize, op: Op) {
        self.pending[thread] = op;
    }

    /// What threads want to do with an object has become something else.
    pub(crate) fn refine_pending(&mut self, object: ObjectIndex, refine: impl Fn(Kind) -> Kind) {
        for thread in self.parked {
            let op = &mut self.pending[thread];
            if op.object == object {
                op.kind = refine(op.kind);
            }
        }
    }

    /// A thread that was held goes on, after this row.
    pub(crate) fn goes_on(&mut self, thread: usize, row: u32) {
        if self.mode == Mode::Recording {
            self.run.teach(thread, row);
        }
        self.ready.push(thread);
    }

    /// One of so many values, for this thread.
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
        // What comes after it may be called otherwise.
        self.run.is_late = true;
        let choices = &mut self.threads[thread].choices;
        *choices = crate::random::mix(*choices ^ u64::from(value + 1));
        value
    }

    fn start_main(&mut self, main: Work) -> Next {
        let number = self.add_thread(None, None);
        self.jobs[number] = Some(main);
        self.current = number;
        Next::Run(number)
    }

    fn add_thread(&mut self, name: Option<&str>, spawner: Option<usize>) -> usize {
        let number = self.threads.len();
        let path = match spawner {
            Some(spawner) => {
                let spawner = &mut self.threads[spawner];
                spawner.children += 1;
                crate::random::mix(spawner.path ^ u64::from(spawner.children))
            }
            None => 1,
        };
        self.threads.push(Thread {
            status: Status::Running,
            place: None,
            name: name.map(Into::into),
            spawner,
            children: 0,
            path,
            turn: GO,
            swallowed: 0,
            unwinding: false,
            suspended: false,
            pause: Pause::default(),
            locals: Vec::new(),
            timed: false,
            notified: false,
            mutex: NONE,
            spurious: 0,
            companions: 0,
            token: NONE,
            changes: 0,
            looked: None,
            last_resorts: 0,
            choices: 0,
        });
        self.pending.push(NOTHING);
        if self.jobs.len() <= number {
            self.jobs.push(None);
        }
        self.run.is_late |= self.had_choice;
        self.run.add_thread(spawner);
        number
    }

    /// The number of an object, which it gets when it is first met.
    #[inline]
    fn object(&mut self, object: Object<'_>) -> ObjectIndex {
        let tag = object.tag();
        if tag >> INDEX_BITS == self.number {
            return tag as u32 & ((1 << INDEX_BITS) - 1);
        }
        self.meet(object, tag)
    }

    fn meet(&mut self, object: Object<'_>, tag: u64) -> ObjectIndex {
        let index = self.objects.len() as u32;
        self.run.is_late |= self.had_choice;
        self.survivors += u32::from(tag != 0);
        assert!(index < 1 << INDEX_BITS, "a run has too many objects");
        object.set_tag(self.number << INDEX_BITS | u64::from(index));
        let given = object.given();
        let relevance = self.relevance.as_mut();
        let variable = relevance.and_then(|relevance| relevance.variable(given));
        let seen = |body| Seen {
            kind: object.kind(),
            made: object.made(),
            given,
            thread: None,
            body,
            variable,
        };
        self.add_object(seen(Body::new(object)));
        if Body::has_sides(object) {
            self.add_object(seen(Body::Side));
        }
        index
    }

    pub(crate) fn add_object(&mut self, seen: Seen) -> ObjectIndex {
        let index = self.objects.len() as u32;
        self.objects.push(seen);
        self.run.add_object();
        index
    }

    fn operation(&mut self, step: Step, object: Object<'_>) -> Op {
        let index = self.object(object);
        let kind = match step {
            Step::Read => Kind::Read,
            Step::Write => Kind::Write,
            Step::Update => Kind::Update,
            Step::Lock => Kind::Lock,
            Step::TryLock | Step::TryReadLock => {
                self.need(Tries {
                    locks: true,
                    ..self.tries
                });
                match step {
                    Step::TryLock => Kind::TryLock,
                    _ => Kind::TryReadLock,
                }
            }
            Step::ReadLock => {
                let op = self.share(self.current, index);
                if op.second != NONE {
                    self.need(Tries {
                        requests: true,
                        ..self.tries
                    });
                }
                return op;
            }
            Step::Downgrade => Kind::Downgrade,
            Step::NotifyOne => Kind::NotifyOne,
            Step::NotifyAll => Kind::NotifyAll,
            Step::Send if !self.has_receiver(index) => Kind::FailedSend,
            Step::Send => Kind::Send,
            Step::TrySend => {
                self.need(Tries {
                    channels: true,
                    ..self.tries
                });
                return self.try_send(index);
            }
            Step::Receive => {
                let me = self.current;
                self.threads[me].timed = false;
                return Op::new(Kind::Receive, index + 1);
            }
            Step::TryReceive { timed } => {
                self.need(Tries {
                    channels: true,
                    ..self.tries
                });
                let me = self.current;
                self.threads[me].timed = timed;
                if timed && !self.is_free(me) {
                    return Op::new(Kind::Receive, index + 1);
                }
                return self.try_receive(index);
            }
            Step::CloseReceiver => Kind::CloseReceiver,
            Step::Arrive(threads) => {
                let me = self.current;
                self.threads[me].companions = threads;
                Kind::Arrive
            }
            Step::Call => return self.call(index),
            Step::Done => return Op::new(Kind::Done, index + 1),
            Step::IsDone => return Op::new(Kind::Read, index + 1),
            Step::AwaitDone => Kind::FindDone,
            _ => unreachable!("this step is not known"),
        };
        Op::new(kind, index)
    }

    /// The search begins anew if this was not known.
    fn need(&mut self, tries: Tries) {
        if tries != self.tries {
            self.restart = Some(tries);
        }
    }

    /// A thread gives something back. Where that is an event, it is still to be announced.
    fn give_back(&mut self, thread: usize, release: Release, object: ObjectIndex) -> Option<Op> {
        match release {
            Release::Unlock | Release::ReadUnlock if !self.tries.locks => {
                self.unlock(thread, object, release);
                None
            }
            Release::Unlock => Some(Op::new(Kind::Unlock, object)),
            Release::ReadUnlock => Some(Op::new(Kind::ReadUnlock, object)),
            Release::Sender if self.tries.channels => Some(Op::new(Kind::CloseSender, object + 1)),
            Release::Sender => {
                self.close_sender(thread, object);
                None
            }
            Release::Senders => {
                self.closed(object);
                None
            }
            Release::Call => {
                self.left_once(thread, object);
                None
            }
            _ => unreachable!("this is not known to be given back"),
        }
    }

    #[inline]
    fn announce(&mut self, thread: usize, op: Op, place: Place) {
        self.pending[thread] = op;
        self.parked.insert(thread);
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
    fn next(&mut self) -> Next {
        if let Some(thread) = self.ready.pop() {
            self.current = thread;
            self.threads[thread].status = Status::Running;
            return Next::Run(thread);
        }
        self.choose()
    }

    fn choose(&mut self) -> Next {
        if self.restart.is_some() {
            return self.cut();
        }
        if self.point >= self.limits.steps {
            self.too_long = true;
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

    fn choose_among(&mut self, mut enabled: ThreadSet) -> Next {
        // What happens while a thread unwinds is not interrupted: all threads share what the standard library knows of panics.
        if thread::panicking() {
            if !enabled.contains(self.current) {
                return self.unwinds_for_ever();
            }
            enabled = ThreadSet::only(self.current);
        }
        self.had_choice |= enabled.len() > 1;
        let at = Point {
            step: self.point,
            current: self.current,
            enabled,
            pending: &self.pending,
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

    /// What the thread announced happens.
    fn commit(&mut self, thread: usize) -> Next {
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
        let Performed { op, succeeds } = self.perform(thread, announced);
        let mut event = NONE;
        if self.mode == Mode::Recording {
            let place = self.threads[thread].place;
            let after = After {
                rows: &rows,
                reversible,
                instead: self.races_instead(announced),
            };
            match self.run.commit(thread, op, place, self.point, after) {
                Ok(number) => event = number as u32,
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

    /// The thread that runs wrote what its last step was about.
    fn wrote(&mut self, before: Option<Value>, value: Option<Value>) {
        let event = self.run.followed() - 1;
        let done = self.run.events()[event];
        let object = self.objects.get(done.op.object as usize);
        let variable = object.and_then(|object| object.variable);
        if let (Some(relevance), Some(variable), Some(value)) =
            (&mut self.relevance, variable, value)
        {
            let label = relevance.wrote(variable, before, value);
            relevance.steps.push(RelevantStep {
                event: event as u32,
                thread: done.thread,
                label,
                callsite: None,
                place: done.place,
            });
        }
    }

    /// An application event of the thread that runs follows what it did before; whether it did so the last time.
    fn follow_event(&mut self, op: Op) -> bool {
        let point = self.point.saturating_sub(1);
        let followed = self
            .run
            .commit(self.current, op, None, point, After::default());
        if followed.is_err() {
            let _ = self.diverged(self.current);
        }
        followed.is_ok()
    }

    /// The last event of the run is an application event.
    fn happened(&mut self, callsite: &'static Callsite, label: u32) {
        let event = self.run.followed() - 1;
        if let Some(relevance) = &mut self.relevance {
            relevance.steps.push(RelevantStep {
                event: event as u32,
                thread: self.current as u8,
                label,
                callsite: Some(callsite),
                place: None,
            });
        }
    }

    /// From now on another strategy chooses.
    pub(crate) fn set_strategy(&mut self, strategy: Box<dyn Strategy>) {
        self.strategy = strategy;
    }

    /// What comes of an operation.
    #[inline]
    fn perform(&mut self, thread: usize, op: Op) -> Performed {
        match op.kind {
            Kind::Read | Kind::Write | Kind::Update => Performed { op, succeeds: true },
            Kind::Lock
            | Kind::TryLock
            | Kind::Unlock
            | Kind::ReadLock
            | Kind::TryReadLock
            | Kind::ReadUnlock
            | Kind::Downgrade => self.perform_lock(thread, op),
            Kind::Wait | Kind::Wake => self.perform_condition(thread, op),
            Kind::Send | Kind::TrySend | Kind::Receive | Kind::TryReceive => {
                self.perform_channel(thread, op)
            }
            Kind::Initialise | Kind::FindDone => self.perform_once(op),
            Kind::Park => self.perform_token(thread, op),
            _ => Performed { op, succeeds: true },
        }
    }

    /// What follows from an event; whether its thread goes on.
    #[inline]
    fn performed(&mut self, thread: usize, op: Op, event: u32) -> bool {
        match op.kind {
            Kind::NotifyOne | Kind::NotifyAll => self.notify(thread, op, event),
            Kind::Send | Kind::Receive | Kind::CloseReceiver | Kind::CloseSender => {
                self.performed_channel(op, event);
            }
            Kind::Arrive => {
                let is_last = self.arrive(thread, op.object, event);
                self.threads[thread].turn.succeeds = is_last;
                return is_last;
            }
            Kind::Done => self.done(op.object),
            Kind::Request => self.ask(thread, op.object),
            Kind::Park | Kind::Unpark => self.performed_token(op, event),
            _ => {}
        }
        true
    }

    /// What an operation races with, if that is not what it depends on.
    #[inline]
    fn races_instead(&self, op: Op) -> Option<u32> {
        match op.kind {
            Kind::FailedSend => self.filled_by(op),
            _ => None,
        }
    }

    /// What an operation comes after besides what it depends on, and whether it could have come before.
    #[inline]
    fn comes_after(&mut self, thread: usize, op: Op, rows: &mut Vec<u32>) -> bool {
        match op.kind {
            Kind::Send | Kind::TrySend | Kind::Receive | Kind::TryReceive => {
                self.channel_rows(op, rows)
            }
            Kind::Park => {
                self.token_rows(thread, op, rows);
                // That is what the thread waits for, whatever else happens.
                for row in rows.drain(..) {
                    self.run.teach(thread, row);
                }
                false
            }
            _ => false,
        }
    }

    fn ended(&mut self, thread: usize, ended: Ended) {
        self.threads[thread].status = Status::Ended;
        if ended == Ended::Panicked {
            let message = panics::take();
            self.fault(Fault::Panicked(thread, message));
        }
        for other in 0..self.threads.len() {
            if matches!(self.threads[other].status, Status::Joining(target, _) if target == thread)
            {
                if self.mode == Mode::Recording {
                    self.run.learn(other, thread);
                }
                self.ready.push(other);
            }
        }
    }

    fn all_ended(&self) -> bool {
        self.threads
            .iter()
            .all(|thread| thread.status == Status::Ended)
    }

    fn fault(&mut self, fault: Fault) {
        if matches!(self.mode, Mode::Recording) {
            self.faults.push(fault);
            if !matches!(self.faults.last(), Some(Fault::Panicked(..))) {
                self.end = End::Cut;
            }
        }
    }

    /// A destructor waits for others while its thread panics. They would seem to panic, too, so the run ends here.
    #[cold]
    fn unwinds_for_ever(&mut self) -> Next {
        let me = self.current;
        self.threads[me].unwinding = true;
        self.threads[me].suspended = true;
        self.fault(Fault::Panicked(me, panics::take()));
        self.cut()
    }

    /// Nobody can go on.
    fn deadlock(&mut self) -> Next {
        if self.mode == Mode::Recording {
            let waiting = (0..self.threads.len()).filter_map(|number| {
                let thread = &self.threads[number];
                match thread.status {
                    Status::Parked => {
                        Some((number, Waiting::For(self.pending[number], thread.place)))
                    }
                    Status::Held => Some((number, Waiting::In(self.pending[number], thread.place))),
                    Status::Joining(other, place) => Some((number, Waiting::EndOf(other, place))),
                    _ => None,
                }
            });
            let waiting = waiting.collect();
            self.faults.push(Fault::Deadlock(waiting));
            self.end = End::Deadlock;
        }
        Next::Stop
    }

    fn cut(&mut self) -> Next {
        if self.mode == Mode::Recording {
            self.end = End::Cut;
        }
        Next::Stop
    }

    fn diverged(&mut self, thread: usize) -> Next {
        let place = self.threads.get(thread).and_then(|thread| thread.place);
        self.fault(Fault::Diverged(thread, place));
        Next::Stop
    }

    /// Where the search is to go on, and what somebody tries.
    pub(crate) fn save(&self) -> Option<(Vec<[u64; 6]>, Tries)> {
        Some((self.strategy.save()?, self.tries))
    }

    /// Whether runs are in classes of their own.
    pub(crate) fn visits_classes_once(&self) -> bool {
        self.strategy.visits_classes_once()
    }

    /// Whether classes have to be counted to be known.
    pub(crate) fn counts_classes(&self) -> bool {
        self.strategy.wants_clocks() && !self.strategy.visits_classes_once()
    }

    /// What threads still want to do races with what happened.
    fn close(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        for thread in self.parked {
            let op = self.pending[thread];
            if op.kind == Kind::Wake && !self.wakes_by_itself(thread) {
                // Only who notifies it lets it go on.
                continue;
            }
            rows.clear();
            let reversible = self.comes_after(thread, op, &mut rows);
            let after = After {
                rows: &rows,
                reversible,
                instead: self.races_instead(op),
            };
            self.run.close(thread, op, after);
        }
        self.rows = rows;
    }
}
