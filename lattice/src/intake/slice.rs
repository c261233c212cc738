//! From the steps of a property to one small problem for each binding of its parameters.
//!
//! A slice is a subset of the property's relevant events. The order between its events is decided
//! by counting, as for any relevant events, so the clocks are not computed again: a component that
//! counts events of the property is replaced by the number of those that are in the slice.
//!
//! Variables belong to all bindings. So a step that writes one is in every slice; where its
//! event belongs to another binding, as a write only.

use crate::{
    error::Error,
    intake::{DeedId, Record, binding::Binding},
};
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

/// The slices of all instances, in the order of their first steps.
pub(crate) fn slices(record: &Record, limit: usize) -> Result<Vec<Slice>, Error> {
    let bindings = record.bindings();
    let instances = bindings
        .instances(limit)
        .map_err(|_| Error::TooManyBindings {
            property: record.monitor().property().name().to_owned(),
            limit,
        })?;
    let mut steps_of = vec![Vec::new(); bindings.len()];
    for (index, step) in record.steps().iter().enumerate() {
        steps_of[step.binding.0 as usize].push(index as u32);
    }
    let writers: Vec<u32> = (0..record.steps().len() as u32)
        .filter(|&step| record.elsewhere(step).is_some())
        .collect();
    let domains = bindings.domains();
    let slice = |instance: Binding| {
        let mut steps = Vec::new();
        for domain in &domains {
            if let Some(id) = bindings.restricted(&instance, domain) {
                steps.extend_from_slice(&steps_of[id.0 as usize]);
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
    let mut slices: Vec<Slice> = instances.into_iter().map(slice).collect();
    slices.sort_by_key(|slice| slice.steps.first().copied());
    Ok(slices)
}

impl Slice {
    /// The events of the slice in the whole trace, given where the steps of the property are.
    pub(crate) fn trace_events(&self, steps: &[u32]) -> Vec<u32> {
        let own = self.steps.iter();
        own.map(|&step| steps[step as usize]).collect()
    }

    /// What a step of the slice does.
    pub(crate) fn deed(&self, record: &Record, step: u32) -> DeedId {
        let elsewhere = self.elsewhere.binary_search(&step).is_ok();
        let elsewhere = elsewhere.then(|| record.elsewhere(step)).flatten();
        elsewhere.unwrap_or(record.steps()[step as usize].deed)
    }
}
