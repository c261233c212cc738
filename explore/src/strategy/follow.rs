//! One run that goes as a recorded one did, in another order.
//!
//! What was recorded is matched with what threads announce, one recorded step after the other: by thread, which is the same child
//! of the same parent; by kind of operation; by object, which has the name that it was given, or is always the same one; and by
//! place in the source. Some steps of a thread under control leave no line in a recording (the end of a sender, a wake-up by itself); they are
//! taken when the thread has to come past them. Some lines are no steps (giving a lock back); they are passed over.

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

/// Where a run left the script.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    /// Which event was expected, by its index in the recording.
    pub(crate) event: usize,
    /// How many recorded steps were followed before.
    pub(crate) followed: usize,
    /// Who was to do it, if it is there.
    pub(crate) thread: Option<usize>,
    pub(crate) did: Did,
}

/// What a thread did instead of what was expected.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Did {
    /// It is not there, or has ended, or waits for others.
    Nothing,
    /// It wants to do something that cannot happen now.
    Waits(Op, Place),
    /// It did something else, or the same elsewhere.
    Other(Op, Place),
    /// It tried with another outcome.
    Otherwise(Op, Place),
}

/// How far a run came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    /// Where it first differed.
    pub(crate) lost: Option<Lost>,
    /// Whether all steps of the witness were done.
    pub(crate) is_done: bool,
}

/// Where it is told how far a run came.
pub(crate) type Told = Arc<Mutex<Reached>>;

/// Follows a script.
pub(crate) struct Follow {
    script: Script,
    told: Told,
    at: usize,
    /// Recorded steps that happened.
    followed: usize,
    lost: Option<Lost>,
    /// Whether what threads do is not what was recorded, so that the rest goes on as it likes.
    is_adrift: bool,
    /// For each recorded thread, which one it is.
    threads: Vec<Option<usize>>,
    /// Threads by their spawners and their numbers among its children.
    children: HashMap<(usize, usize), usize>,
    counted: Vec<usize>,
    /// Objects as they were recorded and as they are, both ways.
    bound: HashMap<usize, ObjectIndex>,
    bound_back: HashMap<ObjectIndex, usize>,
    /// The last step that was followed: which, by whom, and where in the source.
    last: Option<(usize, usize, Place)>,
    /// Who waits for which condition, in order.
    waiting: Vec<(ObjectIndex, usize)>,
    notifies: Option<ObjectIndex>,
}

impl Follow {
    pub(crate) fn new(script: Script, told: Told) -> Follow {
        Follow {
            threads: vec![None; script.origins.len()],
            script,
            told,
            at: 0,
            followed: 0,
            lost: None,
            is_adrift: false,
            children: HashMap::new(),
            counted: Vec::new(),
            bound: HashMap::new(),
            bound_back: HashMap::new(),
            last: None,
            waiting: Vec::new(),
            notifies: None,
        }
    }

    /// Which thread a recorded one is.
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

    /// Whether a recorded object may be this one.
    fn is_same_object(&self, step: &Scripted, op: Op, at: &Point<'_>) -> bool {
        // What a wake-up is about is the condition; what is announced is the mutex. The end of a channel is a condition.
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

    /// The thread whose turn it is; `None` if the rest goes on as it likes.
    fn next(&mut self, at: &Point<'_>) -> Option<usize> {
        while self.at < self.script.steps.len() && !self.is_adrift {
            let recorded = self.script.steps[self.at].thread;
            let Some(thread) = self.thread(recorded, at) else {
                return self.others(at, None, Did::Nothing);
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
                    self.lose(Some(thread), Did::Other(op, place));
                }
                return Some(self.take(thread, op, place, at));
            }
            if may_be_it {
                return self.others(at, Some(thread), Did::Waits(op, place));
            }
            if is_parked && is_silent(op.kind) && can_go_on && !self.is_ahead(thread, op, at) {
                return Some(thread);
            }
            // Who looks again in vain is waited for instead.
            let is_in_vain = operation == Operation::Read && op.kind == Kind::Await;
            if is_passed_over(operation) || (is_parked && is_in_vain) {
                self.at += 1;
                continue;
            }
            return match is_parked {
                false => self.others(at, Some(thread), Did::Nothing),
                true if is_silent(op.kind) => self.others(at, Some(thread), Did::Waits(op, place)),
                true => {
                    self.lose(Some(thread), Did::Other(op, place));
                    self.is_adrift = true;
                    None
                }
            };
        }
        None
    }

    /// Whether a later step of the thread is what it announced, so that what comes before in the script is no step.
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

    /// A recorded step happens.
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

    /// The thread whose turn it is cannot go on: somebody else takes a step that is not recorded.
    fn others(&mut self, at: &Point<'_>, thread: Option<usize>, did: Did) -> Option<usize> {
        let mut silent = at.enabled;
        let found = silent.find(|&other| {
            Some(other) != thread && is_silent(at.pending[other].kind) && !self.is_next(other, at)
        });
        if found.is_none() {
            self.lose(thread, did);
            self.is_adrift = true;
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

    /// The program did something else. Only the first time counts.
    fn lose(&mut self, thread: Option<usize>, did: Did) {
        let lost = Lost {
            event: self.script.steps[self.at].event,
            followed: self.followed,
            thread,
            did,
        };
        self.lost.get_or_insert(lost);
    }

    /// What came of the last step has to be what was recorded.
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
            let lost = Lost {
                event: step.event,
                followed: self.followed - 1,
                thread: Some(thread),
                did: Did::Otherwise(event.op, place),
            };
            self.lost.get_or_insert(lost);
        }
    }

    /// Remembers who waits for which condition.
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

/// Whether a recorded step is at this place of the source, as far as both are known.
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
        // Who was notified is the first of them to wake up.
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
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        *told = Reached {
            lost: self.lost.take(),
            is_done: self.at >= self.script.until,
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
        *self = Follow::new(script, Arc::clone(&self.told));
    }
}
