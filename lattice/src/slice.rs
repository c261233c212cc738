//! From the steps of a property to one small problem for each binding of its parameters.
//!
//! A slice is a subset of the property's relevant events. The order between its events is decided
//! by counting, as for any relevant events, so the clocks are not computed again: a component that
//! counts events of the property is replaced by the number of those that are in the slice.
//!
//! Variables belong to all bindings. So a step that writes one is in every slice; where its
//! event belongs to another binding, as a write only.

use portent_monitor_core::Value;
use rustc_hash::FxHashMap;

use crate::{
    ActionId, Poset,
    binding::Binding,
    error::Error,
    record::{DeedId, Record},
};

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
    /// The partial order of the slice.
    pub(crate) fn poset(&self, record: &Record) -> Poset {
        let mut local = vec![None; record.chains()];
        // For each chain of the slice the places of its events on the property's chain.
        let mut places: Vec<Vec<u32>> = Vec::new();
        let mut origins = Vec::new();
        for &step in &self.steps {
            let chain = record.steps()[step as usize].chain as usize;
            let here = *local[chain].get_or_insert_with(|| {
                places.push(Vec::new());
                origins.push(chain);
                places.len() - 1
            });
            places[here].push(record.clock(step as usize)[chain]);
        }
        let mut poset = Poset::new(places.len());
        let mut clock = vec![0; places.len()];
        for &step in &self.steps {
            let whole = record.clock(step as usize);
            for ((count, &chain), places) in clock.iter_mut().zip(&origins).zip(&places) {
                let seen = whole.get(chain).copied().unwrap_or(0);
                *count = match places.last() {
                    // The slice has all events of that chain.
                    Some(&last) if last as usize == places.len() => seen.min(last),
                    _ => places.partition_point(|&place| place <= seen) as u32,
                };
            }
            let chain = record.steps()[step as usize].chain as usize;
            poset.push(local[chain].unwrap_or_default(), &clock);
        }
        poset
    }

    /// The bytes that [`poset`](Slice::poset) takes, and what engines make of it once more.
    pub(crate) fn poset_bytes(&self, record: &Record) -> u64 {
        let mut chains = vec![false; record.chains()];
        for &step in &self.steps {
            chains[record.steps()[step as usize].chain as usize] = true;
        }
        let chains = chains.into_iter().filter(|&used| used).count();
        8 * chains as u64 * self.steps.len() as u64
    }

    /// The observed order and no other.
    pub(crate) fn observed_order(&self) -> Poset {
        let mut poset = Poset::new(1);
        for number in 1..=self.steps.len() as u32 {
            poset.push(0, &[number]);
        }
        poset
    }

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

    /// What each event does, as an action, and the deed behind each action.
    pub(crate) fn actions(&self, record: &Record) -> (Vec<ActionId>, Vec<DeedId>) {
        let mut deeds = Vec::new();
        let mut ids: FxHashMap<DeedId, ActionId> = FxHashMap::default();
        let steps = self.steps.iter();
        let actions = steps
            .map(|&step| {
                let deed = self.deed(record, step);
                *ids.entry(deed).or_insert_with(|| {
                    deeds.push(deed);
                    ActionId(deeds.len() as u32 - 1)
                })
            })
            .collect();
        (actions, deeds)
    }
}
