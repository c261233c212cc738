//! One pass over the trace, in which every event is kept or dropped.
//!
//! A thread that drops an event stops there, and leaves the locks that it holds locked. The kept events, in observed order, are
//! a run: if it is violated there is a violation, and if concurrent steps commute in the automaton of the bad prefixes there is
//! no other. The pass remembers little of each choice: the state of the property, which threads have stopped, which of
//! their dropped events are still needed, and which locks were left locked. Of two choices in the same state, one that has
//! lost no more than the other suffices.
//!
//! A thread need only stop before a step that changes the state, before it takes a lock, and where it cannot continue.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::{
    guards::Guards,
    question::{Steps, StrongQuestion},
};
use crate::automaton::{StateIndex, TransitionSystem};

/// What was dropped so far, reduced to what is relevant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    state: StateIndex,
    /// The stopped threads, sorted by thread.
    stopped: SmallVec<[Stopped; 4]>,
    /// The locks left locked, and whether exclusively; sorted.
    left: SmallVec<[(u32, bool); 4]>,
}

/// A stopped thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stopped {
    thread: u32,
    /// The number of its events that were kept.
    kept: u32,
    /// The first dropped event that will still be needed, as an index into the needed events of the thread.
    needed: u32,
}

impl Stopped {
    /// Whether it is stopped no earlier than another entry for the same thread, as far as the rest of the trace is concerned.
    fn covers(self, other: Stopped) -> bool {
        self.needed >= other.needed
    }
}

/// The result of the pass.
pub(super) enum Passed {
    /// A run is violated: the number of its events of each thread, and its last event.
    Violated(Vec<u32>, u32),
    /// No run that drops anything is violated, and all choices were followed.
    Through,
    /// There were too many choices, too much work, or no time left.
    GaveUp,
}

/// The bounds of the pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassLimits {
    /// The number of choices followed at once.
    pub(super) choices: usize,
    /// How often an event may be examined with a choice.
    pub(super) work: u64,
}

/// Choices are compared with each other when there are this many, or twice as many as remained last time.
const COMPARED: usize = 16;
/// The interval between checks for the time limit.
const TOLD: u64 = 1 << 12;

pub(super) struct Pass<'q, 'a, M> {
    question: &'q StrongQuestion<'a, M>,
    choices: Vec<Choice>,
    /// The position of each thread.
    counts: Vec<u32>,
    /// For each thread, which of its events others need, and the last event that needs each.
    needed: Vec<Vec<(u32, u32)>>,
    /// As bits, the actions still to come after each event.
    to_come: Vec<u64>,
    /// The total number of choices made, and how often one met an event.
    pub(super) made: usize,
    pub(super) work: u64,
}

impl<'q, 'a, M: TransitionSystem<State = StateIndex>> Pass<'q, 'a, M> {
    pub(super) fn new(question: &'q StrongQuestion<'a, M>) -> Self {
        Pass {
            question,
            choices: vec![Choice {
                state: question.machine.initial(),
                stopped: SmallVec::new(),
                left: SmallVec::new(),
            }],
            counts: vec![0; question.guards.threads.len()],
            needed: needed(question.guards),
            to_come: to_come(question.steps),
            made: 1,
            work: 0,
        }
    }

    pub(super) fn run(&mut self, limits: PassLimits) -> Passed {
        let question = self.question;
        let mut last_left = 0;
        for event in 0..question.guards.len() as u32 {
            if self.work > limits.work
                || (u64::from(event).is_multiple_of(TOLD) && question.stop.is_raised())
            {
                return Passed::GaveUp;
            }
            let place = question.guards.places[event as usize];
            if let Some(violated) = self.meet(event) {
                let mut kept = self.counts.clone();
                kept[place.thread.index()] += 1;
                for stopped in &violated.stopped {
                    kept[stopped.thread as usize] = stopped.kept;
                }
                return Passed::Violated(kept, event);
            }
            self.counts[place.thread.index()] += 1;
            if self.choices.len() > COMPARED.max(2 * last_left) {
                self.compare(event);
                last_left = self.choices.len();
                if last_left > limits.choices {
                    return Passed::GaveUp;
                }
            }
            if self.choices.is_empty() {
                break;
            }
        }
        Passed::Through
    }

    /// Every choice keeps the event, drops it, or both; returns one that is violated.
    fn meet(&mut self, event: u32) -> Option<Choice> {
        let question = self.question;
        let guards = question.guards;
        let action = question.steps.action(event);
        let begins = guards.begins(event);
        let thread = guards.places[event as usize].thread.index() as u32;
        let is_plain = action.is_none() && begins.is_empty();
        self.work += self.choices.len() as u64;
        let mut dropping: Vec<Choice> = Vec::new();
        let mut violated = None;
        self.choices.retain_mut(|choice| {
            if is_plain && choice.stopped.is_empty() {
                return true;
            }
            if choice
                .stopped
                .iter()
                .any(|stopped| stopped.thread == thread)
            {
                return true;
            }
            if !can_keep(guards, choice, event, begins) {
                stop(guards, choice, thread, self.counts[thread as usize]);
                return true;
            }
            let after = action.map_or(choice.state, |action| {
                question.machine.step(&choice.state, action)
            });
            if !begins.is_empty() || after != choice.state {
                let mut other = choice.clone();
                stop(guards, &mut other, thread, self.counts[thread as usize]);
                dropping.push(other);
            }
            choice.state = after;
            if question.is_violated(after) {
                violated.get_or_insert_with(|| choice.clone());
            }
            !question.is_hopeless(after)
        });
        self.made += dropping.len();
        self.choices.append(&mut dropping);
        violated
    }

    /// Drops the choices that others cover, and those that nothing can violate any more.
    fn compare(&mut self, event: u32) {
        let to_come = self.to_come[event as usize];
        let question = self.question;
        for choice in &mut self.choices {
            for stopped in &mut choice.stopped {
                let needed = &self.needed[stopped.thread as usize];
                let start = (stopped.needed as usize)
                    .max(needed.partition_point(|&(position, _)| position <= stopped.kept));
                let first = { needed[start..].iter() }.position(|&(_, last)| last > event);
                stopped.needed = first.map_or(needed.len(), |first| start + first) as u32;
            }
        }
        let mut known = FxHashSet::default();
        self.choices.retain(|choice| {
            let stopped: SmallVec<[(u32, u32); 4]> = choice
                .stopped
                .iter()
                .map(|s| (s.thread, s.needed))
                .collect();
            question.may_fall(choice.state, to_come)
                && known.insert((choice.state, stopped, choice.left.clone()))
        });
        // Choices with the fewest stopped threads come first: they cover the most.
        self.choices
            .sort_by_key(|choice| (choice.state, choice.stopped.len()));
        let mut kept: Vec<Choice> = Vec::with_capacity(self.choices.len());
        let mut of_state = 0;
        for choice in std::mem::take(&mut self.choices) {
            if kept.last().is_some_and(|last| last.state != choice.state) {
                of_state = kept.len();
            }
            let is_covered = kept[of_state..]
                .iter()
                .any(|other| self.covers(other, &choice));
            if !is_covered {
                kept.push(choice);
            }
        }
        self.work += (kept.len() * kept.len()) as u64 / 8;
        self.choices = kept;
    }

    /// Whether a choice can still do everything that another in the same state can.
    fn covers(&self, one: &Choice, other: &Choice) -> bool {
        let is_left = |(lock, exclusive): (u32, bool)| {
            { other.left.iter() }.any(|&(theirs, so)| theirs == lock && (so || !exclusive))
        };
        let of_other = |thread: u32| other.stopped.iter().find(|s| s.thread == thread);
        { one.stopped.iter() }
            .all(|stopped| of_other(stopped.thread).is_some_and(|other| stopped.covers(*other)))
            && one.left.iter().all(|&left| is_left(left))
            && { other.stopped.iter() }
                .filter(|stopped| one.stopped.iter().all(|own| own.thread != stopped.thread))
                .all(|stopped| {
                    let count = self.counts[stopped.thread as usize];
                    held(self.question.guards, stopped.thread, count).all(is_left)
                })
    }
}

/// Whether all needs of an event were kept, and no lock that it takes was left locked.
fn can_keep(guards: &Guards, choice: &Choice, event: u32, begins: &[u32]) -> bool {
    if choice.stopped.is_empty() {
        return true;
    }
    let needs = guards.needs(event);
    let is_kept = |stopped: &Stopped| {
        let needed = needs.get(stopped.thread as usize);
        needed.is_none_or(|&needed| needed <= stopped.kept)
    };
    choice.stopped.iter().all(is_kept)
        && begins.iter().all(|&number| {
            let section = &guards.sections[number as usize];
            let mut left = choice.left.iter();
            !left.any(|&(lock, theirs)| lock == section.lock && (theirs || section.exclusive))
        })
}

/// Stops a thread after this many events.
fn stop(guards: &Guards, choice: &mut Choice, thread: u32, kept: u32) {
    let place = { choice.stopped.iter() }.position(|stopped| stopped.thread > thread);
    let stopped = Stopped {
        thread,
        kept,
        needed: 0,
    };
    let place = place.unwrap_or(choice.stopped.len());
    choice.stopped.insert(place, stopped);
    for left in held(guards, thread, kept) {
        if let Err(place) = choice.left.binary_search(&left) {
            choice.left.insert(place, left);
        }
    }
}

/// The locks that a thread holds after this many events.
fn held(guards: &Guards, thread: u32, count: u32) -> impl Iterator<Item = (u32, bool)> {
    let open = guards.trace.open_sections(thread.into(), count);
    open.map(|section| (section.lock.index() as u32, section.exclusive))
}

/// For each thread, which of its events are newly needed by others, in order, and the last event that needs each.
fn needed(guards: &Guards) -> Vec<Vec<(u32, u32)>> {
    let mut needed: Vec<Vec<(u32, u32)>> = vec![Vec::new(); guards.threads.len()];
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); guards.threads.len()];
    for event in 0..guards.len() as u32 {
        let own = guards.places[event as usize].thread.index();
        let needs = guards.needs(event);
        if before[own] == needs {
            continue;
        }
        for (thread, &position) in needs.iter().enumerate() {
            let known = before[own].get(thread).copied().unwrap_or(0);
            if thread != own && position > known {
                needed[thread].push((position, event));
            }
        }
        before[own].clear();
        before[own].extend_from_slice(needs);
    }
    for of_thread in &mut needed {
        of_thread.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        of_thread.dedup_by_key(|(position, _)| *position);
    }
    needed
}

/// As bits, the actions after each event.
fn to_come(steps: &Steps) -> Vec<u64> {
    let mut bits = 0;
    let mut to_come: Vec<u64> = { steps.actions.iter().rev() }
        .map(|action| {
            let after = bits;
            bits |= action.map_or(0, Steps::bit);
            after
        })
        .collect();
    to_come.reverse();
    to_come
}
