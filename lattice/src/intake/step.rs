//! The effect of an event on a property, whichever thread caused it.
//!
//! A long run repeats a few steps very often. Each is stored once, and found again by its hash; numbers with a fraction are
//! the same if [their bits](Exact) are, so that a step is always equal to itself.

use std::hash::{Hash, Hasher};

use indexmap::IndexSet;
use portent_monitor_core::{Exact, Value};
use portent_monitor_dsl::{EventId, VariableId};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// An event as a step of a property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// Which of the property's events it is.
    pub(crate) event: Option<EventId>,
    /// The arguments: those of the trace, or what a regular expression found for the parameters.
    pub(crate) args: SmallVec<[Value; 2]>,
    /// The property's variables that it writes, with values of the right type.
    pub(crate) writes: SmallVec<[(VariableId, Value); 1]>,
}

impl Step {
    /// Whether the property sees nothing: it is not a step at all.
    pub(crate) fn is_nothing(&self) -> bool {
        self.event.is_none() && self.writes.is_empty()
    }

    /// Makes room for the next one.
    pub(crate) fn clear(&mut self) {
        self.event = None;
        self.args.clear();
        self.writes.clear();
    }

    /// Its form for a binding that its event does not belong to, if any: its writes, because variables belong to all.
    pub(crate) fn elsewhere(&self) -> Option<Step> {
        (!self.writes.is_empty()).then(|| Step {
            event: None,
            args: SmallVec::new(),
            writes: self.writes.clone(),
        })
    }

    fn exact_writes(&self) -> impl Iterator<Item = (VariableId, Exact<&Value>)> {
        { self.writes.iter() }.map(|(variable, value)| (*variable, Exact(value)))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        let [mine, theirs] = [self, other].map(|step| step.args.iter().map(Exact));
        self.event == other.event && mine.eq(theirs) && self.exact_writes().eq(other.exact_writes())
    }
}

impl Eq for Step {}

impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.event.hash(state);
        self.args.len().hash(state);
        for value in &self.args {
            Exact(value).hash(state);
        }
        for write in self.exact_writes() {
            write.hash(state);
        }
    }
}

portent_monitor_core::ids! {
    /// A distinct [`Step`] of a property.
    pub(crate) struct StepId(u32);
}

/// The distinct steps of a property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(IndexSet<Step, FxBuildHasher>);

impl Steps {
    /// The id of a step, which is stored if it is new.
    pub(crate) fn intern(&mut self, step: &Step) -> StepId {
        let index = match self.0.get_index_of(step) {
            Some(index) => index,
            None => self.0.insert_full(step.clone()).0,
        };
        StepId(index as u32)
    }

    pub(crate) fn get(&self, id: StepId) -> &Step {
        &self.0[id.index()]
    }

    /// The number of steps; their ids are below this.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: impl Into<Value>) -> Step {
        Step {
            args: SmallVec::from_elem(value.into(), 1),
            ..Step::default()
        }
    }

    #[test]
    fn a_step_is_stored_once() {
        let mut steps = Steps::default();
        let first = steps.intern(&with(7));
        assert_eq!(steps.intern(&with(7)), first);
        assert_eq!(steps.len(), 1);
        for other in [with(8), with(7.0), with("7"), with(true), Step::default()] {
            assert_ne!(steps.intern(&other), first, "{other:?}");
        }
        assert_eq!(steps.get(first), &with(7));
    }

    #[test]
    fn floats_are_compared_by_their_bits() {
        let mut steps = Steps::default();
        assert_eq!(
            steps.intern(&with(f64::NAN)),
            steps.intern(&with(f64::NAN)),
            "not a number is the step that it is"
        );
        assert_ne!(steps.intern(&with(0.0)), steps.intern(&with(-0.0)));
    }
}
