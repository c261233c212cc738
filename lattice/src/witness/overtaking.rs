//! The events that a witness moves, and the events that they overtake: the few that the violation needs, for human readers.
//!
//! A witness may swap thousands of pairs, most of them only because one
//! event drags others along. An event is worth mentioning if the monitor would notice its absence: if leaving it
//! out would bring the monitor to another state after some other step. Of several interchangeable events
//! the first is kept, since coming before it means coming before all of them:
//! if `x = 5, x = 6, x = 7` is written and `x > 4` matters, the event to overtake is `x = 5`.
//!
//! The events named suffice: the observed run up to the first overtaken event, continued as in the
//! witness, is violated. If single steps do not show this, the last event is added that makes it so.

use std::collections::{BTreeSet, HashSet};

use portent_monitor_core::{ThreadId, Value};
use portent_monitor_dsl::{VariableId, Verdict};

use super::replay::Replay;
use crate::{intake::Step, order::EventIndex};

/// This many steps are followed twice in all; beyond that, every step is assumed to matter.
const FOLLOWED: usize = 1_000_000;
/// Of the events that one event overtakes, this many are named.
const NAMED: usize = 64;
/// This many events are tried to see whether overtaking them suffices.
const TRIED: usize = 64;

/// An event that comes earlier than observed, and what it overtakes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overtaking {
    /// The event that comes earlier, as its index in observed order.
    pub event: u32,
    /// The events that it overtakes, in observed order; of very many only the first.
    pub overtaken: Vec<u32>,
    /// Whether there are more of them.
    pub more: bool,
}

/// The steps of a run, and their threads.
pub(crate) trait RunSteps {
    fn step(&self, event: EventIndex) -> &Step;
    fn thread(&self, event: EventIndex) -> ThreadId;
}

/// The relevant overtakings in the first `until` events of a run, where it is violated. Those that
/// follow from program order are listed once. Empty if these events come as they were observed, or if a relevant event
/// only comes sooner, without passing another relevant one.
pub(crate) fn overtakings(
    start: &Replay<'_>,
    steps: &impl RunSteps,
    run: &[EventIndex],
    until: usize,
) -> Vec<Overtaking> {
    let mut observed = run.to_vec();
    observed.sort_unstable();
    let until = until.min(run.len());
    if run[..until] == observed[..until] {
        return Vec::new();
    }
    let places = run[..until].iter().map(|event| {
        let place = observed.partition_point(|other| other < event);
        Place(place as u32)
    });
    let run: Vec<Place> = places.collect();
    let as_observed: Vec<Place> = (0..observed.len() as u32).map(Place).collect();
    let step = |place: Place| steps.step(observed[place.index()]);
    let mut matters = vec![false; observed.len()];
    let mut budget = FOLLOWED;
    // An event that matters to one run is not left out of the other.
    for run in [&run, &as_observed] {
        mark(start, step, run, &mut matters, &mut budget);
    }
    let thread = |place: Place| steps.thread(observed[place.index()]);
    let mut named = among(&run, thread, |place| matters[place.index()]);
    if !comes_earlier(&run, |place| matters[place.index()]) {
        // No single step matters, only several together.
        named = among(&run, thread, |_| true);
    }
    add_what_is_needed(start, step, &run, &mut named);
    for overtaking in &mut named {
        let events = std::iter::once(&mut overtaking.event).chain(&mut overtaking.overtaken);
        events.for_each(|place| *place = observed[*place as usize].0);
    }
    named
}

portent_monitor_core::ids! {
    /// The index of an event of a run in observed order.
    struct Place(u32);
}

/// Marks the steps of a run that cannot all be left out without the monitor noticing, in addition to those that
/// are already marked. The last ones are tried first, so that of interchangeable steps the first one stays.
fn mark<'s>(
    start: &Replay<'_>,
    step: impl Fn(Place) -> &'s Step,
    run: &[Place],
    matters: &mut [bool],
    budget: &mut usize,
) {
    // The run is followed to its end, and then undone step by step.
    let mut replay = start.clone();
    let mut states = Vec::with_capacity(run.len());
    let mut overwritten: Vec<(VariableId, Value)> = Vec::new();
    for &place in run {
        let step = step(place);
        states.push(replay.state());
        overwritten.extend(replay.overwritten_by(step));
        replay.step(step);
    }
    let (_, mut values) = replay.position();
    // The remaining steps, from the last to the first.
    let mut kept: Vec<Place> = Vec::new();
    for (&place, state) in run.iter().zip(states).rev() {
        let taken = step(place);
        for _ in &taken.writes {
            if let Some((variable, value)) = overwritten.pop() {
                values[variable.index()] = value;
            }
        }
        if !matters[place.index()] {
            let without = Replay::at(start.monitor(), (state, values.clone()));
            let mut with = without.clone();
            with.step(taken);
            let rest = kept.iter().rev().map(|&place| step(place));
            if is_same(with, without, rest, budget) {
                continue;
            }
            matters[place.index()] = true;
        }
        kept.push(place);
    }
}

/// Whether the rest of a run goes through the same states from both positions.
fn is_same<'s>(
    mut one: Replay<'_>,
    mut other: Replay<'_>,
    mut rest: impl Iterator<Item = &'s Step>,
    budget: &mut usize,
) -> bool {
    loop {
        if one.state() != other.state() {
            return false;
        }
        if one.verdict().is_final() || one.reads_same_values(&other) {
            return true;
        }
        let Some(step) = rest.next() else {
            return true;
        };
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        one.step(step);
        other.step(step);
    }
}

/// Whether a relevant event comes before one that was observed earlier.
fn comes_earlier(run: &[Place], matters: impl Fn(Place) -> bool) -> bool {
    let mut done = vec![false; run.len()];
    let mut oldest = 0;
    run.iter().any(|&place| {
        if let Some(done) = done.get_mut(place.index()) {
            *done = true;
        }
        let is_earlier = oldest < place.index();
        while done.get(oldest).is_some_and(|done| *done) {
            oldest += 1;
        }
        is_earlier && matters(place)
    })
}

/// Adds an event to those that are overtaken if it takes more than these.
fn add_what_is_needed<'s>(
    start: &Replay<'_>,
    step: impl Fn(Place) -> &'s Step,
    run: &[Place],
    named: &mut Vec<Overtaking>,
) {
    let is_violated = |run: &mut dyn Iterator<Item = Place>| {
        let mut replay = start.clone();
        run.for_each(|place| replay.step(step(place)));
        replay.verdict() == Verdict::Violated
    };
    // A run that is violated because it ends must be examined as a whole.
    if !is_violated(&mut run.iter().copied()) {
        return;
    }
    let first = named
        .iter()
        .flat_map(|one| one.overtaken.iter().copied())
        .min();
    let Some(first) = first else {
        return;
    };
    let enough = |place: u32| {
        let rest = run.iter().copied().filter(|other| other.0 >= place);
        is_violated(&mut (0..place).map(Place).chain(rest))
    };
    if enough(first) {
        return;
    }
    // Up to the first overtaken event, the witness equals the observed run.
    let mut position = vec![usize::MAX; first as usize];
    for (index, place) in run.iter().enumerate().filter(|(_, place)| place.0 < first) {
        position[place.index()] = index;
    }
    let overtakes = |place: u32| {
        let before = &run[..position[place as usize].min(run.len())];
        before.iter().find(|other| other.0 > place)
    };
    let overtaken = (0..first)
        .rev()
        .filter_map(|place| Some((place, *overtakes(place)?)));
    let Some((place, by)) = overtaken.take(TRIED).find(|&(place, _)| enough(place)) else {
        return;
    };
    match named.iter_mut().find(|one| one.event == by.0) {
        Some(one) => one.overtaken.insert(0, place),
        None => named.insert(
            0,
            Overtaking {
                event: by.0,
                overtaken: vec![place],
                more: false,
            },
        ),
    }
}

/// The relevant overtakings, by index.
fn among(
    run: &[Place],
    thread: impl Fn(Place) -> ThreadId,
    matters: impl Fn(Place) -> bool,
) -> Vec<Overtaking> {
    // The relevant ones among the events passed so far.
    let mut waiting: BTreeSet<Place> = BTreeSet::new();
    let mut reached = 0;
    let mut said = HashSet::new();
    let mut all = Vec::new();
    for &place in run {
        let passed = (reached..place.0).map(Place);
        waiting.extend(passed.filter(|&place| matters(place)));
        reached = reached.max(place.0 + 1);
        waiting.remove(&place);
        if !matters(place) {
            continue;
        }
        let thread = thread(place);
        let mut overtaken = waiting
            .range(..place)
            .filter(|other| said.insert((thread, **other)))
            .map(|other| other.0);
        let named: Vec<u32> = overtaken.by_ref().take(NAMED).collect();
        if !named.is_empty() {
            let more = overtaken.next().is_some();
            all.push(Overtaking {
                event: place.0,
                overtaken: named,
                more,
            });
        }
    }
    all
}
