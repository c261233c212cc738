//! What a property sees of an event: which of its events it is, under which binding.
//!
//! An event may be different things to different instances: with `a by t on write` and `b by u on write`, a write by T1 is `a`
//! to those with `t` T1, and otherwise `b` to those with `u` T1. So there may be several readings; for an instance the first one
//! counts whose binding is part of the instance's.

use portent_monitor_core::Value;
use portent_monitor_dsl::EventId;

use super::{
    binding::{Binding, BindingId, is_part_of},
    step::Step,
};

/// What a property sees of an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// What it is by its first reading.
    pub(super) step: Step,
    /// For each parameter of the property the value that the event gives it.
    pub(super) binding: Binding,
    /// What else it can be, in the order of declarations.
    pub(super) others: Vec<Interpretation>,
}

/// What an event is to the instances that contain a binding.
#[derive(Clone, Debug)]
pub(crate) struct Interpretation {
    pub(crate) step: Step,
    binding: Binding,
    /// The binding's number, once the step is taken.
    pub(crate) binding_id: BindingId,
}

impl Seen {
    /// Nothing yet, of a property with this many parameters.
    pub(super) fn clear(&mut self, parameters: usize) {
        self.step.clear();
        self.binding.clear();
        self.binding.resize(parameters, None);
        self.others.clear();
    }

    /// Whether all that was seen so far is a step of every instance, so that what comes later is of none.
    pub(super) fn is_decided(&self) -> bool {
        self.step.event.is_some() && self.binding.iter().all(Option::is_none)
    }

    /// It can also be this. The writes were seen before.
    pub(super) fn add(&mut self, event: EventId, args: &[Value], binding: &Binding) {
        if self.step.event.is_none() {
            self.step.event = Some(event);
            self.step.args.extend(args.iter().cloned());
            self.binding.clone_from(binding);
            return;
        }
        let mut earlier =
            std::iter::once(&self.binding).chain(self.others.iter().map(|r| &r.binding));
        if earlier.any(|earlier| is_part_of(earlier, binding)) {
            // Wherever this one counts, the earlier one does.
            return;
        }
        self.others.push(Interpretation {
            step: Step {
                event: Some(event),
                args: args.iter().cloned().collect(),
                writes: self.step.writes.clone(),
            },
            binding: binding.clone(),
            binding_id: BindingId::default(),
        });
    }
}

impl Interpretation {
    pub(super) fn binding(&self) -> &Binding {
        &self.binding
    }
}
