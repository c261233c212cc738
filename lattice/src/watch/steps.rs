//! The steps that a stream keeps, to show them in a witness: as little of each as it takes, as there may be very many bindings.
//!
//! Of most of them only the thread, the event and the line are not known otherwise: their arguments are the values of the
//! binding. What is more than that is kept as it is.

use std::{num::NonZeroU64, sync::Arc};

use portent_monitor_core::{ThreadId, Value};
use portent_monitor_dsl::{EventId, VariableId};

use super::kept::{Context, KeptStep, Spares};
use crate::{
    intake::Step,
    order::{EventIndex, Packing, Unpacking},
    witness::Replay,
};

/// Stands for the event of a step that is kept as it is.
const AS_IT_IS: u32 = u32::MAX;

/// Some steps, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    /// For each its event, its thread, and both halves of its line, 0 if it has none; or its place among those that are kept as they are.
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

    /// All of them, with all that is known of them.
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

    /// Forgets the first steps, which the run goes through.
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

    /// Packs the records, one part of all after the other, as these are alike; gives those steps that are kept as they are.
    pub(super) fn pack(&mut self, packing: &mut Packing) -> Vec<Arc<KeptStep>> {
        for part in 0..4 {
            packing.put(self.records.iter().map(|record| record[part]));
        }
        std::mem::take(&mut self.as_they_are)
    }

    /// Becomes what was packed, in its own memory.
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
