//! Collects the propositions of a property while its body is being resolved, and then makes the
//! [`Alphabet`]: conditions on the same quantity get one gauge.

use crate::spelling;

use super::{
    Alphabet, BitField, Event, EventId, Meaning, Proposition, StateVariable, VariableId,
    gauge::{Gauge, GaugeCondition, same_quantity},
};

/// An [`Alphabet`] in the making.
#[derive(Clone, Default)]
pub(crate) struct AlphabetBuilder {
    events: Vec<Event>,
    variables: Vec<StateVariable>,
    /// The text of each proposition, and what it is about.
    propositions: Vec<(String, Subject)>,
}

#[derive(Clone)]
enum Subject {
    Event(EventId),
    GaugeCondition(GaugeCondition),
}

impl AlphabetBuilder {
    /// Adds an event with its proposition.
    pub(crate) fn event(&mut self, event: Event) -> EventId {
        let id = EventId::new(self.events.len());
        self.propositions
            .push((spelling::name(&event.name), Subject::Event(id)));
        self.events.push(event);
        id
    }

    pub(crate) fn variable(&mut self, variable: StateVariable) -> VariableId {
        self.variables.push(variable);
        VariableId::new(self.variables.len() - 1)
    }

    /// How many propositions there are, or variables if these are more.
    pub(crate) fn names(&self) -> usize {
        self.propositions.len().max(self.variables.len())
    }

    pub(crate) fn variables(&self) -> &[StateVariable] {
        &self.variables
    }

    pub(crate) fn find_event(&self, name: &str) -> Option<EventId> {
        self.events
            .iter()
            .position(|event| event.name == name)
            .map(EventId::new)
    }

    pub(crate) fn find_variable(&self, name: &str) -> Option<VariableId> {
        self.variables
            .iter()
            .position(|variable| variable.name == name)
            .map(VariableId::new)
    }

    /// The proposition for an event.
    pub(crate) fn proposition_of(&self, event: EventId) -> usize {
        self.propositions
            .iter()
            .position(|(_, subject)| matches!(subject, Subject::Event(other) if *other == event))
            .expect("every event has a proposition")
    }

    /// The proposition for a condition; the same as before if it was met already.
    pub(crate) fn condition(&mut self, text: String, condition: GaugeCondition) -> usize {
        let known = self.propositions.iter().position(
            |(_, subject)| matches!(subject, Subject::GaugeCondition(other) if *other == condition),
        );
        known.unwrap_or_else(|| {
            self.propositions
                .push((text, Subject::GaugeCondition(condition)));
            self.propositions.len() - 1
        })
    }

    /// The conditions with their numbers, grouped by the quantity that they are about.
    fn quantities(&self) -> Vec<Vec<(usize, &GaugeCondition)>> {
        let mut groups: Vec<Vec<(usize, &GaugeCondition)>> = Vec::new();
        for (index, (_, subject)) in self.propositions.iter().enumerate() {
            let Subject::GaugeCondition(condition) = subject else {
                continue;
            };
            let same =
                |group: &&mut Vec<(usize, &GaugeCondition)>| same_quantity(group[0].1, condition);
            match groups.iter_mut().find(same) {
                Some(group) => group.push((index, condition)),
                None => groups.push(vec![(index, condition)]),
            }
        }
        groups
    }

    /// The finished alphabet, unless its letters cannot be numbered. `steps_only`: words are made of steps (`ere`, `never`), so that a
    /// letter without an event exists only if steps without one do.
    pub(crate) fn finish(self, steps_only: bool) -> Option<Alphabet> {
        let quantities = self.quantities();
        let mut meanings: Vec<Option<Meaning>> = vec![None; self.propositions.len()];
        let mut gauges = Vec::with_capacity(quantities.len());
        for group in &quantities {
            let members: Vec<&GaugeCondition> =
                group.iter().map(|(_, condition)| *condition).collect();
            let (gauge, holds) = Gauge::new(&members, &self.variables);
            for ((index, _), cells) in group.iter().zip(holds) {
                meanings[*index] = Some(Meaning::Cells(gauges.len(), cells));
            }
            gauges.push(gauge);
        }
        let propositions = self
            .propositions
            .iter()
            .zip(meanings)
            .map(|((text, subject), meaning)| Proposition {
                text: text.clone(),
                meaning: match subject {
                    Subject::Event(event) => Meaning::Event(*event),
                    Subject::GaugeCondition(_) => meaning.expect("every condition has a gauge"),
                },
            })
            .collect();
        let silent = !steps_only || !self.variables.is_empty() || self.events.is_empty();
        let event_cells = self.events.len() + usize::from(silent);
        let cells = std::iter::once(event_cells as u32).chain(gauges.iter().map(|g| g.cells));
        let places = places(cells)?;
        Some(Alphabet {
            events: self.events,
            variables: self.variables,
            propositions,
            gauges,
            silent,
            places,
        })
    }
}

/// The bits of a letter for each of its parts, if 64 are enough.
fn places(cells: impl Iterator<Item = u32>) -> Option<Vec<BitField>> {
    let mut shift = 0;
    cells
        .map(|cells| {
            let bits = cells.next_power_of_two().trailing_zeros();
            let mask = u64::try_from(((1u128 << bits) - 1) << shift).ok()?;
            let place = BitField { cells, shift, mask };
            shift += bits;
            Some(place)
        })
        .collect()
}
