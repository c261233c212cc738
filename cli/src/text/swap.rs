//! What a witness does differently, in words.

use portent_lattice::report::Row;
use std::{
    collections::{BTreeSet, HashSet},
    ops::Range,
};

use super::{numbers::counted, printable, replay::label};

/// At most so many events are said to move, and so many to be overtaken by one of them.
const MOVES: usize = 3;
const OVERTAKEN: usize = 3;
/// Of the events that one overtakes, so many are looked at.
const LOOKED_AT: usize = 64;

/// How a run differs from the observed one up to its violation.
pub(crate) struct Difference<'a> {
    /// For each row, whether it comes earlier than observed.
    pub(crate) earlier: Vec<bool>,
    /// Who overtakes whom; what follows from program order is said once.
    moves: Vec<(&'a Row, Vec<&'a Row>)>,
    /// The events up to the violation.
    before: HashSet<u32>,
}

impl<'a> Difference<'a> {
    /// Of the first `until` rows of a witness from the observed order; `left_out` are the steps
    /// that it does not come to.
    pub(crate) fn new(witness: &'a [Row], left_out: &'a [Row], until: usize) -> Difference<'a> {
        let mut place = vec![None; witness.len() + left_out.len()];
        for row in witness.iter().chain(left_out) {
            // Indices beyond the end cannot be: these are all events.
            if let Some(place) = place.get_mut(row.event as usize) {
                *place = Some(row);
            }
        }
        let mut waiting = BTreeSet::new();
        let mut reached = 0;
        let mut said = HashSet::new();
        let mut difference = Difference {
            earlier: vec![false; witness.len()],
            moves: Vec::new(),
            before: HashSet::new(),
        };
        for (index, row) in witness[..until.min(witness.len())].iter().enumerate() {
            let passed: Range<u32> = reached..row.event.max(reached);
            waiting.extend(passed);
            reached = reached.max(row.event + 1);
            waiting.remove(&row.event);
            difference.before.insert(row.event);
            let overtaken: Vec<&Row> = waiting
                .range(..row.event)
                .take(LOOKED_AT)
                .filter_map(|event| place[*event as usize])
                .collect();
            difference.earlier[index] = !overtaken.is_empty();
            let new = overtaken.into_iter();
            let new: Vec<&Row> = new
                .filter(|other| said.insert((&*row.t, other.event)))
                .collect();
            if !new.is_empty() {
                difference.moves.push((row, new));
            }
        }
        difference
    }

    /// Whether the run is the observed one as far as it was looked at.
    pub(crate) fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// "`T2: w = 31` could have come before `T1: v = 60`".
    pub(crate) fn in_words(&self) -> String {
        let first = self.moves.len().saturating_sub(MOVES);
        let mut parts: Vec<String> = Vec::new();
        for (index, (row, overtaken)) in self.moves[first..].iter().enumerate() {
            let verb = if index == 0 { " could have come" } else { "" };
            let mut others: Vec<String> = overtaken
                .iter()
                .take(OVERTAKEN)
                .map(|other| spell(other))
                .collect();
            match overtaken.len().checked_sub(OVERTAKEN) {
                Some(more @ 1..) if overtaken.len() < LOOKED_AT => {
                    others.push(format!("{more} more"));
                }
                Some(1..) => others.push("many more".to_owned()),
                _ => {}
            }
            parts.push(format!("{}{verb} before {}", spell(row), and(&others)));
        }
        let mut text = and(&parts);
        if first > 0 {
            let others = counted(first as u64, "other event");
            text += &format!(" ({others} moved as well)");
        }
        text
    }

    /// The move that matters most: the last one past an event that still comes before the
    /// violation, or if there is none the last.
    pub(crate) fn decisive(&self) -> Option<(String, String)> {
        let within = |other: &&&Row| self.before.contains(&other.event);
        let found = self.moves.iter().rev().find_map(|(row, overtaken)| {
            let other = overtaken.iter().rev().find(within)?;
            Some((*row, *other))
        });
        let last = || {
            let (row, overtaken) = self.moves.last()?;
            Some((*row, *overtaken.last()?))
        };
        let (row, other) = found.or_else(last)?;
        Some((spell(row), spell(other)))
    }
}

/// `` `T2: w = 31` (line 5, at src/a.rs:10:5) ``.
pub(crate) fn spell(row: &Row) -> String {
    let line = row.line.map(|line| format!("line {line}"));
    let loc = row.note.as_ref().and_then(|note| note.loc.as_ref());
    let loc = loc.map(|loc| format!("at {}", printable(loc)));
    let places: Vec<String> = line.into_iter().chain(loc).collect();
    let thread = printable(&row.t);
    match places.is_empty() {
        true => format!("`{thread}: {}`", label(row)),
        false => format!("`{thread}: {}` ({})", label(row), places.join(", ")),
    }
}

/// "a", "a and b", "a, b and c".
fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
