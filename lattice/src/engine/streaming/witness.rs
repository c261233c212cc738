//! The run behind a story: where all other events go.
//!
//! The story tells the events that move the automaton. The others that must come before its last one, the pasts of these, go as early
//! as their own past, the moves that they come after, and what the stages stay on allow. That there is room for all of them is what the
//! search has shown.

use super::{By, Class, Moves, Stage, Turn};
use crate::order::{EventIndex, Poset};

/// A run of a poset in the order of its stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// All events.
    pub(crate) run: Vec<EventIndex>,
    /// How many of them lead to the end of the story.
    pub(crate) length: usize,
}

/// Which events come before the end of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those that must.
    Needed,
    /// The first ones in observed order, this many, and no others.
    First(usize),
}

/// The run of a story that begins with all that was forgotten, if there is room for all events. `class` tells what events do; the story
/// numbers them with `forgotten` ones before the first of the poset.
pub(crate) fn arrange(
    poset: &Poset,
    moves: &Moves,
    turns: &[Turn],
    forgotten: u32,
    extent: Extent,
    class: impl Fn(EventIndex) -> Class,
) -> Option<Placed> {
    let (begin, rest) = turns.split_first()?;
    let moved: Vec<(EventIndex, Stage)> = { rest.iter() }
        .map(|turn| match turn.by {
            By::Event(number) => Some((EventIndex(number.checked_sub(forgotten)?), turn.to)),
            By::Origin(_) => None,
        })
        .collect::<Option<_>>()?;
    let stage = |turn: usize| match turn.checked_sub(1) {
        Some(before) => moved[before].1,
        None => begin.to,
    };
    let needed = needed(poset, &moved, extent);
    let mut turn_of = vec![None; poset.len()];
    for (number, (event, _)) in (1..).zip(&moved) {
        *turn_of.get_mut(event.index())? = Some(number);
    }
    // At the last stage nothing is needed any more, unless all is to be there.
    let last = moved.len() + usize::from(extent != Extent::Needed);
    // For each event that is needed, after how many moves it comes.
    let mut places = vec![usize::MAX; poset.len()];
    for event in poset.events() {
        let (chain, clock) = (poset.chain_of(event), poset.clock(event));
        if clock[chain] > needed[chain] {
            continue;
        }
        let before = (0..poset.width()).filter_map(|other| {
            let count = clock[other] - u32::from(other == chain);
            Some(poset.chain(other)[(count as usize).checked_sub(1)?])
        });
        let earliest = before.map(|event| places[event.index()]).max().unwrap_or(0);
        places[event.index()] = match turn_of[event.index()] {
            Some(own) if earliest < own => own,
            Some(_) => return None,
            None => (earliest..last).find(|&turn| moves.stays(stage(turn), class(event)))?,
        };
    }
    let is_needed = |event: &EventIndex| places[event.index()] != usize::MAX;
    let mut run: Vec<EventIndex> = poset.events().filter(is_needed).collect();
    let length = run.len();
    run.sort_by_key(|event| {
        let event = event.index();
        (places[event], turn_of[event].is_none(), event)
    });
    run.extend(poset.events().filter(|event| !is_needed(event)));
    Some(Placed { run, length })
}

/// For each chain how many events come before the end of the story.
fn needed(poset: &Poset, moved: &[(EventIndex, Stage)], extent: Extent) -> Vec<u32> {
    if let Extent::First(events) = extent {
        return poset.prefix(events);
    }
    let mut needed = vec![0; poset.width()];
    for (event, _) in moved {
        for (count, &past) in needed.iter_mut().zip(poset.clock(*event)) {
            *count = past.max(*count);
        }
    }
    needed
}
