//! What a witness does differently, in words.

use portent_lattice::report::Row;
use portent_monitor_core::Value;
use portent_monitor_dsl::Monitor;
use std::collections::{BTreeSet, HashSet};

use super::{ignored::ignored, numbers::counted, printable, step::label};

/// At most this many events are said to move, and this many to be overtaken by one of them.
const MOVES: usize = 3;
const OVERTAKEN: usize = 3;
/// Of the events that one overtakes, this many are looked at.
const LOOKED_AT: usize = 64;

/// How a run differs from the observed one up to its violation.
pub(crate) struct Difference<'a> {
    /// For each row, whether it comes earlier than observed.
    pub(crate) earlier: Vec<bool>,
    /// Who overtakes whom; what follows from program order is said once.
    moves: Vec<(&'a Row, Vec<&'a Row>)>,
    /// The last event that comes earlier, whether or not what it overtakes matters.
    last: Option<&'a Row>,
    /// The events up to the violation.
    before: HashSet<u32>,
}

impl<'a> Difference<'a> {
    /// Of the first `until` rows of a witness from the observed order; `left_out` are the steps that
    /// it does not come to. Only events that matter are said to move.
    pub(crate) fn new(
        witness: &'a [Row],
        left_out: &'a [Row],
        until: usize,
        monitor: &Monitor,
        initial: &[Value],
    ) -> Difference<'a> {
        let mut observed: Vec<&Row> = witness.iter().chain(left_out).collect();
        observed.sort_by_key(|row| row.event);
        let until = until.min(witness.len());
        let run: Vec<&Row> = witness[..until].iter().collect();
        let difference = if run.iter().zip(&observed).all(|(a, b)| a.event == b.event) {
            Difference::of(&run, &observed, |_| true)
        } else {
            let mut matters = vec![false; observed.len()];
            // What matters to the one run is not left out of the other.
            for rows in [&run, &observed] {
                let kept = |row: &Row| matters[row.event as usize];
                let ignored = ignored(monitor, initial, rows, kept);
                for (row, _) in rows.iter().zip(ignored).filter(|(_, ignored)| !ignored) {
                    matters[row.event as usize] = true;
                }
            }
            let named = Difference::of(&run, &observed, |row| matters[row.event as usize]);
            if named.is_empty() {
                // No single step matters, only several together.
                Difference::of(&run, &observed, |_| true)
            } else {
                named
            }
        };
        let mut earlier = difference.earlier;
        earlier.resize(witness.len(), false);
        Difference {
            earlier,
            ..difference
        }
    }

    fn of(run: &[&'a Row], observed: &[&'a Row], matters: impl Fn(&Row) -> bool) -> Difference<'a> {
        let mut done = vec![false; observed.len()];
        // The first event that did not happen yet, and those that matter among all that were overtaken.
        let mut oldest = 0;
        let mut waiting = BTreeSet::new();
        let mut reached = 0;
        let mut said = HashSet::new();
        let mut difference = Difference {
            earlier: Vec::with_capacity(run.len()),
            moves: Vec::new(),
            last: None,
            before: HashSet::new(),
        };
        for &row in run {
            let event = row.event as usize;
            let passed = reached..event.max(reached);
            waiting.extend(passed.filter(|&event| matters(observed[event])));
            reached = reached.max(event + 1);
            waiting.remove(&event);
            while done[oldest] {
                oldest += 1;
            }
            difference.earlier.push(oldest < event);
            done[event] = true;
            difference.before.insert(row.event);
            if !matters(row) {
                continue;
            }
            if difference.earlier.ends_with(&[true]) {
                difference.last = Some(row);
            }
            let overtaken: Vec<&Row> = waiting
                .range(..event)
                .take(LOOKED_AT)
                .map(|&other| observed[other])
                .filter(|other| said.insert((&*row.t, other.event)))
                .collect();
            if !overtaken.is_empty() {
                difference.moves.push((row, overtaken));
            }
        }
        difference
    }

    /// Whether the run is the observed one as far as it was looked at.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// The pairs of events that are said to be swapped: the one that comes earlier, and what it
    /// overtakes.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let moves = self.moves.iter();
        moves.flat_map(|(row, overtaken)| overtaken.iter().map(|other| [other.event, row.event]))
    }

    /// "`T2: w = 31` could have come before `T1: v = 60`".
    pub(crate) fn in_words(&self) -> String {
        if let (true, Some(last)) = (self.moves.is_empty(), self.last) {
            return format!("{} could have come earlier", spell(last));
        }
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
