//! The letters that a property reads.
//!
//! A letter says which of the property's events happened (at most one) and in which cell every
//! [gauge](gauge) stands; all combinations can occur. Each of these is a *place* of the letter and
//! has a few bits of its number, so that a write replaces bits and leaves the others alone.
//! Propositions are sets of letters.

pub(crate) mod arithmetic;
mod builder;
mod cells;
mod declared;
pub(crate) mod gauge;
mod pattern;
mod range;

pub(crate) use builder::AlphabetBuilder;
pub use declared::{Event, EventId, Object, On, StateVariable, VariableId};
pub use pattern::{NoPattern, TextPattern};

use portent_monitor_core::Value;
use std::fmt;

use crate::diagram::{Diagram, Diagrams, Variable};
use gauge::Gauge;

/// A letter: one thing that a step can show to a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Letter(pub(crate) u64);

/// An atomic proposition: an event, or a condition on variables.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Proposition {
    text: String,
    meaning: Meaning,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Meaning {
    Event(EventId),
    /// Holds in the cells of a gauge that are marked here.
    Cells(usize, Vec<bool>),
}

impl Proposition {
    /// The event that this proposition is, if it is one.
    pub fn event(&self) -> Option<EventId> {
        match self.meaning {
            Meaning::Event(event) => Some(event),
            Meaning::Cells(..) => None,
        }
    }
}

impl fmt::Display for Proposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The letters of a property, and what they mean.
///
/// ```
/// use portent_monitor_dsl::Property;
///
/// // Three cells of `w` and no event: three letters for two propositions.
/// let monitor = Property::parse("always (w > 30 -> once w > 26)")?.monitor()?;
/// let alphabet = monitor.alphabet();
/// assert_eq!(alphabet.propositions().len(), 2);
/// assert_eq!(alphabet.letters().count(), 3);
/// # Ok::<(), portent_monitor_dsl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Alphabet {
    events: Vec<Event>,
    variables: Vec<StateVariable>,
    propositions: Vec<Proposition>,
    gauges: Vec<Gauge>,
    /// Whether a letter without any of the events exists.
    silent: bool,
    /// The event first, then the gauges.
    places: Vec<BitField>,
}

/// A part of a letter: which bits of the number tell which cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BitField {
    pub(crate) cells: u32,
    pub(crate) shift: u32,
    pub(crate) mask: u64,
}

impl BitField {
    pub(crate) fn cell(self, letter: Letter) -> usize {
        ((letter.0 & self.mask) >> self.shift) as usize
    }

    /// The bits of a letter for a cell.
    pub(crate) fn code(self, cell: u32) -> u64 {
        u64::from(cell) << self.shift
    }
}

impl Alphabet {
    /// The events, declared ones first.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The variables that the body of the property mentions.
    pub fn variables(&self) -> &[StateVariable] {
        &self.variables
    }

    /// The events with their ids.
    ///
    /// ```
    /// use portent_monitor_dsl::Property;
    ///
    /// let monitor = Property::parse("always (logout -> once login)")?.monitor()?;
    /// for (id, event) in monitor.alphabet().iter_events() {
    ///     assert_eq!(monitor.alphabet().event(&event.name), Some(id));
    /// }
    /// # Ok::<(), portent_monitor_dsl::Error>(())
    /// ```
    pub fn iter_events(&self) -> impl Iterator<Item = (EventId, &Event)> {
        { self.events.iter().enumerate() }.map(|(index, event)| (EventId::new(index), event))
    }

    /// The variables with their ids.
    pub fn iter_variables(&self) -> impl Iterator<Item = (VariableId, &StateVariable)> {
        let variables = self.variables.iter().enumerate();
        variables.map(|(index, variable)| (VariableId::new(index), variable))
    }

    /// The atomic propositions of the property.
    pub fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    /// The event of that name.
    pub fn event(&self, name: &str) -> Option<EventId> {
        let mut events = self.iter_events();
        events
            .find(|(_, event)| event.name == name)
            .map(|(id, _)| id)
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<VariableId> {
        let mut variables = self.iter_variables();
        variables
            .find(|(_, variable)| variable.name == name)
            .map(|(id, _)| id)
    }

    /// How many letters there are; more than fit 64 bits count as the largest number.
    pub fn size(&self) -> u64 {
        let cells = self.places.iter().map(|place| u64::from(place.cells));
        cells.fold(1, u64::saturating_mul)
    }

    /// All letters that can occur.
    pub fn letters(&self) -> impl Iterator<Item = Letter> + use<> {
        let places = self.places.clone();
        let mut next = Some(Letter(0));
        std::iter::from_fn(move || {
            let letter = next?;
            // Counts up, place by place.
            let mut code = letter.0;
            next = None;
            for place in &places {
                let cell = place.cell(letter) as u32 + 1;
                code &= !place.mask;
                if cell < place.cells {
                    next = Some(Letter(code | place.code(cell)));
                    break;
                }
            }
            Some(letter)
        })
    }

    /// The letters that can come first. If the property mentions a variable, its run begins with
    /// the initial values, and no event holds there.
    pub fn initial_letters(&self) -> impl Iterator<Item = Letter> + use<> {
        let (variables, event) = (self.reads_variables(), self.places[0]);
        self.letters()
            .filter(move |&letter| !variables || event.cell(letter) == 0)
    }

    /// Whether the run of the property begins with a letter for the initial values.
    pub fn reads_variables(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Whether a proposition, by its place in [`Alphabet::propositions`], holds in a letter.
    pub fn holds(&self, letter: Letter, proposition: usize) -> bool {
        match &self.propositions[proposition].meaning {
            Meaning::Event(event) => self.event_in(letter) == Some(*event),
            Meaning::Cells(gauge, cells) => cells[self.places[gauge + 1].cell(letter)],
        }
    }

    /// The event that a letter carries.
    pub fn event_in(&self, letter: Letter) -> Option<EventId> {
        let cell = self.places[0].cell(letter);
        let first = usize::from(self.silent);
        (cell >= first).then(|| EventId::new(cell - first))
    }

    /// The letter for an event (or none) and values of all variables.
    ///
    /// # Panics
    ///
    /// If there is not one value of the declared type for each variable, or if the property has no
    /// letter without an event and none is given.
    pub fn letter(&self, event: Option<EventId>, values: &[Value]) -> Letter {
        let event = self
            .event_code(event)
            .expect("this property reads events only");
        let gauges = self.gauges.iter().zip(&self.places[1..]);
        Letter(gauges.fold(event, |letter, (gauge, place)| {
            letter | place.code(gauge.read(values))
        }))
    }

    /// The cell that a gauge shows in a letter.
    pub(crate) fn gauge_cell(&self, letter: Letter, gauge: usize) -> usize {
        self.places[gauge + 1].cell(letter)
    }

    pub(crate) fn gauges(&self) -> &[Gauge] {
        &self.gauges
    }

    /// Whether a letter exists in which none of the events holds.
    pub fn has_silent_letter(&self) -> bool {
        self.silent
    }

    /// The bits of a letter for an event, or for none.
    pub(crate) fn event_code(&self, event: Option<EventId>) -> Option<u64> {
        match event {
            None => self.silent.then_some(0),
            Some(event) => Some(event.index() as u64 + u64::from(self.silent)),
        }
    }

    fn event_cells(&self) -> usize {
        self.events.len() + usize::from(self.silent)
    }

    /// The places of a letter: the event first, then the gauges.
    pub(crate) fn places(&self) -> &[BitField] {
        &self.places
    }

    /// Declares one decision variable for each place of a letter, in a fresh store.
    pub(crate) fn declare(&self, diagrams: &mut Diagrams) {
        for (index, place) in self.places.iter().enumerate() {
            let variable = diagrams.variable(place.cells as usize);
            debug_assert_eq!(variable, Variable(index as u32));
        }
    }

    /// The first variable that is not part of a letter.
    pub(crate) fn bound(&self) -> Variable {
        Variable(self.gauges.len() as u32 + 1)
    }

    /// The set of letters in which a proposition holds.
    pub(crate) fn set_of(&self, diagrams: &mut Diagrams, proposition: usize) -> Diagram {
        match &self.propositions[proposition].meaning {
            Meaning::Event(event) => {
                let cell = event.index() + usize::from(self.silent);
                diagrams.among(Variable(0), |other| other == cell)
            }
            Meaning::Cells(gauge, cells) => {
                diagrams.among(Variable(*gauge as u32 + 1), |cell| cells[cell])
            }
        }
    }

    /// The propositions that a place of the letter decides, each with the cells in which it holds.
    pub(crate) fn propositions_at(&self, place: usize) -> Vec<(usize, Vec<bool>)> {
        let first = usize::from(self.silent);
        let cells = |proposition: &Proposition| match &proposition.meaning {
            Meaning::Event(event) if place == 0 => Some(
                (0..self.event_cells())
                    .map(|cell| cell == event.index() + first)
                    .collect(),
            ),
            Meaning::Cells(gauge, cells) if gauge + 1 == place => Some(cells.clone()),
            _ => None,
        };
        let decided = |(index, proposition)| Some((index, cells(proposition)?));
        self.propositions
            .iter()
            .enumerate()
            .filter_map(decided)
            .collect()
    }
}
