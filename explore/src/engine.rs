//! One controlled run: the threads that wait for their turn, the objects with their owners, and the choice of the next thread.
//!
//! A thread *announces* the operation it wants to perform next, and waits. When all threads wait, one that can proceed is *chosen*, and its
//! operation is *committed*: it takes effect. A spawned thread runs at once up to its first announcement, and a thread that waits for
//! another's end continues without being chosen. So at every choice the next operation of each thread is known.
//!
//! The engine keeps the state of every primitive, which determines who can proceed. The program's real primitive is only used after
//! that, in a way that cannot block.

mod choosing;
mod controller;
mod ending;
mod fault;
mod limits;
mod operations;
mod pause;
mod performing;
mod repeat;
mod threads;
mod used;

use std::{
    any::Any,
    cell::RefCell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use portent_hooks::control::{Ended, GivenName, Turn};

use self::pause::Pause;
pub(crate) use self::{
    fault::{Fault, Waiting},
    limits::{Limits, Options, Tries},
    used::Used,
};
use crate::{
    coroutine::{Pool, Signal, Work},
    object::Body,
    operation::{Kind, ObjectIndex, Op},
    panics,
    relevance::Relevance,
    run::{NONE, Place, Run},
    strategy::{End, Next as Onward, Strategy},
    thread_set::ThreadSet,
    watchdog::Heartbeat,
};

/// The controller of all threads on one thread of the operating system.
pub(crate) struct Engine {
    pool: Pool,
    heartbeat: Arc<Heartbeat>,
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
    pub(crate) place: Place,
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
    /// Application events of this run that were no points, whether or not somebody wants them.
    events: usize,
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
    /// Others could have gone on while a thread unwound, and had to wait.
    pub(crate) kept_waiting: bool,
    /// What the program uses that is not all modelled.
    pub(crate) used: Used,
    repeated: u32,
    /// Some thread waited until something had changed.
    pub(crate) pauses: bool,
    /// A wait with a time came after one whose time was over, and its thread had changed nothing meanwhile.
    pub(crate) waits_again: bool,
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
        let mut run = Run::new();
        if options.races {
            run.look_for_data_races();
        }
        Engine {
            pool: Pool::new(limits.stack_size),
            heartbeat: Heartbeat::watched(),
            state: RefCell::new(State {
                run,
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
                events: 0,
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
                kept_waiting: false,
                used: Used::default(),
                repeated: 0,
                pauses: false,
                waits_again: false,
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
        self.state.borrow_mut().begin(keep, keep);
        let listening = panics::listen();
        Work::lend(main, |work| self.drive(work));
        self.repeat(main);
        drop(listening);
        self.heartbeat.rests();
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
            state.over();
            state.strategy.finished(&state.run, end)
        };
        Ran { end, next }
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
                self.heartbeat.step(state.number, state.point, thread);
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

impl State {
    /// Begins a run that makes the first choices again; of its events those before this choice are compared with what happened then.
    fn begin(&mut self, keep: usize, before: usize) {
        self.number = NUMBER.fetch_add(1, Relaxed);
        let is_ordered =
            self.strategy.wants_clocks() || self.relevance.is_some() || self.options.races;
        self.run.begin(before, is_ordered, self.tries.locks);
        self.run.tries_channels = self.tries.channels;
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
        self.events = 0;
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

    /// From now on another strategy chooses.
    pub(crate) fn set_strategy(&mut self, strategy: Box<dyn Strategy>) {
        self.strategy = strategy;
    }

    /// Where the search is to go on, and what somebody tries.
    pub(crate) fn save(&self) -> Option<(Vec<[u64; 6]>, Tries)> {
        Some((self.strategy.save()?, self.tries))
    }

    /// An estimate of which part of the search is done.
    pub(crate) fn part(&self) -> Option<f64> {
        self.strategy.part()
    }

    /// What there is to say of the search.
    pub(crate) fn remark(&self) -> Option<String> {
        self.strategy.remark()
    }

    /// Whether runs are in classes of their own.
    pub(crate) fn visits_classes_once(&self) -> bool {
        self.strategy.visits_classes_once()
    }

    /// Whether classes have to be counted to be known.
    pub(crate) fn counts_classes(&self) -> bool {
        self.strategy.wants_clocks() && !self.strategy.visits_classes_once()
    }
}
