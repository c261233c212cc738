//! An event as a property sees it: which of its events it is, under which binding.
//!
//! An event may have different readings for different instances: with `a by t on write` and `b by u on write`, a write by T1 is
//! `a` if `t` is T1, and otherwise `b` if `u` is T1. For each instance, the first reading counts whose binding is part of the
//! instance's.

use portent_monitor_core::Value;
use portent_monitor_dsl::EventId;

use super::{
    binding::{Binding, BindingId, is_part_of},
    step::Step,
};

/// What a property sees of an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The step of its first reading.
    pub(super) step: Step,
    /// For each parameter of the property, the value that the event gives it.
    pub(super) binding: Binding,
    /// Other readings, in the order of declarations.
    pub(super) others: Vec<Interpretation>,
}

/// The reading of an event for the instances that contain a binding.
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

    /// Whether the reading so far applies to every instance, so that later readings apply to none.
    pub(super) fn is_decided(&self) -> bool {
        self.step.event.is_some() && self.binding.iter().all(Option::is_none)
    }

    /// Adds a reading. The writes were added before.
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
            // Wherever this reading applies, an earlier one takes precedence.
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
