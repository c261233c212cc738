//! Random runs in which the relevant steps come in a given order.
//!
//! The recording has only the relevant steps, so what threads do in between is unknown. A thread is held while its next relevant step is
//! not due, and the others run at random. If every thread that could run is held, one of them runs nevertheless, and the run misses
//! its order.

use std::sync::PoisonError;

use portent_monitor_core::Operation;

use super::{Choice, End, Next, Outcome, Point, SharedOutcome, Strategy};
use crate::{
    operation::{Kind, Op},
    random::Random as Numbers,
    recorded::{RecordedRun, Witness},
    run::Run,
    thread_set::ThreadSet,
};

/// Where random numbers begin.
const SEED: u64 = 1;

/// Random runs in the order of a witness.
pub(crate) struct Hold {
    due: Vec<Due>,
    numbers: Numbers,
    runs: u64,
    left: u64,
    outcome: SharedOutcome,
    /// Whether it ends with the first run in which the order was kept.
    is_aim: bool,
    at: usize,
    /// Whether a step came before its turn.
    is_broken: bool,
    /// For each thread of the recording, which one it is.
    threads: Vec<Option<usize>>,
}

/// A relevant step that is to come.
struct Due {
    thread: usize,
    /// What the thread is called.
    called: String,
    /// Of a write, the variable.
    variable: Option<String>,
}

impl Hold {
    pub(crate) fn new(
        run: &RecordedRun,
        witness: &Witness,
        runs: u64,
        outcome: SharedOutcome,
    ) -> Hold {
        let symbols = run.symbols();
        let due = witness.steps().iter().map(|&step| {
            let event = &run.events()[step];
            let is_event = matches!(event.op.operation(), None | Some(Operation::Event));
            let object = event.op.object(symbols).filter(|_| !is_event);
            Due {
                thread: event.thread.index(),
                called: symbols.threads.name(event.thread).to_owned(),
                variable: object.map(str::to_owned),
            }
        });
        Hold {
            due: due.collect(),
            numbers: Numbers::new(SEED),
            runs,
            left: runs,
            outcome,
            is_aim: false,
            at: 0,
            is_broken: false,
            threads: vec![None; symbols.threads.len()],
        }
    }

    /// Whether the order of the steps is all that is asked for.
    pub(crate) fn for_its_own_sake(self, is_aim: bool) -> Hold {
        Hold { is_aim, ..self }
    }

    /// Whether an operation is one of those whose order matters.
    fn is_relevant(&self, op: Op, at: &Point<'_>) -> bool {
        match op.kind {
            Kind::Event => true,
            Kind::Write | Kind::Update => {
                let name = at.given_name(at.whole(op.object));
                { self.due.iter() }.any(|due| due.variable.is_some() && due.variable == name)
            }
            _ => false,
        }
    }

    /// Whether what a thread announced is what is due.
    fn is_due(&self, thread: usize, at: &Point<'_>) -> bool {
        let Some(due) = self.due.get(self.at) else {
            return false;
        };
        let op = at.pending[thread];
        let is_it = match &due.variable {
            None => op.kind == Kind::Event,
            Some(_) => op.kind != Kind::Event && at.given_name(at.whole(op.object)) == due.variable,
        };
        is_it && self.is_who(due, thread, at)
    }

    /// Whether a thread may be the one that was recorded: it is known to be, or has its name, or has none and nobody else is it.
    fn is_who(&self, due: &Due, thread: usize, at: &Point<'_>) -> bool {
        if let Some(known) = self.threads[due.thread] {
            return known == thread;
        }
        let is_taken = self.threads.contains(&Some(thread));
        let name = at.threads[thread].name.as_deref();
        !is_taken && name.is_none_or(|name| name == due.called)
    }

    fn is_held(&self, thread: usize, at: &Point<'_>) -> bool {
        self.at < self.due.len()
            && self.is_relevant(at.pending[thread], at)
            && !self.is_due(thread, at)
    }
}

impl Strategy for Hold {
    fn choose(&mut self, at: &Point<'_>, _: &Run) -> Choice {
        let mut free = ThreadSet::EMPTY;
        for thread in at.enabled {
            if !self.is_held(thread, at) {
                free.insert(thread);
            }
        }
        self.is_broken |= free.is_empty();
        let mut among = if free.is_empty() { at.enabled } else { free };
        let nth = self.numbers.below(among.len());
        let thread = { among.nth(nth) }.expect("a point is where somebody can go on");
        if self.at < self.due.len() && self.is_due(thread, at) {
            let recorded = self.due[self.at].thread;
            self.threads[recorded] = Some(thread);
            self.at += 1;
        }
        Choice::Run(thread)
    }

    fn pick(&mut self, _: usize, values: u32) -> u32 {
        self.numbers.below(values as usize) as u32
    }

    fn finished(&mut self, _: &Run, _: End) -> Next {
        let is_done = self.at == self.due.len() && !self.is_broken;
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Outcome {
            deviation: None,
            is_complete: is_done,
        };
        self.at = 0;
        self.is_broken = false;
        self.threads.fill(None);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || (self.is_aim && is_done) {
            return Next::Enough;
        }
        Next::Keep(0)
    }

    fn wants_clocks(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.left = self.runs;
        self.numbers = Numbers::new(SEED);
        self.at = 0;
        self.is_broken = false;
        self.threads.fill(None);
    }
}
