//! The rows of a witness: a run that is followed step by step, and told.

use std::{num::NonZeroU64, sync::Arc};

use portent_monitor_core::{Symbols, ThreadId, Value};
use portent_monitor_dsl::{Monitor, StateId, VariableId, Verdict};
use rustc_hash::FxHashMap;

use crate::{
    EventIndex,
    record::Deed,
    report::{Note, Row, Values},
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
    /// The variables whose values are known, as rows show them.
    shown: Values,
    names: Names,
    /// The writes of each deed, as rows show them; a deed is known by its place in memory.
    sets: FxHashMap<*const Deed, Values>,
}

/// Names that rows share.
struct Names {
    variables: Vec<Arc<str>>,
    events: Vec<Arc<str>>,
    threads: FxHashMap<ThreadId, Arc<str>>,
}

impl<'a> Narrator<'a> {
    /// A run that begins with these values.
    pub(crate) fn new(monitor: &'a Monitor, initial: &[Value], symbols: &'a Symbols) -> Self {
        let mut state = monitor.initial();
        if monitor.alphabet().reads_variables() {
            state = monitor.next(state, monitor.alphabet().letter(None, initial));
        }
        let known = vec![true; initial.len()];
        Narrator::from_state(monitor, state, initial.to_vec(), known, symbols)
    }

    /// A run whose beginning is not known, but for the state that it led to and values that are as
    /// good as those that it left.
    pub(crate) fn resume(
        monitor: &'a Monitor,
        (state, values): (StateId, Vec<Value>),
        symbols: &'a Symbols,
    ) -> Self {
        let known = vec![false; values.len()];
        Narrator::from_state(monitor, state, values, known, symbols)
    }

    fn from_state(
        monitor: &'a Monitor,
        state: StateId,
        values: Vec<Value>,
        known: Vec<bool>,
        symbols: &'a Symbols,
    ) -> Self {
        let alphabet = monitor.alphabet();
        let variables = alphabet.variables().iter();
        let events = alphabet.events().iter();
        let mut narrator = Narrator {
            monitor,
            symbols,
            state,
            values,
            known,
            shown: Values::default(),
            names: Names {
                variables: variables.map(|v| v.name.as_str().into()).collect(),
                events: events.map(|e| e.name.as_str().into()).collect(),
                threads: FxHashMap::default(),
            },
            sets: FxHashMap::default(),
        };
        narrator.show();
        narrator
    }

    /// The variables with their values, where they are known.
    pub(crate) fn values(&self) -> &Values {
        &self.shown
    }

    fn show(&mut self) {
        let variables = self.names.variables.iter().zip(&self.values);
        let variables = variables.zip(&self.known).filter(|(_, known)| **known);
        self.shown = variables
            .map(|((name, value), _)| (Arc::clone(name), value.clone()))
            .collect();
    }

    fn verdict(&self) -> Verdict {
        self.monitor.verdict(self.state)
    }

    /// Takes a step.
    pub(crate) fn step(&mut self, deed: &'a Deed) {
        for (variable, value) in &deed.writes {
            self.values[variable.index()] = value.clone();
            self.known[variable.index()] = true;
        }
        if !deed.writes.is_empty() {
            self.show();
        }
        if !self.verdict().is_final() {
            let letter = self.monitor.alphabet().letter(deed.event, &self.values);
            self.state = self.monitor.next(self.state, letter);
        }
    }

    /// Tells of the step that was just taken.
    pub(crate) fn row(&mut self, event: u32, deed: &'a Deed, doer: Doer) -> Row {
        let names = &mut self.names;
        let thread = names.threads.entry(doer.thread).or_insert_with(|| {
            let name = self.symbols.threads.name(doer.thread);
            name.into()
        });
        let set = self.sets.entry(deed).or_insert_with(|| {
            let writes = deed.writes.iter();
            let named = |(variable, value): &(VariableId, Value)| {
                (
                    Arc::clone(&names.variables[variable.index()]),
                    value.clone(),
                )
            };
            writes.map(named).collect()
        });
        Row {
            event,
            t: Arc::clone(thread),
            line: doer.line,
            name: deed.event.map(|id| Arc::clone(&names.events[id.index()])),
            args: Arc::clone(&deed.args),
            set: Arc::clone(set),
            values: Arc::clone(&self.shown),
            state: self.state.index(),
            verdict: self.verdict(),
            note: doer.note,
        }
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
