//! The steps of one property in observed order, kept until the run has ended.

use portent_monitor_core::{ChainId, Symbols, ThreadId};
use std::num::NonZeroU64;

use super::{
    History, HistoryIndex, Note, PropertyStep, Step, StepId, Viewer, binding::BindingId,
    step::Steps,
};

/// A step that a property took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepTaken {
    /// The index of its event in the history.
    pub(crate) event: HistoryIndex,
    pub(crate) step: StepId,
    pub(crate) binding: BindingId,
}

/// The steps that a property took, in observed order. Equal ones are stored once.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepsTaken {
    all: Vec<StepTaken>,
    steps: Steps,
    /// Their readings for instances that do not contain the first binding of their event, in the order of the steps and of
    /// the readings.
    others: Vec<OtherReading>,
    /// For each distinct step its [`elsewhere`](Step::elsewhere) form, if it binds parameters.
    elsewhere: Vec<Option<StepId>>,
}

/// Another reading of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherReading {
    /// Which step.
    pub(crate) number: u32,
    pub(crate) step: StepId,
    pub(crate) binding: BindingId,
}

impl StepsTaken {
    /// Keeps what the property sees of an event.
    pub(crate) fn keep(&mut self, event: HistoryIndex, property_step: &PropertyStep<'_>) {
        let step = self.intern(
            property_step.step,
            property_step.binding,
            property_step.viewer,
        );
        let number = self.all.len() as u32;
        for other in property_step.viewer.others() {
            let step = self.intern(&other.step, other.binding_id, property_step.viewer);
            self.others.push(OtherReading {
                number,
                step,
                binding: other.binding_id,
            });
        }
        self.all.push(StepTaken {
            event,
            step,
            binding: property_step.binding,
        });
    }

    /// The id of a step; its form elsewhere is computed if it is new.
    fn intern(&mut self, step: &Step, binding: BindingId, viewer: &Viewer) -> StepId {
        let id = self.steps.intern(step);
        if id.index() >= self.elsewhere.len() {
            let binds = viewer.bindings().get(binding).iter().any(Option::is_some);
            let elsewhere = binds.then(|| step.elsewhere()).flatten();
            let elsewhere = elsewhere.map(|elsewhere| self.steps.intern(&elsewhere));
            self.elsewhere.resize(self.steps.len(), None);
            self.elsewhere[id.index()] = elsewhere;
        }
        id
    }

    /// Roughly the number of bytes they take.
    pub(crate) fn bytes(&self) -> u64 {
        let steps = self.steps.len() * (size_of::<Step>() + 24);
        let elsewhere = size_of_val(&self.elsewhere[..]);
        let taken = size_of_val(&self.all[..]) + size_of_val(&self.others[..]);
        (steps + elsewhere + taken) as u64
    }

    /// The number of steps.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Forgets the run.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.others.clear();
        self.steps.clear();
        self.elsewhere.clear();
    }
}

/// The data of one property's run. Its steps are numbered in observed order, from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) viewer: &'a Viewer,
    pub(crate) taken: &'a StepsTaken,
    pub(crate) history: &'a History,
}

impl<'a> Record<'a> {
    pub(crate) fn steps(&self) -> &'a [StepTaken] {
        &self.taken.all
    }

    /// The readings of steps for instances that do not contain the first binding of their event.
    pub(crate) fn others(&self) -> &'a [OtherReading] {
        &self.taken.others
    }

    fn taken(&self, number: u32) -> StepTaken {
        self.taken.all[number as usize]
    }

    pub(crate) fn step(&self, id: StepId) -> &'a Step {
        self.taken.steps.get(id)
    }

    /// The form of a step for a binding that its event does not belong to, if it is a step there at all.
    pub(crate) fn elsewhere(&self, number: u32) -> Option<StepId> {
        self.taken.elsewhere[self.taken(number).step.index()]
    }

    /// The number of a step's event among all events of the run.
    pub(crate) fn event_number(&self, number: u32) -> u64 {
        self.history.event(self.taken(number).event).number
    }

    /// Whether the clock of a step was kept. If not, it comes after all steps before it.
    pub(crate) fn is_ordered(&self, number: u32) -> bool {
        self.history.is_ordered(self.taken(number).event)
    }

    pub(crate) fn chain(&self, number: u32) -> ChainId {
        self.history.event(self.taken(number).event).chain
    }

    /// The counts of a step's clock; components past the end count as 0.
    pub(crate) fn clock(&self, number: u32) -> &'a [u32] {
        self.history.clock(self.taken(number).event)
    }

    pub(crate) fn thread(&self, number: u32) -> ThreadId {
        self.history.event(self.taken(number).event).thread
    }

    pub(crate) fn line(&self, number: u32) -> Option<NonZeroU64> {
        self.history.event(self.taken(number).event).line
    }

    /// The information on a step's line that the property does not see.
    pub(crate) fn note(&self, number: u32, symbols: &Symbols) -> Option<Box<Note>> {
        let event = self.taken(number).event;
        self.history.note(event, symbols)
    }
}
