//! From the steps of a property to one small problem for each binding of its parameters.
//!
//! A slice is a subset of the property's relevant events. The order between its events is decided
//! by counting, as for any relevant events, so the clocks are not computed again: a component that
//! counts events of the property is replaced by the number of those that are in the slice.
//!
//! Variables belong to all bindings. So a step that writes one is in every slice; where its
//! event belongs to another binding, as a write only.

use crate::intake::{Record, Step, StepId, binding::Binding};
use portent_monitor_core::Value;

/// The run of one instance of a property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slice {
    /// The values of the property's parameters.
    pub(crate) binding: Vec<Value>,
    /// Its steps, as indices into the record, in observed order.
    pub(crate) steps: Vec<u32>,
    /// Those of them whose event belongs to another binding, in the same order.
    elsewhere: Vec<u32>,
}

/// The slices of the instances of a property.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    /// In the order of their first steps.
    pub(crate) all: Vec<Slice>,
    /// Whether the limit allowed for all of them.
    pub(crate) is_complete: bool,
}

/// The slices of all instances, or of as many as the limit allows.
pub(crate) fn slices(record: &Record<'_>, limit: usize) -> Slices {
    let bindings = record.viewer.bindings();
    let instances = bindings.instances(limit);
    let mut steps_of = vec![Vec::new(); bindings.len()];
    for (index, taken) in record.steps().iter().enumerate() {
        steps_of[taken.binding.index()].push(index as u32);
    }
    let writers: Vec<u32> = (0..record.steps().len() as u32)
        .filter(|&step| record.elsewhere(step).is_some())
        .collect();
    let domains = bindings.domains();
    let slice = |instance: Binding| {
        let mut steps = Vec::new();
        for domain in &domains {
            if let Some(id) = bindings.restricted(&instance, domain) {
                steps.extend_from_slice(&steps_of[id.index()]);
            }
        }
        steps.sort_unstable();
        let mut elsewhere = writers.clone();
        elsewhere.retain(|writer| steps.binary_search(writer).is_err());
        if !elsewhere.is_empty() {
            steps.extend_from_slice(&elsewhere);
            steps.sort_unstable();
        }
        Slice {
            binding: bindings.values(&instance),
            steps,
            elsewhere,
        }
    };
    let mut all: Vec<Slice> = instances.all.into_iter().map(slice).collect();
    all.sort_by_key(|slice| slice.steps.first().copied());
    Slices {
        all,
        is_complete: instances.is_complete,
    }
}

impl Slice {
    /// What a step of the slice does; steps are numbered as in the record.
    pub(crate) fn step_id(&self, record: &Record<'_>, number: u32) -> StepId {
        let elsewhere = self.elsewhere.binary_search(&number).is_ok();
        let elsewhere = elsewhere.then(|| record.elsewhere(number)).flatten();
        elsewhere.unwrap_or(record.steps()[number as usize].step)
    }

    /// What a step of the slice does.
    pub(crate) fn step<'a>(&self, record: &Record<'a>, number: u32) -> &'a Step {
        record.step(self.step_id(record, number))
    }
}
