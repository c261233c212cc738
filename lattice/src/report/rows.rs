//! A run as rows: each step with the values, state and verdict after it.

use std::{num::NonZeroU64, sync::Arc};

use portent_monitor_core::{Symbols, ThreadId, Value};
use portent_monitor_dsl::{Explanation, VariableId};
use rustc_hash::FxHashMap;

use super::{Moment, Row, Values};
use crate::{
    intake::{Note, Step},
    witness::Replay,
};

/// The thread of a step, and other information on its line.
pub(crate) struct Actor {
    pub(crate) thread: ThreadId,
    pub(crate) line: Option<NonZeroU64>,
    pub(crate) note: Option<Box<Note>>,
}

/// Follows a run and makes rows of its steps, which share their common data.
pub(crate) struct Rows<'a> {
    replay: Replay<'a>,
    symbols: &'a Symbols,
    /// The variables whose values are known, as rows show them.
    values: Values,
    variables: Vec<Arc<str>>,
    events: Vec<Arc<str>>,
    threads: FxHashMap<ThreadId, Arc<str>>,
    /// The arguments and writes of each step, as rows show them, by the step's address in memory.
    shown: FxHashMap<*const Step, (Arc<[Value]>, Values)>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(replay: Replay<'a>, symbols: &'a Symbols) -> Self {
        let alphabet = replay.monitor().alphabet();
        let variables = alphabet.variables().iter();
        let events = alphabet.events().iter();
        let mut rows = Rows {
            symbols,
            values: Values::default(),
            variables: variables.map(|v| v.name.as_str().into()).collect(),
            events: events.map(|e| e.name.as_str().into()).collect(),
            threads: FxHashMap::default(),
            shown: FxHashMap::default(),
            replay,
        };
        rows.read_values();
        rows
    }

    /// The current state.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            values: Arc::clone(&self.values),
            state: self.replay.state().index(),
            verdict: self.replay.verdict(),
        }
    }

    /// Why the verdict is final, if the run is remembered.
    pub(crate) fn explain(&self) -> Option<Explanation> {
        self.replay.explain()
    }

    fn read_values(&mut self) {
        let variables = self.variables.iter().zip(self.replay.values());
        self.values = variables
            .filter_map(|(name, value)| Some((Arc::clone(name), value?.clone())))
            .collect();
    }

    /// Takes a step.
    pub(crate) fn step(&mut self, step: &'a Step) {
        self.replay.step(step);
        if !step.writes.is_empty() {
            self.read_values();
        }
    }

    /// The row of the last step.
    pub(crate) fn row(&mut self, event: u32, step: &'a Step, actor: Actor) -> Row {
        let thread = self.threads.entry(actor.thread).or_insert_with(|| {
            let name = self.symbols.threads.name(actor.thread);
            name.into()
        });
        let variables = &self.variables;
        let (args, set) = self.shown.entry(step).or_insert_with(|| {
            let named = |(variable, value): &(VariableId, Value)| {
                (Arc::clone(&variables[variable.index()]), value.clone())
            };
            let set = step.writes.iter().map(named).collect();
            (step.args.iter().cloned().collect(), set)
        });
        Row {
            event,
            t: Arc::clone(thread),
            line: actor.line,
            name: step.event.map(|id| Arc::clone(&self.events[id.index()])),
            args: Arc::clone(args),
            set: Arc::clone(set),
            values: Arc::clone(&self.values),
            state: self.replay.state().index(),
            verdict: self.replay.verdict(),
            note: actor.note,
        }
    }
}
