//! The rows of a witness: a run that is followed step by step, and told.

use std::num::NonZeroU64;

use portent_monitor_core::{Symbols, ThreadId, Value};
use portent_monitor_dsl::{Monitor, StateId, Verdict};

use crate::{
    EventIndex,
    record::Deed,
    report::{Note, Row},
};

/// More swapped pairs than this are counted and not listed.
const MAX_SWAPS: usize = 10_000;

/// Who did a step, and what else is known of it.
pub(crate) struct Doer {
    pub(crate) thread: ThreadId,
    pub(crate) line: Option<NonZeroU64>,
    pub(crate) note: Option<Box<Note>>,
}

/// Follows a run.
pub(crate) struct Narrator<'a> {
    monitor: &'a Monitor,
    symbols: &'a Symbols,
    state: StateId,
    values: Vec<Value>,
    /// For each variable whether its value is known. Where it is not, the value is one that the
    /// property cannot tell from it.
    known: Vec<bool>,
}

impl<'a> Narrator<'a> {
    /// A run that begins with these values.
    pub(crate) fn new(monitor: &'a Monitor, initial: &[Value], symbols: &'a Symbols) -> Self {
        let mut state = monitor.initial();
        if monitor.alphabet().reads_variables() {
            state = monitor.next(state, monitor.alphabet().letter(None, initial));
        }
        Narrator {
            monitor,
            symbols,
            state,
            values: initial.to_vec(),
            known: vec![true; initial.len()],
        }
    }

    /// A run whose beginning is not known, but for the state that it led to and values that are as
    /// good as those that it left.
    pub(crate) fn resume(
        monitor: &'a Monitor,
        (state, values): (StateId, Vec<Value>),
        symbols: &'a Symbols,
    ) -> Self {
        Narrator {
            monitor,
            symbols,
            state,
            known: vec![false; values.len()],
            values,
        }
    }

    fn verdict(&self) -> Verdict {
        self.monitor.verdict(self.state)
    }

    /// Takes a step.
    pub(crate) fn step(&mut self, deed: &Deed) {
        for (variable, value) in &deed.writes {
            self.values[variable.index()] = value.clone();
            self.known[variable.index()] = true;
        }
        if !self.verdict().is_final() {
            let letter = self.monitor.alphabet().letter(deed.event, &self.values);
            self.state = self.monitor.next(self.state, letter);
        }
    }

    /// Tells of the step that was just taken.
    pub(crate) fn row(&self, event: u32, deed: &Deed, doer: Doer) -> Row {
        let alphabet = self.monitor.alphabet();
        let written = deed.writes.iter().map(|(variable, value)| {
            let name = &alphabet.variables()[variable.index()].name;
            (name.clone(), value.clone())
        });
        let name = |id: portent_monitor_dsl::EventId| alphabet.events()[id.index()].name.clone();
        Row {
            event,
            t: self.symbols.threads.name(doer.thread).to_owned(),
            line: doer.line.map(NonZeroU64::get),
            name: deed.event.map(name),
            args: deed.args.clone(),
            set: written.collect(),
            values: self.values(),
            state: self.state.index(),
            verdict: self.verdict(),
            note: doer.note,
        }
    }

    /// The variables with their values, where they are known.
    pub(crate) fn values(&self) -> Vec<(String, Value)> {
        let variables = self.monitor.alphabet().variables().iter();
        let variables = variables.zip(&self.values).zip(&self.known);
        variables
            .filter(|(_, known)| **known)
            .map(|((variable, value), _)| (variable.name.clone(), value.clone()))
            .collect()
    }
}

/// The pairs that a run has the other way round than observed, and how many are not listed. The
/// run comes after the events `before`, which are in observed order here whatever they were there.
pub(crate) fn swaps(before: &[EventIndex], run: &[EventIndex]) -> (Vec<[u32; 2]>, u64) {
    let mut swaps = Vec::new();
    let mut total = 0u64;
    // The events that came already, sorted: in an almost observed order they end near the last.
    let mut done: Vec<u32> = before.iter().map(|event| event.0).collect();
    done.reserve(run.len());
    for event in run {
        let place = done.partition_point(|&other| other < event.0);
        total += (done.len() - place) as u64;
        let room = MAX_SWAPS - swaps.len();
        swaps.extend(
            done[place..]
                .iter()
                .take(room)
                .map(|&later| [event.0, later]),
        );
        done.insert(place, event.0);
    }
    swaps.sort_unstable();
    let omitted = total - swaps.len() as u64;
    (swaps, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_are_inversions() {
        let run = [0, 2, 1, 4, 3, 5].map(EventIndex);
        assert_eq!(swaps(&[], &run), (vec![[1, 2], [3, 4]], 0));
        let run = [2, 0, 1].map(EventIndex);
        assert_eq!(swaps(&[], &run), (vec![[0, 2], [1, 2]], 0));
        let (before, run) = ([0, 3].map(EventIndex), [2, 1, 4].map(EventIndex));
        assert_eq!(swaps(&before, &run), (vec![[1, 2], [1, 3], [2, 3]], 0));
    }
}
