//! From the steps of a property to one small problem for each binding of its parameters.
//!
//! A slice is a subset of the property's relevant events. The order between its events is decided
//! by counting, as for all relevant events, so the clocks are not computed again: a component that
//! counts events of the property is replaced by the number of those that are in the slice.
//!
//! An event may match several events of the property: for an instance, the first one counts whose binding is part of the instance's.
//!
//! Variables belong to all bindings. So a step that writes one is in every slice; if its event belongs to
//! another binding, it is there only as a write.

use crate::intake::{Record, Step, StepId, binding::Binding, record::OtherReading};
use portent_monitor_core::Value;

/// The run of one instance of a property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slice {
    /// The values of the property's parameters.
    pub(crate) binding: Vec<Value>,
    /// Its steps, as indices into the record, in observed order.
    pub(crate) steps: Vec<u32>,
    /// Readings of those steps for which it is not the first reading that applies, in the same order.
    otherwise: Vec<(u32, StepId)>,
}

/// The slices of the instances of a property.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    /// Sorted by their first steps.
    pub(crate) all: Vec<Slice>,
    /// Whether the limit left room for all of them.
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
    let others = record.others();
    let mut others_of = vec![Vec::new(); if others.is_empty() { 0 } else { bindings.len() }];
    for (place, other) in others.iter().enumerate() {
        others_of[other.binding.index()].push(place);
    }
    let writers: Vec<u32> = (0..record.steps().len() as u32)
        .filter(|&step| record.elsewhere(step).is_some())
        .collect();
    let domains = bindings.domains();
    let slice = |instance: Binding| {
        let mut steps = Vec::new();
        let mut readings: Vec<usize> = Vec::new();
        for domain in &domains {
            if let Some(id) = bindings.restricted(&instance, domain) {
                steps.extend_from_slice(&steps_of[id.index()]);
                readings.extend(others_of.get(id.index()).into_iter().flatten());
            }
        }
        steps.sort_unstable();
        readings.sort_unstable();
        let mut otherwise: Vec<(u32, StepId)> = Vec::new();
        for reading in readings {
            let OtherReading { number, step, .. } = others[reading];
            let is_read = steps.binary_search(&number).is_ok();
            if !is_read && otherwise.last().is_none_or(|&(last, _)| last != number) {
                otherwise.push((number, step));
            }
        }
        let is_step = |number: &u32| {
            steps.binary_search(number).is_ok() || { &otherwise }
                .binary_search_by_key(number, |&(number, _)| number)
                .is_ok()
        };
        let elsewhere: Vec<(u32, StepId)> = { writers.iter() }
            .filter(|&writer| !is_step(writer))
            .filter_map(|&writer| Some((writer, record.elsewhere(writer)?)))
            .collect();
        otherwise.extend(elsewhere);
        if !otherwise.is_empty() {
            otherwise.sort_unstable();
            steps.extend(otherwise.iter().map(|&(number, _)| number));
            steps.sort_unstable();
        }
        Slice {
            binding: bindings.values(&instance),
            steps,
            otherwise,
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
        let otherwise = { &self.otherwise }.binary_search_by_key(&number, |&(number, _)| number);
        match otherwise {
            Ok(place) => self.otherwise[place].1,
            Err(_) => record.steps()[number as usize].step,
        }
    }

    /// What a step of the slice does.
    pub(crate) fn step<'a>(&self, record: &Record<'a>, number: u32) -> &'a Step {
        record.step(self.step_id(record, number))
    }
}
