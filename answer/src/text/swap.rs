//! The differences between a witness and the observed run, in words.

use std::collections::{HashMap, HashSet};

use portent_lattice::report::{Predicted, Row};

use super::{numbers::counted, printable, step::label};

/// At most this many events are said to move, and this many to be overtaken by one of them.
const MOVES: usize = 3;
const OVERTAKEN: usize = 3;

/// How a run differs from the observed one up to its violation.
pub(super) struct Difference<'a> {
    /// For each row, whether it comes earlier than observed.
    pub(super) earlier: Vec<bool>,
    /// The relevant overtakings.
    moves: Vec<Move<'a>>,
    /// The last event that comes earlier, whether or not the events that it overtakes are relevant.
    last: Option<&'a Row>,
    /// The events up to the violation.
    before: HashSet<u32>,
}

/// An event that comes earlier, and the events that it overtakes.
struct Move<'a> {
    row: &'a Row,
    overtaken: Vec<&'a Row>,
    /// Whether there are more of them.
    more: bool,
}

impl<'a> Difference<'a> {
    /// The swaps of a witness relative to the observed order, up to the violation.
    pub(super) fn new(predicted: &'a Predicted, witness: &'a [Row]) -> Difference<'a> {
        let violated_at = predicted.violated_at.unwrap_or(u64::MAX);
        let until = violated_at.saturating_sub(predicted.forgotten);
        let until = usize::try_from(until).map_or(witness.len(), |until| until.min(witness.len()));
        let rows: HashMap<u32, &Row> = { witness.iter().chain(&predicted.left_out) }
            .map(|row| (row.event, row))
            .collect();
        let moves = predicted.overtakings.iter().filter_map(|overtaking| {
            let overtaken = overtaking.overtaken.iter();
            Some(Move {
                row: rows.get(&overtaking.event)?,
                overtaken: overtaken
                    .filter_map(|other| rows.get(other).copied())
                    .collect(),
                more: overtaking.more,
            })
        });
        let mut earlier = predicted.comes_earlier();
        earlier.truncate(until);
        let last = earlier.iter().rposition(|earlier| *earlier);
        earlier.resize(witness.len(), false);
        Difference {
            earlier,
            moves: moves.collect(),
            last: last.map(|place| &witness[place]),
            before: witness[..until].iter().map(|row| row.event).collect(),
        }
    }

    /// Whether the run equals the observed one as far as it was examined.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// The pairs of events described as swapped: the one that comes earlier, and the one that it
    /// overtakes.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        self.moves.iter().flat_map(|Move { row, overtaken, .. }| {
            overtaken.iter().map(|other| [other.event, row.event])
        })
    }

    /// "`T2: w = 31` could have come before `T1: v = 60`".
    pub(super) fn in_words(&self) -> String {
        if let (true, Some(last)) = (self.moves.is_empty(), self.last) {
            return format!("{} could have come earlier", spell(last));
        }
        let first = self.moves.len().saturating_sub(MOVES);
        let mut parts: Vec<String> = Vec::new();
        for (index, moved) in self.moves[first..].iter().enumerate() {
            let verb = if index == 0 { " could have come" } else { "" };
            let named = moved.overtaken.iter().take(OVERTAKEN);
            let mut others: Vec<String> = named.map(|other| spell(other)).collect();
            match moved.overtaken.len().saturating_sub(OVERTAKEN) {
                _ if moved.more => others.push("many more".to_owned()),
                0 => {}
                more => others.push(format!("{more} more")),
            }
            parts.push(format!(
                "{}{verb} before {}",
                spell(moved.row),
                and(&others)
            ));
        }
        let mut text = and(&parts);
        if first > 0 {
            let others = counted(first as u64, "other event");
            text += &format!(" ({others} moved as well)");
        }
        text
    }

    /// The most relevant move: the last one past an event that still comes before the
    /// violation, or if there is none the last one.
    pub(super) fn decisive(&self) -> Option<(String, String)> {
        let within = |other: &&&Row| self.before.contains(&other.event);
        let found = self.moves.iter().rev().find_map(|moved| {
            let other = moved.overtaken.iter().rev().find(within)?;
            Some((moved.row, *other))
        });
        let last = || {
            let moved = self.moves.last()?;
            Some((moved.row, *moved.overtaken.last()?))
        };
        let (row, other) = found.or_else(last)?;
        Some((spell(row), spell(other)))
    }
}

/// `` `T2: w = 31` (line 5, at src/a.rs:10:5) ``.
pub(super) fn spell(row: &Row) -> String {
    let line = row.line.map(|line| format!("line {line}"));
    let loc = row.note.as_ref().and_then(|note| note.loc.as_ref());
    let loc = loc.map(|loc| format!("at {}", printable(loc)));
    let places: Vec<String> = line.into_iter().chain(loc).collect();
    let thread = printable(&row.t);
    if places.is_empty() {
        format!("`{thread}: {}`", label(row))
    } else {
        format!("`{thread}: {}` ({})", label(row), places.join(", "))
    }
}

/// "a", "a and b", "a, b and c".
pub(super) fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
