//! The content of a drawing: two runs, the arrows between their events, the lattice, the automaton.

use portent_lattice::report::{
    Values,
    picture::{self, Moment, Picture, Shown},
};
use portent_monitor_dsl::{Monitor, Verdict};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroU64,
};

use super::{automaton::Automaton, clip};
use crate::text::{label, note};

/// A longer name, label or value is clipped.
const WORD: usize = 120;
/// A longer note is clipped.
const NOTE: usize = 300;

#[derive(Serialize)]
pub(super) struct Drawing {
    variables: Vec<String>,
    threads: Vec<String>,
    events: Vec<Event>,
    start: Situation,
    observed: Vec<Step>,
    witness: Vec<Step>,
    /// The number of steps of the witness, shown or not.
    witness_steps: u64,
    /// Pairs of events, cause first.
    arrows: Vec<[u32; 2]>,
    lattice: Lattice,
    automaton: Automaton,
}

/// An event that occurs in one of the runs.
#[derive(Serialize)]
struct Event {
    event: u32,
    /// An index into the threads.
    thread: usize,
    line: Option<NonZeroU64>,
    label: String,
    /// Its location in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<String>,
    /// Other information on its line.
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
    /// Whether the witness has it before an event that was observed earlier.
    earlier: bool,
    /// Whether the witness has it after an event that was observed later.
    later: bool,
}

/// The current state.
#[derive(Serialize)]
struct Situation {
    values: Vec<String>,
    state: usize,
    verdict: Verdict,
}

/// A step of a run.
#[derive(Serialize)]
struct Step {
    step: u64,
    event: u32,
    #[serde(flatten)]
    after: Situation,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Lattice {
    /// For each cut its verdicts; for each edge its source, its target, and its event.
    Graph {
        cuts: Vec<Vec<Verdict>>,
        edges: Vec<[u32; 3]>,
    },
    Widths {
        levels: u64,
        each: u64,
        bars: Vec<u64>,
    },
    Uncounted,
}

impl Drawing {
    pub(super) fn new(picture: &Picture, monitor: &Monitor) -> Drawing {
        let shown = || picture.observed.iter().chain(&picture.witness);
        let mut names: Vec<&str> = shown().map(|shown| &*shown.row.t).collect();
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        names.dedup();
        let threads: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
        let events: BTreeMap<u32, Event> = shown()
            .map(|shown| {
                let event = Event {
                    event: shown.row.event,
                    thread: threads[&*shown.row.t],
                    line: shown.row.line,
                    label: clip(&label(&shown.row), WORD),
                    loc: { shown.row.note.as_ref() }
                        .and_then(|note| note.loc.as_ref())
                        .map(|loc| clip(loc, WORD)),
                    note: clip(&note(&shown.row), NOTE),
                    earlier: shown.earlier,
                    later: shown.later,
                };
                (event.event, event)
            })
            .collect();
        let states = [picture.start.state].into_iter();
        let states = states.chain(shown().map(|shown| shown.row.state));
        Drawing {
            variables: names_of(&picture.start.values),
            threads: names.iter().map(|name| clip(name, WORD)).collect(),
            events: events.into_values().collect(),
            start: Situation::from(&picture.start),
            observed: picture.observed.iter().map(Step::from).collect(),
            witness: picture.witness.iter().map(Step::from).collect(),
            witness_steps: picture.witness_steps,
            arrows: picture.arrows.clone(),
            automaton: Automaton::new(monitor, states),
            lattice: match &picture.lattice {
                picture::Drawing::Graph(graph) => Lattice::Graph {
                    cuts: graph.cuts.iter().map(|cut| cut.verdicts.clone()).collect(),
                    edges: graph
                        .edges
                        .iter()
                        .map(|edge| [edge.from, edge.to, edge.event])
                        .collect(),
                },
                picture::Drawing::Widths(widths) => Lattice::Widths {
                    levels: widths.levels,
                    each: widths.each,
                    bars: widths.bars.clone(),
                },
                picture::Drawing::Uncounted => Lattice::Uncounted,
            },
        }
    }
}

impl From<&Moment> for Situation {
    fn from(moment: &Moment) -> Situation {
        Situation {
            values: spelled(&moment.values),
            state: moment.state,
            verdict: moment.verdict,
        }
    }
}

impl From<&Shown> for Step {
    fn from(shown: &Shown) -> Step {
        Step {
            step: shown.step,
            event: shown.row.event,
            after: Situation {
                values: spelled(&shown.row.values),
                state: shown.row.state,
                verdict: shown.row.verdict,
            },
        }
    }
}

fn names_of(values: &Values) -> Vec<String> {
    values.iter().map(|(name, _)| clip(name, WORD)).collect()
}

fn spelled(values: &Values) -> Vec<String> {
    let values = values.iter();
    values
        .map(|(_, value)| clip(&value.to_string(), WORD))
        .collect()
}

/// Sorts `T2` before `T10`.
fn natural(name: &str) -> (&str, usize, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[stem.len()..].trim_start_matches('0');
    (stem, number.len(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_sorted_by_their_numbers() {
        let mut names = ["T10", "main", "T2", "T1", "9", "10"];
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        assert_eq!(names, ["9", "10", "T1", "T2", "T10", "main"]);
    }
}
