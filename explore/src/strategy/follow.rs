//! Replays a recorded run in a different order.
//!
//! Recorded steps are matched, one after the other, with the operations that threads announce. A match has the same thread (the same
//! child of the same parent), the same kind of operation, the same object (by its given name, or else consistently the same one), and
//! the same place in the source. Some operations leave no line in a recording, such as dropping a sender or a spurious wake-up; they are
//! performed when their thread cannot get past them. Some lines are not steps of their own, such as releasing a lock; they are skipped.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use portent_monitor_core::Operation;

use super::{
    Choice, End, Next, Point, Strategy,
    script::{Origin, Script, Scripted, is_passed_over, is_recorded_as, is_silent},
};
use crate::{
    operation::{Kind, ObjectIndex, Op},
    run::{Place, Run},
};

/// Where a run first deviated from the script.
#[derive(Clone, Debug)]
pub(crate) struct Deviation {
    /// The expected event, by its index in the recording.
    pub(crate) event: usize,
    /// The number of recorded steps that were followed before.
    pub(crate) followed: usize,
    /// The thread of the expected event, if it exists.
    pub(crate) thread: Option<usize>,
    pub(crate) instead: Instead,
}

/// What the thread did instead of the expected event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instead {
    /// Nothing: it does not exist, has ended, or waits for other threads.
    Nothing,
    /// Its next operation cannot proceed.
    Waits(Op, Place),
    /// It did something else, or the same at another place in the source.
    Other(Op, Place),
    /// A try had the opposite outcome.
    OppositeOutcome(Op, Place),
}

/// The outcome of a run that was to follow a witness.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Where it first deviated from the recording.
    pub(crate) deviation: Option<Deviation>,
    /// Whether all steps of the witness happened in order.
    pub(crate) is_complete: bool,
}

/// The outcome, shared between a strategy and those who read it after the run.
pub(crate) type SharedOutcome = Arc<Mutex<Outcome>>;

/// Follows a script.
pub(crate) struct Follow {
    script: Script,
    outcome: SharedOutcome,
    at: usize,
    /// The number of recorded steps that happened.
    followed: usize,
    deviation: Option<Deviation>,
    /// Whether the script was abandoned; the rest of the run is free.
    is_free: bool,
    /// The thread of this run that corresponds to each recorded one.
    threads: Vec<Option<usize>>,
    /// Threads by their spawner and their number among its children.
    children: HashMap<(usize, usize), usize>,
    counted: Vec<usize>,
    /// Recorded objects and the corresponding objects of this run, in both directions.
    bound: HashMap<usize, ObjectIndex>,
    bound_back: HashMap<ObjectIndex, usize>,
    /// The last step that was followed: its number, its thread, and its place in the source.
    last: Option<(usize, usize, Place)>,
    /// The threads that wait on each condition variable, in order.
    waiting: Vec<(ObjectIndex, usize)>,
    notifies: Option<ObjectIndex>,
}

impl Follow {
    pub(crate) fn new(script: Script, outcome: SharedOutcome) -> Follow {
        Follow {
            threads: vec![None; script.origins.len()],
            script,
            outcome,
            at: 0,
            followed: 0,
            deviation: None,
            is_free: false,
            children: HashMap::new(),
            counted: Vec::new(),
            bound: HashMap::new(),
            bound_back: HashMap::new(),
            last: None,
            waiting: Vec::new(),
            notifies: None,
        }
    }

    /// The thread of this run that corresponds to a recorded one.
    fn thread(&mut self, recorded: usize, at: &Point<'_>) -> Option<usize> {
        if self.threads[recorded].is_some() {
            return self.threads[recorded];
        }
        while self.counted.len() < at.threads.len() {
            let thread = self.counted.len();
            self.counted.push(0);
            if let Some(spawner) = at.threads[thread].spawner {
                self.children
                    .insert((spawner, self.counted[spawner]), thread);
                self.counted[spawner] += 1;
            }
        }
        let found = match self.script.origins[recorded].clone() {
            Origin::Main => Some(0),
            Origin::Child(parent, number) => {
                let parent = self.thread(parent, at)?;
                self.children.get(&(parent, number)).copied()
            }
            Origin::Named(name) => { at.threads.iter() }
                .position(|thread| thread.name.as_deref() == Some(name.as_str())),
        };
        self.threads[recorded] = found;
        found
    }

    /// Whether this object may be the recorded one.
    fn is_same_object(&self, step: &Scripted, op: Op, at: &Point<'_>) -> bool {
        // A wake-up is recorded with its condition variable and announced with the mutex; the end of a channel is recorded as a notify.
        let is_of_other = match step.operation {
            Operation::Wait => !matches!(op.kind, Kind::Park),
            Operation::Notify => op.kind == Kind::CloseSender,
            _ => false,
        };
        let Some(object) = step.object.filter(|_| !is_of_other) else {
            return true;
        };
        let index = at.whole(op.object);
        if let Some(name) = at.given_name(index) {
            return name == step.name;
        }
        if let Some(made) = at.made_name(index) {
            let base = { step.name.rsplit_once('#') }.map_or(step.name.as_str(), |(base, _)| base);
            if base != made && base.contains('@') {
                return false;
            }
        }
        match (self.bound.get(&object), self.bound_back.get(&index)) {
            (None, None) => true,
            (Some(bound), Some(back)) => *bound == index && *back == object,
            _ => false,
        }
    }

    /// The thread whose turn it is; `None` if the rest of the run is free.
    fn next(&mut self, at: &Point<'_>) -> Option<usize> {
        while self.at < self.script.steps.len() && !self.is_free {
            let recorded = self.script.steps[self.at].thread;
            let Some(thread) = self.thread(recorded, at) else {
                return self.others(at, None, Instead::Nothing);
            };
            let step = &self.script.steps[self.at];
            let (operation, is_parked) = (step.operation, at.parked.contains(thread));
            let (op, place) = (at.pending[thread], at.threads[thread].place);
            let is_there = is_same_place(step, place);
            let may_be_it = is_parked
                && is_recorded_as(op.kind, operation)
                && self.is_same_object(step, op, at)
                && (is_there || !is_silent(op.kind));
            let can_go_on = at.enabled.contains(thread);
            if may_be_it && can_go_on {
                if !is_there {
                    self.deviate(Some(thread), Instead::Other(op, place));
                }
                return Some(self.take(thread, op, place, at));
            }
            if may_be_it {
                return self.others(at, Some(thread), Instead::Waits(op, place));
            }
            if is_parked && is_silent(op.kind) && can_go_on && !self.is_ahead(thread, op, at) {
                return Some(thread);
            }
            // A spinning thread that would see the same again waits for a change instead.
            let is_in_vain = operation == Operation::Read && op.kind == Kind::Await;
            if is_passed_over(operation) || (is_parked && is_in_vain) {
                self.at += 1;
                continue;
            }
            return match is_parked {
                false => self.others(at, Some(thread), Instead::Nothing),
                true if is_silent(op.kind) => {
                    self.others(at, Some(thread), Instead::Waits(op, place))
                }
                true => {
                    self.deviate(Some(thread), Instead::Other(op, place));
                    self.is_free = true;
                    None
                }
            };
        }
        None
    }

    /// Whether the thread has announced a later step of its own, so that what comes before it in the script is not a step.
    fn is_ahead(&self, thread: usize, op: Op, at: &Point<'_>) -> bool {
        let recorded = self.script.steps[self.at].thread;
        let own = self.script.steps[self.at..]
            .iter()
            .filter(|step| step.thread == recorded);
        for step in own {
            if is_recorded_as(op.kind, step.operation)
                && self.is_same_object(step, op, at)
                && is_same_place(step, at.threads[thread].place)
            {
                return true;
            }
            if !is_passed_over(step.operation) {
                return false;
            }
        }
        false
    }

    /// Takes a recorded step.
    fn take(&mut self, thread: usize, op: Op, place: Place, at: &Point<'_>) -> usize {
        let step = &self.script.steps[self.at];
        if let Some(object) = step.object
            && !matches!(step.operation, Operation::Wait | Operation::Notify)
        {
            let index = at.whole(op.object);
            self.bound.insert(object, index);
            self.bound_back.insert(index, object);
        }
        self.last = Some((self.at, thread, place));
        self.at += 1;
        self.followed += 1;
        thread
    }

    /// The thread whose turn it is cannot proceed: another one takes a step that recordings do not contain.
    fn others(&mut self, at: &Point<'_>, thread: Option<usize>, instead: Instead) -> Option<usize> {
        let mut silent = at.enabled;
        let found = silent.find(|&other| {
            Some(other) != thread && is_silent(at.pending[other].kind) && !self.is_next(other, at)
        });
        if found.is_none() {
            self.deviate(thread, instead);
            self.is_free = true;
        }
        found
    }

    /// Whether what a thread announced is its next recorded step.
    fn is_next(&self, thread: usize, at: &Point<'_>) -> bool {
        let Some(recorded) = { self.threads.iter() }.position(|known| *known == Some(thread))
        else {
            return false;
        };
        let op = at.pending[thread];
        let rest = &self.script.steps[self.at..];
        let next = rest.iter().find(|step| step.thread == recorded);
        next.is_some_and(|step| {
            is_recorded_as(op.kind, step.operation) && self.is_same_object(step, op, at)
        })
    }

    /// Notes that the program did something else; only the first time is kept.
    fn deviate(&mut self, thread: Option<usize>, instead: Instead) {
        let deviation = Deviation {
            event: self.script.steps[self.at].event,
            followed: self.followed,
            thread,
            instead,
        };
        self.deviation.get_or_insert(deviation);
    }

    /// Compares the outcome of the last step with the recorded one.
    fn look_back(&mut self, run: &Run) {
        let Some((number, thread, place)) = self.last.take() else {
            return;
        };
        let step = &self.script.steps[number];
        let Some(event) = run
            .last_chosen()
            .filter(|event| usize::from(event.thread) == thread)
        else {
            return;
        };
        let has_failed = matches!(
            event.op.kind,
            Kind::FailedTryLock | Kind::FailedTryReadLock | Kind::EmptyReceive | Kind::FullSend
        );
        let failed = matches!(step.operation, Operation::TryLock | Operation::TryRecv);
        let is_tried = step.is_try || failed || has_failed;
        if is_tried && has_failed != failed {
            let deviation = Deviation {
                event: step.event,
                followed: self.followed - 1,
                thread: Some(thread),
                instead: Instead::OppositeOutcome(event.op, place),
            };
            self.deviation.get_or_insert(deviation);
        }
    }

    /// Remembers which threads wait on which condition variable.
    fn note(&mut self, thread: usize, op: Op) {
        self.notifies = None;
        match op.kind {
            Kind::Wait => self.waiting.push((op.object, thread)),
            Kind::Wake => self.waiting.retain(|(_, waiter)| *waiter != thread),
            Kind::NotifyAll => self.waiting.retain(|(object, _)| *object != op.object),
            Kind::NotifyOne => {
                let waiters = self.waiters(op.object);
                match waiters.as_slice() {
                    [] => {}
                    [only] => self.waiting.retain(|(_, waiter)| waiter != only),
                    _ => self.notifies = Some(op.object),
                }
            }
            _ => {}
        }
    }

    fn waiters(&self, object: ObjectIndex) -> Vec<usize> {
        { self.waiting.iter() }
            .filter(|(other, _)| *other == object)
            .map(|(_, waiter)| *waiter)
            .collect()
    }
}

/// Whether a recorded step is at this place in the source; unknown places match.
fn is_same_place(step: &Scripted, place: Place) -> bool {
    match (&step.place, place) {
        (Some(recorded), Some(place)) => place.to_string() == *recorded,
        _ => true,
    }
}

impl Strategy for Follow {
    fn choose(&mut self, at: &Point<'_>, run: &Run) -> Choice {
        self.look_back(run);
        let next = self.next(at);
        let thread = next.or_else(|| at.stay(at.enabled)).unwrap_or_default();
        self.note(thread, at.pending[thread]);
        Choice::Run(thread)
    }

    fn pick(&mut self, _: usize, _: u32) -> u32 {
        let Some(object) = self.notifies.take() else {
            return 0;
        };
        // The thread that was notified is the first of them to wake up.
        let waiters = self.waiters(object);
        let rest = &self.script.steps[self.at.min(self.script.steps.len())..];
        let woken = rest.iter().filter(|step| step.operation == Operation::Wait);
        let first = woken.filter_map(|step| self.threads[step.thread]);
        let chosen = first
            .filter_map(|thread| waiters.iter().position(|waiter| *waiter == thread))
            .next()
            .unwrap_or_default();
        self.waiting
            .retain(|(_, waiter)| *waiter != waiters[chosen]);
        chosen as u32
    }

    fn finished(&mut self, run: &Run, _: End) -> Next {
        self.look_back(run);
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        *outcome = Outcome {
            deviation: self.deviation.take(),
            is_complete: self.at >= self.script.until,
        };
        Next::Enough
    }

    fn wants_clocks(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        let steps = std::mem::take(&mut self.script.steps);
        let script = Script {
            steps,
            until: self.script.until,
            origins: std::mem::take(&mut self.script.origins),
        };
        *self = Follow::new(script, Arc::clone(&self.outcome));
    }
}
