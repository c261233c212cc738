//! The run behind a story: places for all other events.
//!
//! The story gives the events that move the automaton. The others that must come before its last one, the pasts of these, go as
//! early as their own past, the moves that they come after, and the stages that stay on them allow. The search has shown that
//! there is room for all of them.

use super::{By, Class, Moves, Stage, Turn};
use crate::order::{EventIndex, Poset};

/// A run of a poset in the order of its stages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    /// All events.
    pub(crate) run: Vec<EventIndex>,
    /// The number of events up to the end of the story.
    pub(crate) length: usize,
    /// The moves of the story.
    moved: Vec<(EventIndex, Stage)>,
    /// For each chain, how many events come before the end of the story.
    needed: Vec<u32>,
    /// For each event, which move it is.
    turn_of: Vec<Option<usize>>,
    /// For each needed event, the number of moves that it comes after.
    places: Vec<usize>,
}

/// Which events come before the end of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Only the necessary ones.
    Needed,
    /// This many, the first in observed order, and no others.
    First(usize),
}

/// Finds the run of a story that begins with all forgotten events, if there is room for all events. `class` gives the class of
/// each event; the story counts `forgotten` events before the first one of the poset.
pub(crate) fn arrange(
    poset: &Poset,
    moves: &Moves,
    turns: &[Turn],
    forgotten: u32,
    extent: Extent,
    class: impl Fn(EventIndex) -> Class,
    placed: &mut Placed,
) -> Option<()> {
    let (begin, rest) = turns.split_first()?;
    let Placed {
        run,
        length,
        moved,
        needed,
        turn_of,
        places,
    } = placed;
    moved.clear();
    for turn in rest {
        let By::Event(number) = turn.by else {
            return None;
        };
        moved.push((EventIndex(number.checked_sub(forgotten)?), turn.to));
    }
    let stage = |turn: usize| match turn.checked_sub(1) {
        Some(before) => moved[before].1,
        None => begin.to,
    };
    find_needed(poset, moved, extent, needed);
    turn_of.clear();
    turn_of.resize(poset.len(), None);
    for (number, (event, _)) in (1..).zip(moved.iter()) {
        *turn_of.get_mut(event.index())? = Some(number);
    }
    // After the last stage no more events are needed, unless all are to be included.
    let last = moved.len() + usize::from(extent != Extent::Needed);
    places.clear();
    places.resize(poset.len(), usize::MAX);
    for event in poset.events() {
        let (chain, clock) = (poset.chain_of(event), poset.clock(event));
        if clock[chain.index()] > needed[chain.index()] {
            continue;
        }
        let before = poset.chains().filter_map(|other| {
            let count = clock[other.index()] - u32::from(other == chain);
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
    run.clear();
    run.extend(poset.events().filter(is_needed));
    *length = run.len();
    run.sort_unstable_by_key(|event| {
        let event = event.index();
        (places[event], turn_of[event].is_none(), event)
    });
    run.extend(poset.events().filter(|event| !is_needed(event)));
    Some(())
}

/// For each chain, how many events come before the end of the story.
fn find_needed(
    poset: &Poset,
    moved: &[(EventIndex, Stage)],
    extent: Extent,
    needed: &mut Vec<u32>,
) {
    needed.clear();
    needed.resize(poset.width(), 0);
    if let Extent::First(events) = extent {
        for event in poset.events().take(events) {
            needed[poset.chain_of(event).index()] += 1;
        }
        return;
    }
    for (event, _) in moved {
        for (count, &past) in needed.iter_mut().zip(poset.clock(*event)) {
            *count = past.max(*count);
        }
    }
}
