//! Runs of lock-heavy programs, from a seed: what is hard for the maximal model.
//!
//! A program has a few threads that a first one forks and joins. They take locks, sometimes one inside another, and read, write
//! and signal under them; wait for conditions; and hand messages to each other. A random scheduler runs it, so that
//! the trace is one that a real program could have left.

#![allow(dead_code)] // tests and benches use a part each

use std::collections::VecDeque;

use portent_monitor_core::{
    Action, ChanId, CondId, Delivery, Event, LockId, Msg, Op, Symbols, ThreadId, Value, VarId,
};
use portent_testing::Rng;

/// How large a program is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) threads: usize,
    pub(crate) locks: usize,
    pub(crate) sections: usize,
}

/// What a thread is still to do.
#[derive(Clone, Debug)]
enum Step {
    Lock(usize),
    Unlock(usize),
    Read(usize),
    Write(usize),
    Signal(&'static str),
    Send,
    Receive,
    /// Wait for a condition, if the message that it is about has not come yet.
    Wait(usize),
    Notify,
}

/// Names of what threads signal inside sections.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// The run of a program. Three of its signals are named `p`, `q` and `r`, in observed order.
pub(crate) fn run(rng: &mut Rng, size: Size) -> (Vec<Event>, Symbols) {
    let scripts = (0..size.threads).map(|_| script(rng, size)).collect();
    let (mut events, mut symbols) = TransitionSystem::new(scripts, size).run(rng);
    let is_free = |event: &Event| match &event.op {
        Op::Event(action) => {
            let name = action.name.map(|name| symbols.names.name(name));
            name.is_some_and(|name| NAMES.contains(&name))
        }
        _ => false,
    };
    let signals: Vec<usize> = (0..events.len()).filter(|&i| is_free(&events[i])).collect();
    let mut marked: Vec<usize> = (0..3).map(|_| rng.pick(&signals)).collect();
    marked.sort_unstable();
    marked.dedup();
    for (event, name) in marked.into_iter().zip(["p", "q", "r"]) {
        let name = symbols.names.intern(name).expect("few");
        events[event].op = Action::new(name).into();
    }
    (events, symbols)
}

fn script(rng: &mut Rng, size: Size) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    for _ in 0..size.sections {
        let outer = rng.below(size.locks);
        steps.push_back(Step::Lock(outer));
        // The first lock is never given back in between.
        match outer {
            0 => steps.push_back(Step::Signal("enter")),
            _ if rng.one_in(8) => steps.push_back(Step::Wait(outer)),
            _ => {}
        }
        for _ in 0..1 + rng.below(3) {
            steps.push_back(inside(rng, outer));
        }
        // Locks are taken in one order, so that nobody waits for ever.
        if outer + 1 < size.locks && rng.one_in(4) {
            let inner = outer + 1 + rng.below(size.locks - outer - 1);
            steps.push_back(Step::Lock(inner));
            steps.push_back(inside(rng, inner));
            steps.push_back(Step::Unlock(inner));
        }
        if outer == 0 {
            steps.push_back(Step::Signal("leave"));
        }
        steps.push_back(Step::Unlock(outer));
        match rng.below(8) {
            0 => steps.push_back(Step::Send),
            1 => steps.push_back(Step::Receive),
            2 => steps.push_back(Step::Notify),
            3 => steps.push_back(Step::Signal(rng.pick(&NAMES))),
            _ => {}
        }
    }
    steps
}

fn inside(rng: &mut Rng, lock: usize) -> Step {
    match rng.below(5) {
        0..=1 => Step::Read(lock),
        2 => Step::Write(lock),
        _ => Step::Signal(rng.pick(&NAMES)),
    }
}

struct TransitionSystem {
    symbols: Symbols,
    main: ThreadId,
    threads: Vec<ThreadId>,
    locks: Vec<LockId>,
    vars: Vec<VarId>,
    cond: CondId,
    chan: ChanId,
    scripts: Vec<VecDeque<Step>>,
    holders: Vec<Option<usize>>,
    /// The lock that a thread gave back to wait.
    waiting: Vec<Option<usize>>,
    notified: bool,
    sent: i64,
    received: i64,
    written: i64,
    events: Vec<Event>,
}

impl TransitionSystem {
    fn new(scripts: Vec<VecDeque<Step>>, size: Size) -> TransitionSystem {
        let mut s = Symbols::default();
        let mut thread = |name: String| s.threads.intern(&name).expect("few");
        let main = thread("main".to_owned());
        let threads = (1..=size.threads)
            .map(|i| thread(format!("T{i}")))
            .collect();
        let locks = (0..size.locks).map(|i| s.locks.intern(&format!("m{i}")).expect("few"));
        let locks = locks.collect();
        let vars = (0..size.locks).map(|i| s.vars.intern(&format!("x{i}")).expect("few"));
        let vars = vars.collect();
        TransitionSystem {
            main,
            threads,
            locks,
            vars,
            cond: s.conds.intern("ready").expect("few"),
            chan: s.chans.intern("queue").expect("few"),
            holders: vec![None; size.locks],
            waiting: vec![None; scripts.len()],
            scripts,
            symbols: s,
            notified: false,
            sent: 0,
            received: 0,
            written: 0,
            events: Vec::new(),
        }
    }

    fn run(mut self, rng: &mut Rng) -> (Vec<Event>, Symbols) {
        for child in self.threads.clone() {
            self.events.push(Event::new(self.main, Op::Fork(child)));
        }
        // A thread goes on for a while, as real ones do.
        let mut who = 0;
        let mut idle = 0;
        while self.scripts.iter().any(|script| !script.is_empty()) {
            if rng.one_in(4) || idle > 0 {
                who = rng.below(self.threads.len());
            }
            idle = if self.step(who) { 0 } else { idle + 1 };
            if idle > 200 {
                // Everybody waits for the condition.
                let op = Op::Notify(self.cond);
                self.events.push(Event::new(self.main, op));
                self.notified = true;
            }
        }
        for child in self.threads.clone() {
            self.events.push(Event::new(self.main, Op::Join(child)));
        }
        (self.events, self.symbols)
    }

    /// A thread does its next step, if it can.
    fn step(&mut self, who: usize) -> bool {
        if let Some(lock) = self.waiting[who] {
            if !self.notified || self.holders[lock].is_some() {
                return false;
            }
            self.waiting[who] = None;
            self.holders[lock] = Some(who);
            return self.emit(who, Op::Wait(self.cond, Some(self.locks[lock])));
        }
        let Some(step) = self.scripts[who].front().cloned() else {
            return false;
        };
        let op = match step {
            Step::Lock(lock) if self.holders[lock].is_some() => return false,
            Step::Lock(lock) => {
                self.holders[lock] = Some(who);
                Op::Lock(self.locks[lock])
            }
            Step::Unlock(lock) => {
                self.holders[lock] = None;
                Op::Unlock(self.locks[lock])
            }
            Step::Read(var) => Op::Read(self.vars[var]),
            Step::Write(var) => {
                self.written += 1;
                Op::Write(self.vars[var], Some(Value::from(self.written % 5)))
            }
            Step::Signal(name) => {
                let name = self.symbols.names.intern(name).expect("few");
                Action::new(name).into()
            }
            Step::Send => {
                self.sent += 1;
                Op::Send(self.chan, Msg::Number(self.sent), Delivery::Fifo)
            }
            Step::Receive if self.received == self.sent => {
                self.scripts[who].pop_front();
                return true;
            }
            Step::Receive => {
                self.received += 1;
                Op::Recv(self.chan, Msg::Number(self.received), Delivery::Fifo)
            }
            Step::Wait(lock) => {
                self.holders[lock] = None;
                self.waiting[who] = Some(lock);
                Op::Waiting(self.cond, Some(self.locks[lock]))
            }
            Step::Notify => {
                self.notified = true;
                Op::Notify(self.cond)
            }
        };
        self.scripts[who].pop_front();
        self.emit(who, op)
    }

    fn emit(&mut self, who: usize, op: Op) -> bool {
        self.events.push(Event::new(self.threads[who], op));
        true
    }
}
