//! The run behind a story: where all other events go.
//!
//! The story tells the events that move the automaton. The others that must come before its last one, the pasts of these, go as early
//! as their own past, the moves that they come after, and what the stages stay on allow. That there is room for all of them is what the
//! search has shown.

use super::{Moves, Stage, Turn};
use crate::order::{EventIndex, Poset};

/// A run of a poset in the order of its stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// All events.
    pub(crate) run: Vec<EventIndex>,
    /// How many of them lead to the end of the story.
    pub(crate) length: usize,
}

/// The run of a story that begins at the empty cut in one of these stages; `class` tells what events do, and events are told by their
/// numbers in the poset.
pub(crate) fn arrange(
    poset: &Poset,
    moves: &Moves,
    begin: &[Stage],
    turns: &[Turn],
    class: impl Fn(EventIndex) -> super::Class,
) -> Option<Placed> {
    begin
        .iter()
        .find_map(|&begin| arrange_from(poset, moves, begin, turns, &class))
}

fn arrange_from(
    poset: &Poset,
    moves: &Moves,
    begin: Stage,
    turns: &[Turn],
    class: &impl Fn(EventIndex) -> super::Class,
) -> Option<Placed> {
    let width = poset.width();
    let mut needed = vec![0; width];
    for turn in turns {
        for (count, &past) in needed.iter_mut().zip(poset.clock(EventIndex(turn.event))) {
            *count = past.max(*count);
        }
    }
    let stage = |turn: usize| match turn.checked_sub(1) {
        Some(before) => turns[before].to,
        None => begin,
    };
    let mut turn_of = vec![None; poset.len()];
    for (number, turn) in (1..).zip(turns) {
        turn_of[turn.event as usize] = Some(number);
    }
    // For each event that is needed, after how many moves it comes.
    let mut places = vec![usize::MAX; poset.len()];
    for event in poset.events() {
        let (chain, clock) = (poset.chain_of(event), poset.clock(event));
        if clock[chain] > needed[chain] {
            continue;
        }
        let before = (0..width).filter_map(|other| {
            let count = clock[other] - u32::from(other == chain);
            Some(poset.chain(other)[(count as usize).checked_sub(1)?])
        });
        let earliest = before.map(|event| places[event.index()]).max().unwrap_or(0);
        places[event.index()] = match turn_of[event.index()] {
            Some(own) if earliest < own => own,
            Some(_) => return None,
            None => (earliest..turns.len()).find(|&turn| moves.stays(stage(turn), class(event)))?,
        };
    }
    let mut run: Vec<EventIndex> = { poset.events() }
        .filter(|event| places[event.index()] != usize::MAX)
        .collect();
    let length = run.len();
    run.sort_by_key(|event| {
        let event = event.index();
        (places[event], turn_of[event].is_none(), event)
    });
    run.extend(
        poset
            .events()
            .filter(|event| places[event.index()] == usize::MAX),
    );
    Some(Placed { run, length })
}
