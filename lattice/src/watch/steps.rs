//! The steps that a stream keeps to show in a witness, stored as compactly as possible because there may be very many bindings.
//!
//! Most need only their thread, event and line, because their arguments are the values of the binding. Any other step is kept
//! whole.

use std::{num::NonZeroU64, sync::Arc};

use portent_monitor_core::{ThreadId, Value};
use portent_monitor_dsl::{EventId, VariableId};

use super::kept::{Context, KeptStep, Spares};
use crate::{
    intake::Step,
    order::{EventIndex, Packing, Unpacking},
    witness::Replay,
};

/// Marks a step that is kept whole.
const AS_IT_IS: u32 = u32::MAX;

/// Steps, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    /// The event, the thread, and both halves of the line of each step (0 if it has none); or its index among the steps kept
    /// whole.
    records: Vec<[u32; 4]>,
    as_they_are: Vec<Arc<KeptStep>>,
}

impl Steps {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn push(&mut self, kept: &Arc<KeptStep>) {
        let record = match kept.step.event {
            Some(event) if kept.is_bound => {
                let line = kept.line.map_or(0, NonZeroU64::get);
                let thread = kept.thread.index() as u32;
                [
                    event.index() as u32,
                    thread,
                    (line >> 32) as u32,
                    line as u32,
                ]
            }
            _ => {
                self.as_they_are.push(Arc::clone(kept));
                [AS_IT_IS, self.as_they_are.len() as u32 - 1, 0, 0]
            }
        };
        self.records.push(record);
    }

    /// What the property reads of a step.
    pub(super) fn read(&self, step: EventIndex) -> (Option<EventId>, &[(VariableId, Value)]) {
        match self.records[step.index()] {
            [AS_IT_IS, place, ..] => {
                let step = &self.as_they_are[place as usize].step;
                (step.event, &step.writes)
            }
            [event, ..] => (Some(EventId::from(event)), &[]),
        }
    }

    /// All steps, with everything known about them.
    pub(super) fn all(&self, context: Context<'_>) -> Vec<Arc<KeptStep>> {
        let records = self.records.iter();
        let kept = records.map(|&[event, thread, high, low]| match event {
            AS_IT_IS => Arc::clone(&self.as_they_are[thread as usize]),
            event => {
                let event = EventId::from(event);
                Arc::new(KeptStep {
                    thread: ThreadId::from(thread),
                    line: NonZeroU64::new(u64::from(high) << 32 | u64::from(low)),
                    number: 0,
                    step: Step {
                        event: Some(event),
                        args: context.bound_args(event).collect(),
                        ..Step::default()
                    },
                    note: None,
                    is_bound: false,
                })
            }
        });
        kept.collect()
    }

    /// Forgets the first steps, which the run passes through.
    pub(super) fn forget(&mut self, count: usize, run: &mut Replay<'_>, spares: &mut Spares) {
        let mut gone = 0;
        for &[event, ..] in &self.records[..count] {
            if event == AS_IT_IS {
                run.step(&self.as_they_are[gone].step);
                gone += 1;
            } else {
                run.step(&Step {
                    event: Some(EventId::from(event)),
                    ..Step::default()
                });
            }
        }
        self.records.drain(..count);
        for kept in self.as_they_are.drain(..gone) {
            spares.let_go(kept);
        }
        for record in &mut self.records {
            if record[0] == AS_IT_IS {
                record[1] -= gone as u32;
            }
        }
    }

    /// Packs the records column by column, because the values of a column are alike; returns the steps kept whole.
    pub(super) fn pack(&mut self, packing: &mut Packing) -> Vec<Arc<KeptStep>> {
        for part in 0..4 {
            packing.put(self.records.iter().map(|record| record[part]));
        }
        std::mem::take(&mut self.as_they_are)
    }

    /// Restores the packed steps, reusing its own memory.
    pub(super) fn unpack(&mut self, unpacking: &mut Unpacking<'_>, rest: Vec<Arc<KeptStep>>) {
        self.as_they_are = rest;
        self.records.clear();
        for part in 0..4 {
            let list = unpacking.next();
            self.records.resize(list.len(), [0; 4]);
            for (record, &count) in self.records.iter_mut().zip(list) {
                record[part] = count;
            }
        }
    }
}
