//! The steps of one property in observed order, as they are kept until the run has ended.
//!
//! One pass over the events feeds the records of all properties. A record keeps what an answer
//! needs and no event: ten million steps of a property over four threads fit in half a gigabyte.
//! Equal deeds (the same event with the same arguments, the same writes) are stored once.

use std::{
    num::NonZeroU64,
    sync::{Arc, OnceLock},
};

use portent_monitor_core::{Causality, Event, Symbols, ThreadId, Value};
use portent_monitor_dsl::{EventId, Monitor, VariableId, shape::Conjunction};
use rustc_hash::FxHashMap;

use crate::{
    error::Error,
    intake::{Bindings, Note, Notes, Relevance, Seen, binding::BindingId, initial_values},
};

/// What a step does, whoever does it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Deed {
    pub(crate) event: Option<EventId>,
    pub(crate) args: Arc<[Value]>,
    pub(crate) writes: Vec<(VariableId, Value)>,
}

impl Deed {
    /// What was seen, and what that is to a binding that its event does not belong to, if there is
    /// such a binding: its writes, as variables belong to all.
    pub(crate) fn read(seen: Seen) -> (Deed, Option<Deed>) {
        let binds = seen.binding.iter().any(Option::is_some);
        let elsewhere = (binds && !seen.writes.is_empty()).then(|| Deed {
            event: None,
            args: Arc::default(),
            writes: seen.writes.clone(),
        });
        let deed = Deed {
            event: seen.event,
            args: seen.args.into(),
            writes: seen.writes,
        };
        (deed, elsewhere)
    }
}

/// A distinct [`Deed`] of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DeedId(pub(crate) u32);

/// A relevant event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) thread: ThreadId,
    pub(crate) line: Option<NonZeroU64>,
    pub(crate) deed: DeedId,
    pub(crate) binding: BindingId,
    /// The chain that it is on, of the property's relevant events.
    pub(crate) chain: u32,
    /// Its number in the run, all events counted.
    pub(crate) number: u64,
    /// Where its clock ends among the clocks; it begins where the previous one ends.
    clock_end: usize,
}

/// The steps of one property.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    relevance: Relevance,
    causality: Causality,
    initial: Vec<Value>,
    steps: Vec<Step>,
    /// Empty once they take too much memory; then only the observed order is known.
    clocks: Vec<u32>,
    memory: u64,
    deeds: Vec<Deed>,
    deed_ids: FxHashMap<Box<str>, DeedId>,
    /// What the deeds that bind parameters are [elsewhere](Deed::read).
    elsewhere: FxHashMap<DeedId, DeedId>,
    bindings: Bindings,
    notes: Notes,
    /// Found out when an engine first asks.
    conjunctions: OnceLock<Option<Vec<Conjunction>>>,
}

impl Record {
    /// A record without steps; `initial` are the values that the trace gives, `memory` the bytes
    /// that clocks may take.
    pub(crate) fn new(
        monitor: Monitor,
        initial: impl FnMut(&str) -> Option<Value>,
        memory: u64,
    ) -> Result<Record, Error> {
        let values = initial_values(&monitor, initial)?;
        let arity = monitor.property().parameters().len();
        Ok(Record {
            relevance: Relevance::new(monitor),
            causality: Causality::default(),
            initial: values,
            steps: Vec::new(),
            clocks: Vec::new(),
            memory,
            deeds: Vec::new(),
            deed_ids: FxHashMap::default(),
            elsewhere: FxHashMap::default(),
            bindings: Bindings::new(arity),
            notes: Notes::default(),
            conjunctions: OnceLock::new(),
        })
    }

    /// What the next event of the run is to this property. Nothing is recorded yet, so that an
    /// event which another property refuses can still be dropped.
    pub(crate) fn see(&mut self, event: &Event, symbols: &Symbols) -> Result<Option<Seen>, Error> {
        self.relevance.see(event, symbols)
    }

    /// Takes the next event of the run, which was [seen](Self::see) and has this number.
    pub(crate) fn take(
        &mut self,
        event: &Event,
        number: u64,
        seen: Option<Seen>,
    ) -> Result<(), Error> {
        let stamp = self.causality.step(event, seen.is_some())?;
        let (Some(seen), Some(stamp)) = (seen, stamp) else {
            return Ok(());
        };
        if self.steps.len() >= u32::MAX as usize {
            return Err(Error::TooManyEvents {
                property: self.monitor().property().name().to_owned(),
            });
        }
        self.keep_clock(stamp.clock.counts());
        let binding = self.bindings.intern(&seen.binding);
        let (deed, elsewhere) = Deed::read(seen);
        let deed = self.deed(deed);
        if let Some(elsewhere) = elsewhere {
            let elsewhere = self.deed(elsewhere);
            self.elsewhere.insert(deed, elsewhere);
        }
        let step = Step {
            thread: event.thread,
            line: event.line,
            deed,
            binding,
            chain: stamp.chain.index() as u32,
            number,
            clock_end: self.clocks.len(),
        };
        self.notes.keep(self.steps.len() as u32, event);
        self.steps.push(step);
        Ok(())
    }

    fn keep_clock(&mut self, counts: &[u32]) {
        if !self.is_ordered() {
            return;
        }
        if 4 * (self.clocks.len() + counts.len()) as u64 > self.memory {
            self.clocks = Vec::new();
            return;
        }
        self.clocks.extend_from_slice(counts);
    }

    /// Whether the clocks of all steps were kept.
    pub(crate) fn is_ordered(&self) -> bool {
        // Every clock counts its own event.
        self.steps.is_empty() || !self.clocks.is_empty()
    }

    fn deed(&mut self, deed: Deed) -> DeedId {
        // The spelling tells floats apart that differ in a bit, and needs no hash for them.
        let key = format!("{:?}{:?}{:?}", deed.event, deed.args, deed.writes);
        if let Some(&id) = self.deed_ids.get(key.as_str()) {
            return id;
        }
        let id = DeedId(self.deeds.len() as u32);
        self.deeds.push(deed);
        self.deed_ids.insert(key.into(), id);
        id
    }

    pub(crate) fn monitor(&self) -> &Monitor {
        self.relevance.monitor()
    }

    /// The values of the variables before anything happens.
    pub(crate) fn initial(&self) -> &[Value] {
        &self.initial
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What the line of a step tells beside what the property sees of it.
    pub(crate) fn note(&self, step: u32, symbols: &Symbols) -> Option<Box<Note>> {
        self.notes.of(step, symbols)
    }

    /// The counts of a step's clock; what is beyond its end counts 0.
    pub(crate) fn clock(&self, step: usize) -> &[u32] {
        let start = step
            .checked_sub(1)
            .map_or(0, |before| self.steps[before].clock_end);
        &self.clocks[start..self.steps[step].clock_end]
    }

    /// How many chains the property's relevant events are on.
    pub(crate) fn chains(&self) -> usize {
        self.causality.chains()
    }

    /// What a step is to a binding that its event does not belong to, if it is a step at all.
    pub(crate) fn elsewhere(&self, step: u32) -> Option<DeedId> {
        let deed = self.steps[step as usize].deed;
        self.elsewhere.get(&deed).copied()
    }

    pub(crate) fn deeds(&self) -> &[Deed] {
        &self.deeds
    }

    pub(crate) fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The conjunctions that violate the property, if it is of that kind.
    pub(crate) fn conjunctions(&self) -> Option<&[Conjunction]> {
        let conjunctions = self
            .conjunctions
            .get_or_init(|| self.monitor().conjunctions());
        conjunctions.as_deref()
    }
}
